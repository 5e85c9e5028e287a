//! Tests entries with `sameNode`.

use super::selection::told;
use super::*;

const EDGE: &str = "- {kind: DaemonSet, name: csi, sameNode: true}";

fn on_node(mut pod: Value, node: &str) -> Value {
    pod["spec"]["nodeName"] = json!(node);
    pod
}

fn daemon_set() -> Value {
    let mut set = owned("DaemonSet", "csi", None, json!({}));
    set["metadata"]["uid"] = json!("now");
    set["spec"]["selector"]["matchLabels"] = json!({"app": "csi"});
    set
}

/// A pod of the DaemonSet `csi` with this UID of its owner, on this node, ready or not.
fn its_pod(name: &str, node: &str, uid: &str, ready: bool) -> Value {
    let mut pod = on_node(
        owned("Pod", name, Some(("DaemonSet", "csi")), json!({})),
        node,
    );
    pod["metadata"]["labels"] = json!({"app": "csi"});
    pod["metadata"]["ownerReferences"][0]["uid"] = json!(uid);
    let status = if ready { "True" } else { "False" };
    pod["status"] =
        json!({"phase": "Running", "conditions": [{"type": "Ready", "status": status}]});
    pod
}

fn ask(list: &str, objects: Vec<Value>) -> String {
    told(&on_node(pod(list), "one"), &Cluster::of(objects))
}

#[test]
fn only_the_pod_on_the_dependents_node_counts() {
    let here = |ready| its_pod("csi-a", "one", "now", ready);
    let there = |ready| its_pod("csi-b", "two", "now", ready);
    assert_eq!(
        ask(EDGE, vec![daemon_set(), here(true), there(false)]),
        "open Current Satisfied: Pod/csi-a: Pod is Ready"
    );
    assert_eq!(
        ask(EDGE, vec![daemon_set(), here(false), there(true)]),
        "wait InProgress InProgress: Pod/csi-a: Pod is running but is not Ready"
    );
    assert_eq!(
        ask(EDGE, vec![daemon_set(), there(true)]),
        "wait NotFound NotFound: it has no pod on this node yet"
    );
}

#[test]
fn a_pod_of_an_earlier_set_of_that_name_does_not_count() {
    let orphan = its_pod("csi-a", "one", "before", true);
    assert_eq!(
        ask(EDGE, vec![daemon_set(), orphan]),
        "wait NotFound NotFound: it has no pod on this node yet"
    );
}

#[test]
fn of_two_pods_the_better_one_counts() {
    let mut ending = its_pod("csi-a", "one", "now", true);
    ending["metadata"]["deletionTimestamp"] = json!("2024-01-01T00:00:00Z");
    let next = its_pod("csi-b", "one", "now", true);
    assert_eq!(
        ask(EDGE, vec![daemon_set(), ending.clone(), next]),
        "open Current Satisfied: Pod/csi-b: Pod is Ready"
    );
    assert_eq!(
        ask(EDGE, vec![daemon_set(), ending]),
        "wait Terminating Terminating: Pod/csi-a: Resource scheduled for deletion"
    );
}

#[test]
fn the_set_itself_must_exist_unless_it_is_optional() {
    let optional = "- {kind: DaemonSet, name: csi, sameNode: true, optional: true}";
    let pods = || its_pod("csi-a", "one", "now", true);
    assert_eq!(
        ask(EDGE, vec![pods()]),
        "wait NotFound NotFound: not created yet, or misspelt"
    );
    let satisfied = "open NotFound OptionalNotFound: not found, and optional";
    assert_eq!(ask(optional, vec![pods()]), satisfied);
    assert_eq!(ask(optional, vec![daemon_set()]), satisfied);
}

#[test]
fn a_dependent_that_is_on_no_node_waits() {
    let mut pending = its_pod("csi-b", "", "now", true);
    pending["spec"] = json!({});
    let here = its_pod("csi-a", "one", "now", true);
    let cluster = Cluster::of(vec![daemon_set(), here, pending]);
    assert_eq!(reasons(&pod(EDGE), &cluster), [Reason::NotFound]);
}

#[test]
fn pods_that_cannot_be_read_never_open() {
    let mut cluster = Cluster::of(vec![daemon_set(), its_pod("csi-a", "one", "now", true)]);
    cluster.unavailable = vec![("Pod", Unavailable::Syncing)];
    assert_eq!(
        reasons(&on_node(pod(EDGE), "one"), &cluster),
        [Reason::Syncing]
    );
}

#[test]
fn selected_pods_are_narrowed_down_to_the_node() {
    let list = "- {kind: Pod, selector: app=csi, sameNode: true}";
    let objects = |ready| {
        vec![
            its_pod("csi-a", "one", "now", ready),
            its_pod("csi-b", "two", "now", !ready),
        ]
    };
    assert_eq!(
        ask(list, objects(true)),
        "open Current Satisfied: 1 of 1 ready"
    );
    assert_eq!(
        ask(list, objects(false)),
        "wait InProgress InProgress: 0 of 1 ready; csi-a: Pod is running but is not Ready"
    );
    assert_eq!(
        ask(list, objects(true).split_off(1)),
        "wait NotFound NotFound: no Pod with these labels is on this node yet"
    );
    assert_eq!(
        ask(list, vec![]),
        "wait NotFound NotFound: no Pod with these labels has been created yet"
    );
}
