//! Tests objects that are older than the dependent's revision, and so may be about to be replaced.

use super::selection::job;
use super::wave::of_release;
use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

/// The reason of the first edge of a pod made at second 0, judged at `now`; and the second at which the pod is judged again.
pub(super) fn told_at(now: i64, pod: &Value, object: Value) -> (Reason, Option<i64>) {
    let judgement = judged_at(now, pod, object);
    let again = judgement.again.map(Timestamp::as_second);
    (judgement.edges[0].judged.reason, again)
}

pub(super) fn judged_at(now: i64, pod: &Value, object: Value) -> Judgement {
    judged_in(&Cluster::of(vec![object]), now, pod)
}

pub(super) fn judged_in(cluster: &Cluster, now: i64, pod: &Value) -> Judgement {
    let Lookup::Found(dependent) = Dependent::resolve(pod, &[], cluster) else {
        panic!("resolved")
    };
    let dependencies = dependent.edges(true, cluster).unwrap();
    let policy = Policy::of_the_chart();
    judge(&dependent, dependencies, &policy, cluster, at(now))
}

pub(super) fn new_pod(list: &str) -> Value {
    of_release(pod(list), None, 0)
}

pub(super) fn seed(made: i64) -> Value {
    of_release(job("shop", "seed", "x", true), None, made)
}

#[test]
fn what_is_older_has_to_stand_for_a_moment() {
    let pod = new_pod("job/seed");
    assert_eq!(told_at(1, &pod, seed(-600)), (Reason::Settling, Some(4)));
    assert_eq!(told_at(3, &pod, seed(-600)), (Reason::Settling, Some(4)));
    assert_eq!(told_at(4, &pod, seed(-600)), (Reason::Satisfied, None));
}

/// The upgrade that mends a migration replaces its failed Job, so a gate that refused because of the old Job would refuse too early.
#[test]
fn what_failed_before_has_to_stand_for_a_moment_too() {
    let pod = new_pod("job/seed");
    let failed = |made| {
        let mut seed = seed(made);
        seed["status"] = json!({ "conditions": [{ "type": "Failed", "status": "True" }] });
        seed
    };
    let settling = (Reason::Settling, Some(4));
    assert_eq!(told_at(1, &pod, failed(-600)), settling);
    assert_eq!(told_at(4, &pod, failed(-600)).0, Reason::JobFailed);
    assert_eq!(told_at(1, &pod, failed(0)).0, Reason::JobFailed);
}

#[test]
fn what_came_with_the_revision_does_not_settle() {
    let pod = new_pod("job/seed");
    for made in [-5, 0, 1] {
        assert_eq!(told_at(1, &pod, seed(made)).0, Reason::Satisfied, "{made}");
    }
    let mut written = seed(-600);
    written["metadata"]["managedFields"] = json!([
        {"time": "1969-12-01T00:00:00Z"},
        {"time": "1970-01-01T00:00:01Z"},
    ]);
    assert_eq!(
        told_at(5, &pod, written.clone()).0,
        Reason::Satisfied,
        "written since, it is not replaced any more"
    );
    written["metadata"]["managedFields"][1]["subresource"] = json!("status");
    assert_eq!(told_at(1, &pod, written), (Reason::Settling, Some(4)));
}

/// An object that claims to be written at the end of time is judged like any other: any writer of an object may say when it was written.
#[test]
fn what_claims_to_be_written_at_the_end_of_time_is_judged_all_the_same() {
    let mut late = seed(-600);
    late["metadata"]["managedFields"] = json!([{"time": "9999-12-30T22:00:00Z"}]);
    assert_eq!(told_at(1, &new_pod("job/seed"), late).0, Reason::Settling);
}

#[test]
fn the_moment_begins_anew_with_each_change_also_one_without_a_trace() {
    let pod = new_pod("job/seed");
    let world = Cluster {
        active: Ok(Some(at(1))),
        changed: Some(at(2)),
        ..Cluster::of(vec![seed(-600)])
    };
    let reason = |now| judged_in(&world, now, &pod).edges[0].judged.reason;
    assert_eq!(
        [reason(5), reason(6)],
        [Reason::Settling, Reason::Satisfied]
    );
}

#[test]
fn an_exact_answer_needs_no_waiting() {
    let revised = |mut object: Value| {
        object["metadata"]["annotations"]["sluice.dev/revision"] = json!("2");
        object
    };
    let (pod, old) = (revised(new_pod("job/seed")), seed(-600));
    assert_eq!(told_at(1, &pod, revised(old.clone())).0, Reason::Satisfied);
    assert_eq!(
        told_at(1, &pod, old.clone()).0,
        Reason::Settling,
        "it does not take part"
    );
    let any = new_pod("- {kind: Job, name: seed, revision: any}");
    assert_eq!(told_at(1, &any, old).0, Reason::Satisfied);
}

#[test]
fn another_release_is_not_replaced_by_this_one() {
    let mut other = seed(-600);
    other["metadata"]["annotations"]["meta.helm.sh/release-name"] = json!("other");
    assert_eq!(told_at(1, &new_pod("job/seed"), other).0, Reason::Satisfied);
    let mut none = seed(-600);
    none["metadata"]["annotations"] = json!({});
    assert_eq!(
        told_at(1, &new_pod("job/seed"), none).0,
        Reason::Settling,
        "nobody knows"
    );
}

#[test]
fn while_helm_is_at_work_an_old_object_is_waited_for_but_not_for_ever() {
    let pod = new_pod("job/seed");
    let reason = |now: i64, made: i64| {
        let world = Cluster {
            pending: Pending::Yes,
            ..Cluster::of(vec![seed(made)])
        };
        judged_in(&world, now, &pod).edges[0].judged.reason
    };
    assert_eq!(reason(10, -600), Reason::Settling);
    assert_eq!(reason(30, -600), Reason::Satisfied);
    assert_eq!(reason(1, 0), Reason::Satisfied, "it has been written since");
}
