//! Accepted lists, in tables; the files below hold the refused ones, sentence by sentence.

mod address;
mod config;
mod edge;
mod keys;
mod long;
mod map;
mod node_rules;
mod patience;
mod properties;
mod selector;
mod short;
mod terms;

use super::*;
use crate::dependency::{Min, Need, Reference, Revision};

fn refused(text: &str) -> String {
    let error = parse_depends_on(text).expect_err("the list must be refused");
    error.to_string()
}

fn refused_config(text: &str) -> String {
    let error = parse_config_depends_on(text).expect_err("the list must be refused");
    error.to_string()
}

/// The short form of each entry, with a question mark behind one that is optional, and an exclamation mark where its
/// status is.
fn shown(list: &[Dependency]) -> String {
    let mark = |it: &Dependency| {
        let optional = if it.optional { "?" } else { "" };
        let statusless = if it.status == Need::Optional { "!" } else { "" };
        format!("{it}{optional}{statusless}")
    };
    list.iter().map(mark).collect::<Vec<_>>().join(" ")
}

fn accepted(text: &str) -> String {
    shown(&parse_depends_on(text).unwrap_or_else(|error| panic!("{text:?}: {error}")))
}

#[test]
fn the_short_form_is_read() {
    for (text, expected) in [
        ("", ""),
        (" \n,,\n # nothing, at all\n", ""),
        (
            "job/migrate, statefulset/postgres, svc/redis",
            "Job/migrate StatefulSet/postgres Service/redis",
        ),
        ("deploy/a", "Deployment/a"),
        ("deployment/api:available", "Deployment/api:available"),
        ("JOBS/a:ready", "Job/a"),
        (
            "certificate.cert-manager.io/tls      # Kind.group/name (or resource.group/name), any version",
            "certificate.cert-manager.io/tls",
        ),
        ("data/statefulset/postgres", "data/StatefulSet/postgres"),
        ("job/a\r\njob/b\r\n", "Job/a Job/b"),
        ("job/a #x\n#y\n job/b,#z\njob/c", "Job/a Job/b Job/c"),
        (
            "deployments.apps/x, deployments.v1.apps/x",
            "Deployment/x Deployment/x",
        ),
        ("ingress.extensions/x", "Ingress/x"),
        ("ingresses.networking.k8s.io/x", "Ingress/x"),
        (
            "servicecidr.networking.k8s.io/x",
            "servicecidr.networking.k8s.io/x",
        ),
        (
            "Service.serving.knative.dev/x",
            "Service.serving.knative.dev/x",
        ),
        (
            "data/Cluster.postgresql.cnpg.io/orders:present",
            "data/Cluster.postgresql.cnpg.io/orders:present",
        ),
        ("clusterrole/system:node", "ClusterRole/system:node:ready"),
        (
            "clusterrole/system:node:present",
            "ClusterRole/system:node:present",
        ),
        (
            "apiservice/v1beta1.metrics.k8s.io",
            "APIService/v1beta1.metrics.k8s.io",
        ),
        (
            "ns/data, node/worker-1.example.com",
            "Namespace/data Node/worker-1.example.com",
        ),
        ("cm/9, svc/9a", "ConfigMap/9 Service/9a"),
        (
            "job/a:complete, po/b:complete, svc/c:addressed, ing/d:addressed",
            "Job/a:complete Pod/b:complete Service/c:addressed Ingress/d:addressed",
        ),
        (
            "gateway.gateway.networking.k8s.io/a:addressed",
            "gateway.gateway.networking.k8s.io/a:addressed",
        ),
    ] {
        assert_eq!(accepted(text), expected, "{text:?}");
    }
}

#[test]
fn the_long_form_is_read() {
    for (text, expected) in [
        ("[]", ""),
        (
            "# a comment\n\n- job/a # another, with a comma\n- svc/b",
            "Job/a Service/b",
        ),
        ("---\n- job/a\n", "Job/a"),
        (
            "[job/migrate, 'svc/redis', \"deployment/api:available\"]",
            "Job/migrate Service/redis Deployment/api:available",
        ),
        (
            r#"[{"kind":"Job","name":"a","optional":true},"svc/b"]"#,
            "Job/a? Service/b",
        ),
        (
            "- kind: StatefulSet\n  name: postgres\n  namespace: data\n  state: available",
            "data/StatefulSet/postgres:available",
        ),
        (
            "- kind: Cluster.postgresql.cnpg.io\n  name: orders",
            "Cluster.postgresql.cnpg.io/orders",
        ),
        (
            "- kind: Deployment\n  apiVersion: apps/v1beta1\n  name: a",
            "Deployment/a",
        ),
        (
            "- {apiVersion: extensions/v1beta1, kind: Ingress, name: a}",
            "Ingress/a",
        ),
        ("- {apiVersion: v1, kind: Pod, name: a}", "Pod/a"),
        (
            "- {apiVersion: cert-manager.io/v1, kind: Certificate, name: a}",
            "Certificate.cert-manager.io/a",
        ),
        (
            "- {apiVersion: cert-manager.io/v1, kind: Certificate.cert-manager.io, name: a}",
            "Certificate.cert-manager.io/a",
        ),
        (
            "- {kind: Job, name: a, optional: \"false\", state: started}",
            "Job/a:started",
        ),
        ("- {kind: ConfigMap, name: 123}", "ConfigMap/123"),
        (
            "- {kind: clusterrole, name: 'a, b: c'}",
            "ClusterRole/a, b: c:ready",
        ),
        ("- >-\n  job/a\n- |-\n  job/b", "Job/a Job/b"),
        (
            "- kind: Deployment\n  selector: app.kubernetes.io/component=cache,tier!=canary\n  namespace: data",
            "data/Deployment[app.kubernetes.io/component=cache,tier!=canary]",
        ),
        (
            "- {kind: pool.example.com, name: a, optional: status}",
            "pool.example.com/a!",
        ),
        (
            "- {kind: Job, selector: app=x, state: started, optional: true}",
            "Job[app=x]:started?",
        ),
        (
            "- any: [svc/redis-a, {kind: Service, name: redis-b, state: addressed}]",
            "any of (Service/redis-a, Service/redis-b:addressed)",
        ),
        (
            "- {any: [job/a, {any: [job/b, job/c]}], min: 50%, optional: true}",
            "50% of (Job/a, any of (Job/b, Job/c))?",
        ),
    ] {
        assert_eq!(accepted(text), expected, "{text:?}");
    }
}

#[test]
fn the_other_keys_of_an_item_are_read() {
    let one = |text: &str| {
        let mut list = parse_depends_on(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        list.remove(0)
    };
    let job = one("job/seed");
    assert_eq!((job.revision, job.fresh), (Revision::Lockstep, false));
    let job = one("- {kind: Job, name: seed, fresh: true, revision: any}");
    assert_eq!((job.revision, job.fresh), (Revision::Any, true));
    assert!(one("- {kind: ds, name: csi, sameNode: true}").same_node);
    assert!(one("- {kind: Pod, selector: app=csi, sameNode: true}").same_node);
    let within = "- any: [job/a, {kind: ds, name: csi, sameNode: true}]";
    assert!(one(within).is_per_pod());
    assert!(!one("- any: [job/a, ds/csi]").is_per_pod());
    // A flag that is off may stand anywhere, because a template may always write it.
    let plain = "- {kind: Deployment, name: a, fresh: false, sameNode: 'false'}";
    assert_eq!(one(plain), one("deployment/a"));
    for (min, expected) in [
        ("", None),
        (", min: 1", Some(Min::Count(1))),
        (", min: '2'", Some(Min::Count(2))),
        (", min: 1%", Some(Min::Percent(1))),
        (", min: 100%", Some(Min::Percent(100))),
    ] {
        let Reference::Selected(selection) =
            one(&format!("- {{kind: Job, selector: app=x{min}}}")).reference
        else {
            panic!("a selection")
        };
        assert_eq!(selection.min, expected);
    }
}

#[test]
fn the_grammar_of_cli_utils_is_read() {
    for (text, expected) in [
        ("", ""),
        (" \n", ""),
        (
            "apps/namespaces/default/Deployment/api",
            "default/Deployment/api",
        ),
        (
            "/namespaces/default/Pod/x , \n /Namespace/data",
            "default/Pod/x Namespace/data",
        ),
        ("extensions/namespaces/a/Ingress/x", "a/Ingress/x"),
        ("apps/Deployment/api", "Deployment/api"),
        (
            "rbac.authorization.k8s.io/ClusterRole/system:node",
            "ClusterRole/system:node:ready",
        ),
        (
            "cert-manager.io/namespaces/a/Certificate/x",
            "a/Certificate.cert-manager.io/x",
        ),
        (
            "cert-manager.io/ClusterIssuer/x",
            "ClusterIssuer.cert-manager.io/x",
        ),
    ] {
        let list =
            parse_config_depends_on(text).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(shown(&list), expected, "{text:?}");
    }
}

/// Every block that the documentation shows as a list can be read.
#[test]
fn the_documented_lists_are_read() {
    let page = include_str!("../../../docs/annotations.md");
    let blocks: Vec<&str> = page
        .split("```yaml\n")
        .skip(1)
        .filter_map(|rest| rest.split("```").next())
        .filter(|block| block.starts_with("- "))
        .collect();
    assert!(!blocks.is_empty());
    for block in blocks {
        accepted(block);
    }
}

#[test]
fn limits_are_inclusive() {
    let entries = "job/a,".repeat(MAX_ENTRIES);
    assert_eq!(
        parse_depends_on(&entries).map(|it| it.len()),
        Ok(MAX_ENTRIES)
    );
    let items = "- job/a\n".repeat(MAX_ENTRIES);
    assert_eq!(parse_depends_on(&items).map(|it| it.len()), Ok(MAX_ENTRIES));
    let bytes = format!("job/a{}", " ".repeat(MAX_BYTES - 5));
    assert_eq!(parse_depends_on(&bytes).map(|it| it.len()), Ok(1));
    let name = "a".repeat(253);
    assert_eq!(accepted(&format!("job/{name}")), format!("Job/{name}"));
    let levels = "[".repeat(MAX_LEVELS) + &"]".repeat(MAX_LEVELS);
    assert!(!refused(&levels).contains("levels"));
}

/// Flux deletes and recreates an object when the error of an apply contains a certain word, so no refusal may contain it.
#[test]
fn no_sentence_says_the_word_that_flux_acts_on() {
    let source = [
        include_str!("problem.rs"),
        include_str!("problem/phrase.rs"),
        include_str!("fault.rs"),
        include_str!("names.rs"),
        include_str!("duration.rs"),
        include_str!("selector.rs"),
    ]
    .concat();
    assert!(!source.to_lowercase().contains(concat!("immu", "table")));
}
