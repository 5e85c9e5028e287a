//! The times at which pods started and became ready, as the kubelet wrote them into their status; in whole seconds, rounded down.

use harness::cluster::{items, text};
use jiff::Timestamp;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// The pods of a namespace as they were last seen, also those that are deleted.
#[derive(Default)]
pub(super) struct Lived(BTreeMap<String, Value>);

impl Lived {
    pub(super) fn note(&mut self, pod: &Value) {
        let uid = text(pod, "/metadata/uid").to_owned();
        self.0.insert(uid, pod.clone());
    }

    /// Returns the time at which the first pod of a workload, such as `Deployment/api`, started its own container; `None` while none has.
    pub(super) fn started(&self, workload: &str) -> Option<Timestamp> {
        self.pods_of(workload).filter_map(started).min()
    }

    /// Returns the time at which the last pod of a workload was ready, or had completed; `None` while one is neither, and without a pod.
    pub(super) fn ready(&self, workload: &str) -> Option<Timestamp> {
        let ready: Option<Vec<_>> = self.pods_of(workload).map(ready).collect();
        ready?.into_iter().max()
    }

    /// Returns the Jobs with a pod that runs its own container, such as `Job/migrate`.
    pub(super) fn running_jobs(&self) -> BTreeSet<String> {
        let runs = |pod: &&Value| !state(pod, "running").is_null();
        let running = self.0.values().filter(runs).map(workload);
        running.filter(|it| it.starts_with("Job/")).collect()
    }

    fn pods_of(&self, name: &str) -> impl Iterator<Item = &Value> {
        self.0.values().filter(move |pod| workload(pod) == name)
    }
}

/// Returns the workload above a pod, such as `Deployment/api`: the owner, or the Deployment of a ReplicaSet.
fn workload(pod: &Value) -> String {
    let owner = |field: &str| text(pod, &format!("/metadata/ownerReferences/0/{field}"));
    let (kind, name) = (owner("kind"), owner("name"));
    let hash = text(pod, "/metadata/labels/pod-template-hash");
    match name.strip_suffix(hash) {
        Some(name) if kind == "ReplicaSet" => format!("Deployment/{}", name.trim_end_matches('-')),
        _ => format!("{kind}/{name}"),
    }
}

/// Returns a state, such as `running`, from the status of a pod's first container; null where it is not in that state.
fn state<'p>(pod: &'p Value, state: &str) -> &'p Value {
    &pod["status"]["containerStatuses"][0]["state"][state]
}

fn started(pod: &Value) -> Option<Timestamp> {
    let states = ["running", "terminated"].map(|it| text(state(pod, it), "/startedAt"));
    states.iter().find_map(|time| time.parse().ok())
}

fn ready(pod: &Value) -> Option<Timestamp> {
    if pod["status"]["phase"] == "Succeeded" {
        return text(state(pod, "terminated"), "/finishedAt").parse().ok();
    }
    let mut conditions = items(pod, "/status/conditions").iter();
    let ready = conditions.find(|it| it["type"] == "Ready" && it["status"] == "True")?;
    text(ready, "/lastTransitionTime").parse().ok()
}
