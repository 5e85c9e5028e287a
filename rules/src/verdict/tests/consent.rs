//! Tests which dependents may be told of objects outside of their namespace, and which facts.

use super::settle::{new_pod, seed};
use super::*;

#[test]
fn another_namespace_is_told_nothing_before_it_consents() {
    let foreign = pod("data/configmap/a");
    let with = |annotations: Value, exists: bool| {
        let mut objects = vec![namespace(&annotations)];
        objects.extend(exists.then(|| config_map("data", "a")));
        edges_of(&foreign, &Cluster::of(objects), &Policy::of_the_chart()).remove(0)
    };
    let allow = |who: &str| json!({"sluice.dev/allow-dependents-from": who});
    let refused = with(json!({}), true);
    assert_eq!(refused.judged.reason, Reason::NotPermitted);
    assert_eq!(
        refused,
        with(json!({}), false),
        "whether it exists is not told"
    );
    assert_eq!(refused, with(allow("other,shopping"), true));
    assert_eq!(
        answer(&[refused]).dependencies[0].message.as_deref(),
        Some(
            "Namespace data has not agreed; add shop to its annotation sluice.dev/allow-dependents-from"
        ),
        "the way out"
    );
    assert_eq!(
        with(allow("other, shop"), true).judged.reason,
        Reason::Satisfied
    );
    assert_eq!(with(allow("*"), false).judged.reason, Reason::NotFound);
    assert_eq!(
        answer(&[with(allow("*"), false)]).dependencies[0].message,
        None,
        "texts stay at home"
    );
}

#[test]
fn the_administrator_may_consent_for_a_namespace() {
    let cluster = Cluster::of(vec![config_map("data", "a")]);
    let allowed = |from: &str, to: &str| Policy {
        cross_namespace: CrossNamespace(vec![(from.to_owned(), to.to_owned())]),
        ..Policy::of_the_chart()
    };
    let reason = |policy| {
        edges_of(&pod("data/configmap/a"), &cluster, &policy)[0]
            .judged
            .reason
    };
    assert_eq!(reason(allowed("shop", "data")), Reason::Satisfied);
    assert_eq!(reason(allowed("*", "data")), Reason::Satisfied);
    for (from, to) in [("data", "shop"), ("shop", "other"), ("other", "data")] {
        assert_eq!(
            reason(allowed(from, to)),
            Reason::NotPermitted,
            "{from} {to}"
        );
    }
}

fn namespace(annotations: &Value) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "data", "annotations": annotations}})
}

/// A reference to a cluster-scoped object of a custom kind; [`NODE`] is one to an object of a built-in kind.
const ISSUER: &str = "ClusterIssuer.cert-manager.io/letsencrypt";
const NODE: &str = "node/worker";

fn issuer() -> Value {
    json!({"apiVersion": "cert-manager.io/v1", "kind": "ClusterIssuer", "metadata": {"name": "letsencrypt"},
        "status": {"conditions": [{"type": "Ready", "status": "False", "message": "account of ACME"}]}})
}

fn node() -> Value {
    json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "worker"}})
}

#[test]
fn an_object_of_no_namespace_is_told_of_to_nobody_by_default() {
    for (list, object) in [(ISSUER, issuer()), (NODE, node())] {
        let with = |objects| edges_of(&pod(list), &Cluster::of(objects), &Policy::of_the_chart());
        let refused = with(vec![object]);
        assert_eq!(refused[0].judged.reason, Reason::NotPermitted, "{list}");
        assert_eq!(refused, with(vec![]), "whether it exists is not told");
        let told = answer(&refused).dependencies[0].message.clone().unwrap();
        let kind = list.split('/').next().unwrap().replace("node", "Node");
        let way_out = format!("clusterScoped.allow: {{from: shop, kind: {kind}}}");
        assert!(told.ends_with(&way_out), "{told}");
    }
}

#[test]
fn the_administrator_says_who_may_depend_on_what_is_in_no_namespace() {
    let cluster = Cluster::of(vec![issuer(), node()]);
    let allowed = |from: &str, kind: &str| Policy {
        cluster_scoped: ClusterScoped(vec![(
            from.to_owned(),
            crate::annotation::kind(kind).unwrap(),
        )]),
        ..Policy::of_the_chart()
    };
    let found = |list: &str, policy| edges_of(&pod(list), &cluster, &policy).remove(0);
    let reason = |list: &str, policy| found(list, policy).judged.reason;
    assert_eq!(reason(NODE, allowed("shop", "nodes")), Reason::Satisfied);
    assert_eq!(reason(NODE, allowed("*", "Node")), Reason::Satisfied);
    let other = allowed("data", "Node");
    assert_eq!(reason(NODE, other), Reason::NotPermitted);
    let other = allowed("shop", "Namespace");
    assert_eq!(reason(NODE, other), Reason::NotPermitted);

    let issuers = found(ISSUER, allowed("shop", "ClusterIssuer.cert-manager.io"));
    assert_eq!(issuers.judged.reason, Reason::InProgress);
    assert!(issuers.judged.message.contains("ACME"), "{issuers:?}");
    let told = &answer(&[issuers]).dependencies[0];
    assert_eq!(told.message, None, "texts stay with the object");
    let other = allowed("shop", "ClusterIssuer.example.com");
    assert_eq!(reason(ISSUER, other), Reason::NotPermitted);
}

#[test]
fn what_discovery_tells_everybody_needs_nobodys_consent() {
    for list in ["crd/widgets.example.com", "apiservice/v1.example.com"] {
        let edges = edges_of(&pod(list), &Cluster::of(vec![]), &Policy::of_the_chart());
        assert_eq!(edges[0].judged.reason, Reason::NotFound, "{list}");
    }
}

#[test]
fn the_records_of_a_release_are_looked_at_with_the_consent_of_their_namespace() {
    let mut dependent = new_pod("job/seed");
    dependent["metadata"]["annotations"][crate::keys::RELEASE_NAMESPACE] = json!("data");
    let mut old = seed(-600);
    old["metadata"]["annotations"][crate::keys::RELEASE_NAMESPACE] = json!("data");
    let reason = |pending, annotations| {
        let world = Cluster {
            pending,
            ..Cluster::of(vec![old.clone(), namespace(&annotations)])
        };
        let Lookup::Found(dependent) = Dependent::resolve(&dependent, &[], &world) else {
            panic!("resolved")
        };
        let edges = dependent.edges(true, &world).unwrap();
        let now = Timestamp::from_second(10).unwrap();
        judge(&dependent, edges, &Policy::of_the_chart(), &world, now).edges[0]
            .judged
            .reason
    };
    let consents = || json!({"sluice.dev/allow-dependents-from": "shop"});
    assert_eq!(reason(Pending::Yes, consents()), Reason::Settling);
    assert_eq!(reason(Pending::No, consents()), Reason::Satisfied);
    for pending in [Pending::Yes, Pending::No] {
        assert_eq!(reason(pending, json!({})), Reason::Satisfied, "{pending:?}");
    }
}
