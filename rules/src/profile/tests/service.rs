use super::*;

fn service(spec: Value) -> Value {
    object("v1", "Service", spec, json!({}))
}

fn behind(endpoints: Value) -> String {
    let slices = Cluster::listing(json!([{}, { "endpoints": endpoints }]));
    told_as(
        &service(json!({ "selector": { "app": "x" } })),
        State::Ready,
        &slices,
    )
}

#[test]
fn somebody_must_serve_behind_a_selector() {
    let no = "InProgress NoEndpoints: Serving endpoints: 0/1";
    let yes = "Current Satisfied: Serving endpoints: 1/1";
    assert_eq!(
        behind(json!([])),
        "InProgress NoEndpoints: Service has no endpoints"
    );
    assert_eq!(
        behind(json!(null)),
        "InProgress NoEndpoints: Service has no endpoints"
    );
    assert_eq!(
        behind(json!([{ "conditions": { "serving": false, "ready": true } }])),
        no
    );
    assert_eq!(behind(json!([{ "conditions": { "ready": false } }])), no);
    assert_eq!(
        behind(json!([{ "conditions": { "serving": true, "terminating": true } }])),
        no
    );
    assert_eq!(
        behind(json!([{ "conditions": { "serving": true, "ready": false } }])),
        yes
    );
    assert_eq!(behind(json!([{ "conditions": { "ready": true } }])), yes);
    assert_eq!(behind(json!([{ "conditions": { "serving": null } }])), yes);
    assert_eq!(behind(json!([{}])), yes);
    assert_eq!(
        behind(json!([{}, { "conditions": { "serving": false } }])),
        "Current Satisfied: Serving endpoints: 1/2"
    );
}

#[test]
fn without_a_selector_existence_is_enough() {
    for spec in [
        json!({}),
        json!({ "selector": {} }),
        json!({ "type": "ExternalName", "selector": { "a": "b" } }),
    ] {
        assert!(ask(&service(spec), State::Ready, &Cluster::empty()).satisfied);
    }
}

#[test]
fn what_nobody_can_see_does_not_serve() {
    let selecting = service(json!({ "selector": { "app": "x" } }));
    for (why, reason) in [
        (Unavailable::Syncing, Reason::Syncing),
        (Unavailable::Forbidden, Reason::KindForbidden),
        (Unavailable::Stale, Reason::Stale),
        (Unavailable::NotServed, Reason::KindNotServed),
    ] {
        let judged = ask(&selecting, State::Ready, &Cluster::unavailable(why));
        assert_eq!(
            (judged.satisfied, judged.reason, judged.status),
            (false, reason, Status::Unknown)
        );
    }
}

#[test]
fn an_address_is_asked_for_by_name() {
    let with = |version: &str, kind: &str, service_type: &str, status: Value| {
        let spec = json!({ "type": service_type, "clusterIP": "10.0.0.1" });
        told_as(
            &object(version, kind, spec, status),
            State::Addressed,
            &Cluster::empty(),
        )
    };
    let balancer = |entry: Value| json!({ "loadBalancer": { "ingress": [entry] } });
    assert_eq!(
        with(
            "v1",
            "Service",
            "LoadBalancer",
            balancer(json!({ "ip": "192.0.2.1" }))
        ),
        "Current Satisfied: Address: 192.0.2.1"
    );
    assert_eq!(
        with(
            "networking.k8s.io/v1",
            "Ingress",
            "",
            balancer(json!({ "hostname": "lb.example.com" }))
        ),
        "Current Satisfied: Address: lb.example.com"
    );
    assert_eq!(
        with(
            "gateway.networking.k8s.io/v1",
            "Gateway",
            "",
            json!({ "addresses": [{ "value": "192.0.2.2" }] })
        ),
        "Current Satisfied: Address: 192.0.2.2"
    );
    assert_eq!(
        with("networking.k8s.io/v1", "Ingress", "", balancer(json!({}))),
        "InProgress NoAddress: Ingress has no address yet"
    );
    assert_eq!(
        with("v1", "Service", "ClusterIP", json!({})),
        "InProgress NoAddress: Service of type ClusterIP gets no address; ask for state ready"
    );
    let ingress = object("networking.k8s.io/v1", "Ingress", json!({}), json!({}));
    assert!(ask(&ingress, State::Ready, &Cluster::empty()).satisfied);
    let balancer = service(json!({ "type": "LoadBalancer", "selector": { "app": "x" } }));
    assert_eq!(
        told(&balancer),
        "InProgress NoAddress: ClusterIP not set. Service type: LoadBalancer"
    );
}
