//! Tests entries that name one object.

use super::*;

#[test]
fn what_is_not_there_is_waited_for_unless_it_is_optional() {
    let optional = pod("- kind: ConfigMap\n  name: a\n  optional: true\n- configmap/b");
    let cluster = Cluster::of(vec![]);
    assert_eq!(
        reasons(&optional, &cluster),
        [Reason::OptionalNotFound, Reason::NotFound]
    );
    let answer = answer(&edges_of(&optional, &cluster, &Policy::of_the_chart()));
    assert_eq!(answer.verdict, wire::Decision::Wait);
    assert_eq!(answer.dependencies[1].status, "NotFound");
}

#[test]
fn a_job_that_completed_before_it_was_removed_goes_on_counting() {
    let cluster = Cluster::of(vec![]);
    assert_eq!(
        reasons(&pod("job/gone, job/gone:complete"), &cluster),
        [Reason::Remembered; 2]
    );
    assert_eq!(
        reasons(&pod("job/never, job/gone:present"), &cluster),
        [Reason::NotFound; 2]
    );
    let newer = owned("Job", "gone", None, json!({}));
    assert_eq!(
        reasons(&pod("job/gone"), &Cluster::of(vec![newer])),
        [Reason::JobNotComplete]
    );
}

/// A Job that completed in a deleted namespace does not count in a new namespace of that name.
#[test]
fn a_job_of_an_earlier_namespace_is_not_remembered() {
    let reason = |began: Value| {
        let mut shop = home();
        shop["metadata"]["creationTimestamp"] = began;
        reasons(&pod("job/gone"), &Cluster::of(vec![shop]))
    };
    assert_eq!(reason(json!("1970-01-01T00:00:00Z")), [Reason::Remembered]);
    assert_eq!(reason(json!("1970-01-01T00:00:01Z")), [Reason::NotFound]);
    assert_eq!(reason(json!(null)), [Reason::Syncing]);
    let mut cluster = Cluster::of(vec![]);
    cluster.unavailable = vec![("Namespace", Unavailable::Forbidden)];
    assert_eq!(reasons(&pod("job/gone"), &cluster), [Reason::KindForbidden]);
}

#[test]
fn what_cannot_be_known_never_opens() {
    let custom = pod("widget.example.com/a");
    let mut cluster = Cluster::of(vec![config_map("shop", "a")]);
    for (why, reason) in [
        (Unavailable::Syncing, Reason::Syncing),
        (Unavailable::NotServed, Reason::KindNotServed),
        (Unavailable::Forbidden, Reason::KindForbidden),
        (Unavailable::Stale, Reason::Stale),
        (Unavailable::Undiscovered, Reason::DiscoveryFailed),
    ] {
        cluster.unavailable = vec![("widget", why), ("ConfigMap", why)];
        assert_eq!(reasons(&custom, &cluster), [reason]);
        assert_eq!(reasons(&pod("configmap/a"), &cluster), [reason]);
    }
}

/// "Not served" is an answer of the API server, so the object is absent and may be optional. A failed discovery is no answer.
#[test]
fn an_optional_entry_does_not_open_while_nobody_knows_the_kind() {
    let optional = pod("- {kind: widget.example.com, name: a, optional: true}");
    let mut cluster = Cluster::of(vec![]);
    let mut reason = |why| {
        cluster.unavailable = vec![("widget", why)];
        reasons(&optional, &cluster)
    };
    assert_eq!(reason(Unavailable::NotServed), [Reason::OptionalNotFound]);
    for (why, reason_of) in [
        (Unavailable::Undiscovered, Reason::DiscoveryFailed),
        (Unavailable::Forbidden, Reason::KindForbidden),
        (Unavailable::Syncing, Reason::Syncing),
    ] {
        assert_eq!(reason(why), [reason_of]);
    }
}

#[test]
fn nobody_waits_for_himself() {
    let pod = owned("Pod", "web-1-x", Some(("ReplicaSet", "web-1")), json!({}));
    let set = owned(
        "ReplicaSet",
        "web-1",
        Some(("Deployment", "web")),
        json!({}),
    );
    let web = owned(
        "Deployment",
        "web",
        None,
        list("deployment/web, pod/web-1-x, deployment/other"),
    );
    let expected = [
        Reason::SelfReference,
        Reason::SelfReference,
        Reason::NotFound,
    ];
    assert_eq!(reasons(&pod, &Cluster::of(vec![set, web])), expected);
}

/// Every pod of a StatefulSet has the same list, so a list that names pods of its own set names pods that wait as well.
#[test]
fn nobody_waits_for_a_pod_beside_it() {
    let list = list("pod/db-1, pod/db-2, pod/db-1:present, pod/db-x, pod/dba-1");
    let set = owned("StatefulSet", "db", None, list);
    let pod = |name: &str| {
        let mut pod = owned("Pod", name, Some(("StatefulSet", "db")), json!({}));
        pod["metadata"]["labels"] = json!({"sluice.dev/gated": "true"});
        pod
    };
    let told = |beside: Value| reasons(&pod("db-0"), &Cluster::of(vec![set.clone(), beside]));
    let itself = Reason::SelfReference;
    let others = [Reason::NotFound; 2];
    let waits = told(pod("db-1"));
    assert_eq!(waits[..3], [itself, itself, Reason::Satisfied]);
    assert_eq!(waits[3..], others);
    // A pod of the set that has passed its gate is waited for as any other pod.
    let mut passed = pod("db-1");
    let gate = json!({"name": "sluice-gate", "state": {"terminated": {"exitCode": 0}}});
    passed["status"] = json!({"phase": "Pending", "initContainerStatuses": [gate]});
    assert_eq!(told(passed)[0], Reason::InProgress);
    // And so is one with a list of its own.
    let mut other = pod("db-1");
    other["metadata"]["annotations"] = json!({"sluice.dev/depends-on": "job/migrate"});
    assert_eq!(told(other)[0], Reason::InProgress);
    let mut gone = owned("Pod", "other", None, json!({}));
    gone["metadata"]["labels"] = json!({});
    assert_eq!(told(gone)[..3], [itself, itself, Reason::NotFound]);
}

#[test]
fn no_list_opens() {
    let pod = owned("Pod", "p", None, json!({}));
    let edges = edges_of(&pod, &Cluster::of(vec![]), &Policy::of_the_chart());
    assert_eq!(answer(&edges).verdict, wire::Decision::Open);
}
