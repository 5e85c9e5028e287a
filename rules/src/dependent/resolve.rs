//! The way from a pod, or from a workload alone, to the dependent.

use super::older::is_older;
use super::revision::{started, waited_since};
use super::{Dependent, Owner, annotations, text};
use crate::annotation;
use crate::dependency::Part;
use crate::gate;
use crate::keys;
use crate::kinds::{self, Kind};
use crate::lookup::{Lookup, Unavailable};
use crate::object::{self, controller_of, created, group_kind};
use crate::path::get;
use crate::scope::{self, Scope};
use crate::world::World;
use jiff::Timestamp;
use serde_json::{Map, Value};

/// The built-in kinds of owners that a controller reference is followed to: group and kind.
const WORKLOADS: [(&str, &str); 7] = [
    ("apps", "ReplicaSet"),
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("apps", "DaemonSet"),
    ("", "ReplicationController"),
    ("batch", "Job"),
    ("batch", "CronJob"),
];

/// The most owners above a pod that are followed: more than Kubernetes makes (CronJob, Job, Pod), and a bound on forged chains.
const MAX_OWNERS: usize = 4;

/// The owners above a pod, as far as they are known.
#[derive(Default)]
struct Climb {
    /// The controllers above the pod, from the pod upwards.
    owners: Vec<Owner>,
    nearest: Option<Value>,
    topmost: Option<Value>,
    /// Why the owner above the last of `owners` cannot be read; `None` where there is no such owner.
    unread: Option<Unavailable>,
}

impl Climb {
    fn of(pod: &Value, extra: &[(String, String)], world: &dyn World) -> Lookup<Self> {
        let namespace = text(pod, &["metadata", "namespace"]);
        let mut climb = Self::default();
        let mut next = controller(pod, extra);
        while let Some(ControllerRef { kind, name, uid }) = next {
            if climb.owners.len() == MAX_OWNERS {
                break;
            }
            match world.object(&kind, Some(&namespace), &name) {
                // Another object has taken the owner's name, or is about to.
                Lookup::Found(object) if text(&object, &["metadata", "uid"]) != uid => {
                    return Lookup::NotFound;
                }
                Lookup::Found(object) => {
                    if is_older(&kind, &object, climb.topmost.as_ref().unwrap_or(pod)) {
                        return Lookup::Unavailable(Unavailable::Syncing);
                    }
                    next = controller(&object, extra);
                    climb.owners.push(Owner::of(kind, &object));
                    climb.nearest.get_or_insert_with(|| object.clone());
                    climb.topmost = Some(object);
                }
                Lookup::NotFound => return Lookup::NotFound,
                // At a custom kind that sluice cannot read the climb ends.
                Lookup::Unavailable(why @ (Unavailable::Forbidden | Unavailable::NotServed))
                    if matches!(kind, Kind::Custom { .. }) =>
                {
                    climb.unread = Some(why);
                    break;
                }
                Lookup::Unavailable(why) => return Lookup::Unavailable(why),
            }
        }
        let borrowed = climb.borrow(&namespace, world);
        borrowed.map(|()| climb)
    }

    /// Lets the list of a workload count for the pods of the Rollout that takes over its pod template: the user writes the list on the workload, and
    /// the pods are the Rollout's. An annotation of the Rollout itself wins. The annotations that place an object in a scope are not borrowed.
    /// Changes nothing for any other owner; not `Found` where the workload cannot be read.
    fn borrow(&mut self, namespace: &str, world: &dyn World) -> Lookup<()> {
        let (Some(owner), Some(object)) = (self.owners.last_mut(), &self.topmost) else {
            return Lookup::Found(());
        };
        let Some((kind, name)) = lender(&owner.kind, object) else {
            return Lookup::Found(());
        };
        world.object(&kind, Some(namespace), name).map(|workload| {
            for (key, value) in annotations(&workload) {
                if BORROWED.contains(&key.as_str()) {
                    owner.annotations.entry(key).or_insert(value);
                }
            }
        })
    }
}

/// The annotations that a Rollout takes over from the workload of its `spec.workloadRef`: the list, and the terms of the wait.
const BORROWED: [&str; 9] = [
    keys::DEPENDS_ON,
    keys::CONFIG_DEPENDS_ON,
    keys::REVISION,
    keys::TIMEOUT,
    keys::ON_TIMEOUT,
    keys::ON_FAILURE,
    keys::REGATE,
    keys::SKIP,
    keys::SKIP_REASON,
];

/// The kind and name of the workload whose pod template an Argo Rollout uses in place of its own (`spec.workloadRef`). `None` for other objects,
/// and for a custom kind.
fn lender<'o>(kind: &Kind, object: &'o Value) -> Option<(Kind, &'o str)> {
    let is_rollout = (kind.group(), kind.word()) == ("argoproj.io", "Rollout");
    let reference = get(object, &["spec", "workloadRef"]).filter(|_| is_rollout)?;
    let (group, word) = group_kind(reference);
    let kind = Kind::Builtin(kinds::builtin(group, word)?);
    Some((kind, reference["name"].as_str()?))
}

impl Dependent {
    /// The dependent of `pod`, with the owners that the controller references lead to.
    ///
    /// `extra` are the kinds beside the built-in ones that are followed, as `(group, kind)`. `NotFound` means that an owner, or its
    /// `ControllerRevision`, has not been seen yet or that another object has the owner's name; `Syncing` that the known owner is older than the pod:
    /// watches of two kinds have no order between them.
    pub fn resolve(pod: &Value, extra: &[(String, String)], world: &dyn World) -> Lookup<Self> {
        Climb::of(pod, extra, world).and_then(|climb| Self::below(climb, pod, world))
    }

    /// Builds the dependent from a pod and the owners in `climb`. Unavailable where the next owner cannot be read and may carry the list, or
    /// where the known StatefulSet is older than the pod.
    fn below(climb: Climb, pod: &Value, world: &dyn World) -> Lookup<Self> {
        let Climb {
            owners,
            nearest,
            topmost,
            unread,
        } = climb;
        let hash = get(pod, &["metadata", "labels", "controller-revision-hash"]);
        let (scope, parts, labels) = belonging(pod, topmost.as_ref());
        let mut dependent = Self {
            scope,
            parts,
            labels,
            namespace: text(pod, &["metadata", "namespace"]),
            pod: text(pod, &["metadata", "name"]),
            uid: text(pod, &["metadata", "uid"]),
            template_hash: hash.and_then(Value::as_str).map(ToOwned::to_owned),
            pod_annotations: annotations(pod),
            pod_labels: object::labels(pod),
            created: created(pod),
            started: waited_since(&owners).or_else(|| started(pod)),
            node: Some(text(pod, &["spec", "nodeName"])).filter(|node| !node.is_empty()),
            held: gate::is_held(pod),
            owners,
            ..Self::default()
        };
        // The unread owner may carry the list.
        if let Some(why) = unread.filter(|_| !dependent.has_list()) {
            return Lookup::Unavailable(why);
        }
        let revision = dependent.look_up_controller_revision(world);
        revision.and_then(|revision| {
            dependent.controller_revision = revision;
            if nearest.is_some_and(|set| dependent.outruns(&set, world)) {
                return Lookup::Unavailable(Unavailable::Syncing);
            }
            Lookup::Found(dependent)
        })
    }

    /// Whether the pod or its topmost known owner has one of the two annotations with a list. A text of [`keys::CONFIG_DEPENDS_ON`] that is
    /// another product's ([`annotation::foreign`]) does not count.
    fn has_list(&self) -> bool {
        let annotations = self.annotations();
        let honoured =
            |key: &str| key == keys::DEPENDS_ON || annotation::foreign(&annotations).is_none();
        [keys::DEPENDS_ON, keys::CONFIG_DEPENDS_ON]
            .into_iter()
            .any(|key| annotations.contains_key(key) && honoured(key))
    }

    /// The dependent that the pods of a workload will be, without a pod: its fields about one pod, such as name, node and start, are empty.
    pub fn of_workload(kind: Kind, object: &Value, namespace: &str) -> Self {
        let template = object::template(object);
        let (scope, parts, labels) = belonging(&Value::Null, Some(object));
        Self {
            namespace: namespace.to_owned(),
            pod_annotations: template.map(annotations).unwrap_or_default(),
            pod_labels: template.map(object::labels).unwrap_or_default(),
            owners: vec![Owner::of(kind, object)],
            scope,
            parts,
            labels,
            ..Self::default()
        }
    }

    /// The dependent that an object is while its creation is held; `tried` is the time at which a client first tried to create it. `name` is the
    /// object's name, or the beginning of it where the API server completes the name. The dependent counts as held, so edges of a node or an
    /// address are left to the gates of the object's pods.
    pub fn to_create(
        kind: Kind,
        object: &Value,
        (namespace, name): (&str, &str),
        tried: Timestamp,
    ) -> Self {
        let mut dependent = Self::of_workload(kind, object, namespace);
        for owner in &mut dependent.owners {
            owner.created = Some(tried);
            // The API server makes another UID and, without a name, another name for each try.
            owner.uid = String::new();
            name.clone_into(&mut owner.name);
        }
        Self {
            created: Some(tried),
            started: Some(tried),
            held: true,
            to_create: true,
            ..dependent
        }
    }
}

impl Owner {
    fn of(kind: Kind, object: &Value) -> Self {
        Self {
            kind,
            name: text(object, &["metadata", "name"]),
            uid: text(object, &["metadata", "uid"]),
            annotations: annotations(object),
            created: created(object),
            written: object::written(object),
            weight: scope::weight(object),
        }
    }
}

/// A pod's scope, the parts of it that the pod may be in, and the labels of the object that the user wrote (`topmost`, else the pod). The
/// annotations `sluice.dev/scope` and `sluice.dev/group` count on the pod too; an installer's names count only on the object that the user
/// wrote.
fn belonging(
    pod: &Value,
    topmost: Option<&Value>,
) -> (Option<Scope>, Vec<Part>, Map<String, Value>) {
    let object = topmost.unwrap_or(pod);
    let by_hand = object::said(pod, keys::SCOPE).and_then(|_| Scope::of(pod));
    let scope = by_hand.or_else(|| Scope::of(object));
    let charts = [scope::chart(object), scope::app(object)];
    let charts = charts.into_iter().flatten();
    let groups = scope::groups(pod).chain(scope::groups(object));
    let parts = charts
        .map(|name| Part::SubChart(name.to_owned()))
        .chain(groups.map(|name| Part::Group(name.to_owned())));
    (scope, parts.collect(), object::labels(object))
}

/// The controller of an object, by its owner references.
struct ControllerRef {
    kind: Kind,
    name: String,
    uid: String,
}

/// The controller of an object; `None` without a controller, or if its kind is neither one of [`WORKLOADS`] nor one of `extra`.
fn controller(object: &Value, extra: &[(String, String)]) -> Option<ControllerRef> {
    let reference = controller_of(object)?;
    let (group, kind) = group_kind(reference);
    let kind = if WORKLOADS.contains(&(group, kind)) {
        Kind::Builtin(kinds::builtin(group, kind)?)
    } else if extra.iter().any(|(g, k)| g == group && k == kind) {
        Kind::Custom {
            group: group.to_owned(),
            word: kind.to_owned(),
        }
    } else {
        return None;
    };
    Some(ControllerRef {
        kind,
        name: reference["name"].as_str()?.to_owned(),
        uid: text(reference, &["uid"]),
    })
}
