//! Tests of held pods: when replicas release them, and which pods they forget.

use super::replicas::Replicas;
use super::*;
use crate::known::Freshness;
use crate::status::{PodReleaser, held_pods};

/// A pod with these annotations that has our scheduling gate, behind the scheduling gates `others`.
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

/// Starts this number of replicas, which look after held pods.
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

/// Two replicas release three hundred held pods with less than 150 refused patches, also at a slow API server.
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

/// A held pod that was deleted is forgotten. A later pod of its name is looked after as another.
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

#[tokio::test(start_paused = true)]
async fn pods_beyond_the_share_of_their_namespace_take_turns() {
    let replicas = replicas(1);
    let _others = replicas.filled_but_for(2);
    for number in 1..10 {
        replicas.see(&held(&format!("api-{number}"), &missing(), &[]));
    }
    let list = json!({"sluice.dev/depends-on": "- {kind: DaemonSet, name: csi, sameNode: true}"});
    replicas.see(&held("ready", &list, &[]));
    let moments = replicas.moments_at(20).await;
    assert!(matches!(moments[..], [5..=10]), "{moments:?}");
    let metrics = replicas.desk.metrics();
    for line in [
        r#"held_pods{namespace="shop"} 9"#,
        r#"holds_over_budget{namespace="shop"} 7"#,
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    replicas.put("configmap", &config_map());
    assert_eq!(replicas.moments_at(40).await.len(), 10);
    let metrics = replicas.desk.metrics();
    assert!(!metrics.contains("held_pods{"), "{metrics}");
}

#[tokio::test(start_paused = true)]
async fn a_pod_without_room_waits_untouched_and_says_so() {
    let replicas = replicas(1);
    let others = replicas.filled_but_for(0);
    replicas.put("configmap", &config_map());
    replicas.see(&held("api-1", &missing(), &[]));
    assert_eq!(replicas.moments_at(20).await, [0; 0]);
    let [(severity, reason, text)] = replicas.desk.told().await.try_into().expect("one Event");
    assert_eq!((&*severity, &*reason), ("Normal", "Waiting"));
    let expected = "waiting for its turn: the held pods and suspended Jobs of this namespace fill";
    assert!(text.starts_with(expected), "{text}");
    assert!(text.contains("16384 KiB (OverBudget)"), "{text}");
    drop(others);
    assert_eq!(replicas.moments_at(30).await.len(), 1);
}

/// A crowd of pods that comes and goes while no place is free fills no queue.
#[tokio::test(start_paused = true)]
async fn pods_that_are_gone_leave_the_queue_before_their_turn() {
    let replicas = replicas(1);
    let _others = replicas.filled_but_for(0);
    let pod = |number: usize| held(&format!("api-{number}"), &missing(), &[]);
    (0..100).for_each(|number| replicas.see(&pod(number)));
    replicas.written_at(1).await;
    let gated = replicas.desk.service.known.gated();
    (0..90).for_each(|number| gated.delete(&pod(number)));
    (100..200).for_each(|number| replicas.see(&pod(number)));
    // A list that begins anew has shown this pod, and the store does not have it yet.
    replicas.list(&pod(200));
    let queued = || {
        let metrics = replicas.desk.metrics();
        let line = metrics.lines().find(|it| it.contains("holds_over_budget{"));
        line.and_then(|it| it.rsplit(' ').next()?.parse().ok())
    };
    replicas.written_at(2).await;
    assert_eq!(queued(), Some(111));
    replicas.see(&pod(0));
    assert_eq!(replicas.written_at(3).await, []);
    assert_eq!(queued(), Some(112), "a pod that was gone queues again");
    // The watch would not show a pod again that a list brings back.
    gated.clear(Freshness::Syncing);
    (201..400).for_each(|number| replicas.list(&pod(number)));
    replicas.written_at(70).await;
    assert_eq!(queued(), Some(311), "nothing is believed of them");
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
