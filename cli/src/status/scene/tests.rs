use super::*;
use serde_json::json;

/// A pod on a node whose gate's container has the state `state`.
fn pod(state: &Value) -> Value {
    json!({
        "metadata": {"name": "api-1", "labels": {"sluice.dev/gated": "true"}},
        "spec": {"nodeName": "one", "initContainers": [{"name": "sluice-gate"}], "containers": [{"name": "api"}]},
        "status": {"phase": "Pending", "initContainerStatuses": [{"name": "sluice-gate", "image": "gate:1", "state": state}]},
    })
}

#[test]
fn a_pod_says_itself_why_its_gate_cannot_start() {
    let waiting = |reason: &str, message: &str| {
        pod(&json!({"waiting": {"reason": reason, "message": message}}))
    };
    let told = |pod: &Value| not_started(pod, Timestamp::UNIX_EPOCH);
    let why = told(&waiting(
        "CreateContainerConfigError",
        "secret \"ca\" not found",
    ));
    let expected = "the pod cannot start container \"sluice-gate\": secret \"ca\" not found";
    assert_eq!(why.as_deref(), Some(expected));
    let why = told(&waiting(
        "ImagePullBackOff",
        "Back-off pulling image \"gate:1\"",
    ))
    .unwrap();
    assert_eq!(why, "the pod cannot pull image gate:1");
    // Of a pod that is in the making an Event may tell more.
    let made = waiting("PodInitializing", "");
    assert_eq!((told(&made), is_to_start(&made)), (None, true));
    let runs = pod(&json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}}));
    assert_eq!((told(&runs), is_to_start(&runs)), (None, false));
}
