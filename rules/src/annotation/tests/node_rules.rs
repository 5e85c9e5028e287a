//! The chart's value for node rules.

use crate::annotation::node_rules;
use crate::selector::Selector;

fn refused(text: &str) -> String {
    node_rules(text).unwrap_err().to_string()
}

#[test]
fn a_rule_is_an_entry_with_the_labels_of_the_pods_that_it_holds() {
    let rules = node_rules(
        r#"[{"kind":"DaemonSet","name":"csi","namespace":"storage","sameNode":true},
            {"kind":"DaemonSet","name":"gpu","namespace":"gpu","sameNode":true,"optional":true,"timeout":"5m",
             "on-timeout":"proceed","pods":{"selector":"needs=gpu"}}]"#,
    );
    let rules = rules.unwrap().0;
    let [every, some] = rules.as_slice() else {
        panic!("{rules:?}")
    };
    assert_eq!(every.entry.to_string(), "storage/DaemonSet/csi");
    assert!(every.entry.same_node && every.pods == Selector::default());
    assert_eq!(some.pods, Selector::label("needs", "gpu"));
    assert!(some.entry.optional && some.entry.patience.is_some());
    assert_eq!(node_rules("[]").unwrap().0, []);
}

#[test]
fn a_rule_that_means_nothing_is_refused_with_the_way_out() {
    let such = "{kind: DaemonSet, name: csi-node, namespace: storage, sameNode: true}";
    for (text, told) in [
        ("{kind: DaemonSet}", "a node rule is a mapping"),
        ("[daemonset/csi]", "a node rule is a mapping"),
        (
            "[{kind: Deployment, name: a, namespace: b}]",
            "needs kind: DaemonSet",
        ),
        (
            "[{kind: DaemonSet, name: csi, sameNode: true}]",
            "needs the namespace of its DaemonSet",
        ),
        (
            "[{kind: DaemonSet, name: csi, namespace: storage}]",
            "needs sameNode: true",
        ),
    ] {
        let refused = refused(text);
        assert!(
            refused.starts_with("nodeRules: line 1, column "),
            "{refused}"
        );
        assert!(
            refused.contains(told) && refused.contains(such),
            "{refused}"
        );
    }
    let with = |more: &str| {
        let rule = "kind: DaemonSet, name: csi, namespace: storage, sameNode: true";
        refused(&format!("[{{{rule}, {more}}}]"))
    };
    for (more, told) in [
        (
            "stable: 30s",
            "\"stable\" means nothing in a node rule, which has kind, name, ",
        ),
        (
            "pods: {labels: a}",
            "\"labels\" means nothing in a node rule, which has selector; ",
        ),
        ("pods: a=b", "needs pods: {selector: …}"),
        ("pods: {}", "needs one selector of pods"),
        (
            "pods: {selector: [a]}",
            "needs a selector in kubectl's syntax",
        ),
        ("pods: {selector: 'a=b='}", "in a selector"),
        ("pods: {selector: a}, pods: {selector: b}", "\"pods\""),
        (
            "pods: {selector: apps.kubernetes.io/pod-index=0}",
            "select by another label",
        ),
        ("kind: Job", "\"kind\""),
        ("timeout: soon", "\"soon\" is no duration"),
    ] {
        let refused = with(more);
        assert!(refused.contains(told), "{more}: {refused}");
    }
}
