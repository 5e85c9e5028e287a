//! What waits for itself by a way round.

use super::wave::of_release;
use super::*;

/// A Deployment that has not been rolled out, with this list.
fn deployment(name: &str, depends_on: &str) -> Value {
    let mut it = owned("Deployment", name, None, list(depends_on));
    it["spec"] = json!({"replicas": 1, "selector": {"matchLabels": {"app": name}}});
    it
}

fn told(dependent: &str, objects: Vec<Value>) -> Vec<String> {
    let pod = owned("Pod", "p", Some(("Deployment", dependent)), json!({}));
    let edges = edges_of(&pod, &Cluster::of(objects), &Policy::of_the_chart());
    let text = |edge: &JudgedEdge| format!("{}: {}", edge.judged.reason, edge.judged.message);
    edges.iter().map(text).collect()
}

#[test]
fn every_member_is_told_the_whole_way() {
    let objects = || {
        vec![
            deployment("a", "deployment/b"),
            deployment("b", "deployment/c, configmap/x"),
            deployment("c", "deployment/a"),
            config_map("shop", "x"),
        ]
    };
    let way = "; take one of these entries out";
    assert_eq!(
        told("a", objects()),
        [format!(
            "Cycle: Deployment/a -> Deployment/b -> Deployment/c -> Deployment/a{way}"
        )]
    );
    let of_b = told("b", objects());
    assert_eq!(
        of_b[0],
        format!("Cycle: Deployment/b -> Deployment/c -> Deployment/a -> Deployment/b{way}")
    );
    assert!(of_b[1].starts_with("Satisfied"));
}

#[test]
fn a_list_that_does_not_count_closes_no_cycle() {
    let mut back = deployment("b", "");
    back["metadata"]["annotations"] =
        json!({"config.kubernetes.io/depends-on": "apps/namespaces/shop/Deployment/a"});
    let cluster = Cluster::of(vec![deployment("a", "deployment/b"), back]);
    let pod = owned("Pod", "p", Some(("Deployment", "a")), json!({}));
    let reason = |config_depends_on: bool| {
        let policy = Policy {
            config_depends_on,
            ..Policy::of_the_chart()
        };
        edges_of(&pod, &cluster, &policy)[0].judged.reason
    };
    assert_eq!(reason(true), Reason::Cycle);
    assert_eq!(reason(false), Reason::InProgress);
}

#[test]
fn who_waits_for_a_cycle_without_being_in_it_is_not_told_so() {
    let objects = vec![
        deployment("a", "deployment/b"),
        deployment("b", "deployment/c"),
        deployment("c", "deployment/b"),
    ];
    assert!(told("a", objects)[0].starts_with("InProgress"));
}

#[test]
fn a_service_leads_to_the_workloads_behind_it() {
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "shop", "name": "api", "creationTimestamp": "1969-12-31T00:00:00Z"},
        "spec": {"selector": {"app": "api"}},
    });
    let objects = vec![
        service,
        deployment("api", "deployment/db"),
        deployment("db", "svc/api"),
    ];
    assert!(
        told("db", objects)[0]
            .starts_with("Cycle: Deployment/db -> Service/api -> Deployment/api -> Deployment/db")
    );
}

#[test]
fn what_others_can_stand_for_closes_no_cycle() {
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "shop", "name": "api", "creationTimestamp": "1969-12-31T00:00:00Z"},
        "spec": {"selector": {"app": "api"}},
    });
    let mut other = deployment("other", "");
    other["spec"]["selector"]["matchLabels"] = json!({"app": "api"});
    let two = vec![
        service,
        deployment("api", "deployment/db"),
        other,
        deployment("db", "svc/api"),
    ];
    assert!(
        told("db", two)[0].starts_with("NoEndpoints"),
        "of two, one is enough"
    );
    let present = vec![
        deployment("a", "deployment/b"),
        deployment("b", "deployment/a:present"),
    ];
    assert!(
        told("a", present)[0].starts_with("InProgress"),
        "it is there"
    );
    let mut plain = of_release(owned("Deployment", "plain", None, json!({})), None, -60);
    plain["spec"] = json!({"replicas": 1});
    let light = of_release(deployment("light", "deployment/plain"), Some("-1"), -60);
    let told = told("light", vec![plain, light]);
    assert!(
        told[0].starts_with("InProgress"),
        "without a gate nobody waits for a lower weight: {told:?}"
    );
}

#[test]
fn a_lower_weight_may_wait_for_a_higher_one() {
    let light = of_release(deployment("light", "deployment/heavy"), Some("0"), -60);
    let heavy = of_release(deployment("heavy", ""), Some("1"), -60);
    let told = told("heavy", vec![light, heavy]);
    assert!(
        told[0].starts_with("Cycle: Deployment/heavy -> Deployment/light -> Deployment/heavy"),
        "{told:?}"
    );
}

#[test]
fn an_alternative_is_no_link() {
    let objects = vec![
        deployment("a", "deployment/b"),
        deployment(
            "b",
            "- any: [deployment/a, configmap/x]\n- {kind: Deployment, name: a, optional: true}",
        ),
    ];
    assert!(told("a", objects)[0].starts_with("InProgress"));
}
