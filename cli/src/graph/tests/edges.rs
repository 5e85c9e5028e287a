//! Tests that the nodes and lines of a graph show the verdicts of the dependents.

use super::*;

fn object(version: &str, kind: &str, namespace: &str, name: &str) -> Value {
    json!({"apiVersion": version, "kind": kind,
        "metadata": {"namespace": namespace, "name": name, "creationTimestamp": at(1)}})
}

/// The graph of a cluster with the Deployment `web`, which has this list, and other objects.
fn waits_for(list: &str, others: &[Value]) -> Drawing {
    let mut web = object("apps/v1", "Deployment", "shop", "web");
    web["metadata"]["annotations"] = json!({"sluice.dev/depends-on": list});
    // The dependencies came later, so none of them may be about to be replaced.
    web["metadata"]["creationTimestamp"] = json!(at(0));
    web["spec"] = json!({"template": {"spec": {"containers": []}}});
    let mut all = vec![web];
    all.extend_from_slice(others);
    told(&all)
}

/// The nodes of a graph except `web`, each with its reason and with the words `ready`, `missing` and `holds` that are true of it:
/// `Service/a NotFound missing holds`.
fn shown(told: &Drawing) -> Vec<String> {
    let nodes = told.model.nodes.iter().filter(|node| node.name != "web");
    let word = |node: &model::Node| {
        let health = node.health.as_ref().unwrap();
        let holds = if node.holds_up == Some(true) {
            " holds"
        } else {
            ""
        };
        let ready = if health.ready { " ready" } else { "" };
        let missing = if node.missing { " missing" } else { "" };
        format!("{} {}{ready}{missing}{holds}", node.id, health.reason)
    };
    nodes.map(word).collect()
}

fn config_map(namespace: &str, name: &str) -> Value {
    object("v1", "ConfigMap", namespace, name)
}

/// A dependency that is older than the dependent's revision counts as settling for a moment. Once the gate has opened, the graph shows it as
/// satisfied.
#[test]
fn what_the_gate_has_taken_after_an_upgrade_is_in_no_doubt() {
    let shown_with = |opened: Option<u8>| {
        let mut set = owned("ReplicaSet", "web-1", ("Deployment", "web"));
        set["apiVersion"] = "apps/v1".into();
        set["metadata"]["creationTimestamp"] = at(58).into();
        let mut pod = pod(("ReplicaSet", "web-1"), "web-1-a", 58, opened, None);
        if opened.is_none() {
            let gate = json!({"name": "sluice-gate", "state": {"running": {"startedAt": at(58)}}});
            pod["status"]["initContainerStatuses"] = json!([gate]);
        }
        shown(&waits_for("cm/a", &[set, pod, config_map("shop", "a")])).join("\n")
    };
    let waits = shown_with(None);
    assert!(waits.contains("ConfigMap/a Settling"), "{waits}");
    let opened = shown_with(Some(58));
    assert!(opened.contains("ConfigMap/a Satisfied ready"), "{opened}");
}

/// A pod that no node takes has its missing claim as the root cause, although the scheduler does not say so, also where a user wrote the pod.
#[test]
fn a_pod_that_no_node_takes_is_told_with_its_claim() {
    let mut db = object("v1", "Pod", "shop", "db-0");
    db["spec"]["volumes"] =
        json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
    db["status"] = json!({"phase": "Pending", "conditions": [{
        "type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available.",
    }]});
    let told = waits_for("pod/db-0", &[db]);
    let mut nodes = told.model.nodes.iter();
    let node = nodes.find(|node| node.id == "Pod/db-0").unwrap();
    let cause = node.root_cause.as_ref().unwrap();
    assert_eq!(cause.reason, "ClaimUnbound", "{cause}");
}

#[test]
fn what_is_not_needed_is_no_trouble() {
    for (list, there, expected) in [
        ("cm/a", vec![], vec!["ConfigMap/a NotFound missing holds"]),
        ("cm/a", vec!["a"], vec!["ConfigMap/a Satisfied ready"]),
        (
            "[{any: [cm/a, cm/b]}]",
            vec!["b"],
            vec![
                "ConfigMap/a NotFound missing",
                "ConfigMap/b Satisfied ready",
            ],
        ),
        (
            "[{any: [cm/a, cm/b]}]",
            vec![],
            vec![
                "ConfigMap/a NotFound missing holds",
                "ConfigMap/b NotFound missing holds",
            ],
        ),
        (
            "[{any: [cm/a, {any: [cm/b, cm/c]}]}]",
            vec!["c"],
            vec![
                "ConfigMap/a NotFound missing",
                "ConfigMap/b NotFound missing",
                "ConfigMap/c Satisfied ready",
            ],
        ),
        // The second entry needs `cm/a`.
        (
            "[{any: [cm/a, cm/b]}, cm/a]",
            vec!["b"],
            vec![
                "ConfigMap/a NotFound missing holds",
                "ConfigMap/b Satisfied ready",
            ],
        ),
        (
            "[{kind: ConfigMap, name: a, optional: true}]",
            vec![],
            vec!["ConfigMap/a OptionalNotFound ready missing"],
        ),
    ] {
        let there: Vec<Value> = there
            .into_iter()
            .map(|name| config_map("shop", name))
            .collect();
        let told = waits_for(list, &there);
        assert_eq!(shown(&told), expected, "{list}");
        let text = plain(&told);
        let spare = expected.iter().filter(|it| it.ends_with("missing")).count();
        assert_eq!(
            text.matches("(it is not there, and not needed)").count(),
            spare,
            "{text}"
        );
    }
}

/// A dependency in a namespace that does not consent is `NotPermitted`, whether or not it exists, even where the caller may read it.
#[test]
fn what_is_not_permitted_is_not_ready_and_names_the_way_out() {
    let namespace = |consents: &str| {
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "data",
            "annotations": {"sluice.dev/allow-dependents-from": consents}}})
    };
    let both = [config_map("data", "a")];
    for there in [&both[..], &[]] {
        let all: Vec<Value> = there.iter().cloned().chain([namespace("other")]).collect();
        let told = waits_for("data/cm/a", &all);
        assert_eq!(shown(&told), ["data/ConfigMap/a NotPermitted holds"]);
        let text = plain(&told);
        let way_out = "Namespace data has not agreed; add shop to its annotation sluice.dev/allow-dependents-from";
        assert!(text.contains(way_out), "{text}");
        assert!(!text.contains("not there"), "{text}");
    }
    let [there] = both;
    let told = waits_for("data/cm/a", &[namespace("shop"), there]);
    assert_eq!(shown(&told), ["data/ConfigMap/a Satisfied ready"]);
    // None of several selected objects may be told of.
    let labelled = |name: &str| {
        let mut it = config_map("data", name);
        it["metadata"]["labels"] = json!({"app": "a"});
        it
    };
    let list = "[{kind: ConfigMap, namespace: data, selector: app=a}]";
    let told = waits_for(list, &[namespace("other"), labelled("a"), labelled("b")]);
    let expected = [
        "ConfigMap/a NotPermitted holds",
        "ConfigMap/b NotPermitted holds",
    ];
    assert_eq!(shown(&told), expected);
}

/// Of the objects that a selector selects, only those that are not ready hold the dependent back.
#[test]
fn of_several_those_hold_that_are_not_ready() {
    let job = |name: &str, done: bool| {
        let mut job = object("batch/v1", "Job", "shop", name);
        job["metadata"]["labels"] = json!({"app": "seed"});
        let complete = json!([{"type": "Complete", "status": "True"}]);
        job["status"] =
            json!({"startTime": at(0), "conditions": if done { complete } else { json!([]) }});
        job
    };
    let told = waits_for(
        "[{kind: Job, selector: app=seed}]",
        &[job("a", true), job("b", false)],
    );
    assert_eq!(
        shown(&told),
        ["Job/a Satisfied ready", "Job/b JobNotComplete holds"]
    );
    let edges = told
        .model
        .edges
        .iter()
        .map(|edge| (edge.to.as_str(), edge.holds));
    let edges: Vec<_> = edges.collect();
    assert_eq!(edges, [("Job/a", Some(false)), ("Job/b", Some(true))]);
}

/// The status of a Deployment says that it has failed when its pods wait for longer than its `progressDeadlineSeconds`.
#[test]
fn a_deployment_whose_pods_wait_at_their_gates_waits() {
    let drawn = |crashed: bool| {
        let mut web = object("apps/v1", "Deployment", "shop", "web");
        web["metadata"]["uid"] = json!("web");
        web["metadata"]["annotations"] = json!({"sluice.dev/depends-on": "cm/go"});
        web["spec"] = json!({"selector": {"matchLabels": {"app": "web"}}, "template": {"spec": {"containers": []}}});
        web["status"] = json!({"replicas": 1, "conditions": [{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded",
            "message": "ReplicaSet \"web-1\" has timed out progressing."}]});
        let mut set = owned("ReplicaSet", "web-1", ("Deployment", "web"));
        set["apiVersion"] = json!("apps/v1");
        let mut waits = pod(("ReplicaSet", "web-1"), "web-1-a", 20, None, None);
        let gate = json!({"name": "sluice-gate", "state": {"running": {"startedAt": at(21)}}});
        waits["status"]["initContainerStatuses"] = json!([gate]);
        let mut other = pod(("ReplicaSet", "web-1"), "web-1-b", 20, Some(22), None);
        let ended = json!({"terminated": {"exitCode": 1, "reason": "Error"}});
        other["status"]["containerStatuses"] = json!([{"name": "web", "state": ended}]);
        let mut after = object("apps/v1", "Deployment", "shop", "after");
        after["metadata"]["annotations"] = json!({"sluice.dev/depends-on": "deploy/web"});
        after["spec"] = json!({"template": {"spec": {"containers": []}}});
        let mut all = vec![web, set, waits, after];
        all.extend(crashed.then_some(other));
        let told = told(&all);
        let text = plain(&told);
        let mut lines = text.lines();
        lines
            .find(|it| it.contains("Deployment/web "))
            .unwrap()
            .to_owned()
    };
    let waits = drawn(false);
    assert!(
        waits.contains("  Waits  ") && !waits.contains("deadline"),
        "{waits}"
    );
    let failed = drawn(true);
    assert!(failed.contains("  Failed  "), "{failed}");
}

#[test]
fn an_address_outside_of_the_cluster_is_a_node_that_its_gate_alone_can_judge() {
    let told = waits_for("tcp://db.example.com:5432", &[]);
    assert_eq!(shown(&told), ["tcp://db.example.com:5432 NotProbed holds"]);
}
