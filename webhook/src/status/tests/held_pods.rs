//! Pods that are held.

use super::replicas::Replicas;
use super::*;
use crate::status::{PodReleaser, held_pods};

/// A pod that is held, and by others.
fn held(name: &str, annotations: &Value, others: &[&str]) -> Value {
    let mut pod = pod(annotations);
    pod["metadata"]["name"] = json!(name);
    pod["metadata"]["uid"] = json!(format!("uid of {name}"));
    pod["metadata"]["annotations"]["sluice.dev/held"] = json!("true");
    let names = others.iter().chain(&["sluice.dev/hold"]);
    let gates: Vec<Value> = names.map(|name| json!({ "name": name })).collect();
    pod["spec"] = json!({ "schedulingGates": gates });
    pod
}

/// This number of replicas, which look after held pods.
fn replicas(count: usize) -> Replicas {
    let pods = "/api/v1/namespaces/shop/pods/";
    let arrive = |known: &Known, pod: &Value| known.gated().apply(pod);
    Replicas::new(count, pods, arrive, |desk, client| {
        let (shown, seen) = held_pods();
        let holds = PodReleaser::new(Arc::clone(&desk.service), client, Arc::clone(&desk.held));
        tokio::spawn(holds.keep(seen));
        shown
    })
}

#[tokio::test(start_paused = true)]
async fn a_pod_is_let_go_once_its_gate_would_open_by_a_patch_that_tests_what_it_takes() {
    let replicas = replicas(1);
    replicas.see(&held("api-1", &missing(), &["example.com/quota"]));
    assert_eq!(replicas.written_at(100).await, []);
    let metrics = replicas.desk.metrics();
    assert!(
        metrics.contains(r#"held_pods{namespace="shop"} 1"#),
        "{metrics}"
    );
    replicas.put("configmap", &config_map());
    let expected = json!([
        {"op": "test", "path": "/metadata/uid", "value": "uid of api-1"},
        {"op": "test", "path": "/spec/schedulingGates/1/name", "value": "sluice.dev/hold"},
        {"op": "remove", "path": "/spec/schedulingGates/1"},
    ]);
    assert_eq!(replicas.written_at(200).await, [(100, expected)]);
    let metrics = replicas.desk.metrics();
    assert!(!metrics.contains("held_pods{"), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn a_wait_in_a_hold_is_told_by_an_event() {
    let replicas = replicas(2);
    replicas.see(&held("api-1", &missing(), &[]));
    replicas.written_at(30).await;
    let told = replicas.desk.told().await;
    let [(severity, reason, text)] = told.as_slice() else {
        panic!("one for both replicas: {told:?}")
    };
    assert_eq!(
        (severity.as_str(), reason.as_str()),
        ("Warning", "NotFound")
    );
    assert!(text.starts_with("waiting for ConfigMap/go"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn a_gate_that_would_refuse_is_let_say_so() {
    let replicas = replicas(1);
    replicas.see(&held("api-1", &waits("fail"), &[]));
    // Its timeout counts from its creation.
    assert_eq!(replicas.moments_at(100).await, [40]);
}

#[tokio::test(start_paused = true)]
async fn whatever_opens_a_gate_lets_a_pod_go() {
    let replicas = replicas(1);
    replicas.see(&held("api-1", &waits("proceed"), &[]));
    replicas.see(&held("api-2", &missing(), &[]));
    assert_eq!(replicas.moments_at(60).await, [40]);
    let mut skipped = missing();
    skipped["sluice.dev/skip"] = json!("true");
    replicas.see(&held("api-2", &skipped, &[]));
    assert_eq!(replicas.moments_at(70).await, [40, 60]);
}

#[tokio::test(start_paused = true)]
async fn what_counts_on_its_node_alone_is_left_to_the_gate() {
    let replicas = replicas(1);
    let list = json!({"sluice.dev/depends-on": "- {kind: DaemonSet, name: csi, sameNode: true}"});
    replicas.see(&held("api-1", &list, &[]));
    assert_eq!(replicas.moments_at(10).await, [0]);
}

/// Most held pods take one request, and a slow API server does not slow the release down.
#[tokio::test(start_paused = true)]
async fn two_replicas_share_three_hundred_and_let_them_go_in_five_seconds() {
    for takes in [[20, 30], [300, 100]] {
        let replicas = replicas(2);
        replicas.takes(takes);
        let names: Vec<String> = (0..300).map(|number| format!("api-{number}")).collect();
        for name in &names {
            replicas.see(&held(name, &missing(), &[]));
        }
        assert_eq!(replicas.written_at(30).await, []);
        replicas.put("configmap", &config_map());
        let written = replicas.written_at(35).await;
        assert_eq!(written.len(), 300, "{takes:?}");
        let refused = replicas.refused();
        assert!(refused < 150, "{refused}, {takes:?}");
    }
}

/// A pod of that name that comes later is another one.
#[tokio::test(start_paused = true)]
async fn a_pod_that_is_gone_is_forgotten() {
    let replicas = replicas(1);
    let first = held("api-1", &missing(), &[]);
    replicas.see(&first);
    replicas.written_at(10).await;
    replicas.desk.service.known.gated().delete(&first);
    replicas.written_at(11).await;
    let metrics = replicas.desk.metrics();
    assert!(!metrics.contains("held_pods{"), "{metrics}");
    let mut second = first;
    second["metadata"]["uid"] = json!("another");
    replicas.see(&second);
    replicas.put("configmap", &config_map());
    let written = replicas.written_at(20).await;
    assert_eq!(written[0].1[0]["value"], "another");
}

/// A StatefulSet makes a pod of an earlier pod's name. While a watch lists its kind anew, it shows the new pod before the store
/// has it.
#[tokio::test(start_paused = true)]
async fn a_pod_is_looked_after_while_the_store_has_the_one_before_it() {
    let replicas = replicas(1);
    replicas.arrives(&pod(&missing()));
    let later = held("api-1", &missing(), &[]);
    replicas.list(&later);
    replicas.written_at(10).await;
    replicas.arrives(&later);
    replicas.put("configmap", &config_map());
    let written = replicas.written_at(20).await;
    assert_eq!(written[0].1[0]["value"], "uid of api-1");
}

/// A pod may be deleted while its list arrives: the watch has shown it, and the store never has it.
#[tokio::test(start_paused = true)]
async fn a_pod_that_the_store_never_has_is_forgotten() {
    let replicas = replicas(1);
    replicas.put("configmap", &config_map());
    let gone = held("api-1", &missing(), &[]);
    replicas.list(&gone);
    replicas.written_at(70).await;
    replicas.arrives(&gone);
    assert_eq!(replicas.moments_at(80).await, [0; 0]);
    replicas.see(&gone);
    assert_eq!(replicas.moments_at(90).await, [80]);
}

/// The replica does not know yet that the pod was let go, so the gate must wait although its list may be satisfied.
#[tokio::test(start_paused = true)]
async fn a_gate_that_asks_for_a_pod_that_is_held_is_told_to_wait() {
    let desk = Desk::new(&json!({}));
    let mut held = held("api-1", &json!({}), &[]);
    held["metadata"]["uid"] = json!("u1");
    desk.service.known.gated().replace(&[held]);
    let answer = desk.ask("").await;
    assert_eq!(answer.verdict, wire::Decision::Wait);
    assert_eq!(
        answer.note.as_deref(),
        Some("sluice to see that the pod was let go")
    );
    desk.pod_says(&json!({}));
    assert_eq!(desk.ask(&answer.digest).await.verdict, wire::Decision::Open);
}

/// The gate of a pod that was held opens at once, since the pod's wait took place in the hold.
#[tokio::test(start_paused = true)]
async fn the_wait_of_a_pod_that_was_held_counts_from_its_creation() {
    let mut held = missing();
    held["sluice.dev/held"] = json!("true");
    let desk = Desk::new(&held);
    desk.put("configmap", &config_map());
    tokio::time::sleep(Duration::from_secs(50)).await;
    assert_eq!(desk.ask("").await.verdict, wire::Decision::Open);
    let metrics = desk.metrics();
    let sum = r#"wait_seconds_sum{outcome="Satisfied"} 5"#;
    assert!(metrics.contains(sum), "{metrics}");
    let [(_, reason, _)] = desk.told().await.try_into().expect("one Event");
    assert_eq!(reason, "Released");
}
