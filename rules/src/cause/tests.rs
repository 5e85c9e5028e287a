//! Each cause, out of a status as the kubelet and the scheduler write it.

use super::*;
use crate::kinds::{self, Kind};
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

/// The sentence for a pod.
fn told(pod: &Value) -> String {
    Stuck::among([pod], now()).map_or_else(String::new, |it| it.to_string())
}

/// The sentence for a pod with this one container.
fn told_of(phase: &str, container: &Value) -> String {
    told(&pod(phase, &json!([container])))
}

/// Nothing behind a gate starts before it does, so what keeps the gate from starting is the cause.
#[test]
fn a_gate_that_cannot_start_says_why() {
    let gate = |reason: &str, message: &str| {
        let mut pod = pod("Pending", &json!([waiting("PodInitializing", "")]));
        pod["status"]["initContainerStatuses"] = json!([
            {"name": "sluice-gate", "image": "example.com/gate:1", "state": {"waiting": {"reason": reason, "message": message}}},
        ]);
        told(&pod)
    };
    assert_eq!(
        gate(
            "ImagePullBackOff",
            "Back-off pulling image \"example.com/gate:1\""
        ),
        "its pod db-0 cannot pull image example.com/gate:1"
    );
    let said = gate(
        "CreateContainerConfigError",
        "container has runAsNonRoot and image will run as root",
    );
    assert_eq!(
        said,
        "its pod db-0 cannot start container \"sluice-gate\": container has runAsNonRoot and image will run as root"
    );
}

#[test]
fn a_workload_lacks_pods_until_its_controller_has_made_them() {
    for (kind, spec, status, expected) in [
        ("Deployment", json!({}), json!({}), true),
        (
            "StatefulSet",
            json!({"replicas": 3}),
            json!({"replicas": 2}),
            true,
        ),
        (
            "StatefulSet",
            json!({"replicas": 2}),
            json!({"replicas": 2}),
            false,
        ),
        ("ReplicaSet", json!({"replicas": 0}), json!({}), false),
        (
            "DaemonSet",
            json!({}),
            json!({"desiredNumberScheduled": 2, "currentNumberScheduled": 1}),
            true,
        ),
        (
            "DaemonSet",
            json!({}),
            json!({"desiredNumberScheduled": 2, "currentNumberScheduled": 2}),
            false,
        ),
        ("Job", json!({}), json!({}), true),
        ("Job", json!({}), json!({"active": 1}), false),
        (
            "Job",
            json!({}),
            json!({"conditions": [{"type": "Failed", "status": "True"}]}),
            false,
        ),
        ("Job", json!({"suspend": true}), json!({}), false),
        ("CronJob", json!({}), json!({}), false),
    ] {
        let workload = json!({"kind": kind, "spec": spec, "status": status});
        assert_eq!(lacks_pods(&workload), expected, "{workload}");
    }
}

#[test]
fn a_refusal_is_told_without_the_pods_name() {
    for (says, expected) in [
        (
            "create Pod web-0 in StatefulSet web failed error: pods \"web-0\" is forbidden: exceeded quota: q",
            "exceeded quota: q",
        ),
        (
            "Error creating: admission webhook \"pods.sluice.dev\" denied the request: no gate",
            "no gate",
        ),
        (
            "Error creating: something else",
            "Error creating: something else",
        ),
    ] {
        assert_eq!(refusal(says), expected);
    }
}

#[test]
fn an_image_that_cannot_be_pulled() {
    let reference = "\"docker.io/postgres:17.2\"";
    let word = format!(
        "rpc error: code = NotFound desc = failed to pull and unpack image {reference}: failed to resolve reference \
         {reference}: docker.io/library/postgres:17.2: not found"
    );
    let said = "its pod db-0 cannot pull image docker.io/postgres:17.2";
    for (reason, message, says) in [
        ("ErrImagePull", word.clone(), ": not found"),
        (
            "ImagePullBackOff",
            format!("Back-off pulling image {reference}: ErrImagePull: {word}"),
            ": not found",
        ),
        (
            "ImagePullBackOff",
            format!("Back-off pulling image {reference}"),
            "",
        ),
        (
            "InvalidImageName",
            "couldn't parse image name: invalid reference format".to_owned(),
            ": couldn't parse image name: invalid reference format",
        ),
    ] {
        assert_eq!(
            told_of("Pending", &waiting(reason, &message)),
            format!("{said}{says}")
        );
    }
}

#[test]
fn a_container_that_cannot_be_made() {
    let missing = waiting(
        "CreateContainerConfigError",
        "secret \"db-password\" not found",
    );
    assert_eq!(
        told_of("Pending", &missing),
        "its pod db-0 cannot start container \"db\": secret \"db-password\" not found"
    );
    assert_eq!(
        told_of("Pending", &waiting("RunContainerError", "")),
        "its pod db-0 cannot start container \"db\": RunContainerError"
    );
}

#[test]
fn a_container_that_crashes_says_the_same_between_its_crashes() {
    let mut crashing = waiting(
        "CrashLoopBackOff",
        "back-off 5m0s restarting failed container=db",
    );
    let mut running = container(runs(NOW));
    let ends = container(ended(137, "OOMKilled"));
    for status in [&mut crashing, &mut running] {
        status["lastState"] = ended(137, "OOMKilled");
        status["restartCount"] = json!(7);
    }
    for status in [crashing, running, ends] {
        assert_eq!(
            told_of("Running", &status),
            "its pod db-0 crashes: container \"db\" ended with exit code 137 (OOMKilled)"
        );
    }
    let mut plain = waiting("CrashLoopBackOff", "");
    plain["lastState"] = ended(1, "Error");
    assert_eq!(
        told_of("Running", &plain),
        "its pod db-0 crashes: container \"db\" ended with exit code 1"
    );
    plain["lastState"] = ended(128, "StartError");
    let says = "exec: \"serve\": executable file not found in $PATH";
    plain["lastState"]["terminated"]["message"] = json!(says);
    assert_eq!(
        told_of("Running", &plain),
        format!("its pod db-0 crashes: container \"db\" cannot be started: {says}")
    );
    // The last message of an application is never shown: it may hold a secret.
    plain["lastState"] = ended(1, "Error");
    plain["lastState"]["terminated"]["message"] = json!("password=hunter2");
    assert!(!told_of("Running", &plain).contains("hunter2"));
}

#[test]
fn a_probe_that_fails_once_the_container_has_had_its_time() {
    let mut status = container(runs(THEN));
    assert_eq!(
        told_of("Running", &status),
        "its pod db-0 is not ready: the startup probe of container \"db\" has not succeeded: \"kubectl describe pod\" says why"
    );
    status["started"] = json!(true);
    assert_eq!(
        told_of("Running", &status),
        "its pod db-0 is not ready: the readiness probe of container \"db\" fails: \"kubectl describe pod\" says why"
    );
    status["state"] = runs("2026-01-01T00:59:56Z");
    assert_eq!(told_of("Running", &status), "");
    let mut gated = pod("Running", &json!([]));
    gated["status"]["conditions"][1] = json!({
        "type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady",
        "message": "corresponding condition of pod readiness gate \"lb\" does not exist.",
    });
    assert_eq!(
        told(&gated),
        "its pod db-0 is not ready: corresponding condition of pod readiness gate \"lb\" does not exist."
    );
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
fn an_init_container_holds_up_the_others() {
    let with_init = |status: Value| {
        let idle = waiting("PodInitializing", "");
        let mut pod = pod("Pending", &json!([idle]));
        pod["status"]["initContainerStatuses"] = json!([status]);
        pod
    };
    let init = |state: Value| json!({"name": "schema", "image": "i:1", "state": state});
    let crashing = with_init(init(ended(2, "Error")));
    assert_eq!(
        told(&crashing),
        "its pod db-0 crashes: container \"schema\" ended with exit code 2"
    );
    assert_eq!(
        told(&with_init(init(runs(THEN)))),
        "its pod db-0 has come no further than its init container \"schema\""
    );
    assert_eq!(told(&with_init(init(runs("2026-01-01T00:59:31Z")))), "");
    // Only its probe holds up a sidecar.
    let mut sidecar = with_init(init(runs(THEN)));
    sidecar["spec"]["initContainers"] = json!([{"name": "schema", "restartPolicy": "Always"}]);
    sidecar["status"]["initContainerStatuses"][0]["started"] = json!(false);
    assert_eq!(
        told(&sidecar),
        "its pod db-0 is not ready: the startup probe of container \"schema\" has not succeeded: \"kubectl describe pod\" says why"
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

#[test]
fn a_controller_that_may_make_no_pods_says_why() {
    let with = |message: &str| {
        json!({"status": {"conditions": [
            {"type": "ReplicaFailure", "status": "True", "reason": "FailedCreate", "message": message},
        ]}})
    };
    let quota = "pods \"api-7c9-x2b4d\" is forbidden: exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1";
    let webhook = "admission webhook \"policy.example.com\" denied the request: no label team";
    assert_eq!(
        refused(&with(quota)).as_deref(),
        Some("exceeded quota: small, requested: pods=1, used: pods=1, limited: pods=1")
    );
    assert_eq!(refused(&with(webhook)).as_deref(), Some("no label team"));
    assert_eq!(
        refused(&with("Internal error")).as_deref(),
        Some("Internal error")
    );
    assert_eq!(refused(&json!({})), None);
}

#[test]
fn the_pods_behind_an_object_are_found_by_their_labels() {
    let behind = |kind, object: &Value| Behind::of(&Kind::Builtin(kind), object, "shop");
    let service = kinds::builtin("", "Service").unwrap();
    let found = behind(service, &json!({"spec": {"selector": {"app": "db"}}})).unwrap();
    assert_eq!(
        (found.selector.to_string().as_str(), found.owner),
        ("app=db", None)
    );
    let job = json!({"metadata": {"uid": "u"}, "spec": {"selector": {"matchLabels": {"controller-uid": "u"}}}});
    let found = behind(kinds::JOB, &job).unwrap();
    assert_eq!(found.owner.as_deref(), Some("u"));
    // Without labels it would be every pod.
    assert_eq!(behind(service, &json!({"spec": {}})), None);
    assert_eq!(
        behind(kinds::JOB, &json!({"metadata": {"uid": "u"}, "spec": {}})),
        None
    );
}

#[test]
fn the_claims_of_a_pod() {
    let pod = json!({"spec": {"volumes": [
        {"name": "a", "emptyDir": {}},
        {"name": "b", "persistentVolumeClaim": {"claimName": "data-db-0"}},
    ]}});
    assert_eq!(claims(&pod).collect::<Vec<_>>(), ["data-db-0"]);
}
