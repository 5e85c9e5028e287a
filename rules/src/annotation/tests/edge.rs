//! `health` on an item of the long form.

use super::super::parse_depends_on;
use super::refused;
use crate::dependency::Dependency;
use insta::assert_snapshot;

fn read(list: &str) -> Vec<String> {
    let mut list = parse_depends_on(list).unwrap_or_else(|error| panic!("{list}: {error}"));
    let Dependency { health, .. } = list.remove(0);
    health.iter().map(ToString::to_string).collect()
}

#[test]
fn one_expression_or_a_list_of_them() {
    let one = ["/status/readyInstances >= 2"];
    let named = "- kind: Cluster.x.io\n  name: a\n  health: ";
    assert_eq!(read(&format!("{named}/status/readyInstances >= 2")), one);
    assert_eq!(
        read(&format!("{named}[\"/status/readyInstances >= 2\"]")),
        one
    );
    assert_eq!(
        read(&format!(
            "{named}\n  - /status/a == 1\n  - /spec/b/each/c != x"
        )),
        ["/status/a == 1", "/spec/b/each/c != x"]
    );
    assert_eq!(
        read("- {kind: Pod, selector: a=b, sameNode: true, health: /status/phase == Running}"),
        ["/status/phase == Running"]
    );
    assert_eq!(read("- {kind: Cluster.x.io, name: a}"), [""; 0]);
    assert_eq!(
        read(
            "- {kind: Cluster.x.io, name: a, state: ready, namespace: data, health: /status/a == 1}"
        ),
        ["/status/a == 1"]
    );
}

#[test]
fn what_is_no_expression_is_refused_with_its_place() {
    let named = |health: &str| {
        refused(&format!(
            "- kind: Cluster.x.io\n  name: a\n  health: {health}"
        ))
    };
    assert_snapshot!(named("[]"),
        @r#"sluice.dev/depends-on: line 3, column 11: "health": there is no expression; write one, e.g. "/status/replicas >= 1""#);
    assert_snapshot!(named(""),
        @r#"sluice.dev/depends-on: line 3, column 9: "health": an expression is a text such as "/status/replicas >= 1", not nothing"#);
    assert_snapshot!(named("{a: b}"),
        @r#"sluice.dev/depends-on: line 3, column 11: "health": an expression is a text such as "/status/replicas >= 1", not a mapping"#);
    assert_snapshot!(named("[/status/a => 1]"),
        @r#"sluice.dev/depends-on: line 3, column 22: "health": unknown operator "=>"; did you mean ">="?"#);
    assert_snapshot!(named("\n  - /status/a == 1\n  - status.b > 1"),
        @r#"sluice.dev/depends-on: line 5, column 5: "health": "status.b" is not a path from the root of the object; did you mean "/status/b"?"#);
}

#[test]
fn what_would_mean_nothing_is_refused() {
    assert_snapshot!(refused("- {any: [job/a], health: /status/a == 1}"),
        @r#"sluice.dev/depends-on: line 1, column 18: "health" means nothing beside "any"; write it into the items of "any""#);
    assert_snapshot!(refused("- {kind: Cluster.x.io, name: a, state: present, health: /status/a == 1}"),
        @r#"sluice.dev/depends-on: line 1, column 49: "health" means nothing beside state "present", because it says when an object is ready; remove one of them"#);
    assert_snapshot!(refused("- {kind: DaemonSet, name: a, sameNode: true, health: /status/numberReady > 0}"),
        @r#"sluice.dev/depends-on: line 1, column 46: "health" beside "sameNode" may mean the DaemonSet or its pod; select its pods by kind Pod and a selector"#);
    assert_snapshot!(refused("- {kind: Cluster.x.io, name: a, namespace: data, health: /spec/a == 1}"),
        @r#"sluice.dev/depends-on: line 1, column 58: "health": "/spec/a == 1" looks beyond /status, which is all that may be asked of an object in another namespace; leave "namespace" out where it is the dependent's own"#);
}

#[test]
fn any_field_may_be_looked_at_but_those_of_a_secret() {
    let item = |kind: &str, health: &str| format!("- {{kind: {kind}, name: a, health: {health}}}");
    for (kind, health) in [
        ("ConfigMap", "/data/ready == yes"),
        ("Pod", "/status/podIP == 1"),
        ("Deployment", "/spec/template/spec/hostNetwork == true"),
        ("Service", "/metadata/annotations/x == y"),
        ("Secret", "/metadata/labels/x == y"),
    ] {
        let item = item(kind, health);
        assert!(parse_depends_on(&item).is_ok(), "{item}");
    }
    assert_snapshot!(refused(&item("Secret", "/data/ready == yes")),
        @r#"sluice.dev/depends-on: line 1, column 35: "health": "/data/ready == yes" looks at what is never read: of a Secret only the metadata is requested, with its annotations below sluice.dev/; name one of these"#);
    assert_snapshot!(refused(&item("Secret", "/metadata/annotations/x == y")),
        @r#"sluice.dev/depends-on: line 1, column 35: "health": "/metadata/annotations/x == y" looks at what is never read: of a Secret only the metadata is requested, with its annotations below sluice.dev/; name one of these"#);
}
