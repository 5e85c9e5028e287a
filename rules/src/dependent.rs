//! The dependent: from a pod up to the workload that the user wrote, and the annotations that count.
//!
//! The pod carries the gate, its owner carries the list. The list is read from the owner each time a gate asks, so that an edit
//! of the list rolls no pod and frees the pod that waits.

mod alike;
mod older;
mod ordinal;
mod passage;
mod resolve;
mod revision;
mod waits;

pub use alike::alike;
pub use passage::EdgeSources;
pub use revision::started;
pub use waits::{Source, Wait};

use crate::annotation::{self, ParseError, ReadTerms};
use crate::dependency::Part;
use crate::keys;
use crate::kinds::Kind;
use crate::lookup::Unavailable;
use crate::object::{controller_of, group_kind};
use crate::path::get;
use crate::plan::{self, Called};
use crate::probed::Probed;
use crate::reboot::Reboot;
use crate::scope::Scope;
use crate::world::World;
use jiff::Timestamp;
use serde_json::{Map, Value, json};
use wire::said::clean;

/// The longest shown text of [`keys::SKIP_REASON`], in characters.
const LONGEST_REASON: usize = 200;

/// A pod and the workloads above it. Also a workload alone, whose pods do not exist yet; the fields of the pod are empty then.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Dependent {
    /// The namespace of the pod and its workload.
    pub namespace: String,
    /// `metadata.name` of the pod.
    pub pod: String,
    /// `metadata.uid` of the pod.
    pub uid: String,
    /// The pod's label `controller-revision-hash`, which tells the versions of the template apart: a StatefulSet, a DaemonSet and some custom
    /// workloads write it.
    pub template_hash: Option<String>,
    /// The times of the `ControllerRevision` in which a StatefulSet or a DaemonSet keeps the pod's template; `None` for a pod of any other
    /// owner. `Err` where sluice may not read it, and the revision then has no certain name.
    pub controller_revision: Option<Result<Times, Unavailable>>,
    /// The annotations of the pod, which are those of its template.
    pub pod_annotations: Map<String, Value>,
    /// The labels of the pod, by which node rules and Services select it.
    pub pod_labels: Map<String, Value>,
    /// The time of the pod's creation.
    pub created: Option<Timestamp>,
    /// The time at which the kubelet took the pod up (`status.startTime`); before that is written, the time at which the pod was
    /// scheduled or created. For a pod that was held, the time of its creation.
    pub started: Option<Timestamp>,
    /// The node that the pod is on.
    pub node: Option<String>,
    /// Whether a scheduling gate of sluice still keeps the pod from taking a node. Also true for an object whose creation is held.
    pub held: bool,
    /// Whether the object that the user wrote does not exist yet, because its creation is held.
    pub to_create: bool,
    /// The report of the pod's gate on addresses. The report is no part of the pod: the status service fills it in when the gate
    /// asks.
    pub probed: Probed,
    /// The present boot of the pod's node, where the pod's gate reports that it opened in an earlier boot. The status service fills it in when
    /// the gate asks.
    pub rebooted: Option<Reboot>,
    /// The controllers above the pod, from the nearest to the topmost.
    pub owners: Vec<Owner>,
    /// The release or application that the pod belongs to.
    pub scope: Option<Scope>,
    /// The parts of the scope that the pod may be in: the names by which a plan may mean the pod.
    pub parts: Vec<Part>,
    /// The labels of the object that the user wrote: the labels by which a plan may select it.
    pub labels: Map<String, Value>,
}

/// One controller above a pod, such as a ReplicaSet or its Deployment.
#[derive(Debug, Clone, PartialEq)]
pub struct Owner {
    /// The kind of the controller.
    pub kind: Kind,
    /// `metadata.name` of the controller.
    pub name: String,
    /// `metadata.uid` of the controller.
    pub uid: String,
    /// The owner's own annotations (not those of its template).
    pub annotations: Map<String, Value>,
    /// The time of the controller's creation.
    pub created: Option<Timestamp>,
    /// The time of the last write of the owner, except for its status.
    pub written: Option<Timestamp>,
    /// The present weight of the owner, from its template or else from itself; `None` without a weight, which counts as 0.
    pub weight: Option<i64>,
}

/// The times at which an object was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Times {
    /// The time of the object's creation.
    pub created: Option<Timestamp>,
    /// The time of the last write of the object, except for its status.
    pub written: Option<Timestamp>,
}

/// The reason why the edges of a dependent are unknown.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unknown {
    /// A list of dependencies or a plan has a fault.
    #[error(transparent)]
    Text(#[from] ParseError),
    /// The plans of the dependent's namespace cannot be looked at.
    #[error("the plans of its namespace cannot be read")]
    Plans(Unavailable),
    /// The Namespace of the dependent cannot be looked at, so it is unknown whether node rules hold its pods.
    #[error("its Namespace cannot be read")]
    Namespace(Unavailable),
}

impl Dependent {
    /// `Deployment/api`: the object that the user wrote, which is the topmost owner or the pod itself.
    pub fn name(&self) -> String {
        match self.owners.last() {
            Some(owner) => format!("{}/{}", owner.kind, owner.name),
            None => format!("Pod/{}", self.pod),
        }
    }

    /// The UID of the object that the user wrote, which is the topmost owner or the pod itself.
    pub(crate) fn uid_as_written(&self) -> &str {
        self.owners.last().map_or(&self.uid, |owner| &owner.uid)
    }

    /// The names by which a plan may mean the dependent: those of the workloads above its pod and of the pod, its parts of the scope, and its labels.
    /// `is_same` and `has_chart` become the functions of [`Called`].
    fn called<'d>(
        &'d self,
        is_same: &'d dyn Fn(&Kind, &Kind) -> bool,
        has_chart: &'d dyn Fn(&Part) -> bool,
    ) -> Called<'d> {
        let objects = self.owners.iter().map(|it| (&it.kind, it.name.as_str()));
        Called {
            namespace: &self.namespace,
            objects: objects.collect(),
            pod: &self.pod,
            parts: &self.parts,
            labels: &self.labels,
            is_same,
            has_chart,
        }
    }

    /// The name and the annotations of the object that the user wrote (the topmost owner, else the pod), as an object with nothing but these.
    pub(crate) fn as_written(&self) -> Value {
        let (name, annotations) = match self.owners.last() {
            Some(owner) => (&owner.name, &owner.annotations),
            None => (&self.pod, &self.pod_annotations),
        };
        json!({"metadata": {"name": name, "annotations": annotations}})
    }

    /// Whether the pod or its topmost owner carries an annotation that asks for a gate, such as a list or a weight.
    pub(crate) fn asks_for_a_gate(&self) -> bool {
        annotation::ask(&self.annotations())
    }

    /// Whether the pod has the marker [`keys::GATED`] and no annotation asks for a gate any more: no list, no weight, no cap. `false` where the
    /// label of the Namespace asks for a gate in every pod.
    pub(crate) fn is_marked_for_nothing(&self, world: &dyn World) -> bool {
        self.pod_annotations.contains_key(keys::GATED)
            && !self.asks_for_a_gate()
            && plan::is_injected(&self.namespace, world) != Some(true)
    }

    /// The terms of the wait, such as the timeout: from the annotations of the pod, else of the topmost owner. A list that cannot be read does
    /// not matter here.
    pub fn terms(&self) -> ReadTerms {
        annotation::terms_by(|key| self.annotation(key))
    }

    /// The place of a [`keys::SKIP`] that opens the gate at once: the pod, its Job, or the workload that the user wrote; with the reason that is
    /// written beside it. `None` without such an annotation. On a Job it lets one run of a CronJob go, and none of the later runs.
    ///
    /// One "true" is enough. An operator that sets it in an emergency need not look for a "false" beside it.
    pub fn skipped_on(&self) -> Option<String> {
        if skips(&self.pod_annotations) {
            return Some(because("the pod".to_owned(), &self.pod_annotations));
        }
        let mut above = self.job().into_iter().chain(self.owners.last());
        let owner = above.find(|owner| skips(&owner.annotations))?;
        let place = format!("{}/{}", owner.kind, owner.name);
        Some(because(place, &owner.annotations))
    }

    /// The Job that made the pod, even where a workload above made the Job.
    pub(crate) fn job(&self) -> Option<&Owner> {
        self.owners.first().filter(|owner| owner.kind.is_job())
    }

    /// Every annotation that counts: the topmost owner's, and over them the pod's, which are those of its template.
    ///
    /// The annotations of an owner in between do not count: a Deployment copies its annotations onto its replica sets, and an
    /// annotation that is removed from the Deployment stays there.
    fn annotations(&self) -> Map<String, Value> {
        let topmost = self.owners.last();
        let mut all = topmost.map_or_else(Map::new, |owner| owner.annotations.clone());
        all.extend(self.pod_annotations.clone());
        all
    }

    /// The value of one annotation: the pod's, else the topmost owner's.
    fn annotation(&self, key: &str) -> Option<&Value> {
        let above = || self.owners.last()?.annotations.get(key);
        self.pod_annotations.get(key).or_else(above)
    }

    /// Whether a kind and a name, in the dependent's namespace, are those of the dependent's pod or of a workload above it.
    pub fn is(&self, kind: &Kind, name: &str) -> bool {
        self.owners
            .iter()
            .any(|owner| owner.name == name && owner.kind == *kind)
            || (kind.is_pod() && name == self.pod)
    }

    /// The names of the workloads above the dependent's pod and of the pod, the topmost workload's first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let owners = self.owners.iter().rev().map(|owner| owner.name.as_str());
        owners.chain([self.pod.as_str()])
    }

    /// Whether an object in the dependent's namespace is the dependent's pod or a workload above it: by its kind and name, or by its UID,
    /// because `kind` may spell a custom kind otherwise than the owner reference does.
    pub fn is_itself(&self, kind: &Kind, object: &Value) -> bool {
        let uid = text(object, &["metadata", "uid"]);
        let mut uids = self
            .owners
            .iter()
            .map(|owner| &owner.uid)
            .chain([&self.uid]);
        self.is(kind, &text(object, &["metadata", "name"]))
            || (!uid.is_empty() && uids.any(|it| *it == uid))
    }

    /// Whether an object in the dependent's namespace is the dependent's pod, a workload above it, or another object of the pod's nearest owner.
    /// Pods of one owner wait for the same dependencies, so to wait for each other would never end.
    pub fn includes(&self, kind: &Kind, object: &Value) -> bool {
        let sibling = || {
            let owner = controller_of(object)?;
            let (group, word) = group_kind(owner);
            let nearest = self.owners.first()?;
            let same = nearest.name == owner["name"].as_str()?;
            Some(same && nearest.kind.group() == group && nearest.kind.word() == word)
        };
        self.is_itself(kind, object) || sibling().unwrap_or(false)
    }
}

/// Whether [`keys::SKIP`] is true in the pod's own annotations. The owners are not looked at: they may be unknown.
pub fn is_skipped(pod: &Value) -> bool {
    let annotations = pod["metadata"]["annotations"].as_object();
    annotations.is_some_and(skips)
}

fn skips(annotations: &Map<String, Value>) -> bool {
    annotation::terms(annotations).terms.skip == Some(true)
}

/// Writes the place of a skip with its reason: `the pod: the queue is drained by hand`.
fn because(place: String, annotations: &Map<String, Value>) -> String {
    match annotations.get(keys::SKIP_REASON).and_then(Value::as_str) {
        Some(reason) => format!("{place}: {}", clean(reason, LONGEST_REASON)),
        None => place,
    }
}

fn annotations(object: &Value) -> Map<String, Value> {
    get(object, &["metadata", "annotations"])
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default()
}

fn text(object: &Value, path: &[&str]) -> String {
    get(object, path)
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned()
}
