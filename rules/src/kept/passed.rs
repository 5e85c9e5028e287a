//! Trims pods that have passed their gate further than other pods: a cluster has a hundred of them for each pod that waits.

use crate::gate::{Gate, has_ended};
use crate::keys;
use crate::object::controller_of;
use serde_json::{Map, Value};

/// The fields of `status` that are kept of a pod that has passed its gate.
const STATUS: [&str; 3] = ["phase", "startTime", GATES];
/// The field with the statuses of the init containers, among them the gate.
const GATES: &str = "initContainerStatuses";

/// Removes the fields that tell how a pod's containers run, where a controller has made the pod and the pod has passed its gate or has
/// ended.
///
/// Such a pod counts in no wave, group or release, because the object above it does. Its gate may ask again after a boot of the node. For
/// that question, and for its slot, the rules read the pod's metadata, its node, its start and the state of its gate. A dependency that
/// names the pod is judged by another copy of the pod, which the watch of all pods keeps.
pub fn trim_passed(pod: &mut Value) {
    let has_passed = matches!(Gate::of(pod), Gate::Passed { .. }) || has_ended(pod);
    if !has_passed || controller_of(pod).is_none() {
        return;
    }
    if let Some(status) = pod.get_mut("status").and_then(Value::as_object_mut) {
        status.retain(|field, _| STATUS.contains(&field.as_str()));
        if let Some(Value::Array(statuses)) = status.get_mut(GATES) {
            statuses.retain(|it| it["name"] == keys::GATE_CONTAINER);
            statuses.iter_mut().for_each(trim_gate);
        }
    }
    if let Some(metadata) = pod.get_mut("metadata").and_then(Value::as_object_mut) {
        trim_metadata(metadata);
    }
}

/// Removes all fields but the exit code and the times from the status of a gate that has ended.
fn trim_gate(status: &mut Value) {
    let Some(Value::Object(ended)) = status.pointer_mut("/state/terminated") else {
        return;
    };
    ended.retain(|field, _| ["exitCode", "startedAt", "finishedAt"].contains(&field.as_str()));
    if let Some(status) = status.as_object_mut() {
        status.retain(|field, _| ["name", "state"].contains(&field.as_str()));
    }
}

/// Removes the fields of a pod's metadata that only controllers and the API server read, and no rule.
fn trim_metadata(metadata: &mut Map<String, Value>) {
    const UNREAD: [&str; 3] = ["finalizers", "generateName", "generation"];
    metadata.retain(|field, _| !UNREAD.contains(&field.as_str()));
    let owners = metadata.get_mut("ownerReferences");
    let owners = owners.and_then(Value::as_array_mut);
    for owner in owners.into_iter().flatten() {
        if let Some(owner) = owner.as_object_mut() {
            owner.remove("blockOwnerDeletion");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn pod(gate: &Value, controller: bool) -> Value {
        json!({
            "metadata": {
                "name": "api-1", "generateName": "api-", "uid": "u",
                "ownerReferences": [{"kind": "ReplicaSet", "name": "api", "uid": "r", "controller": controller, "blockOwnerDeletion": true}],
            },
            "spec": {"nodeName": "one"},
            "status": {
                "phase": "Running", "startTime": "2026-01-01T11:00:00Z",
                "conditions": [{"type": "Ready", "status": "True"}],
                "containerStatuses": [{"name": "app", "ready": true}],
                "initContainerStatuses": [{"name": "log"}, {"name": "sluice-gate", "ready": true, "restartCount": 0, "state": gate, "lastState": {}}],
            },
        })
    }

    #[test]
    fn behind_its_gate_a_pod_of_a_controller_keeps_what_its_gate_may_ask_for() {
        let ended = json!({"terminated": {"exitCode": 0, "finishedAt": "2026-01-01T11:01:00Z"}});
        let mut said = ended.clone();
        said["terminated"]["reason"] = json!("Completed");
        let mut passed = pod(&said, true);
        trim_passed(&mut passed);
        assert_eq!(
            passed,
            json!({
                "metadata": {
                    "name": "api-1", "uid": "u",
                    "ownerReferences": [{"kind": "ReplicaSet", "name": "api", "uid": "r", "controller": true}],
                },
                "spec": {"nodeName": "one"},
                "status": {
                    "phase": "Running", "startTime": "2026-01-01T11:00:00Z",
                    "initContainerStatuses": [{"name": "sluice-gate", "state": ended}],
                },
            })
        );
        for mut whole in [
            pod(&json!({"running": {}}), true),
            pod(&json!({"terminated": {"exitCode": 1}}), true),
            pod(&ended, false),
        ] {
            let before = whole.clone();
            trim_passed(&mut whole);
            assert_eq!(whole, before, "its status may count");
        }
    }
}
