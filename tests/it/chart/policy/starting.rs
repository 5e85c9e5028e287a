//! The policies while the controller has not written its part of the parameters, and after their deletion.

use serde_json::{Value, json};

use super::super::cluster::{kubectl, object, pod_template};
use super::{NAMESPACE, complete, in_namespace, until, would_create};

fn pod(annotations: &Value) -> Value {
    let pod = object("Pod", "probe", annotations, &json!({}));
    complete(in_namespace(NAMESPACE, pod))
}

/// Checks that a pod that asks for a gate is refused, with a reason that no tool takes for leave to delete the object, and every other pod is
/// accepted: while there are no parameters, while they are empty, and after their deletion.
pub(super) fn only_who_asks_for_a_gate_is_refused(parameters: &Value) {
    let empty =
        json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": parameters["metadata"]});
    let delete = ["-n", NAMESPACE, "delete", "configmap", "sluice-injection"];
    refused();
    nobody_else_is();
    kubectl(&["apply", "-f", "-"], &empty).expect("an empty ConfigMap");
    for _ in 0..5 {
        refused();
        nobody_else_is();
    }
    kubectl(&["apply", "-f", "-"], parameters).expect("the parameters");
    until("a pod is gated", || {
        let made = would_create(&pod(&asks()))?;
        let gated = made["spec"]["initContainers"][0]["name"] == "sluice-gate";
        gated.then_some(()).ok_or_else(|| made.to_string())
    });
    kubectl(&delete, &Value::Null).expect("the parameters were there");
    until("the parameters are gone", || {
        let made = would_create(&pod(&json!({}))).expect("it asks for nothing");
        assert!(made["spec"]["initContainers"].is_null(), "{made:#}");
        let complaint = would_create(&pod(&asks())).err();
        complaint.map(drop).ok_or_else(|| "it is made".to_owned())
    });
    refused();
    nobody_else_is();
}

fn asks() -> Value {
    json!({"sluice.dev/depends-on": "job/x"})
}

fn refused() {
    let complaint = would_create(&pod(&asks())).expect_err("it has no gate");
    for said in [
        "(Forbidden)",
        "because it is starting or none of its replicas runs; try again",
    ] {
        assert!(complaint.contains(said), "{complaint}");
    }
}

fn nobody_else_is() {
    would_create(&pod(&json!({}))).expect("it asks for nothing");
    let listed = object("Deployment", "probe", &asks(), &pod_template(&json!({})));
    let made = would_create(&in_namespace(NAMESPACE, listed)).expect("it needs no address");
    let marks = &made["spec"]["template"]["metadata"]["annotations"];
    assert_eq!(marks["sluice.dev/gated"], "true");
}
