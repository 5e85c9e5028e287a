//! Tests lockstep (`sluice.dev/revision`) and entries with `fresh`.

use super::selection::{job, told};
use super::*;

fn with(mut object: Value, key: &str, value: &str) -> Value {
    object["metadata"]["annotations"][key] = json!(value);
    object
}

fn of_revision(object: Value, revision: &str) -> Value {
    with(object, "sluice.dev/revision", revision)
}

fn made(mut object: Value, at: &str) -> Value {
    object["metadata"]["creationTimestamp"] = json!(at);
    object
}

#[test]
fn an_object_of_another_revision_does_not_count() {
    let seed = || job("shop", "seed", "x", true);
    let ask = |object: Value| {
        let pod = of_revision(pod("job/seed"), "2");
        told(&pod, &Cluster::of(vec![object]))
    };
    assert_eq!(
        ask(of_revision(seed(), "1")),
        "wait InProgress OtherRevision: it is of revision \"1\", and the dependent of \"2\"; update it too, or write \"revision: any\" in the entry"
    );
    let satisfied = "open Current Satisfied: Job Completed";
    assert_eq!(ask(of_revision(seed(), "2")), satisfied);
    assert_eq!(ask(seed()), satisfied, "it does not take part");
    let without = pod("job/seed");
    assert_eq!(
        told(&without, &Cluster::of(vec![of_revision(seed(), "1")])),
        satisfied,
        "the dependent does not take part"
    );
}

#[test]
fn revision_any_takes_an_edge_out() {
    let pod = of_revision(pod("- {kind: Job, name: seed, revision: any}"), "2");
    let old = of_revision(job("shop", "seed", "x", true), "1");
    assert_eq!(reasons(&pod, &Cluster::of(vec![old])), [Reason::Satisfied]);
}

#[test]
fn the_revision_of_a_pod_template_counts_before_that_of_its_workload() {
    let workload = |template: &str| {
        let mut set = of_revision(owned("StatefulSet", "db", None, json!({})), "1");
        set["spec"]["template"]["metadata"]["annotations"] =
            json!({"sluice.dev/revision": template});
        set
    };
    let pod = of_revision(pod("statefulset/db:present"), "2");
    let reason = |template| reasons(&pod, &Cluster::of(vec![workload(template)]));
    assert_eq!(reason("2"), [Reason::Satisfied]);
    assert_eq!(reason("1"), [Reason::OtherRevision]);
}

#[test]
fn lockstep_stays_within_the_namespace() {
    let pod = of_revision(pod("data/job/y"), "2");
    let old = of_revision(job("data", "y", "x", true), "1");
    let policy = Policy {
        cross_namespace: CrossNamespace(vec![("shop".to_owned(), "data".to_owned())]),
        ..Policy::of_the_chart()
    };
    let edges = edges_of(&pod, &Cluster::of(vec![old]), &policy);
    assert_eq!(edges[0].judged.reason, Reason::Satisfied);
}

#[test]
fn one_selected_object_of_another_revision_holds_back() {
    let pod = of_revision(pod("- {kind: Job, selector: app=x}"), "2");
    let cluster = Cluster::of(vec![
        of_revision(job("shop", "a", "x", true), "2"),
        of_revision(job("shop", "b", "x", true), "1"),
    ]);
    assert_eq!(
        told(&pod, &cluster),
        "wait InProgress OtherRevision: 1 of 2 ready; b: it is of revision \"1\", and the dependent of \"2\"; update it too, or write \"revision: any\" in the entry"
    );
}

const EARLY: &str = "2024-01-01T00:00:00Z";
const BEGAN: &str = "2024-01-02T00:00:00Z";
const LATE: &str = "2024-01-03T00:00:00Z";

/// The reason of the edge to a fresh Job made at `job_at`, for a pod below these owners.
fn freshness(pod: &Value, owners: &[Value], job_at: &str) -> Reason {
    let mut objects = owners.to_vec();
    objects.push(made(job("shop", "seed", "x", true), job_at));
    reasons(pod, &Cluster::of(objects))[0]
}

fn fresh() -> Value {
    list("- {kind: Job, name: seed, fresh: true}")
}

#[test]
fn only_a_job_made_since_the_revision_appeared_is_fresh() {
    let pod = |by: (&str, &str)| made(owned("Pod", "p", Some(by), fresh()), LATE);
    let by_set = pod(("ReplicaSet", "web-1"));
    let set = made(owned("ReplicaSet", "web-1", None, json!({})), BEGAN);
    let by_job = pod(("Job", "nightly"));
    let nightly = made(owned("Job", "nightly", None, json!({})), BEGAN);
    let alone = made(owned("Pod", "p", None, fresh()), BEGAN);
    let mut stateful = pod(("StatefulSet", "db"));
    stateful["metadata"]["labels"] = json!({"controller-revision-hash": "db-5d4f"});
    let mut set_of_db = owned("StatefulSet", "db", None, json!({}));
    set_of_db["status"] = json!({"updateRevision": "db-5d4f"});
    let db = [
        made(set_of_db, EARLY),
        made(
            owned("ControllerRevision", "db-5d4f", None, json!({})),
            BEGAN,
        ),
    ];
    let mut daemon = pod(("DaemonSet", "agent"));
    daemon["metadata"]["labels"] = json!({"controller-revision-hash": "77c9"});
    let agent = [
        made(owned("DaemonSet", "agent", None, json!({})), EARLY),
        made(
            owned("ControllerRevision", "agent-77c9", None, json!({})),
            BEGAN,
        ),
    ];
    for (pod, owners) in [
        (&by_set, &[set][..]),
        (&by_job, &[nightly]),
        (&alone, &[]),
        (&stateful, &db),
        (&daemon, &agent),
    ] {
        let ask = |at| freshness(pod, owners, at);
        assert_eq!(ask(EARLY), Reason::NotFresh, "{owners:?}");
        assert_eq!(ask(BEGAN), Reason::Satisfied, "{owners:?}");
        assert_eq!(ask(LATE), Reason::Satisfied, "{owners:?}");
    }
}

/// A StatefulSet's pod, and the StatefulSet.
fn stateful() -> (Value, Value) {
    let mut pod = owned("Pod", "db-0", Some(("StatefulSet", "db")), json!({}));
    pod["metadata"]["labels"] = json!({"controller-revision-hash": "db-1"});
    pod["metadata"]["ownerReferences"][0]["uid"] = json!("u");
    let mut set = owned("StatefulSet", "db", None, json!({}));
    set["metadata"]["uid"] = json!("u");
    set["status"] = json!({"currentRevision": "db-1", "updateRevision": "db-1"});
    (pod, set)
}

#[test]
fn a_controller_revision_is_waited_for_unless_it_is_hidden() {
    let (pod, set) = stateful();
    let mut cluster = Cluster::of(vec![set]);
    let resolved = |cluster: &Cluster| Dependent::resolve(&pod, &[], cluster);
    assert_eq!(resolved(&cluster), Lookup::NotFound);
    cluster.unavailable = vec![("ControllerRevision", Unavailable::Stale)];
    let stale = Lookup::Unavailable(Unavailable::Stale);
    assert_eq!(resolved(&cluster), stale);
    cluster.unavailable = vec![("ControllerRevision", Unavailable::Forbidden)];
    let Lookup::Found(dependent) = resolved(&cluster) else {
        panic!("resolved")
    };
    assert_eq!(dependent.revision(), None, "it may have been brought back");
    assert_eq!(dependent.revision_began(), Err(Unavailable::Forbidden));
}

#[test]
fn a_controller_revision_that_is_brought_back_is_another_revision() {
    let (pod, set) = stateful();
    let told = |written: Option<&str>| {
        let mut revision = made(owned("ControllerRevision", "db-1", None, json!({})), BEGAN);
        revision["metadata"]["managedFields"] = json!([{ "time": written }]);
        let cluster = Cluster::of(vec![set.clone(), revision]);
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
            panic!("resolved")
        };
        let time = |at: Result<Timestamp, Unavailable>| at.unwrap().to_string();
        let times = [dependent.revision_began(), dependent.revision_returned()].map(time);
        (dependent.revision().unwrap(), times)
    };
    let first = ("u.db-1".to_owned(), [BEGAN, BEGAN].map(str::to_owned));
    for written in [None, Some(EARLY), Some(BEGAN)] {
        assert_eq!(told(written), first, "{written:?}");
    }
    let back = (
        "u.db-1.1704240000".to_owned(),
        [BEGAN, LATE].map(str::to_owned),
    );
    assert_eq!(told(Some(LATE)), back);
}

#[test]
fn a_remembered_job_is_held_to_the_same() {
    let cluster = Cluster::of(vec![]);
    let reason = |pod: &Value| reasons(pod, &cluster);
    for (revision, expected) in [("1", Reason::Remembered), ("2", Reason::NotFound)] {
        let pod = of_revision(pod("job/gone"), revision);
        assert_eq!(reason(&pod), [expected], "{revision}");
    }
    let fresh = || pod("- {kind: Job, name: gone, fresh: true}");
    let epoch = "1970-01-01T00:00:00Z";
    assert_eq!(reason(&made(fresh(), epoch)), [Reason::Remembered]);
    assert_eq!(reason(&made(fresh(), EARLY)), [Reason::NotFound]);
    let mut undated = fresh();
    undated["metadata"]["creationTimestamp"] = json!(null);
    assert_eq!(reason(&undated), [Reason::Syncing], "nobody knows when");
}

#[test]
fn what_is_not_fresh_says_when_it_was_made() {
    let pod = made(owned("Pod", "p", None, fresh()), BEGAN);
    let old = made(job("shop", "seed", "x", true), EARLY);
    assert_eq!(
        told(&pod, &Cluster::of(vec![old])),
        "wait InProgress NotFresh: made at 2024-01-01T00:00:00Z, before the dependent's revision, of 2024-01-02T00:00:00Z; create it again, or take \"fresh\" out of the entry"
    );
}

#[test]
fn old_jobs_among_fresh_ones_hold_nobody_back() {
    let list = list("- {kind: Job, selector: app=x, fresh: true}");
    let pod = made(owned("Pod", "p", None, list), BEGAN);
    let old = made(job("shop", "seed-1", "x", true), EARLY);
    let new = |complete| made(job("shop", "seed-2", "x", complete), LATE);
    let ask = |objects: Vec<Value>| {
        let told = told(&pod, &Cluster::of(objects));
        told.split(';').next().unwrap_or_default().to_owned()
    };
    assert_eq!(
        ask(vec![old.clone()]),
        "wait InProgress NotFresh: 0 of 1 ready"
    );
    assert_eq!(
        ask(vec![old.clone(), new(false)]),
        "wait InProgress JobNotComplete: 0 of 1 ready"
    );
    assert_eq!(
        ask(vec![old, new(true)]),
        "open Current Satisfied: 1 of 1 ready"
    );
}
