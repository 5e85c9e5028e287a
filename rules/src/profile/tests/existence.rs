use super::*;

#[test]
fn kinds_without_a_state_of_their_own() {
    for (version, kind) in [
        ("v1", "ConfigMap"),
        ("v1", "Secret"),
        ("v1", "ServiceAccount"),
        ("rbac.authorization.k8s.io/v1", "ClusterRole"),
        ("networking.k8s.io/v1", "NetworkPolicy"),
        ("batch/v1", "CronJob"),
    ] {
        assert!(
            ask(
                &json!({ "apiVersion": version, "kind": kind }),
                State::Ready,
                &Cluster::empty()
            )
            .satisfied
        );
    }
}

#[test]
fn a_namespace_is_active() {
    let namespace = |phase: Value| {
        told(&object(
            "v1",
            "Namespace",
            json!({}),
            json!({ "phase": phase }),
        ))
    };
    assert_eq!(
        namespace(json!("Active")),
        "Current Satisfied: Namespace is Active"
    );
    assert_eq!(
        namespace(json!("Terminating")),
        "InProgress InProgress: Namespace is Terminating"
    );
    assert_eq!(
        namespace(json!(null)),
        "InProgress InProgress: Namespace has no phase yet"
    );
}

#[test]
fn a_definition_is_established_under_its_names() {
    let definition = |list: &[(&str, &str)]| {
        let status = json!({ "conditions": conditions(list) });
        told(&object(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            json!({}),
            status,
        ))
    };
    assert_eq!(
        definition(&[("NamesAccepted", "True"), ("Established", "True")]),
        "Current Satisfied: CRD is established"
    );
    assert_eq!(
        definition(&[("Established", "True"), ("NamesAccepted", "False")]),
        "InProgress InProgress: CRD is established, but its names are not accepted"
    );
    assert_eq!(
        definition(&[]),
        "InProgress InProgress: Install in progress"
    );
}

#[test]
fn an_api_service_is_available() {
    let service = |conditions: Value| {
        let status = json!({ "conditions": conditions });
        told(&object(
            "apiregistration.k8s.io/v1",
            "APIService",
            json!({}),
            status,
        ))
    };
    assert_eq!(
        service(json!([{ "type": "Available", "status": "True" }])),
        "Current Satisfied: APIService is available"
    );
    assert_eq!(
        service(
            json!([{ "type": "Available", "status": "False", "reason": "MissingEndpoints", "message": "none" }])
        ),
        "InProgress InProgress: APIService is not available: MissingEndpoints none"
    );
    assert_eq!(
        service(json!([])),
        "InProgress InProgress: APIService is not available yet"
    );
}

#[test]
fn a_disruption_budget_is_worked_out() {
    let budget = |conditions: Value| {
        let status = json!({ "conditions": conditions });
        told(&object(
            "policy/v1",
            "PodDisruptionBudget",
            json!({}),
            status,
        ))
    };
    let allowed = |status: &str, reason: &str| {
        let kind = "DisruptionAllowed";
        budget(json!([{ "type": kind, "status": status, "reason": reason, "message": "why" }]))
    };
    let current = "Current Satisfied: AllowedDisruptions has been computed.";
    assert_eq!(allowed("True", "SufficientPods"), current);
    assert_eq!(allowed("False", "InsufficientPods"), current);
    assert_eq!(
        allowed("False", "SyncFailed"),
        "Failed Failed: PodDisruptionBudget cannot be worked out: why"
    );
    assert_eq!(
        budget(json!([])),
        "InProgress InProgress: PodDisruptionBudget has not been worked out yet"
    );
}
