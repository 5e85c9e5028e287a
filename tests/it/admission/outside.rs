//! Variables in the addresses outside of the cluster that a list names: which of them the gate gets, and which are refused.

use super::pods::create;
use super::{answer, applied, review, running};
use serde_json::{Value, json};

fn spec() -> Value {
    json!({"containers": [
        {"name": "app", "env": [
            {"name": "DB_PASSWORD", "valueFrom": {"secretKeyRef": {"name": "db", "key": "password"}}},
            {"name": "DATABASE_URL", "value": "postgres://app:$(DB_PASSWORD)@db.example.com/app"},
            {"name": "UNRELATED", "value": "x"},
        ]},
        {"name": "web", "env": [{"name": "CACHE", "value": "cache.example.com:6379"}, {"name": "UNRELATED", "value": "y"}]},
    ]})
}

fn pod(list: &str) -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "annotations": {"sluice.dev/depends-on": list}},
        "spec": spec(),
    })
}

/// Returns a Deployment with one list on itself and another on its pod template, each if given.
fn deployment(own: Option<&str>, template: Option<&str>) -> Value {
    let annotations = |list: Option<&str>| list.map(|it| json!({"sluice.dev/depends-on": it}));
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "d", "namespace": "shop", "annotations": annotations(own)},
        "spec": {"template": {"metadata": {"annotations": annotations(template)}, "spec": spec()}},
    })
}

async fn told(operation: &str, object: &Value, old: &Value) -> (bool, String) {
    let response = answer(&running(), &review(operation, object, old)).await;
    let message = response["status"]["message"].as_str().unwrap_or_default();
    (response["allowed"] == true, message.to_owned())
}

/// Returns the variables that the gate gets beyond those of sluice, whose names begin with `SLUICE_`.
async fn variables(pod: &Value) -> Vec<Value> {
    let gated = applied(pod, &create(pod).await);
    let env = gated["spec"]["initContainers"][0]["env"]
        .as_array()
        .unwrap();
    let own = |it: &&Value| !it["name"].as_str().unwrap().starts_with("SLUICE_");
    env.iter().filter(own).cloned().collect()
}

#[tokio::test]
async fn the_gate_is_given_the_variables_that_the_list_names_and_no_other() {
    let app = &spec()["containers"][0]["env"];
    let web = &spec()["containers"][1]["env"];
    for (list, expected) in [
        ("tcp://db.example.com:5432", vec![]),
        ("- tcp: $(CACHE)", vec![&web[0]]),
        ("- tcp: $(DATABASE_URL)", vec![&app[0], &app[1]]),
        ("- {http: $(UNRELATED), container: web}", vec![&web[1]]),
        (
            "tcp://$(CACHE), dns://$(CACHE), tcp://$(UNRELATED):1",
            vec![&app[2], &web[0]],
        ),
    ] {
        let expected: Vec<Value> = expected.into_iter().cloned().collect();
        assert_eq!(variables(&pod(list)).await, expected, "{list}");
    }
}

#[tokio::test]
async fn a_second_call_adds_nothing() {
    let pod = pod("- tcp: $(DATABASE_URL)");
    let gated = applied(&pod, &create(&pod).await);
    let response = create(&gated).await;
    assert_eq!(applied(&gated, &response), gated);
}

#[tokio::test]
async fn a_variable_that_no_container_has_is_refused() {
    for (list, expected) in [
        (
            "- tcp: $(NOWHERE)",
            "no container of the pod has NOWHERE in its env",
        ),
        (
            "- {tcp: $(CACHE), container: app}",
            "container \"app\" has no CACHE in its env",
        ),
        (
            "- {tcp: $(CACHE), container: api}",
            "the pod has no container \"api\"",
        ),
    ] {
        for object in [pod(list), deployment(None, Some(list))] {
            let (allowed, message) = told("CREATE", &object, &Value::Null).await;
            assert!(!allowed && message.contains(expected), "{list}: {message}");
        }
        // Of what a controller makes, the gate says what is missing.
        let mut made = pod(list);
        made["metadata"]["ownerReferences"] = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "d-1", "uid": "u", "controller": true}]);
        assert!(told("CREATE", &made, &Value::Null).await.0, "{list}");
        assert!(variables(&made).await.is_empty());
        // One that was stored before is never refused on an update that leaves it alone.
        let stored = deployment(None, Some(list));
        let mut scaled = stored.clone();
        scaled["spec"]["replicas"] = json!(3);
        assert!(told("UPDATE", &scaled, &stored).await.0, "{list}");
    }
}

#[tokio::test]
async fn a_list_with_variables_stands_on_the_pod_template() {
    let list = "- tcp: $(CACHE)";
    assert!(
        told("CREATE", &deployment(None, Some(list)), &Value::Null)
            .await
            .0
    );
    let (allowed, message) = told("CREATE", &deployment(Some(list), None), &Value::Null).await;
    assert!(!allowed, "its pods would not carry it");
    assert!(
        message.contains("write the list on the pod template"),
        "{message}"
    );
    let plain = deployment(Some("tcp://db.example.com:5432"), None);
    assert!(told("CREATE", &plain, &Value::Null).await.0);
}
