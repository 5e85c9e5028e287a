//! Finds the pods that `status` is asked about, and the facts about them.

use super::judge;
use super::stage::{Stage, is_gated};
use super::tree::{Lacking, Pod, Tree, Workload};
use crate::access;
use crate::installed::Installed;
use crate::reader::Reader;
use crate::subject::no_release;
use anyhow::{Result, bail, ensure};
use jiff::Timestamp;
use rules::annotation;
use rules::cause::{self, Cause};
use rules::dependent::Dependent;
use rules::gate::{self, Gate};
use rules::job;
use rules::keys;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::object;
use rules::scope::{self, Scope};
use rules::selector::Selector;
use rules::world::Objects;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The pods that `status` looks at.
#[derive(Debug, Clone)]
pub(super) struct Scene {
    /// The namespace of the pods; `None` for all namespaces.
    pub(super) namespace: Option<String>,
    pub(super) chosen: Chosen,
    /// The labels of the pods; empty for all pods.
    pub(super) labels: Selector,
    /// Whether the user waits for an installation to begin.
    pub(super) patient: bool,
}

/// The owner or the state that chooses the pods.
#[derive(Debug, Clone)]
pub(super) enum Chosen {
    Pod(String),
    Workload(Kind, String),
    Release(String),
    /// Every pod with a gate; those that wait are shown.
    Waiting,
}

impl Scene {
    /// The words for the chosen pods in the headline: `namespace shop`, `release a in namespace shop`.
    pub(super) fn name(&self) -> String {
        let place = match &self.namespace {
            Some(namespace) => format!("namespace {namespace}"),
            None => "all namespaces".to_owned(),
        };
        match &self.chosen {
            Chosen::Pod(name) => format!("pod {name} in {place}"),
            Chosen::Workload(kind, name) => format!("{kind} {name} in {place}"),
            Chosen::Release(name) => format!("release {name} in {place}"),
            Chosen::Waiting => place,
        }
    }

    /// Reads the pods among which the chosen ones are: the named pod; for a workload all pods of the namespace; else those with a gate and the labels.
    /// The pods that suspended Jobs will make are added. A missing pod is an error.
    pub(super) fn pods(&self, reader: &Reader) -> Result<Vec<Value>> {
        let namespace = self.namespace.as_deref();
        let all = match &self.chosen {
            Chosen::Pod(name) => {
                return Ok(vec![pod(reader, namespace.unwrap_or_default(), name)?]);
            }
            Chosen::Workload(..) => Selector::default(),
            Chosen::Release(_) | Chosen::Waiting => {
                let mut gated = Selector::label(keys::GATED, keys::GATED_VALUE);
                gated.0.extend(self.labels.0.iter().cloned());
                gated
            }
        };
        let kind = Kind::Builtin(kinds::POD);
        match reader.list(&kind, namespace, &all) {
            Lookup::Found(mut pods) => {
                pods.extend(self.to_be(reader));
                Ok(pods)
            }
            Lookup::NotFound => Ok(Vec::new()),
            Lookup::Unavailable(why) => bail!(access::unread(why, "list", &kind, namespace)),
        }
    }

    /// The pods, with the labels, that Jobs will make once sluice resumes them; none where the caller may not list Jobs.
    fn to_be(&self, reader: &Reader) -> Vec<Value> {
        let jobs = Kind::Builtin(kinds::JOB);
        if matches!(&self.chosen, Chosen::Workload(kind, _) if *kind != jobs) {
            return Vec::new();
        }
        let home = self.namespace.as_deref();
        match reader.list_where(&jobs, home, &Selector::default(), &job::is_held) {
            Lookup::Found(held) => {
                let pods = held.iter().map(to_be);
                pods.filter(|pod| self.labels.selects(pod)).collect()
            }
            Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        }
    }

    /// The facts about the chosen pods. Where every pod is chosen, a pod that does not wait and whose UID is not in `followed` is counted,
    /// but not shown. An error where the pods cannot be listed, or the named pod, workload, release or namespace does not exist.
    pub(super) fn look(
        &self,
        world: &Installed<'_>,
        followed: &BTreeSet<String>,
        now: Timestamp,
    ) -> Result<Tree> {
        let mut tree = Tree::new(self.name());
        let mut workloads: BTreeMap<(String, String), Workload> = BTreeMap::new();
        for pod in &self.pods(world.reader)? {
            let above = Dependent::resolve(pod, &world.basis.settings.workloads, world);
            let above = match &above {
                Lookup::Found(dependent) => Some(dependent),
                Lookup::NotFound | Lookup::Unavailable(_) => None,
            };
            if !self.is_of(pod, above, world) {
                continue;
            }
            tree.pods += usize::from(is_gated(pod));
            let found = look_at(pod, world, now);
            tree.waiting += usize::from(found.stage.waits());
            let quiet = matches!(self.chosen, Chosen::Waiting) && !followed.contains(&found.uid);
            if quiet && !found.stage.waits() {
                continue;
            }
            let workload = Workload::above(pod, above);
            let key = (workload.namespace.clone(), workload.name.clone());
            workloads.entry(key).or_insert(workload).pods.push(found);
        }
        tree.workloads = workloads.into_values().collect();
        tree.podless = matches!(self.chosen, Chosen::Workload(..)) && tree.workloads.is_empty();
        self.is_there(world, &tree)?;
        self.refused(world, &mut tree);
        Ok(tree)
    }

    /// Adds the workloads that get no pods, or not all of them, as far as the caller may look at workloads: where nothing waits, the
    /// refusal is what there is to know.
    fn refused(&self, world: &Installed<'_>, tree: &mut Tree) {
        for (kind, namespace, object) in self.written(world) {
            let workload = Workload::without_pods(&kind, &object, &namespace);
            if let Some(why) = cause::refused(&object) {
                tree.refuse(workload, why);
            } else if cause::lacks_pods(&object) {
                let uid = object["metadata"]["uid"].as_str().unwrap_or_default();
                let uid = uid.to_owned();
                tree.lacking.push(Lacking { uid, workload });
            }
        }
    }

    /// The workloads of the scene that ask for a gate and that a user wrote, each with its kind and its namespace. Empty for a single pod, and for
    /// all namespaces; a kind that the caller may not list is left out.
    fn written(&self, world: &Installed<'_>) -> Vec<(Kind, String, Value)> {
        let Some(namespace) = &self.namespace else {
            return Vec::new();
        };
        let home = namespace.as_str();
        let of = |kind: Kind, found: Vec<Value>| -> Vec<_> {
            let found = found.into_iter();
            found
                .map(|it| (kind.clone(), namespace.clone(), it))
                .collect()
        };
        match &self.chosen {
            Chosen::Pod(_) => Vec::new(),
            Chosen::Workload(kind, name) => match world.reader.object(kind, Some(home), name) {
                Lookup::Found(object) if is_written(&object) => of(kind.clone(), vec![object]),
                Lookup::Found(_) | Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
            },
            Chosen::Release(_) | Chosen::Waiting => {
                let all = scope::workloads().flat_map(|kind| {
                    let all = Selector::default();
                    let has_labels =
                        |it: &Value| object::template(it).is_some_and(|it| self.labels.selects(it));
                    let all_pods = self.labels.0.is_empty();
                    let written = |it: &Value| is_written(it) && (all_pods || has_labels(it));
                    match world.reader.list_where(&kind, Some(home), &all, &written) {
                        Lookup::Found(found) => of(kind, found),
                        Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
                    }
                });
                let is_of = |object: &Value| match &self.chosen {
                    Chosen::Release(name) => Scope::of(object).is_some_and(|it| it.name == *name),
                    _ => true,
                };
                all.filter(|(_, _, object)| is_of(object)).collect()
            }
        }
    }

    fn is_of(&self, pod: &Value, above: Option<&Dependent>, world: &Installed<'_>) -> bool {
        match &self.chosen {
            Chosen::Pod(_) | Chosen::Waiting => true,
            Chosen::Workload(kind, name) => {
                let kind = world.reader.canonical(kind.clone());
                above.is_some_and(|above| above.is(&kind, name))
            }
            Chosen::Release(name) => {
                let scope = above.map_or_else(|| Scope::of(pod), |above| above.scope.clone());
                scope.is_some_and(|scope| scope.name == *name)
            }
        }
    }

    /// An error where the named workload, release or namespace does not exist: it is not merely one that does not wait. A patient scene takes a
    /// missing release for one that is still to come.
    fn is_there(&self, world: &Installed<'_>, found: &Tree) -> Result<()> {
        match (&self.chosen, self.namespace.as_deref()) {
            (Chosen::Workload(kind, name), namespace) => {
                is_there(world.reader, kind, namespace.unwrap_or_default(), name)
            }
            (Chosen::Release(name), Some(namespace))
                if !self.patient && found.workloads.is_empty() =>
            {
                let names = releases(world.reader, namespace);
                let place = format!("namespace {namespace}");
                ensure!(names.contains(name), no_release(name, &place, &names));
                Ok(())
            }
            (Chosen::Waiting, Some(namespace)) => exists(world.reader, namespace),
            (Chosen::Pod(_) | Chosen::Release(_), _) | (Chosen::Waiting, None) => Ok(()),
        }
    }
}

/// Whether a workload asks for a gate and was written by a user: no controller has made it.
fn is_written(workload: &Value) -> bool {
    let template = workload.pointer("/spec/template");
    let places = [Some(workload), template].into_iter().flatten();
    let mut annotations = places.filter_map(|it| it["metadata"]["annotations"].as_object());
    let asks = annotations.any(|it| it.contains_key(keys::GATED) || annotation::ask(it));
    asks && object::controller_of(workload).is_none()
}

/// An error where an object does not exist, which names objects of other kinds with its name, or where the caller may not read it.
pub(crate) fn is_there(reader: &Reader, kind: &Kind, namespace: &str, name: &str) -> Result<()> {
    let place = Some(namespace);
    match reader.object(kind, place, name) {
        Lookup::Found(_) => Ok(()),
        Lookup::NotFound => bail!("{}", absent(reader, kind, place, name)),
        Lookup::Unavailable(why) => unreadable(kind, place, why),
    }
}

/// Reads a pod by its name; an error where it does not exist or cannot be read.
pub(super) fn pod(reader: &Reader, namespace: &str, name: &str) -> Result<Value> {
    let pods = Kind::Builtin(kinds::POD);
    match reader.object(&pods, Some(namespace), name) {
        Lookup::Found(pod) => Ok(pod),
        Lookup::NotFound => bail!("{}", absent(reader, &pods, Some(namespace), name)),
        Lookup::Unavailable(why) => bail!(
            "cannot read pod {name:?}: {}",
            access::unread(why, "get", &pods, Some(namespace))
        ),
    }
}

/// The pod that a suspended Job will make. It has neither name nor UID yet, so it gets `(no pod yet)` and the Job's UID.
fn to_be(job: &Value) -> Value {
    let mut pod = job::pod_to_be(job);
    pod["metadata"]["name"] = "(no pod yet)".into();
    pod["metadata"]["uid"] = job["metadata"]["uid"].clone();
    pod
}

fn look_at(pod: &Value, world: &Installed<'_>, now: Timestamp) -> Pod {
    let stage = Stage::of(pod);
    let text = |pointer: &str| pod.pointer(pointer).and_then(Value::as_str);
    let (since, opened) = match Gate::of(pod) {
        _ if stage == Stage::Held => (text("/metadata/creationTimestamp"), None),
        Gate::NotStarted | Gate::Refused { .. } => (None, None),
        Gate::Waiting { since } => (Some(since), None),
        Gate::Passed { since, at } => (Some(since), Some(at)),
    };
    let judged = stage.waits().then(|| judge(world, pod, now));
    let (told, unknown) = match judged {
        Some(Ok(told)) => (Some(told), None),
        Some(Err(why)) => (None, Some(why.to_string())),
        None => (None, None),
    };
    let (answer, roots, unjudged) = match told {
        Some(told) => (Some(told.answer), told.roots, told.unjudged),
        None => (None, Vec::new(), Vec::new()),
    };
    Pod {
        name: object::name(pod).to_owned(),
        namespace: text("/metadata/namespace").unwrap_or_default().to_owned(),
        uid: text("/metadata/uid").unwrap_or_default().to_owned(),
        stage,
        gated: is_gated(pod),
        since: since.and_then(|it| it.parse().ok()),
        opened: opened.and_then(|it| it.parse().ok()),
        node: text("/spec/nodeName").map(ToOwned::to_owned),
        answer,
        roots,
        unjudged,
        unknown,
        stranded: None,
        not_started: not_started(pod, now),
        trouble: trouble(pod, now),
        images: early_images(pod),
        pulls: Vec::new(),
        gate: None,
    }
}

/// Why the gate of a pod cannot start, for a pod whose gate has yet to start, as far as the pod says; an Event may know more of a volume or of the
/// network. `None` where the pod does not say, and for any other pod.
pub(super) fn not_started(pod: &Value, now: Timestamp) -> Option<String> {
    let cause = Cause::of(pod, now).filter(|_| is_new(pod));
    let told = cause.filter(|it| !matches!(it, Cause::NotMade));
    told.map(|it| format!("the pod {it}"))
}

/// Why the containers of a pod whose gate has opened do not become ready; `None` where the pod does not say, and for any other pod.
pub(super) fn trouble(pod: &Value, now: Timestamp) -> Option<String> {
    let has_opened = matches!(Gate::of(pod), Gate::Passed { .. });
    let runs = matches!(Stage::of(pod), Stage::Starts | Stage::Crashes);
    let cause = Cause::of(pod, now).filter(|_| has_opened && runs);
    cause.map(|it| format!("it {it}"))
}

/// Whether the gate of a pod has yet to start, and nothing holds the pod back before it.
fn is_new(pod: &Value) -> bool {
    Gate::of(pod) == Gate::NotStarted && Stage::of(pod) == Stage::Waits
}

/// Whether a pod has a node and its gate has yet to start there.
pub(super) fn is_to_start(pod: &Value) -> bool {
    is_new(pod) && pod["spec"]["nodeName"].is_string()
}

/// The images that are pulled early for a pod that waits on its node: only Events tell of them. Empty for any other pod.
pub(super) fn early_images(pod: &Value) -> Vec<String> {
    let waits = Stage::of(pod) == Stage::Waits && pod["spec"]["nodeName"].is_string();
    let images = gate::prefetched(pod).filter(|_| waits);
    images.map(ToOwned::to_owned).collect()
}

/// The sentence that an object was not found: that its namespace does not exist, where that is so; else with the workloads of other kinds that have
/// its name and that no object controls.
fn absent(reader: &Reader, kind: &Kind, namespace: Option<&str>, name: &str) -> String {
    let place = namespace.unwrap_or_default();
    if let Err(why) = exists(reader, place) {
        return why.to_string();
    }
    let word = kind.to_string().to_lowercase();
    let written = |other: &Kind| match reader.object(other, namespace, name) {
        Lookup::Found(object) => object::controller_of(&object).is_none(),
        Lookup::NotFound | Lookup::Unavailable(_) => false,
    };
    let others = scope::workloads().filter(|other| other != kind && written(other));
    let others: Vec<_> = others
        .map(|other| format!("{}/{name}", other.to_string().to_lowercase()))
        .collect();
    let likely = match others.as_slice() {
        [] => String::new(),
        others => format!("; did you mean {}?", others.join(" or ")),
    };
    format!("{word} {name:?} not found in namespace {place:?}{likely}")
}

/// An error where a namespace does not exist; one that the caller may not read counts as existing.
pub(crate) fn exists(reader: &Reader, namespace: &str) -> Result<()> {
    let kind = Kind::Builtin(kinds::NAMESPACE);
    match reader.object(&kind, None, namespace) {
        Lookup::NotFound => bail!(
            "namespace {namespace:?} does not exist; kubectl get namespaces shows those that do"
        ),
        Lookup::Found(_) | Lookup::Unavailable(_) => Ok(()),
    }
}

fn unreadable(kind: &Kind, namespace: Option<&str>, why: Unavailable) -> Result<()> {
    match why {
        // The next round has the answer.
        Unavailable::Syncing => Ok(()),
        why => bail!(access::unread(why, "get", kind, namespace)),
    }
}

/// The names of the releases that the workloads and CronJobs of a namespace belong to.
fn releases(reader: &Reader, namespace: &str) -> BTreeSet<String> {
    let cron_jobs = kinds::builtin("batch", "CronJob").map(Kind::Builtin);
    let lists = scope::workloads().chain(cron_jobs).map(|kind| {
        match reader.list(&kind, Some(namespace), &Selector::default()) {
            Lookup::Found(objects) => objects,
            Lookup::NotFound | Lookup::Unavailable(_) => Vec::new(),
        }
    });
    let scopes = lists.flatten().filter_map(|object| Scope::of(&object));
    scopes.map(|scope| scope.name).collect()
}

#[cfg(test)]
mod tests;
