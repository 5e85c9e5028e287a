//! Tests cycles: dependents that wait for each other, directly or over further objects.

use super::wave::of_release;
use super::*;

/// A Deployment that is not ready, with this list, whose pods have its name as the label `app`.
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
    let way = "; take one entry out of a list";
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

/// A Service that selects the pods with this value of the label `app`.
fn service(name: &str, app: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "shop", "name": name, "creationTimestamp": "1969-12-31T00:00:00Z"},
        "spec": {"selector": {"app": app}},
    })
}

/// A pod without an owner, at its gate, which waits for `Service/alone`, which selects the pod.
fn alone() -> Value {
    let mut pod = pod("svc/alone");
    pod["metadata"]["labels"] = json!({"app": "alone", "sluice.dev/gated": "true"});
    pod["spec"] = json!({"nodeName": "one"});
    pod["status"] = json!({"phase": "Pending"});
    pod
}

/// An EndpointSlice of `Service/alone` with so many pods, of which none serves.
fn behind(pods: usize) -> Value {
    json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice", "addressType": "IPv4",
        "metadata": {"namespace": "shop", "name": "alone-1", "labels": {"kubernetes.io/service-name": "alone"}},
        "endpoints": vec![json!({"conditions": {"ready": false}}); pods],
    })
}

const OWN_SERVICE: &str = "Cycle: Service/alone selects its own pods, and nobody else is behind it: it has no endpoint before \
     they start, and they wait for it; take it out of the list";

#[test]
fn a_service_in_front_of_the_dependent_alone_is_told_of_in_the_words_of_advice() {
    let mut set = deployment("alone", "svc/alone");
    set["spec"]["selector"]["matchLabels"] = json!({"set": "alone"});
    set["spec"]["template"] = json!({"metadata": {"labels": {"set": "alone", "app": "alone"}}});
    assert_eq!(
        told("alone", vec![set, service("alone", "alone")]),
        [OWN_SERVICE]
    );

    let pod = alone();
    let told = |others: Vec<Value>| {
        let objects = [vec![pod.clone(), service("alone", "alone")], others].concat();
        let edges = edges_of(&pod, &Cluster::of(objects), &Policy::of_the_chart());
        format!("{}: {}", edges[0].judged.reason, edges[0].judged.message)
    };
    assert_eq!(told(vec![]), OWN_SERVICE);
    assert_eq!(told(vec![behind(1)]), OWN_SERVICE, "its own address");
}

#[test]
fn a_service_that_others_may_serve_closes_no_cycle() {
    let pod = alone();
    let reason = |others: Vec<Value>| {
        let objects = [vec![pod.clone(), service("alone", "alone")], others].concat();
        reasons(&pod, &Cluster::of(objects))[0]
    };
    // Its pods have more labels than its selector asks for.
    let mut other = deployment("other", "");
    other["spec"]["template"] = json!({"metadata": {"labels": {"app": "alone"}}});
    assert_eq!(reason(vec![other]), Reason::NoEndpoints);
    let someone = behind(2);
    assert_eq!(
        reason(vec![someone]),
        Reason::NoEndpoints,
        "whoever made it"
    );
    let mut second = alone();
    second["metadata"]["name"] = json!("second");
    assert_eq!(reason(vec![second]), Reason::NoEndpoints);
}

#[test]
fn a_pod_that_has_passed_its_gate_may_serve() {
    let mut api = deployment("alone", "deployment/db");
    api["metadata"]["uid"] = json!("u-api");
    let mut pod = alone();
    pod["metadata"]["name"] = json!("alone-1");
    pod["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": "alone", "uid": "u-api", "controller": true}]);
    let said = |pod: Value| {
        let objects = vec![
            api.clone(),
            deployment("db", "svc/alone"),
            service("alone", "alone"),
            behind(1),
            pod,
        ];
        told("db", objects)
    };
    let waiting = said(pod.clone());
    assert!(
        waiting[0].starts_with("Cycle: Deployment/db -> Service/alone -> Deployment/alone"),
        "{waiting:?}"
    );
    pod["status"] = json!({"phase": "Running"});
    let passed = said(pod);
    assert!(passed[0].starts_with("NoEndpoints"), "{passed:?}");
}
