//! Tests the words about dependencies whose pods fit on no node.

use super::*;

/// A Deployment that has not been rolled out, with this list, and its ReplicaSet.
fn deployment(name: &str, depends_on: &str) -> [Value; 2] {
    let mut it = owned("Deployment", name, None, list(depends_on));
    it["metadata"]["uid"] = json!(format!("uid-{name}"));
    it["spec"] = json!({"replicas": 1, "selector": {"matchLabels": {"app": name}}});
    let mut set = owned("ReplicaSet", name, Some(("Deployment", name)), json!({}));
    set["metadata"]["ownerReferences"][0]["uid"] = it["metadata"]["uid"].clone();
    [it, set]
}

fn pod_of(deployment: &str) -> Value {
    let owner = Some(("ReplicaSet", deployment));
    let mut pod = owned("Pod", &format!("{deployment}-1"), owner, json!({}));
    pod["metadata"]["labels"] = json!({"app": deployment, "sluice.dev/gated": "true"});
    pod
}

/// A pod of a Deployment that waits at its gate and requests an amount of `example.com/room`.
fn waiting(deployment: &str, room: &str) -> Value {
    let mut pod = pod_of(deployment);
    let requests = json!({"resources": {"requests": {"example.com/room": room}}});
    pod["spec"] = json!({"nodeName": "one", "containers": [requests]});
    pod["status"] = json!({
        "phase": "Pending",
        "initContainerStatuses": [{"name": "sluice-gate", "state": {"running": {}}}],
    });
    pod
}

/// A pod of a Deployment that no node takes, since the nodes lack a resource (`lack` in the scheduler's words).
fn homeless(deployment: &str, lack: &str) -> Value {
    let mut pod = pod_of(deployment);
    pod["spec"] = json!({"containers": []});
    let message = format!(
        "0/2 nodes are available: 1 node(s) were unschedulable, 1 {lack}. preemption: 0/2 nodes are available: 2 No."
    );
    pod["status"] = json!({"phase": "Pending", "conditions": [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": message},
    ]});
    pod
}

const ROOM: &str = "Insufficient example.com/room";
const SAID: &str = "Pod/db-1 finds no node (0/2 nodes are available: 1 node(s) were unschedulable, 1 Insufficient \
                    example.com/room)";
const WAY_OUT: &str = ": give the cluster room, lower requests, or delete a pod that waits";

/// The finding about the only edge of `api`, whose list is `depends_on`, in a cluster with the Deployments `api` and `db`, `pods` and
/// `more`.
fn told(depends_on: &str, pods: &[Value], more: Vec<Value>) -> String {
    let objects = [deployment("api", depends_on), deployment("db", "")].concat();
    let cluster = Cluster::of([objects, pods.to_vec(), more].concat());
    let edges = edges_of(&pod_of("api"), &cluster, &Policy::of_the_chart());
    let Judged {
        status,
        reason,
        message,
        ..
    } = &edges[0].judged;
    format!("{status:?} {reason}: {message}")
}

#[test]
fn a_dependency_that_fits_on_no_node_says_so() {
    let told = |pods: &[Value]| told("deployment/db", pods, Vec::new());
    let expected = format!("InProgress Unschedulable: {SAID}; Replicas: 0/1");
    assert_eq!(told(&[homeless("db", ROOM)]), expected);
    let mut young = homeless("db", ROOM);
    young["status"]["conditions"][0]["reason"] = json!("SchedulingGated");
    assert_eq!(told(&[young]), "InProgress InProgress: Replicas: 0/1");
    let mut others = homeless("other", ROOM);
    others["metadata"]["labels"]["app"] = json!("db");
    assert_eq!(told(&[others]), "InProgress InProgress: Replicas: 0/1");
}

#[test]
fn what_waiting_pods_hold_is_told_with_the_way_out() {
    let told = |pods: &[Value]| {
        let told = told("deployment/db", pods, Vec::new());
        let (_, behind) = told.split_once(" example.com/room)").unwrap();
        behind.strip_suffix("; Replicas: 0/1").unwrap().to_owned()
    };
    let db = homeless("db", ROOM);
    let held = ", and 2 of example.com/room is held by pods that wait for it: api-1";
    assert_eq!(
        told(&[db.clone(), waiting("api", "2")]),
        format!("{held}{WAY_OUT}")
    );
    let mut passed = waiting("api", "2");
    passed["status"]["initContainerStatuses"][0]["state"] = json!({"terminated": {"exitCode": 0}});
    assert_eq!(told(&[db.clone(), passed]), "");
    let mut elsewhere = waiting("api", "2");
    elsewhere["metadata"]["namespace"] = json!("data");
    assert_eq!(told(&[db.clone(), elsewhere]), "");
    // It waits as well, for nothing that leads there.
    let stranger = waiting("db", "2");
    assert_eq!(told(&[db, stranger]), "");
}

#[test]
fn a_full_node_is_a_lack_of_pods() {
    let told = told(
        "deployment/db",
        &[homeless("db", "Too many pods"), waiting("api", "1")],
        Vec::new(),
    );
    let held = "and 1 of pods is held by pods that wait for it: api-1";
    assert!(told.contains(held), "{told}");
}

#[test]
fn who_waits_through_others_holds_room_too() {
    let more = || deployment("web", "deployment/api").to_vec();
    let pods = [homeless("db", ROOM), waiting("web", "500m")];
    let held = ", and 0.5 of example.com/room is held by pods that wait for it: web-1";
    assert_eq!(
        told("deployment/db", &pods, more()),
        format!("InProgress Unschedulable: {SAID}{held}{WAY_OUT}; Replicas: 0/1")
    );
}

#[test]
fn a_service_leads_to_the_pods_that_lack_room() {
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "shop", "name": "db", "creationTimestamp": "1969-12-31T00:00:00Z"},
        "spec": {"selector": {"app": "db"}},
    });
    let told = told("svc/db", &[homeless("db", ROOM)], vec![service]);
    let expected = format!("InProgress Unschedulable: {SAID}; ");
    assert!(told.starts_with(&expected), "{told}");
}

#[test]
fn of_another_namespace_nothing_is_told() {
    let allowed = Policy {
        cross_namespace: CrossNamespace(vec![("shop".to_owned(), "data".to_owned())]),
        ..Policy::of_the_chart()
    };
    let abroad = |mut it: Value| {
        it["metadata"]["namespace"] = json!("data");
        it
    };
    let mut objects: Vec<Value> = deployment("db", "").map(abroad).to_vec();
    objects.push(abroad(homeless("db", ROOM)));
    objects.extend(deployment("api", "data/deployment/db"));
    let edges = edges_of(&pod_of("api"), &Cluster::of(objects), &allowed);
    assert_eq!(edges[0].judged.reason, Reason::InProgress);
}
