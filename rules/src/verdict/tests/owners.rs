//! Tests owners that were replaced by another object of their name, or whose known copy is older than the objects that they own.

use super::*;

fn resolved(pod: &Value, objects: &[&Value]) -> Lookup<Dependent> {
    let objects = objects.iter().map(|it| (*it).clone()).collect();
    Dependent::resolve(pod, &rollouts(), &Cluster::of(objects))
}

fn with(mut object: Value, pointer: &str, value: &str) -> Value {
    let (above, field) = pointer.rsplit_once('/').unwrap();
    if object.pointer(above).is_none_or(Value::is_null) {
        let (head, last) = above.rsplit_once('/').unwrap();
        object.pointer_mut(head).unwrap()[last] = json!({});
    }
    object.pointer_mut(above).unwrap()[field] = json!(value);
    object
}

const SYNCING: Lookup<Dependent> = Lookup::Unavailable(Unavailable::Syncing);

fn web() -> [Value; 3] {
    [
        owned("Pod", "web-1-x", Some(("ReplicaSet", "web-1")), json!({})),
        owned(
            "ReplicaSet",
            "web-1",
            Some(("Deployment", "web")),
            json!({}),
        ),
        owned("Deployment", "web", None, json!({})),
    ]
}

/// After a forced replacement a pod may be known before its new owner: the watches of two kinds have no common order.
#[test]
fn an_owner_of_another_uid_is_another_owner() {
    let [pod, set, web] = web();
    assert!(matches!(resolved(&pod, &[&set, &web]), Lookup::Found(_)));
    let new_pod = with(pod.clone(), "/metadata/ownerReferences/0/uid", "new");
    assert_eq!(resolved(&new_pod, &[&set, &web]), Lookup::NotFound);
    let new_set = with(set.clone(), "/metadata/ownerReferences/0/uid", "new");
    assert_eq!(resolved(&pod, &[&new_set, &web]), Lookup::NotFound);
    let old_web = with(web, "/metadata/uid", "old");
    assert_eq!(resolved(&pod, &[&set, &old_web]), Lookup::NotFound);
}

#[test]
fn a_deployment_that_has_not_heard_of_its_replica_set_is_not_believed() {
    let rollout = [
        owned("Pod", "web-1-x", Some(("ReplicaSet", "web-1")), json!({})),
        owned("ReplicaSet", "web-1", Some(("Rollout", "web")), json!({})),
        owned("Rollout", "web", None, json!({})),
    ];
    for (chain, key) in [
        (web(), "deployment.kubernetes.io/revision"),
        (rollout, "rollout.argoproj.io/revision"),
    ] {
        let [pod, set, top] = chain;
        let numbered = |object: &Value, number: Option<&str>| {
            let mut object = object.clone();
            if let Some(number) = number {
                object["metadata"]["annotations"][key] = json!(number);
            }
            object
        };
        let told = |of_set: Option<&str>, of_top: Option<&str>| {
            resolved(&pod, &[&numbered(&set, of_set), &numbered(&top, of_top)])
        };
        for (of_set, of_top) in [
            (Some("3"), Some("2")),
            (Some("10"), Some("9")),
            (Some("1"), None),
        ] {
            assert_eq!(told(of_set, of_top), SYNCING, "{key} {of_set:?} {of_top:?}");
        }
        // An old one may still make pods, in the middle of a rollout.
        for (of_set, of_top) in [(Some("2"), Some("2")), (Some("1"), Some("2")), (None, None)] {
            let found = matches!(told(of_set, of_top), Lookup::Found(_));
            assert!(found, "{key} {of_set:?} {of_top:?}");
        }
    }
}

/// The list of a Deployment counts for the pods of the Rollout that takes over its template: the pods belong to the Rollout, and the template to the
/// Deployment that the Rollout names.
#[test]
fn the_list_of_a_workload_counts_for_the_rollout_that_takes_its_template() {
    let pod = owned("Pod", "web-1-x", Some(("ReplicaSet", "web-1")), json!({}));
    let set = owned("ReplicaSet", "web-1", Some(("Rollout", "web")), json!({}));
    let rollout = |kind: &str, says: Value| {
        let mut rollout = owned("Rollout", "web", None, says);
        let version = if kind == "PodTemplate" {
            "v1"
        } else {
            "apps/v1"
        };
        rollout["spec"] =
            json!({"workloadRef": {"apiVersion": version, "kind": kind, "name": "base"}});
        rollout
    };
    let base = |says: Value| owned("Deployment", "base", None, says);
    let list = |text: &str| json!({"sluice.dev/depends-on": text, "sluice.dev/timeout": "5m", "sluice.dev/weight": "7"});
    let edges = |objects: &[&Value]| {
        let Lookup::Found(dependent) = resolved(&pod, objects) else {
            panic!("resolved")
        };
        let cluster = Cluster::of(Vec::new());
        let edges = dependent.edges(true, &cluster).unwrap();
        let edges: Vec<_> = edges.iter().map(ToString::to_string).collect();
        (
            edges.join(" "),
            dependent.terms().terms.timeout,
            dependent.weight(),
        )
    };
    let minutes = |minutes: u64| Some(std::time::Duration::from_secs(60 * minutes));
    let [plain, own] = [json!({}), json!({"sluice.dev/depends-on": "job/own"})]
        .map(|it| rollout("Deployment", it));
    let listed = base(list("job/migrate"));
    let (found, timeout, weight) = edges(&[&set, &plain, &listed]);
    assert_eq!(
        (found.as_str(), timeout, weight),
        ("Job/migrate", minutes(5), None)
    );
    assert_eq!(edges(&[&set, &own, &listed]).0, "Job/own");
    assert_eq!(edges(&[&set, &plain, &base(json!({}))]).0, "");
    assert_eq!(
        resolved(&pod, &[&set, &plain]),
        Lookup::NotFound,
        "it is not read yet"
    );
    let odd = rollout("Widget", json!({}));
    assert_eq!(edges(&[&set, &odd]).0, "", "nobody knows that kind");
}

/// A StatefulSet `db` that says which revisions it has and rolls out.
fn set(current: &str, update: &str) -> Value {
    let mut set = owned("StatefulSet", "db", None, json!({}));
    set["status"] = json!({"currentRevision": current, "updateRevision": update});
    set
}

/// A pod of the StatefulSet `db`, of this revision, made at this second.
fn pod_of(revision: &str, made: i64) -> Value {
    let mut pod = owned("Pod", "db-0", Some(("StatefulSet", "db")), json!({}));
    pod["metadata"]["labels"] = json!({"controller-revision-hash": revision});
    pod["metadata"]["creationTimestamp"] = json!(second(made));
    pod
}

fn second(at: i64) -> String {
    Timestamp::from_second(at).unwrap().to_string()
}

/// A ControllerRevision of the StatefulSet `db` that was made, and brought back, at these seconds.
fn revision(name: &str, made: i64, back: Option<i64>) -> Value {
    let mut revision = owned("ControllerRevision", name, None, json!({}));
    revision["metadata"]["creationTimestamp"] = json!(second(made));
    revision["metadata"]["managedFields"] = json!([{"time": back.map(second)}]);
    revision
}

#[test]
fn a_stateful_set_that_names_no_revision_of_its_pod_is_not_believed() {
    let (one, two) = (revision("db-1", 10, None), revision("db-2", 20, None));
    let told = |pod: &Value, set: &Value| resolved(pod, &[set, &one, &two]);
    let fresh = pod_of("db-2", 21);
    assert_eq!(told(&fresh, &set("db-1", "db-1")), SYNCING);
    for (current, update) in [("db-1", "db-2"), ("db-2", "db-1"), ("db-2", "db-2")] {
        let found = told(&fresh, &set(current, update));
        assert!(matches!(found, Lookup::Found(_)), "{current} {update}");
    }
    let mut new = set("", "");
    new["status"] = json!({});
    assert_eq!(told(&fresh, &new), SYNCING, "it has made its first pod");
}

/// A pod at its gate is resolved although the template has changed twice since: a StatefulSet does not replace a pod that is not ready.
#[test]
fn a_pod_that_waited_through_changes_of_its_template_is_not_forgotten() {
    let revisions = [10, 20, 30].map(|at| revision(&format!("db-{}", at / 10), at, None));
    let [one, two, three] = &revisions;
    let told = |pod: &Value, set: &Value| resolved(pod, &[set, one, two, three]);
    let old = pod_of("db-2", 21);
    assert!(matches!(told(&old, &set("db-1", "db-3")), Lookup::Found(_)));
    let same_second = pod_of("db-2", 30);
    assert_eq!(told(&same_second, &set("db-1", "db-3")), SYNCING);
}

#[test]
fn a_rollback_that_the_stateful_set_does_not_show_yet_is_waited_for() {
    let two = revision("db-2", 20, None);
    let told = |one: &Value, set: &Value| resolved(&pod_of("db-1", 31), &[set, one, &two]);
    for one in [revision("db-1", 10, None), revision("db-1", 10, Some(30))] {
        assert_eq!(told(&one, &set("db-2", "db-2")), SYNCING, "{one}");
    }
    let back = revision("db-1", 10, Some(30));
    let Lookup::Found(dependent) = told(&back, &set("db-2", "db-1")) else {
        panic!("resolved")
    };
    assert_eq!(dependent.revision().as_deref(), Some(".db-1.30"));
}

#[test]
fn a_daemon_set_of_an_earlier_template_is_not_believed() {
    let told = |of_pod: Option<&str>, of_set: Option<&str>, made: i64| {
        let mut pod = owned("Pod", "a-x", Some(("DaemonSet", "a")), json!({}));
        pod["metadata"]["labels"] = json!({"pod-template-generation": of_pod});
        pod["metadata"]["creationTimestamp"] = json!(second(made));
        let mut set = owned("DaemonSet", "a", None, json!({}));
        set["metadata"]["creationTimestamp"] = json!(second(10));
        set["metadata"]["annotations"]["deprecated.daemonset.template.generation"] = json!(of_set);
        resolved(&pod, &[&set])
    };
    assert_eq!(told(Some("2"), Some("1"), 11), SYNCING);
    assert_eq!(told(Some("10"), Some("9"), 10), SYNCING);
    for (of_pod, of_set, made) in [
        (Some("2"), Some("2"), 11),
        (Some("1"), Some("2"), 11),
        (None, Some("2"), 11),
        // Left over by one that was deleted without its pods.
        (Some("7"), Some("1"), 9),
    ] {
        let found = told(of_pod, of_set, made);
        assert!(
            matches!(found, Lookup::Found(_)),
            "{of_pod:?} {of_set:?} {made}"
        );
    }
}
