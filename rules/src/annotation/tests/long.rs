//! Every refusal of the long form.

use super::super::parse_depends_on;
use super::refused;
use insta::assert_snapshot;

#[test]
fn items_are_references_or_mappings() {
    assert_snapshot!(refused("- job/a\n- svc/db\n- Deploymnt/api"),
        @r#"sluice.dev/depends-on: line 3, column 3: unknown kind "Deploymnt"; did you mean "Deployment"?"#);
    assert_snapshot!(refused("[job/a, \"svc/Db\"]"),
        @r#"sluice.dev/depends-on: line 1, column 14: name "Db" has 'D' in it; lower case letters, digits and "-" are allowed"#);
    assert_snapshot!(refused("- 'job/a\n\n   b'"),
        @r#"sluice.dev/depends-on: line 1, column 4: "job/a\nb" is more than one reference; separate references by commas or line breaks, in a YAML list give each an item of its own"#);
    assert_snapshot!(refused("- job/a, svc/b"),
        @r#"sluice.dev/depends-on: line 1, column 8: "job/a, svc/b" is more than one reference; separate references by commas or line breaks, in a YAML list give each an item of its own"#);
    assert_snapshot!(refused("-job/a"),
        @r#"sluice.dev/depends-on: line 1, column 1: not a list; begin each item on a line of its own with "- ", or write [item, item]"#);
    assert_snapshot!(refused("{\"kind\": \"Job\", \"name\": \"a\"}"),
        @r#"sluice.dev/depends-on: line 1, column 1: not a list; begin each item on a line of its own with "- ", or write [item, item]"#);
    assert_snapshot!(refused("- - job/a"),
        @r#"sluice.dev/depends-on: line 1, column 3: an item is kind/name, or a mapping with kind and name or with any, not a list"#);
    assert_snapshot!(refused("-"),
        @r#"sluice.dev/depends-on: line 1, column 2: an item is kind/name, or a mapping with kind and name or with any, not nothing"#);
    assert_snapshot!(refused("- ~"),
        @r#"sluice.dev/depends-on: line 1, column 3: an item is kind/name, or a mapping with kind and name or with any, not nothing"#);
    assert_snapshot!(refused("- ''"),
        @r#"sluice.dev/depends-on: line 1, column 3: an item is kind/name, or a mapping with kind and name or with any, not nothing"#);
}

#[test]
fn keys_of_an_item() {
    assert_snapshot!(refused("- kind: Job"),
        @r#"sluice.dev/depends-on: line 1, column 3: the item lacks "name"; write kind and name, or kind and selector"#);
    assert_snapshot!(refused("- name: x"),
        @r#"sluice.dev/depends-on: line 1, column 3: the item lacks "kind"; write kind and name, or kind and selector"#);
    assert_snapshot!(refused("- {kind: Job, name: a, kind: Pod}"),
        @r#"sluice.dev/depends-on: line 1, column 24: "kind" appears twice in one item; keep one of them"#);
    assert_snapshot!(refused("- kind: Job\n  name: a\n  nmae: b"),
        @r#"sluice.dev/depends-on: line 3, column 3: unknown key "nmae"; did you mean "name"?"#);
    assert_snapshot!(refused("- kind: Job\n  name: a\n  when: now"),
        @r#"sluice.dev/depends-on: line 3, column 3: unknown key "when"; the keys are kind, apiVersion, name, selector, namespace, state, min, any, revision, fresh, sameNode, optional, health, timeout, on-timeout, stable, group, subchart, release, tcp, http, dns, status, container"#);
    assert_snapshot!(refused("- kind: Job\n  name: a\n  ? [x]\n  : y"),
        @r#"sluice.dev/depends-on: line 3, column 5: a key is a plain word; write one such as "kind""#);
}

#[test]
fn values_of_an_item() {
    assert_snapshot!(refused("- kind: Deploymnt\n  name: api"),
        @r#"sluice.dev/depends-on: line 1, column 9: unknown kind "Deploymnt"; did you mean "Deployment"?"#);
    assert_snapshot!(refused("- kind: Certificate\n  name: x"),
        @r#"sluice.dev/depends-on: line 1, column 9: unknown kind "Certificate"; a kind that is not built into Kubernetes needs its group, e.g. Certificate.cert-manager.io"#);
    assert_snapshot!(refused("- kind: Job\n  name: Seed"),
        @r#"sluice.dev/depends-on: line 2, column 9: name "Seed" has 'S' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused("- kind: Job\n  name: \"a\\x2e.b\""),
        @r#"sluice.dev/depends-on: line 2, column 10: name "a..b" has two dots with nothing between them, or a dot at its start or end"#);
    assert_snapshot!(refused("- kind: Job\n  name: \"\""),
        @r#"sluice.dev/depends-on: line 2, column 10: name is empty; write one"#);
    assert_snapshot!(refused("- kind: Job\n  name:"),
        @r#"sluice.dev/depends-on: line 2, column 7: "name" takes a text, not nothing"#);
    assert_snapshot!(refused("- kind: Job\n  name: null"),
        @r#"sluice.dev/depends-on: line 2, column 9: "name" takes a text, not nothing"#);
    assert_snapshot!(refused("- kind: Job\n  name: [a]"),
        @r#"sluice.dev/depends-on: line 2, column 9: "name" takes a text, not a list"#);
    assert_snapshot!(refused("- kind: Job\n  name: {a: b}"),
        @r#"sluice.dev/depends-on: line 2, column 9: "name" takes a text, not a mapping"#);
    assert_snapshot!(refused("- kind: Job\n  name: a\n  namespace: Data"),
        @r#"sluice.dev/depends-on: line 3, column 14: namespace "Data" has 'D' in it; lower case letters, digits and "-" are allowed"#);
    assert_snapshot!(refused("- kind: Node\n  name: a\n  namespace: data"),
        @r#"sluice.dev/depends-on: line 3, column 14: kind "Node" is not in any namespace; leave the namespace "data" out"#);
    assert_snapshot!(refused("- kind: Job\n  name: a\n  state: done"),
        @r#"sluice.dev/depends-on: line 3, column 10: unknown state "done"; the states are present, started, ready, available, complete, addressed, connects"#);
    assert_snapshot!(refused("- kind: Job\n  name: a\n  optional: maybe"),
        @r#"sluice.dev/depends-on: line 3, column 13: "optional" takes true or false, not "maybe""#);
    assert_snapshot!(refused("- kind: Job\n  name: a\n  optional: [true]"),
        @r#"sluice.dev/depends-on: line 3, column 13: "optional" takes true or false, not a list"#);
    assert_snapshot!(refused("- kind: Job\n  name: a\n  optional: status"),
        @r#"sluice.dev/depends-on: line 3, column 3: "optional: status" means nothing here, only for a custom kind in state ready, of which no controller writes a status; remove it"#);
    for list in [
        "- {kind: pool.example.com, name: a, optional: status, state: present}",
        "- {group: a, optional: status}",
        "- {any: [job/a], optional: status}",
    ] {
        assert!(refused(list).contains("\"optional"), "{list}");
    }
    assert_snapshot!(refused("- kind: group\n  name: a"),
        @r#"sluice.dev/depends-on: line 1, column 9: "kind": "group" is no kind; write "group: name""#);
}

#[test]
fn api_version_gives_the_group() {
    assert_snapshot!(refused("- {apiVersion: v1, kind: Deployment, name: a}"),
        @r#"sluice.dev/depends-on: line 1, column 26: kind "Deployment" is in group "apps", not in the core group; write that group, or none"#);
    assert_snapshot!(refused("- {apiVersion: apps/v1, kind: Deploymnt, name: a}"),
        @r#"sluice.dev/depends-on: line 1, column 31: unknown kind "Deploymnt" in group "apps"; did you mean "Deployment"?"#);
    assert_snapshot!(refused("- {apiVersion: apps, kind: Deployment, name: a}"),
        @r#"sluice.dev/depends-on: line 1, column 16: apiVersion "apps" is not group/version; write one such as apps/v1, or v1 for the core group"#);
    assert_snapshot!(refused("- {apiVersion: v2, kind: Pod, name: a}"),
        @r#"sluice.dev/depends-on: line 1, column 16: apiVersion "v2" is not group/version; write one such as apps/v1, or v1 for the core group"#);
    assert_snapshot!(refused("- {apiVersion: /v1, kind: Pod, name: a}"),
        @r#"sluice.dev/depends-on: line 1, column 16: apiVersion "/v1" is not group/version; write one such as apps/v1, or v1 for the core group"#);
    assert_snapshot!(refused("- {apiVersion: app/v1, kind: Deployment, name: a}"),
        @r#"sluice.dev/depends-on: line 1, column 16: "apiVersion": unknown group "app"; did you mean "apps"?"#);
    assert_snapshot!(refused("- {apiVersion: batch/v1, kind: Deployment.apps, name: a}"),
        @r#"sluice.dev/depends-on: line 1, column 32: kind says group "apps" and apiVersion says group "batch"; keep one of them"#);
    assert_snapshot!(refused("- {apiVersion: v1, kind: Foo, name: a}"),
        @r#"sluice.dev/depends-on: line 1, column 26: unknown kind "Foo" in the core group; a kind that is not built into Kubernetes needs its own group"#);
}

#[test]
fn an_item_has_a_name_or_a_selector() {
    assert_snapshot!(refused("- {kind: Job, name: a, selector: app=x}"),
        @r#"sluice.dev/depends-on: line 1, column 24: "name" and "selector" in one item; keep one of them"#);
    assert_snapshot!(refused("- kind: Deployment\n  min: 1\n  name: a"),
        @r#"sluice.dev/depends-on: line 2, column 3: "min" counts what several objects are found by ("selector", "any", "group", "subchart", "release"), and here is none of these; remove it"#);
    for (min, found) in [
        ("0", "\"0\""),
        ("-1", "\"-1\""),
        ("+1", "\"+1\""),
        ("1.5", "\"1.5\""),
        ("0%", "\"0%\""),
        ("101%", "\"101%\""),
        ("'%'", "\"%\""),
        ("all", "\"all\""),
        ("99999999999999999999", "\"99999999999999999999\""),
        ("[1]", "a list"),
    ] {
        assert_eq!(
            refused(&format!("- kind: Job\n  selector: app=x\n  min: {min}")),
            format!(
                "sluice.dev/depends-on: line 3, column 8: \"min\" takes a number from 1 or a percentage from 1% to 100%, not {found}"
            )
        );
    }
}

#[test]
fn alternatives_are_items_and_say_nothing_for_all() {
    assert_snapshot!(refused("- any: []"),
        @r#"sluice.dev/depends-on: line 1, column 8: "any" lists nothing; write at least one item"#);
    assert_snapshot!(refused("- any: svc/a"),
        @r#"sluice.dev/depends-on: line 1, column 8: "any" takes a list, not "svc/a""#);
    assert_snapshot!(refused("- any:\n  - svc/a\n  - svc/B"),
        @r#"sluice.dev/depends-on: line 3, column 9: name "B" has 'B' in it; lower case letters, digits and "-" are allowed"#);
    assert_snapshot!(refused("- any: [svc/a, svc/b]\n  state: available"),
        @r#"sluice.dev/depends-on: line 2, column 3: "state" means nothing beside "any"; write it into the items of "any""#);
    assert_snapshot!(refused("- {kind: Service, name: a, any: [svc/b]}"),
        @r#"sluice.dev/depends-on: line 1, column 4: "kind" means nothing beside "any"; write it into the items of "any""#);
    assert_snapshot!(refused("- any: [svc/a, svc/b]\n  min: 3"),
        @r#"sluice.dev/depends-on: line 2, column 8: "min" asks for 3 of 2; write at most 2"#);
}

#[test]
fn states_that_a_kind_never_has() {
    assert_snapshot!(refused("- kind: Deployment\n  name: api\n  state: complete"),
        @r#"sluice.dev/depends-on: line 3, column 10: state "complete" means nothing for kind "Deployment", only for Job and Pod; leave it out, or write ready"#);
    assert_snapshot!(refused("- kind: Job\n  selector: app=x\n  state: addressed"),
        @r#"sluice.dev/depends-on: line 3, column 10: state "addressed" means nothing for kind "Job", only for Service and Ingress; leave it out, or write ready"#);
}

#[test]
fn keys_that_mean_nothing_for_a_kind() {
    assert_snapshot!(refused("- {kind: Deployment, name: seed, fresh: true}"),
        @r#"sluice.dev/depends-on: line 1, column 34: "fresh" means nothing for kind "Deployment", only for Job; remove it"#);
    assert_snapshot!(refused("- {kind: Job.example.com, name: seed, fresh: true}"),
        @r#"sluice.dev/depends-on: line 1, column 39: "fresh" means nothing for kind "Job.example.com", only for Job; remove it"#);
    assert_snapshot!(refused("- {kind: Job, name: seed, fresh: maybe}"),
        @r#"sluice.dev/depends-on: line 1, column 34: "fresh" takes true or false, not "maybe""#);
    assert_snapshot!(refused("- {kind: Deployment, name: a, sameNode: true}"),
        @r#"sluice.dev/depends-on: line 1, column 31: "sameNode" means nothing here, only for a DaemonSet by its name or for kind Pod with a selector; remove it"#);
    for list in [
        "- {kind: DaemonSet, selector: app=x, sameNode: true}",
        "- {kind: Pod, name: a, sameNode: true}",
        "- {kind: DaemonSet.example.com, name: a, sameNode: true}",
    ] {
        assert!(
            refused(list).contains("\"sameNode\" means nothing here"),
            "{list}"
        );
    }
    assert_snapshot!(refused("- {kind: StatefulSet, name: db, revision: 3}"),
        @r#"sluice.dev/depends-on: line 1, column 43: "revision" takes any, not "3""#);
    assert_snapshot!(refused("- {kind: StatefulSet, name: db, revision: [any]}"),
        @r#"sluice.dev/depends-on: line 1, column 43: "revision" takes any, not a list"#);
}

#[test]
fn keys_of_later_versions_are_refused() {}

#[test]
fn parts_of_a_scope_are_items_too() {
    let told = |text: &str| parse_depends_on(text).expect(text)[0].to_string();
    assert_eq!(told("- group: backend"), "group/backend");
    assert_eq!(
        told("- {subchart: postgresql, state: started, min: 1}"),
        "subchart/postgresql:started"
    );
    assert_eq!(
        told("- {subchart: postgresql, namespace: data}"),
        "data/subchart/postgresql"
    );
    assert_eq!(
        told("- release: shop-db\n  namespace: data\n  optional: true"),
        "data/release/shop-db"
    );
    assert_snapshot!(refused("- {group: backend, namespace: data}"), @r#"sluice.dev/depends-on: line 1, column 31: group "backend" is one of the dependent's own scope, so a namespace means nothing; write group/name"#);
    assert_snapshot!(refused("- {group: backend, kind: Job}"), @r#"sluice.dev/depends-on: line 1, column 20: "kind" means nothing beside "group"; remove it"#);
    assert_snapshot!(refused("- {group: backend, subchart: a}"), @r#"sluice.dev/depends-on: line 1, column 20: "subchart" means nothing beside "group"; remove it"#);
    assert_snapshot!(refused("- {release: shop, fresh: true}"), @r#"sluice.dev/depends-on: line 1, column 19: "fresh" means nothing beside "release"; remove it"#);
    assert_snapshot!(refused("- {release: shop, state: complete}"), @r#"sluice.dev/depends-on: line 1, column 26: state "complete" means nothing for a release, whose objects are of several kinds; leave it out, or write present, started or available"#);
    assert_snapshot!(refused("- {group: a b}"), @r#"sluice.dev/depends-on: line 1, column 12: group "a b" has ' ' in it; letters, digits, "-", "_" and "." are allowed"#);
}

#[test]
fn yaml_is_kept_small() {
    assert_snapshot!(refused("- &a job/a\n- *a"),
        @r#"sluice.dev/depends-on: line 1, column 3: YAML anchors (&name) are not allowed in a list; write every item out"#);
    assert_snapshot!(refused("- job/a\n- *b"),
        @r#"sluice.dev/depends-on: line 2, column 3: YAML aliases (*name) are not allowed in a list; write every item out"#);
    assert_snapshot!(refused("- !!str job/a"),
        @r#"sluice.dev/depends-on: line 1, column 3: YAML tags (!name) are not allowed in a list; write every item out"#);
    assert_snapshot!(refused("- !Ref job/a"),
        @r#"sluice.dev/depends-on: line 1, column 3: YAML tags (!name) are not allowed in a list; write every item out"#);
    assert_snapshot!(refused("- job/a\n---\n- job/b"),
        @r#"sluice.dev/depends-on: line 2, column 1: a second YAML document; put all items into one list"#);
    assert_snapshot!(refused("- job/a\n...\n%YAML 1.2\n---\n- job/b"),
        @r#"sluice.dev/depends-on: line 3, column 1: the list is not valid YAML: YAML directives are disallowed, near "%YAML 1.2""#);
    assert_snapshot!(refused("- {<<: {kind: Job}, name: a}"),
        @r#"sluice.dev/depends-on: line 1, column 4: unknown key "<<"; the keys are kind, apiVersion, name, selector, namespace, state, min, any, revision, fresh, sameNode, optional, health, timeout, on-timeout, stable, group, subchart, release, tcp, http, dns, status, container"#);
    assert_snapshot!(refused("- job/a\nsvc/b"),
        @r#"sluice.dev/depends-on: line 2, column 1: the list is not valid YAML: simple key expected ':', near "svc/b""#);
    assert_snapshot!(refused("- \"job/a"),
        @r#"sluice.dev/depends-on: line 1, column 3: the list is not valid YAML: unclosed quote, near "\"job/a""#);
    assert_snapshot!(refused("[job/a"),
        @r#"sluice.dev/depends-on: line 1, column 1: the list is not valid YAML: unclosed bracket '[', near "[job/a""#);
    assert_snapshot!(refused("- job/a\n\t- job/b"),
        @r#"sluice.dev/depends-on: line 1, column 3: the list is not valid YAML: while scanning a plain scalar, found a tab, near "job/a""#);
    assert_snapshot!(refused("[[[[[[[[[job/a]]]]]]]]]"),
        @r#"sluice.dev/depends-on: line 1, column 9: more than 8 levels deep; nest less"#);
    assert_snapshot!(refused(&format!("- any: [{}]", "job/a, ".repeat(64))),
        @r#"sluice.dev/depends-on: line 1, column 450: more than 64 entries; name fewer, or a group or a selector for several"#);
    assert_snapshot!(refused("- {any: [{any: [{any: [{any: [{any: [x]}]}]}]}]}"),
        @r#"sluice.dev/depends-on: line 1, column 30: more than 8 levels deep; nest less"#);
}

#[test]
fn limits() {
    assert_snapshot!(refused(&"- job/a\n".repeat(65)),
        @r#"sluice.dev/depends-on: line 65, column 3: more than 64 entries; name fewer, or a group or a selector for several"#);
    assert_snapshot!(refused("- job/a\0b"),
        @r#"sluice.dev/depends-on: line 1, column 8: the list is not valid YAML: unexpected character: `\u{0}', near "\0b""#);
    assert_snapshot!(refused(&format!("- &a [x]\n{}", "- [*a, *a]\n".repeat(9))),
        @r#"sluice.dev/depends-on: line 1, column 3: YAML anchors (&name) are not allowed in a list; write every item out"#);
}
