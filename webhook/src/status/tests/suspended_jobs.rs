//! Tests of Jobs that admission has created suspended: when replicas resume them, and which Jobs they leave.

use super::replicas::Replicas;
use super::*;
use crate::status::{JobResumer, suspended_jobs};

const NOTE: &str = "sluice.dev/suspended";

/// A Job that was created suspended at 0, whose pod template has these annotations.
fn suspended(name: &str, annotations: &Value) -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "namespace": "shop", "name": name, "uid": format!("uid of {name}"),
            "annotations": {NOTE: "true"}, "creationTimestamp": "1970-01-01T00:00:00Z",
        },
        "spec": {"suspend": true, "template": {"metadata": {"annotations": annotations}}},
    })
}

/// Starts this number of replicas, which look after suspended Jobs.
fn replicas(count: usize) -> Replicas {
    let jobs = "/apis/batch/v1/namespaces/shop/jobs/";
    let arrive = |known: &Known, job: &Value| known.want(&jobs_kind()).apply(job);
    Replicas::new(count, jobs, arrive, |desk, client| {
        let (shown, seen) = suspended_jobs();
        let held = Arc::clone(&desk.suspended);
        let suspended = JobResumer::new(Arc::clone(&desk.service), client, held);
        tokio::spawn(suspended.keep(seen));
        shown
    })
}

fn jobs_kind() -> Kind {
    by_word("job").map(Kind::Builtin).expect("built in")
}

#[tokio::test(start_paused = true)]
async fn a_job_is_resumed_once_its_list_is_satisfied_by_a_patch_that_tests_what_it_changes() {
    let replicas = replicas(2);
    replicas.see(&suspended("seed", &missing()));
    assert_eq!(replicas.written_at(100).await, []);
    let metrics = replicas.desk.metrics();
    let counted = r#"suspended_jobs{namespace="shop"} 1"#;
    assert!(metrics.contains(counted), "{metrics}");
    replicas.put("configmap", &config_map());
    let note = "/metadata/annotations/sluice.dev~1suspended";
    let expected = json!([
        {"op": "test", "path": "/metadata/uid", "value": "uid of seed"},
        {"op": "test", "path": note, "value": "true"},
        {"op": "test", "path": "/spec/suspend", "value": true},
        {"op": "remove", "path": note},
        {"op": "replace", "path": "/spec/suspend", "value": false},
    ]);
    assert_eq!(replicas.written_at(200).await, [(100, expected)]);
    let metrics = replicas.desk.metrics();
    assert!(!metrics.contains("suspended_jobs{"), "{metrics}");
    assert_eq!(
        replicas.desk.service.known.view().suspended_jobs("shop"),
        [json!(null); 0]
    );
}

#[tokio::test(start_paused = true)]
async fn a_wait_of_a_suspended_job_is_told_by_one_event_on_the_job() {
    let replicas = replicas(2);
    replicas.see(&suspended("seed", &missing()));
    replicas.written_at(30).await;
    let events = replicas.desk.events.lock().unwrap().clone();
    let [event] = events.as_slice() else {
        panic!("one for both replicas: {events:?}")
    };
    assert_eq!(event["regarding"]["kind"], "Job");
    assert_eq!(event["regarding"]["uid"], "uid of seed");
    let text = event["note"].as_str().unwrap_or_default();
    assert!(text.starts_with("waiting for ConfigMap/go"), "{text}");
}

/// A pod's gate would count the timeout from its own start again if the Job did not carry the note.
#[tokio::test(start_paused = true)]
async fn a_job_whose_wait_took_too_long_is_resumed_and_that_is_noted() {
    for on_timeout in ["fail", "proceed"] {
        let replicas = replicas(1);
        replicas.see(&suspended("seed", &waits(on_timeout)));
        assert_eq!(replicas.moments_at(100).await, [40], "{on_timeout}");
        let job = replicas.stands("seed");
        assert_eq!(job["spec"]["suspend"], false);
        assert_eq!(job["metadata"]["annotations"][NOTE], "timed-out");
        // A pod of it that starts only now is told the same.
        let mut pod = pod(&waits(on_timeout));
        pod["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "batch/v1", "kind": "Job", "name": "seed", "uid": "uid of seed", "controller": true,
        }]);
        pod["status"]["startTime"] = json!("1970-01-01T00:01:40Z");
        replicas.desk.service.known.gated().replace(&[pod]);
        let told = replicas.desk.ask("").await.verdict;
        assert_ne!(told, wire::Decision::Wait, "{on_timeout}");
    }
}

#[tokio::test(start_paused = true)]
async fn whatever_ends_the_wait_of_a_gate_resumes_a_job() {
    let replicas = replicas(1);
    let mut failing = json!({"sluice.dev/depends-on": "job/seed", "sluice.dev/on-failure": "fail"});
    replicas.see(&suspended("one", &failing));
    replicas.see(&suspended("two", &missing()));
    assert_eq!(replicas.moments_at(10).await, [0; 0]);
    replicas.put("job", &failed_job());
    assert_eq!(replicas.moments_at(20).await, [10]);
    assert_eq!(
        replicas.stands("one")["metadata"]["annotations"][NOTE],
        json!(null)
    );
    let mut skipped = suspended("two", &missing());
    skipped["metadata"]["annotations"]["sluice.dev/skip"] = json!("true");
    replicas.see(&skipped);
    assert_eq!(replicas.moments_at(30).await, [10, 20]);
    // A dependency on the same node is left to the gate.
    failing = json!({"sluice.dev/depends-on": "- {kind: DaemonSet, name: csi, sameNode: true}"});
    replicas.see(&suspended("three", &failing));
    assert_eq!(replicas.moments_at(40).await, [10, 20, 30]);
}

/// The Job belongs to its user from then on: when the user suspends the Job again, sluice leaves it suspended.
#[tokio::test(start_paused = true)]
async fn a_job_that_somebody_else_resumed_is_let_be() {
    let replicas = replicas(2);
    let mut job = suspended("seed", &missing());
    replicas.see(&job);
    replicas.written_at(5).await;
    job["spec"]["suspend"] = json!(false);
    replicas.see(&job);
    assert_eq!(replicas.moments_at(10).await, [5]);
    let mut now = replicas.stands("seed");
    assert_eq!(now["metadata"]["annotations"][NOTE], json!(null));
    now["spec"]["suspend"] = json!(true);
    replicas.see(&now);
    replicas.put("configmap", &config_map());
    assert_eq!(replicas.moments_at(100).await, [5]);
    assert_eq!(replicas.stands("seed")["spec"]["suspend"], true);
}

/// A suspended Job that is made anew under its name, with another UID, is resumed in the place of the first.
#[tokio::test(start_paused = true)]
async fn a_job_that_is_made_anew_is_looked_after_anew() {
    let replicas = replicas(1);
    let first = suspended("seed", &missing());
    replicas.see(&first);
    replicas.written_at(10).await;
    let mut second = first.clone();
    second["metadata"]["uid"] = json!("another");
    // A list that begins anew shows it long before the store has it.
    replicas.list(&second);
    replicas.written_at(40).await;
    replicas.arrives(&second);
    replicas.put("configmap", &config_map());
    assert_eq!(replicas.moments_at(50).await, [40]);
    assert_eq!(replicas.stands("seed")["spec"]["suspend"], false);
}

#[tokio::test(start_paused = true)]
async fn a_job_without_room_stays_suspended_and_says_so() {
    let replicas = replicas(1);
    let others = replicas.filled_but_for(0);
    replicas.put("configmap", &config_map());
    replicas.see(&suspended("seed", &missing()));
    assert_eq!(replicas.moments_at(20).await, [0; 0]);
    assert_eq!(replicas.stands("seed")["spec"]["suspend"], true);
    let metrics = replicas.desk.metrics();
    for line in [
        r#"suspended_jobs{namespace="shop"} 1"#,
        r#"holds_over_budget{namespace="shop"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line}: {metrics}");
    }
    let events = replicas.desk.events.lock().unwrap().clone();
    let [event] = events.as_slice() else {
        panic!("one Event: {events:?}")
    };
    assert_eq!(event["regarding"]["kind"], "Job");
    assert_eq!(event["regarding"]["uid"], "uid of seed");
    let text = event["note"].as_str().unwrap_or_default();
    assert!(text.contains("16384 KiB (OverBudget)"), "{text}");
    drop(others);
    assert_eq!(replicas.moments_at(30).await.len(), 1);
    assert_eq!(replicas.stands("seed")["spec"]["suspend"], false);
    let metrics = replicas.desk.metrics();
    assert!(!metrics.contains("suspended_jobs{"), "{metrics}");
}

/// A Job that queues behind others that wait is resumed when its turn comes.
#[tokio::test(start_paused = true)]
async fn jobs_beyond_the_share_of_their_namespace_take_turns() {
    let replicas = replicas(1);
    let _others = replicas.filled_but_for(1);
    for number in 0..5 {
        replicas.see(&suspended(&format!("seed-{number}"), &missing()));
    }
    let list = json!({"sluice.dev/depends-on": "- {kind: DaemonSet, name: csi, sameNode: true}"});
    replicas.see(&suspended("ready", &list));
    let moments = replicas.moments_at(20).await;
    assert!(matches!(moments[..], [1..=10]), "{moments:?}");
    assert_eq!(replicas.stands("ready")["spec"]["suspend"], false);
    replicas.put("configmap", &config_map());
    assert_eq!(replicas.moments_at(40).await.len(), 6);
}
