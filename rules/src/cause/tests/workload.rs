//! A workload: the pods that it lacks, the refusal of its pods, and the pods and claims behind it.

use super::*;
use crate::kinds::{self, Kind};

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
fn a_workload_counts_its_pods_that_are_not_ready() {
    for (kind, status, expected) in [
        (
            "Deployment",
            json!({"replicas": 3, "readyReplicas": 1}),
            Some(2),
        ),
        ("Rollout", json!({"replicas": 3}), Some(3)),
        (
            "StatefulSet",
            json!({"replicas": 1, "readyReplicas": 2}),
            Some(0),
        ),
        (
            "DaemonSet",
            json!({"currentNumberScheduled": 2, "numberReady": 1}),
            Some(1),
        ),
        (
            "Job",
            json!({"active": 2, "ready": 1, "failed": 1}),
            Some(2),
        ),
        ("Job", json!({}), None),
        ("Widget", json!({"phase": "Running"}), None),
    ] {
        let workload = json!({"kind": kind, "status": status});
        assert_eq!(unready_pods(&workload), expected, "{workload}");
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
