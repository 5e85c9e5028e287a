//! Holds back an object whose status may be from before a boot of the dependent's node. After a power failure the API server still shows for
//! tens of seconds what kubelets wrote before it: pods that are gone look ready, and their endpoints look serving. For a dependent whose node
//! was booted a pod counts only by containers that started since, or by a report of its kubelet since.
//!
//! A status without pods behind it (of a custom resource) counts once it was written since. After [`LONGEST`] the status alone decides,
//! so no dependent waits for ever. A dependent whose gate tells of no boot reads nothing of this.

use super::basis::Judge;
use crate::dependency::State;
use crate::judged::{Judged, Reason, unavailable, unmet};
use crate::kinds::{self, Kind};
use crate::kstatus::Status;
use crate::lookup::Lookup;
use crate::object::{self, name, status_written};
use crate::reboot::{self, LONGEST, PODS_AFTER_NODE, Reboot};
use crate::selector::Selector;
use serde_json::Value;

/// The facts that the health of an object rests on, by its kind.
enum Rests {
    /// The health rests on nothing that a boot ends.
    Itself,
    /// The health rests on a status that a process of the cluster wrote, and not on pods that sluice can find.
    Written,
    /// The health rests on each of the pods with these labels.
    EachPod(Selector),
    /// The health rests on one of the pods with these labels.
    OnePod(Selector),
    /// The object is a pod, so its health rests on its own containers.
    ThisPod,
}

impl Rests {
    fn of(kind: &Kind, object: &Value) -> Self {
        let spec = &object["spec"];
        match (kind.group(), kind.word()) {
            ("", "Pod") => Self::ThisPod,
            ("", "Service") => match spec["selector"].as_object() {
                Some(labels) if !labels.is_empty() && spec["type"] != "ExternalName" => {
                    Self::OnePod(Selector::labels(&spec["selector"]))
                }
                _ => Self::Itself,
            },
            ("", "ReplicationController") => Self::EachPod(Selector::labels(&spec["selector"])),
            // The labels may select a few more pods. Such a pod from before the boot holds the dependent back for no longer than a pod of the
            // object.
            ("apps", _) => Self::EachPod(Selector::labels(&spec["selector"]["matchLabels"])),
            ("apiregistration.k8s.io", _) => Self::Written,
            _ if matches!(kind, Kind::Custom { .. }) && object["status"].is_object() => {
                Self::Written
            }
            _ => Self::Itself,
        }
    }
}

impl Judge<'_> {
    /// Holds back a satisfied finding about an object whose status may be left from before the boot of the dependent's node, for at most
    /// [`LONGEST`] after the gate began to ask. Unchanged without a boot, and for a state that a boot does not end, such as `present` or
    /// `complete`.
    pub(super) fn since_boot(
        &self,
        judged: Judged,
        kind: &Kind,
        object: &Value,
        state: State,
    ) -> Judged {
        let Some(reboot) = &self.dependent.rebooted else {
            return judged;
        };
        let lasts = matches!(
            state,
            State::Present | State::Complete | State::Addressed | State::Connects
        );
        if lasts || !judged.satisfied || self.at_once {
            return judged;
        }
        match self.old(reboot, kind, object) {
            Some(old) if !self.reached(reboot.asked + LONGEST) => old,
            _ => judged,
        }
    }

    /// The finding about an object whose status may be left from before the boot, or whose pods cannot be read; `None` where the status is
    /// newer, or where the health of the object rests on nothing that a boot ends.
    fn old(&self, reboot: &Reboot, kind: &Kind, object: &Value) -> Option<Judged> {
        let (selector, one_is_enough) = match Rests::of(kind, object) {
            Rests::Itself => return None,
            Rests::ThisPod => return self.pod_is_old(reboot, object).then(|| told(object)),
            Rests::Written => {
                let written = status_written(object).or_else(|| object::written(object));
                let since = written.is_some_and(|written| written >= reboot.booted);
                let message = "its status was written before this pod's node was booted";
                return (!since).then(|| held(message));
            }
            Rests::EachPod(selector) => (selector, false),
            Rests::OnePod(selector) => (selector, true),
        };
        let kind = Kind::Builtin(kinds::POD);
        let namespace = object["metadata"]["namespace"].as_str();
        let pods = match self.world.list(&kind, namespace, &selector) {
            Lookup::Found(pods) => pods,
            Lookup::NotFound => Vec::new(),
            Lookup::Unavailable(why) => return Some(unavailable(why, &kind, false)),
        };
        let (old, since): (Vec<&Value>, Vec<&Value>) = pods
            .iter()
            .filter(|pod| is_ready(pod))
            .partition(|pod| self.pod_is_old(reboot, pod));
        if one_is_enough && !since.is_empty() {
            return None;
        }
        old.first().map(|pod| told(pod))
    }

    /// Whether the status of a pod may be left from before the boot: a container of it runs, by that status, since before. On the dependent's
    /// node this decides. On another node the container may still run, so there a report of the kubelet since the boot proves the status.
    fn pod_is_old(&self, reboot: &Reboot, pod: &Value) -> bool {
        if !reboot.precedes(pod) {
            return false;
        }
        let Some(node) = pod["spec"]["nodeName"].as_str() else {
            return true;
        };
        if self.dependent.node.as_deref() == Some(node) {
            return true;
        }
        let kind = Kind::Builtin(kinds::NODE);
        let Lookup::Found(node) = self.world.object(&kind, None, node) else {
            return true;
        };
        let reported = reboot::reported(&node).filter(|at| *at >= reboot.booted);
        !reported.is_some_and(|at| self.reached(at + PODS_AFTER_NODE))
    }
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    let ready = |it: &Value| it["type"] == "Ready" && it["status"] == "True";
    conditions.is_some_and(|conditions| conditions.iter().any(ready))
}

fn told(pod: &Value) -> Judged {
    held(&format!(
        "Pod/{} seems ready by containers from before this pod's node was booted",
        name(pod)
    ))
}

fn held(why: &str) -> Judged {
    let message = format!(
        "{why}, so its status may be left from before a power failure; it counts once its kubelet or its controller has reported \
         again, or {} s after this gate began to ask",
        LONGEST.as_secs()
    );
    unmet(Status::Unknown, Reason::BeforeBoot, message)
}
