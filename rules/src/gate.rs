//! The gate in a pod: its parts, and its progress, by the pod's status; and the hold before it.

mod parts;
mod prefetch;

pub use parts::{STATE_VOLUME, TOKEN_VOLUME, is_gate, taken};
pub use prefetch::{PREFETCH_VOLUMES, PULL_POLICY, later_images, prefetched};

use crate::keys;
use serde_json::Value;

/// The progress of a pod's gate. The times are the kubelet's own texts, empty where it wrote none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Gate<'p> {
    /// The gate has not run yet, or the pod's status does not tell of it.
    NotStarted,
    /// The gate of the pod runs, and waits for its dependencies.
    Waiting {
        /// The time at which the waiting gate began to run.
        since: &'p str,
    },
    /// The gate has opened, so the pod's containers may start.
    Passed {
        /// The time at which the gate began to run.
        since: &'p str,
        /// The time at which the gate opened.
        at: &'p str,
    },
    /// The gate has refused the pod, and the kubelet starts it again or has given up.
    Refused {
        /// The time at which the gate refused the pod.
        at: &'p str,
    },
}

impl<'p> Gate<'p> {
    /// The progress of the gate of a pod, by the status of the gate's container; [`Gate::NotStarted`] where the pod's status does not tell of it.
    pub fn of(pod: &'p Value) -> Self {
        let Some(gate) = status(pod) else {
            return Self::NotStarted;
        };
        if let Some(ended) = found(&gate["state"]["terminated"]) {
            return match ended["exitCode"].as_i64() {
                Some(code) if code != 0 => Self::refused(ended),
                _ => Self::Passed {
                    since: text(&ended["startedAt"]),
                    at: text(&ended["finishedAt"]),
                },
            };
        }
        if let Some(running) = found(&gate["state"]["running"]) {
            let since = text(&running["startedAt"]);
            return Self::Waiting { since };
        }
        // Between two starts, while the kubelet pauses.
        found(&gate["lastState"]["terminated"]).map_or(Self::NotStarted, Self::refused)
    }

    fn refused(ended: &'p Value) -> Self {
        Self::Refused {
            at: text(&ended["finishedAt"]),
        }
    }
}

/// The index of the hold among a pod's scheduling gates; `None` for a pod that is not held.
pub fn hold(pod: &Value) -> Option<usize> {
    let gates = pod["spec"]["schedulingGates"].as_array()?;
    gates.iter().position(|gate| gate["name"] == keys::HOLD)
}

/// Whether a pod has sluice's hold among its scheduling gates, so that no scheduler gives it a node.
pub fn is_held(pod: &Value) -> bool {
    hold(pod).is_some()
}

/// The names of the scheduling gates other than sluice's hold, which keep a pod from the scheduler as well.
pub fn others(pod: &Value) -> impl Iterator<Item = &str> {
    let gates = pod["spec"]["schedulingGates"].as_array();
    let names = gates.into_iter().flatten().map(|gate| text(&gate["name"]));
    names.filter(|name| *name != keys::HOLD)
}

/// Whether nothing but its hold keeps a pod from the scheduler.
pub fn is_only_held(pod: &Value) -> bool {
    is_held(pod) && others(pod).next().is_none()
}

/// Whether a pod was created with a hold, even if it has been released since.
pub fn was_held(pod: &Value) -> bool {
    pod["metadata"]["annotations"][keys::HELD] == keys::GATED_VALUE
}

/// Whether a pod was created with a hold, and its gate has not ended or restarted since, so that the gate need not wait again for the edges of
/// the hold. A restarted node runs gates once more.
pub fn comes_of_a_hold(pod: &Value) -> bool {
    let again = |gate: &Value| {
        let ended = ["state", "lastState"].map(|state| found(&gate[state]["terminated"]));
        ended.iter().any(Option::is_some) || gate["restartCount"].as_u64() > Some(0)
    };
    was_held(pod) && !status(pod).is_some_and(again)
}

/// Whether admission has given a pod a gate, by the label that it writes.
pub fn is_gated(pod: &Value) -> bool {
    pod["metadata"]["labels"][keys::GATED] == keys::GATED_VALUE
}

/// Whether a pod is still going to start its containers: it is pending, and not being deleted.
pub fn is_pending(pod: &Value) -> bool {
    let pending = matches!(pod["status"]["phase"].as_str(), None | Some("Pending"));
    pending && pod["metadata"]["deletionTimestamp"].is_null()
}

/// Whether a pod is on a node and still going to start its containers, and its gate has not opened.
pub(crate) fn is_at_its_gate(pod: &Value) -> bool {
    let open = matches!(Gate::of(pod), Gate::Passed { .. });
    is_pending(pod) && !open && pod["spec"]["nodeName"].is_string()
}

/// Whether the gate of a pod has opened, and the pod has not ended, so that its containers may run.
pub fn has_started(pod: &Value) -> bool {
    matches!(Gate::of(pod), Gate::Passed { .. }) && !has_ended(pod)
}

/// Whether a pod has ended, and never starts again.
pub fn has_ended(pod: &Value) -> bool {
    matches!(
        pod["status"]["phase"].as_str(),
        Some("Succeeded" | "Failed")
    )
}

fn status(pod: &Value) -> Option<&Value> {
    let mut statuses = pod["status"]["initContainerStatuses"].as_array()?.iter();
    statuses.find(|it| it["name"] == keys::GATE_CONTAINER)
}

fn found(value: &Value) -> Option<&Value> {
    value.is_object().then_some(value)
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_state_of_a_gate_is_that_of_its_container() {
        let of = |status: Value| {
            let others = json!({"name": "proxy", "state": {"running": {}}});
            let pod = json!({"status": {"initContainerStatuses": [others, status]}});
            format!("{:?}", Gate::of(&pod))
        };
        let gate = |state: Value, last: Value| {
            of(json!({"name": "sluice-gate", "state": state, "lastState": last}))
        };
        let ended = |code: i64| json!({"terminated": {"exitCode": code, "startedAt": "11:00", "finishedAt": "11:01"}});
        let paused = json!({"waiting": {"reason": "CrashLoopBackOff"}});
        assert_eq!(of(json!({"name": "other"})), "NotStarted");
        assert_eq!(gate(paused.clone(), json!({})), "NotStarted");
        assert_eq!(
            gate(json!({"running": {"startedAt": "11:00"}}), ended(1)),
            "Waiting { since: \"11:00\" }"
        );
        assert_eq!(
            gate(ended(0), ended(1)),
            "Passed { since: \"11:00\", at: \"11:01\" }"
        );
        assert_eq!(gate(ended(1), json!({})), "Refused { at: \"11:01\" }");
        assert_eq!(gate(paused, ended(1)), "Refused { at: \"11:01\" }");
    }

    #[test]
    fn a_pod_is_held_by_the_scheduling_gate_of_that_name() {
        let of = |gates: Value| {
            let pod = json!({"spec": {"schedulingGates": gates}});
            let others = others(&pod).map(str::to_owned).collect::<Vec<_>>();
            (hold(&pod), others.join(" "), is_only_held(&pod))
        };
        let [ours, other] =
            ["sluice.dev/hold", "example.com/quota"].map(|name| json!({ "name": name }));
        let told = |hold, others: &str, only| (hold, others.to_owned(), only);
        assert_eq!(of(Value::Null), told(None, "", false));
        assert_eq!(of(json!([other])), told(None, "example.com/quota", false));
        assert_eq!(of(json!([ours])), told(Some(0), "", true));
        let both = told(Some(1), "example.com/quota", false);
        assert_eq!(of(json!([other, ours])), both);
    }

    #[test]
    fn a_gate_that_runs_again_comes_of_no_hold() {
        let of = |held: &str, gate: Value| {
            let gate = json!([{"name": "proxy", "restartCount": 3}, gate]);
            comes_of_a_hold(&json!({
                "metadata": {"annotations": {"sluice.dev/held": held}},
                "status": {"initContainerStatuses": gate},
            }))
        };
        let gate = |restarts: u64, state: Value, last: Value| json!({"name": "sluice-gate", "restartCount": restarts, "state": state, "lastState": last});
        let (runs, ended) = (
            json!({"running": {}}),
            json!({"terminated": {"exitCode": 0}}),
        );
        let first = gate(0, runs.clone(), json!({}));
        assert!(of("true", first.clone()) && of("true", json!({"name": "other"})));
        assert!(!of("", first));
        for again in [
            gate(0, ended.clone(), json!({})),
            gate(0, runs.clone(), ended),
            gate(1, runs, json!({})),
        ] {
            assert!(!of("true", again));
        }
    }
}
