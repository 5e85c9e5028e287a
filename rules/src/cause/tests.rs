//! Each cause, from a status as the kubelet and the scheduler write it.

mod container;
mod workload;

use super::*;
use serde_json::json;

/// One hour after every other moment of these tests.
const NOW: &str = "2026-01-01T01:00:00Z";
const THEN: &str = "2026-01-01T00:00:00Z";

fn now() -> Timestamp {
    NOW.parse().unwrap()
}

/// A pod on a node in this phase, with these containers.
fn pod(phase: &str, containers: &Value) -> Value {
    json!({
        "metadata": {"name": "db-0", "creationTimestamp": THEN},
        "spec": {"nodeName": "one", "containers": [{"name": "db"}]},
        "status": {
            "phase": phase,
            "startTime": THEN,
            "conditions": [
                {"type": "PodScheduled", "status": "True"},
                {"type": "Ready", "status": "False", "reason": "ContainersNotReady", "message": "containers with unready status: [db]"},
            ],
            "containerStatuses": containers,
        },
    })
}

#[expect(clippy::needless_pass_by_value, reason = "a test hands over a literal")]
fn container(state: Value) -> Value {
    json!({"name": "db", "image": "docker.io/postgres:17.2", "ready": false, "started": false, "restartCount": 0, "state": state})
}

fn waiting(reason: &str, message: &str) -> Value {
    container(json!({"waiting": {"reason": reason, "message": message}}))
}

fn ended(code: i64, reason: &str) -> Value {
    json!({"terminated": {"exitCode": code, "reason": reason, "startedAt": THEN, "finishedAt": THEN}})
}

fn runs(since: &str) -> Value {
    json!({"running": {"startedAt": since}})
}

/// The sentence that is shown for a pod; empty where it has no cause.
fn told(pod: &Value) -> String {
    Stuck::among([pod], now()).map_or_else(String::new, |it| it.to_string())
}

/// The sentence that is shown for a pod in this phase with this one container; empty where it has no cause.
fn told_of(phase: &str, container: &Value) -> String {
    told(&pod(phase, &json!([container])))
}

#[test]
fn what_is_ready_or_done_or_leaves_has_nothing_to_tell() {
    let mut ready = pod("Running", &json!([container(runs(THEN))]));
    ready["status"]["conditions"][1]["status"] = json!("True");
    assert_eq!(told(&ready), "");
    assert_eq!(told_of("Succeeded", &container(ended(0, "Completed"))), "");
    let mut leaving = pod("Running", &json!([container(runs(THEN))]));
    leaving["metadata"]["deletionTimestamp"] = json!(THEN);
    assert_eq!(told(&leaving), "");
}

#[test]
fn a_pod_that_has_failed() {
    assert_eq!(
        told_of("Failed", &container(ended(3, "Error"))),
        "its pod db-0 has failed: container \"db\" ended with exit code 3"
    );
    let mut evicted = pod("Failed", &json!([]));
    evicted["status"]["reason"] = json!("Evicted");
    evicted["status"]["message"] = json!("The node was low on resource: memory.");
    assert_eq!(
        told(&evicted),
        "its pod db-0 has failed: Evicted: The node was low on resource: memory."
    );
}

#[test]
fn a_pod_at_its_gate() {
    let at_gate = |state: Value| {
        let mut pod = pod("Pending", &json!([waiting("PodInitializing", "")]));
        pod["status"]["initContainerStatuses"] =
            json!([{"name": "sluice-gate", "image": "g", "state": state}]);
        pod
    };
    assert_eq!(told(&at_gate(runs(THEN))), "its pod db-0 waits at its gate");
    assert_eq!(
        told(&at_gate(ended(1, "Error"))),
        "its pod db-0 has failed: its gate refused it"
    );
    // The kubelet took the pod up an hour ago, and its containers begin only now.
    let mut opened = at_gate(ended(0, "Completed"));
    let told_after = |at: &str, pod: &mut Value| {
        pod["status"]["initContainerStatuses"][0]["state"]["terminated"]["finishedAt"] = json!(at);
        told(pod)
    };
    assert_eq!(told_after("2026-01-01T00:59:31Z", &mut opened), "");
    let late = told_after("2026-01-01T00:59:30Z", &mut opened);
    assert!(late.contains("still being made"), "{late}");
}

#[test]
fn a_pod_without_a_node_or_without_what_it_is_made_of() {
    let mut pod = pod("Pending", &json!([waiting("ContainerCreating", "")]));
    let not_made = "its pod db-0 is still being made: \"kubectl describe pod\" says what it lacks, such as a volume";
    assert_eq!(told(&pod), not_made);
    pod["status"]["startTime"] = json!("2026-01-01T00:59:31Z");
    assert_eq!(told(&pod), "");

    // The kubelet has not taken the pod up: then the creation tells its age.
    for status in [
        json!({"phase": "Pending"}),
        json!({"phase": "Pending", "startTime": null}),
    ] {
        let mut early = pod.clone();
        early["status"] = status;
        assert_eq!(told(&early), not_made);
        early["metadata"]["creationTimestamp"] = json!("2026-01-01T00:59:31Z");
        assert_eq!(told(&early), "");
    }

    pod["spec"]["nodeName"].take();
    pod["status"]["containerStatuses"].take();
    pod["status"]["conditions"] = json!([]);
    assert_eq!(
        told(&pod),
        "its pod db-0 finds no node (the scheduler has not said why)"
    );
    let says =
        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are available: 1 No.";
    pod["status"]["conditions"] = json!([{"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": says}]);
    assert_eq!(
        told(&pod),
        "its pod db-0 finds no node (0/1 nodes are available: 1 Insufficient cpu)"
    );
}

#[test]
fn of_several_pods_the_same_one_speaks_whatever_their_order() {
    let named = |name: &str, created: &str, container: Value| {
        let mut pod = pod("Running", &json!([container]));
        pod["metadata"] = json!({"name": name, "creationTimestamp": created});
        pod
    };
    let probe = named("a", NOW, container(runs(THEN)));
    let crash = |name: &str, created: &str| named(name, created, container(ended(1, "Error")));
    let mut ready = named("d", THEN, container(runs(THEN)));
    ready["status"]["conditions"][1]["status"] = json!("True");
    let mut pods = [probe, crash("b", THEN), crash("c", NOW), ready];
    for turn in 0..pods.len() {
        pods.rotate_left(turn);
        let told = Stuck::among(&pods, now()).unwrap().to_string();
        // The younger one of two that crash.
        assert_eq!(
            told,
            "its pod c crashes: container \"db\" ended with exit code 1 (2 of 4 pods)"
        );
    }
}

#[test]
fn what_others_say_stays_short_and_on_one_line() {
    let message = format!("secret\n\u{202e}{}", "x".repeat(9000));
    let told = told_of("Pending", &waiting("CreateContainerConfigError", &message));
    assert!(told.chars().count() < 250 && !told.contains('\n'), "{told}");
}
