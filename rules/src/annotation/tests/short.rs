//! Every refusal of the short form.

use super::super::parse_depends_on;
use super::refused;
use insta::assert_snapshot;

#[test]
fn kinds_are_refused_with_the_likely_word() {
    assert_snapshot!(refused("svc/db, Deploymnt/api"),
        @r#"sluice.dev/depends-on: line 1, column 9: unknown kind "Deploymnt"; did you mean "Deployment"?"#);
    assert_snapshot!(refused("svc/db\n  deploymet/api"),
        @r#"sluice.dev/depends-on: line 2, column 3: unknown kind "deploymet"; did you mean "deployment"?"#);
    assert_snapshot!(refused("statefulst/db"),
        @r#"sluice.dev/depends-on: line 1, column 1: unknown kind "statefulst"; did you mean "statefulset"?"#);
    assert_snapshot!(refused("certificate/tls"),
        @r#"sluice.dev/depends-on: line 1, column 1: unknown kind "certificate"; a kind that is not built into Kubernetes needs its group, e.g. Certificate.cert-manager.io"#);
}

#[test]
fn references_have_a_kind_and_a_name() {
    assert_snapshot!(refused("job/a job/b"),
        @r#"sluice.dev/depends-on: line 1, column 6: "job/a job/b" is more than one reference; separate references by commas or line breaks, in a YAML list give each an item of its own"#);
    assert_snapshot!(refused("job/migrate,\nsvc/redis;svc/db"),
        @r#"sluice.dev/depends-on: line 2, column 10: "svc/redis;svc/db" is more than one reference; separate references by commas or line breaks, in a YAML list give each an item of its own"#);
    assert_snapshot!(refused("migrate"),
        @r#"sluice.dev/depends-on: line 1, column 1: "migrate" names no object; write kind/name, e.g. job/migrate"#);
    assert_snapshot!(refused("job"),
        @r#"sluice.dev/depends-on: line 1, column 1: "job" names no object; write kind/name, e.g. job/migrate"#);
    assert_snapshot!(refused("/x"),
        @r#"sluice.dev/depends-on: line 1, column 1: kind is empty; write one"#);
    assert_snapshot!(refused("job/"),
        @r#"sluice.dev/depends-on: line 1, column 5: name is empty; write one"#);
    assert_snapshot!(refused("//x"),
        @r#"sluice.dev/depends-on: line 1, column 2: kind is empty; write one"#);
    assert_snapshot!(refused("a/b/c/d"),
        @r#"sluice.dev/depends-on: line 1, column 1: too many slashes in "a/b/c/d"; write kind/name or namespace/kind/name"#);
    assert_snapshot!(refused("/namespaces/default/Pod/x"),
        @r#"sluice.dev/depends-on: line 1, column 1: "/namespaces/default/Pod/x" is in the grammar of config.kubernetes.io/depends-on; write namespace/kind/name here"#);
    assert_snapshot!(refused("apps/namespaces/default/Deployment/x"),
        @r#"sluice.dev/depends-on: line 1, column 1: "apps/namespaces/default/Deployment/x" is in the grammar of config.kubernetes.io/depends-on; write namespace/kind/name here"#);
}

#[test]
fn parts_of_a_scope_are_named_by_a_word_of_their_own() {
    let told = |text: &str| parse_depends_on(text).expect(text)[0].to_string();
    assert_eq!(told("group/backend"), "group/backend");
    assert_eq!(
        told("Subchart/postgresql:started"),
        "subchart/postgresql:started"
    );
    assert_eq!(told("data/release/shop-db"), "data/release/shop-db");
    assert_eq!(told("data/subchart/postgresql"), "data/subchart/postgresql");
    assert_snapshot!(refused("svc/db, data/group/backend"), @r#"sluice.dev/depends-on: line 1, column 20: group "backend" is one of the dependent's own scope, so a namespace means nothing; write group/name"#);
    assert_snapshot!(refused("group/backend:complete"), @r#"sluice.dev/depends-on: line 1, column 15: state "complete" means nothing for a group, whose objects are of several kinds; leave it out, or write present, started or available"#);
    assert_snapshot!(refused("group/:ready"), @"sluice.dev/depends-on: line 1, column 7: group is empty; write one");
    assert_snapshot!(refused("group/backend:redy"), @r#"sluice.dev/depends-on: line 1, column 15: unknown state "redy"; did you mean "ready"?"#);
}

#[test]
fn a_bad_namespace_of_a_part_is_placed_where_it_stands() {
    assert_snapshot!(refused("svc/db, dAta/release/shop-db"),
        @r#"sluice.dev/depends-on: line 1, column 10: namespace "dAta" has 'A' in it; lower case letters, digits and "-" are allowed"#);
    assert_snapshot!(refused("/subchart/postgresql"),
        @"sluice.dev/depends-on: line 1, column 1: namespace is empty; write one");
}

#[test]
fn states_are_words_of_the_contract() {
    assert_snapshot!(refused("deployment/api:availabel"),
        @r#"sluice.dev/depends-on: line 1, column 16: unknown state "availabel"; did you mean "available"?"#);
    assert_snapshot!(refused("deployment/api:Ready"),
        @r#"sluice.dev/depends-on: line 1, column 16: unknown state "Ready"; did you mean "ready"?"#);
    assert_snapshot!(refused("deployment/api:healthy"),
        @r#"sluice.dev/depends-on: line 1, column 16: unknown state "healthy"; the states are present, started, ready, available, complete, addressed, connects"#);
    assert_snapshot!(refused("deployment/api:"),
        @r#"sluice.dev/depends-on: line 1, column 16: unknown state ""; the states are present, started, ready, available, complete, addressed, connects"#);
}

#[test]
fn states_that_a_kind_never_has_are_refused() {
    assert_snapshot!(refused("deployment/api:complete"),
        @r#"sluice.dev/depends-on: line 1, column 16: state "complete" means nothing for kind "Deployment", only for Job and Pod; leave it out, or write ready"#);
    assert_snapshot!(refused("job/a, job/b:addressed"),
        @r#"sluice.dev/depends-on: line 1, column 14: state "addressed" means nothing for kind "Job", only for Service and Ingress; leave it out, or write ready"#);
    assert_snapshot!(refused("clusterrole/audit:complete"),
        @r#"sluice.dev/depends-on: line 1, column 19: state "complete" means nothing for kind "ClusterRole", only for Job and Pod; leave it out, or write ready"#);
}

#[test]
fn groups_and_custom_kinds() {
    assert_snapshot!(refused("Deployment.batch/x"),
        @r#"sluice.dev/depends-on: line 1, column 1: kind "Deployment" is in group "apps", not in group "batch"; write that group, or none"#);
    assert_snapshot!(refused("deploymnt.apps/x"),
        @r#"sluice.dev/depends-on: line 1, column 1: unknown kind "deploymnt" in group "apps"; did you mean "deployment"?"#);
    assert_snapshot!(refused("deployment.app/x"),
        @r#"sluice.dev/depends-on: line 1, column 12: unknown group "app"; did you mean "apps"?"#);
    assert_snapshot!(refused("pod.core/x"),
        @r#"sluice.dev/depends-on: line 1, column 5: unknown group "core"; a group that is not built into Kubernetes has a dot in it, e.g. cert-manager.io"#);
    assert_snapshot!(refused("pod./x"),
        @r#"sluice.dev/depends-on: line 1, column 5: group is empty; write one"#);
    assert_snapshot!(refused("cert_ificate.cert-manager.io/x"),
        @r#"sluice.dev/depends-on: line 1, column 5: kind "cert_ificate" has '_' in it; letters, digits and "-" are allowed"#);
    assert_snapshot!(refused("1cert.cert-manager.io/x"),
        @r#"sluice.dev/depends-on: line 1, column 1: kind "1cert" begins with '1'; a letter is allowed there"#);
    assert_snapshot!(refused("certificate.cert-manager..io/x"),
        @r#"sluice.dev/depends-on: line 1, column 26: group "cert-manager..io" has two dots with nothing between them, or a dot at its start or end"#);
    assert_snapshot!(refused("certificate.Cert-Manager.io/x"),
        @r#"sluice.dev/depends-on: line 1, column 13: group "Cert-Manager.io" has 'C' in it; lower case letters, digits, "-" and "." are allowed"#);
}

#[test]
fn names_are_checked_as_kubernetes_checks_them() {
    assert_snapshot!(refused(".cert-manager.io/x"),
        @r#"sluice.dev/depends-on: line 1, column 1: unknown kind ".cert-manager.io"; a kind that is not built into Kubernetes needs its group, e.g. Certificate.cert-manager.io"#);
    assert_snapshot!(refused("job/Migrate"),
        @r#"sluice.dev/depends-on: line 1, column 5: name "Migrate" has 'M' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused("job/migrate_db"),
        @r#"sluice.dev/depends-on: line 1, column 12: name "migrate_db" has '_' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused("job/-a"),
        @r#"sluice.dev/depends-on: line 1, column 5: name "-a" begins with '-'; a letter or a digit is allowed there"#);
    assert_snapshot!(refused("job/a-"),
        @r#"sluice.dev/depends-on: line 1, column 6: name "a-" ends with '-'; a letter or a digit is allowed there"#);
    assert_snapshot!(refused("job/a..b"),
        @r#"sluice.dev/depends-on: line 1, column 7: name "a..b" has two dots with nothing between them, or a dot at its start or end"#);
    assert_snapshot!(refused("job/.a"),
        @r#"sluice.dev/depends-on: line 1, column 5: name ".a" has two dots with nothing between them, or a dot at its start or end"#);
    assert_snapshot!(refused("svc/a.b"),
        @r#"sluice.dev/depends-on: line 1, column 5: name "a.b" has '.' in it; if "b" is the namespace, write "b/service/a""#);
    assert_snapshot!(refused("svc/redis#x"),
        @r#"sluice.dev/depends-on: line 1, column 10: name "redis#x" has '#' in it; lower case letters, digits and "-" are allowed"#);
    assert_snapshot!(refused("job/a?b"),
        @r#"sluice.dev/depends-on: line 1, column 6: name "a?b" has '?' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused("Data/job/a"),
        @r#"sluice.dev/depends-on: line 1, column 1: namespace "Data" has 'D' in it; lower case letters, digits and "-" are allowed"#);
    assert_snapshot!(refused("a.b/job/x"),
        @r#"sluice.dev/depends-on: line 1, column 2: namespace "a.b" has '.' in it; lower case letters, digits and "-" are allowed"#);
    assert_snapshot!(refused("data/node/worker-1"),
        @r#"sluice.dev/depends-on: line 1, column 1: kind "Node" is not in any namespace; leave the namespace "data" out"#);
    assert_snapshot!(refused("data/ns/x"),
        @r#"sluice.dev/depends-on: line 1, column 1: kind "Namespace" is not in any namespace; leave the namespace "data" out"#);
}

#[test]
fn hostile_texts_are_refused_with_their_place() {
    assert_snapshot!(refused("clusterrole/.."),
        @r#"sluice.dev/depends-on: line 1, column 13: name ".." is a step in a path, not a name"#);
    assert_snapshot!(refused("role/a%2e"),
        @r#"sluice.dev/depends-on: line 1, column 7: name "a%2e" has '%' in it; "/", "%" and control characters are not allowed"#);
    assert_snapshot!(refused("job/../x"),
        @r#"sluice.dev/depends-on: line 1, column 5: unknown kind ".."; a kind that is not built into Kubernetes needs its group, e.g. Certificate.cert-manager.io"#);
    assert_snapshot!(refused("../../etc/passwd"),
        @r#"sluice.dev/depends-on: line 1, column 1: too many slashes in "../../etc/passwd"; write kind/name or namespace/kind/name"#);
    assert_snapshot!(refused("job/.."),
        @r#"sluice.dev/depends-on: line 1, column 5: name ".." has two dots with nothing between them, or a dot at its start or end"#);
    assert_snapshot!(refused("job/%2e%2e"),
        @r#"sluice.dev/depends-on: line 1, column 5: name "%2e%2e" has '%' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused("job/a\0b"),
        @r#"sluice.dev/depends-on: line 1, column 6: name "a\0b" has '\0' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused("\0"),
        @r#"sluice.dev/depends-on: line 1, column 1: "\0" names no object; write kind/name, e.g. job/migrate"#);
    assert_snapshot!(refused("D\u{435}ployment/api"),
        @r#"sluice.dev/depends-on: line 1, column 1: unknown kind "Dеployment", in which 'е' is U+0435; did you mean "Deployment"?"#);
    assert_snapshot!(refused("job/m\u{456}grate"),
        @r#"sluice.dev/depends-on: line 1, column 6: name "mіgrate" has 'і' (U+0456) in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused("job/{{ .Release.Name }}-x"),
        @r#"sluice.dev/depends-on: line 1, column 5: "job/{{ .Release.Name }}-x" holds a template, and sluice evaluates none; write the text itself"#);
}

#[test]
fn limits() {
    assert_snapshot!(refused(&format!("job/{}", "a".repeat(254))),
        @r#"sluice.dev/depends-on: line 1, column 5: name "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" is 254 characters long; at most 253 are allowed"#);
    assert_snapshot!(refused(&format!("svc/{}", "a".repeat(64))),
        @r#"sluice.dev/depends-on: line 1, column 5: name "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" is 64 characters long; at most 63 are allowed"#);
    assert_snapshot!(refused(&format!("job/{}A", "a".repeat(90))),
        @r#"sluice.dev/depends-on: line 1, column 95: name "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa…" has 'A' in it; lower case letters, digits, "-" and "." are allowed"#);
    assert_snapshot!(refused(&"job/a,".repeat(65)),
        @r#"sluice.dev/depends-on: line 1, column 385: more than 64 entries; name fewer, or a group or a selector for several"#);
    assert_snapshot!(refused(&"a".repeat(1 << 20)),
        @r#"sluice.dev/depends-on: line 1, column 1: the list is 1048576 bytes long; at most 8192 are allowed; name fewer objects"#);
    assert_snapshot!(refused("job/\u{202e}abc"),
        @r#"sluice.dev/depends-on: line 1, column 5: name "\u{202e}abc" has '\u{202e}' (U+202E) in it; lower case letters, digits, "-" and "." are allowed"#);
}
