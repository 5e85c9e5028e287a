//! Pods that are held before they take a node.

use super::{
    annotated, answer, answer_at, applied, operations, review, running, running_with, workload,
};
use serde_json::{Value, json};
use std::sync::Arc;
use webhook::{Admission, Holds, Options};

const HOLD: &str = "sluice.dev/hold";

fn with(holds: Holds) -> Arc<Admission> {
    running_with(Options {
        holds,
        ..Options::default()
    })
}

fn pod(annotations: &Value) -> Value {
    let mut pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "annotations": {"sluice.dev/gated": "true"}},
        "spec": {"containers": [{"name": "app"}]},
    });
    for (key, value) in annotations.as_object().unwrap() {
        pod["metadata"]["annotations"][key] = value.clone();
    }
    pod
}

/// Returns the pod as it is stored: after the patch of admission at this path, if it gets one.
async fn stored(admission: &Arc<Admission>, path: &str, pod: &Value) -> Value {
    let response = answer_at(admission, path, &review("CREATE", pod, &Value::Null)).await;
    match response.get("patch") {
        Some(_) => applied(pod, &response),
        None => pod.clone(),
    }
}

async fn is_held(holds: Holds, path: &str, pod: &Value) -> bool {
    let stored = stored(&with(holds), path, pod).await;
    let gates = stored["spec"]["schedulingGates"].as_array();
    let held = gates.is_some_and(|gates| gates.contains(&json!({ "name": HOLD })));
    assert_eq!(
        held,
        stored["metadata"]["annotations"]["sluice.dev/held"] == "true"
    );
    let gate = &stored["spec"]["initContainers"][0]["name"];
    assert_eq!(gate, "sluice-gate", "held or not, it has a gate");
    held
}

#[tokio::test]
async fn who_is_held_the_pod_the_namespace_and_the_installation_say() {
    let says = |word: &str| pod(&json!({ HOLD: word }));
    let silent = pod(&json!({}));
    let [one, namespace] = ["/admit/pods", "/admit/held-pods"];
    for (holds, path, pod, expected) in [
        (Holds::Off, one, &says("true"), false),
        (Holds::Off, namespace, &says("true"), false),
        (Holds::Asked, one, &silent, false),
        (Holds::Asked, one, &says("true"), true),
        (Holds::Asked, one, &says("false"), false),
        (Holds::Asked, namespace, &silent, true),
        (Holds::Asked, namespace, &says("false"), false),
        (Holds::All, one, &silent, true),
        (Holds::All, one, &says("false"), false),
    ] {
        let held = is_held(holds, path, pod).await;
        assert_eq!(held, expected, "{holds:?} {path} {pod}");
    }
}

/// A pod that names its node is not held, because the API server refuses a pod with a node and a scheduling gate. An empty name of a node is none.
#[tokio::test]
async fn a_pod_that_names_its_node_is_not_held() {
    let mut placed = pod(&json!({}));
    placed["spec"]["nodeName"] = json!("one");
    assert!(!is_held(Holds::All, "/admit/pods", &placed).await);
    placed["spec"]["nodeName"] = json!("");
    assert!(is_held(Holds::All, "/admit/pods", &placed).await);
}

#[tokio::test]
async fn the_hold_of_others_stays_and_ours_is_there_once() {
    let mut pod = pod(&json!({ HOLD: "true" }));
    let quota = json!({"name": "example.com/quota"});
    pod["spec"]["schedulingGates"] = json!([quota]);
    let admission = with(Holds::Asked);
    let held = stored(&admission, "/admit/pods", &pod).await;
    let both = json!([quota, {"name": HOLD}]);
    assert_eq!(held["spec"]["schedulingGates"], both);
    // Called again, by this half or by that of a namespace.
    for path in ["/admit/pods", "/admit/held-pods"] {
        assert_eq!(stored(&admission, path, &held).await, held, "{path}");
    }
    pod["spec"]["schedulingGates"] = json!([{"name": HOLD}]);
    let held = stored(&admission, "/admit/pods", &pod).await;
    assert_eq!(held["spec"]["schedulingGates"], json!([{"name": HOLD}]));
}

/// A copy of a pod with a gate, but with no scheduling gate and no label, is not held again: `kubectl debug --copy-to` makes such copies.
#[tokio::test]
async fn a_copy_of_a_pod_that_was_let_go_is_not_held_again() {
    let admission = with(Holds::All);
    let mut copy = stored(&admission, "/admit/pods", &pod(&json!({}))).await;
    copy["spec"]["schedulingGates"] = Value::Null;
    copy["metadata"]["labels"] = Value::Null;
    let stored = stored(&admission, "/admit/pods", &copy).await;
    assert_eq!(stored["spec"]["schedulingGates"], Value::Null);
}

/// The webhook that holds all pods of a namespace is called after the one that gives the gate: it adds a scheduling gate and an annotation to a gated
/// pod, and nothing else.
#[tokio::test]
async fn a_pod_that_has_its_gate_is_held_and_nothing_else_of_it_changes() {
    let admission = with(Holds::Asked);
    let gated = stored(&admission, "/admit/pods", &pod(&json!({}))).await;
    let review = review("CREATE", &gated, &Value::Null);
    let response = answer_at(&admission, "/admit/held-pods", &review).await;
    assert_eq!(response["auditAnnotations"]["outcome"], "held");
    let mut held = applied(&gated, &response);
    let annotations = held["metadata"]["annotations"].as_object_mut().unwrap();
    assert_eq!(annotations.remove("sluice.dev/held"), Some(json!("true")));
    let others = held["spec"]
        .as_object_mut()
        .unwrap()
        .remove("schedulingGates");
    assert_eq!(others, Some(json!([{"name": HOLD}])));
    assert_eq!(held, gated);
}

#[tokio::test]
async fn any_other_value_is_refused_with_the_way_out_holds_on_or_off() {
    let bad = pod(&json!({ HOLD: "yes" }));
    let mut deployment = annotated(
        workload("apps/v1", "Deployment"),
        "sluice.dev/depends-on",
        "svc/db",
    );
    deployment["spec"]["template"]["metadata"]["annotations"][HOLD] = json!("yes");
    for admission in [running(), with(Holds::Asked)] {
        for object in [&bad, &deployment] {
            let response = answer(&admission, &review("CREATE", object, &Value::Null)).await;
            assert_eq!(response["allowed"], false);
            let message = response["status"]["message"].to_string();
            let expected = "sluice.dev/hold: line 1, column 1: unknown word \\\"yes\\\"; the words are true, false";
            assert!(message.contains(expected), "{message}");
        }
    }
}

#[tokio::test]
async fn who_asks_where_holds_are_off_is_warned_once() {
    let told = "holds are off in this installation: the pod will wait in its init gate; the chart's value holds.enabled turns \
                them on";
    let mut asks = annotated(
        workload("apps/v1", "Deployment"),
        "sluice.dev/depends-on",
        "svc/db",
    );
    asks["spec"]["template"]["metadata"]["annotations"][HOLD] = json!("true");
    let bare = pod(&json!({ HOLD: "true" }));
    for object in [&asks, &bare] {
        let create = review("CREATE", object, &Value::Null);
        let warnings = answer(&running(), &create).await["warnings"].to_string();
        assert!(warnings.contains(told), "{warnings}");
        let on = answer(&with(Holds::Asked), &create).await["warnings"].to_string();
        assert!(!on.contains("holds are off"), "{on}");
    }
    // It was told before.
    let marked = applied(
        &asks,
        &answer(&running(), &review("CREATE", &asks, &Value::Null)).await,
    );
    let update = answer(&running(), &review("UPDATE", &marked, &marked)).await;
    assert!(!update["warnings"].to_string().contains("holds are off"));
    let mut owned = bare;
    owned["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "p", "uid": "u", "controller": true}]);
    let made = answer(&running(), &review("CREATE", &owned, &Value::Null)).await;
    assert!(!made["warnings"].to_string().contains("holds are off"));
}

/// The patch of a workload does not depend on whether holds are on.
#[tokio::test]
async fn a_workload_gets_the_same_marker() {
    let asks = annotated(
        workload("apps/v1", "Deployment"),
        "sluice.dev/depends-on",
        "svc/db",
    );
    let create = review("CREATE", &asks, &Value::Null);
    let off = operations(&answer(&running(), &create).await);
    let on = operations(&answer(&with(Holds::All), &create).await);
    assert_eq!(off, on);
}

/// A workload may ask that its own creation be held. That works only with the chart's value, and a warning says so.
#[tokio::test]
async fn a_creation_that_is_not_held_is_told_on_a_workload() {
    let asks = annotated(
        workload("apps/v1", "Deployment"),
        "sluice.dev/depends-on",
        "svc/db",
    );
    let asks = annotated(asks, HOLD, "create");
    let create = review("CREATE", &asks, &Value::Null);
    let told = "sluice.dev/hold: create has no effect, because no creation is held here, and its pods wait at their gates; ";
    let off = answer(&running(), &create).await["warnings"].to_string();
    assert!(off.contains(told), "{off}");
    let held = running_with(Options {
        creation_holds: true,
        ..Options::default()
    });
    let on = answer(&held, &create).await;
    assert_eq!(
        on["warnings"],
        Value::Null,
        "the contract lets any object ask"
    );
    let update = answer(&running(), &review("UPDATE", &asks, &asks)).await;
    assert!(
        !update["warnings"].to_string().contains(told),
        "it was told before"
    );
}
