//! The stage of a pod.

use crate::style::Tone;
use rules::gate::{self, Gate};
use rules::keys;
use serde::Serialize;
use serde_json::Value;
use strum::IntoStaticStr;

/// The present stage of a pod.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub(super) enum Stage {
    /// The pod is held before it takes a node.
    Held,
    /// The gate holds the pod back, or has yet to start.
    Waits,
    /// The gate has refused the pod.
    Refused,
    /// The gate has opened, and the pod's containers are on their way.
    Starts,
    /// A container ended without success, and is started again.
    Crashes,
    Ready,
    Done,
    Failed,
    /// The pod is being deleted, so its containers stop.
    Stops,
}

impl Stage {
    pub(super) fn of(pod: &Value) -> Self {
        if !pod["metadata"]["deletionTimestamp"].is_null() {
            return Self::Stops;
        }
        match pod["status"]["phase"].as_str() {
            Some("Succeeded") => return Self::Done,
            Some("Failed") => return Self::Failed,
            _ => {}
        }
        match Gate::of(pod) {
            _ if gate::is_held(pod) => Self::Held,
            Gate::Refused { .. } => Self::Refused,
            Gate::NotStarted | Gate::Waiting { .. } if is_gated(pod) => Self::Waits,
            _ if is_ready(pod) => Self::Ready,
            _ if is_done(pod) => Self::Done,
            _ if crashes(pod) => Self::Crashes,
            _ => Self::Starts,
        }
    }

    /// Whether sluice keeps the pod back: it is held, waits at its gate, or was refused by its gate.
    pub(super) fn waits(self) -> bool {
        matches!(self, Self::Held | Self::Waits | Self::Refused)
    }

    pub(super) fn word(self) -> &'static str {
        self.into()
    }

    /// The word as it follows the names of `count` pods: one waits, two wait.
    pub(super) fn verb(self, count: usize) -> &'static str {
        match self {
            Self::Waits if count != 1 => "wait",
            Self::Starts if count != 1 => "start",
            Self::Crashes if count != 1 => "crash",
            Self::Stops if count != 1 => "stop",
            _ => self.word(),
        }
    }

    pub(super) fn tone(self) -> Tone {
        match self {
            Self::Held | Self::Waits => Tone::Waiting,
            Self::Starts | Self::Stops => Tone::Moving,
            Self::Refused | Self::Crashes | Self::Failed => Tone::Bad,
            Self::Ready | Self::Done => Tone::Good,
        }
    }
}

/// Whether a pod has a gate, by the label of gated pods.
pub(super) fn is_gated(pod: &Value) -> bool {
    pod["metadata"]["labels"][keys::GATED].is_string()
}

fn is_ready(pod: &Value) -> bool {
    let conditions = pod["status"]["conditions"].as_array();
    let mut conditions = conditions.into_iter().flatten();
    conditions.any(|it| it["type"] == "Ready" && it["status"] == "True")
}

/// Whether every container of a pod has succeeded and is not started again. The pod's phase says so only a moment later.
fn is_done(pod: &Value) -> bool {
    let policy = pod["spec"]["restartPolicy"].as_str();
    let containers = pod["status"]["containerStatuses"].as_array();
    let ended = containers.filter(|it| !it.is_empty()).is_some_and(|it| {
        it.iter()
            .all(|it| it["state"]["terminated"]["exitCode"] == 0)
    });
    ended && matches!(policy, Some("Never" | "OnFailure"))
}

fn crashes(pod: &Value) -> bool {
    let containers = pod["status"]["containerStatuses"].as_array();
    let failed = |state: &Value| {
        let code = state["terminated"]["exitCode"].as_i64();
        code.is_some_and(|code| code != 0)
    };
    let mut containers = containers.into_iter().flatten();
    containers.any(|it| failed(&it["state"]) || failed(&it["lastState"]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_pod_is_as_far_as_its_containers_are() {
        let gate = |state: Value| json!([{"name": "sluice-gate", "state": state}]);
        let passed = gate(json!({"terminated": {"exitCode": 0}}));
        let ready = json!([{"type": "Ready", "status": "True"}]);
        let crashed =
            json!([{"state": {"waiting": {}}, "lastState": {"terminated": {"exitCode": 1}}}]);
        for (status, expected) in [
            (json!({"phase": "Pending"}), Stage::Waits),
            (
                json!({"initContainerStatuses": gate(json!({"running": {}}))}),
                Stage::Waits,
            ),
            (
                json!({"initContainerStatuses": gate(json!({"terminated": {"exitCode": 1}}))}),
                Stage::Refused,
            ),
            (json!({"initContainerStatuses": passed}), Stage::Starts),
            (
                json!({"initContainerStatuses": passed, "containerStatuses": crashed}),
                Stage::Crashes,
            ),
            (
                json!({"initContainerStatuses": passed, "containerStatuses": crashed, "conditions": ready}),
                Stage::Ready,
            ),
            (json!({"phase": "Succeeded"}), Stage::Done),
            (json!({"phase": "Failed"}), Stage::Failed),
        ] {
            let mut pod =
                json!({"metadata": {"labels": {"sluice.dev/gated": "true"}}, "status": status});
            assert_eq!(Stage::of(&pod), expected, "{pod}");
            pod["spec"]["schedulingGates"] = json!([{"name": "sluice.dev/hold"}]);
            let held = !matches!(expected, Stage::Done | Stage::Failed);
            assert_eq!(Stage::of(&pod) == Stage::Held, held, "{pod}");
            pod["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
            assert_eq!(Stage::of(&pod), Stage::Stops);
            // The mark and the headline, which counts those that wait, say the same.
            let held_back = expected.tone() == Tone::Waiting;
            assert_eq!(
                held_back,
                expected.waits() && expected != Stage::Refused,
                "{expected:?}"
            );
        }
        assert_eq!(Stage::of(&json!({})), Stage::Starts, "without a gate");
    }

    #[test]
    fn what_has_succeeded_is_done_before_its_phase_says_so() {
        let of = |policy: &str, codes: &[i64]| {
            let ended = codes
                .iter()
                .map(|code| json!({"state": {"terminated": {"exitCode": code}}}));
            let ended: Vec<_> = ended.collect();
            let status = json!({"phase": "Running", "containerStatuses": ended});
            Stage::of(&json!({"spec": {"restartPolicy": policy}, "status": status}))
        };
        assert_eq!(of("Never", &[0, 0]), Stage::Done);
        assert_eq!(of("Always", &[0]), Stage::Starts, "it is started again");
        assert_eq!(of("OnFailure", &[0, 1]), Stage::Crashes);
        assert_eq!(of("Never", &[]), Stage::Starts);
    }
}
