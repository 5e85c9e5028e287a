//! Tests the graph under node rules: rules of the administrator that hold pods until an agent of their node is ready.

use super::*;
use rules::annotation::node_rules;

fn named(version: &str, kind: &str, namespace: &str, name: &str) -> Value {
    let template = json!({"metadata": {"labels": {"app": name}}, "spec": {"containers": []}});
    json!({
        "apiVersion": version, "kind": kind,
        "metadata": {"name": name, "namespace": namespace, "labels": {"app": name}},
        "spec": {"template": template, "selector": {"matchLabels": {"app": name}}},
    })
}

/// The graph of a namespace with two Deployments, `api` and `web`, under a rule that holds the pods of `api` for the DaemonSet `csi`. `labelled`:
/// the namespace is one in which rules count. `there`: the DaemonSet exists.
fn drawn(labelled: bool, there: bool) -> Drawing {
    let label = if labelled { "enabled" } else { "disabled" };
    let namespace = json!({
        "apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": "shop", "labels": {"sluice.dev/inject": label}},
    });
    let mut values = vec![
        namespace,
        named("apps/v1", "Deployment", "shop", "api"),
        named("apps/v1", "Deployment", "shop", "web"),
    ];
    values.extend(there.then(|| named("apps/v1", "DaemonSet", "storage", "csi")));
    let rule = "[{kind: DaemonSet, name: csi, namespace: storage, sameNode: true, pods: {selector: app=api}}]";
    let policy = Policy {
        node_rules: node_rules(rule).unwrap(),
        ..Policy::of_the_chart()
    };
    told_by(&values, &policy)
}

#[test]
fn a_rule_is_an_edge_of_each_pod_that_it_holds() {
    for there in [true, false] {
        let told = drawn(true, there);
        let edges = told.model.edges.iter();
        let edges: Vec<_> = edges
            .map(|it| (it.from.as_str(), it.to.as_str(), it.because.as_deref()))
            .collect();
        let because = there.then_some("node rule");
        assert_eq!(
            edges,
            [("Deployment/api", "storage/DaemonSet/csi", because)]
        );
        assert_eq!(told.model.edges[0].holds, Some(true), "{there}");
        let text = plain(&told);
        assert!(text.contains("storage/DaemonSet/csi (node rule)"), "{text}");
    }
}

#[test]
fn a_namespace_without_the_label_has_no_such_edge() {
    assert_eq!(drawn(false, true).model.edges.len(), 0);
}
