use super::applied;
use super::pods::{create, pod};
use serde_json::{Value, json};

/// Returns a pod that another installation gated at another time, with that gate and its volumes, as a backup has it.
fn restored() -> Value {
    let mut pod = pod();
    pod["spec"]["initContainers"] = json!([{"name": "migrate", "image": "app:1"}, {
        "name": "sluice-gate", "image": "registry.old.example.com/sluice-gate:v0.1.0", "imagePullPolicy": "Never",
        "env": [
            {"name": "SLUICE_ADDRESSES", "value": "10.1.2.3:9764"}, {"name": "SLUICE_CA_BUNDLE", "value": "old"},
            {"name": "SLUICE_CA_FILE", "value": "/old"}, {"name": "HTTP_PROXY", "value": "http://proxy"},
        ],
        "volumeMounts": [{"name": "sluice-token", "mountPath": "/old"}],
        "securityContext": {"runAsUser": 7}, "resources": {"limits": {"memory": "9Mi"}},
    }]);
    pod["spec"]["volumes"] = json!([
        {"name": "data", "configMap": {"name": "data"}},
        {"name": "sluice-state", "emptyDir": {"medium": "Memory"}},
    ]);
    pod["metadata"]["labels"] = json!({"sluice.dev/gated": "true"});
    pod
}

#[tokio::test]
async fn a_restored_gate_gets_what_gates_are_made_of_today_and_nothing_else_changes() {
    let fresh = applied(&pod(), &create(&pod()).await);
    let today = &fresh["spec"]["initContainers"][0];
    let response = create(&restored()).await;
    assert_eq!(response["auditAnnotations"]["outcome"], "renewed");
    let made = applied(&restored(), &response);
    let gate = &made["spec"]["initContainers"][1];
    assert_eq!(gate["image"], today["image"]);
    let mut env = today["env"].as_array().unwrap().clone();
    let proxy = json!({"name": "HTTP_PROXY", "value": "http://proxy"});
    let [addresses, name, bundle] = [0, 1, 2].map(|at| env[at].clone());
    let rest = env.split_off(3);
    let expected: Vec<Value> = [addresses, bundle, proxy, name]
        .into_iter()
        .chain(rest)
        .collect();
    assert_eq!(gate["env"], json!(expected));
    assert_eq!(gate["volumeMounts"], today["volumeMounts"]);
    for (key, of) in [("securityContext", &restored()), ("resources", &restored())] {
        assert_eq!(gate[key], of["spec"]["initContainers"][1][key]);
    }
    assert_eq!(
        made["spec"]["initContainers"][0],
        restored()["spec"]["initContainers"][0]
    );
    let volumes = &made["spec"]["volumes"];
    assert_eq!(volumes[0], restored()["spec"]["volumes"][0]);
    assert_eq!(volumes[1], fresh["spec"]["volumes"][1]);
    assert_eq!(volumes[2], fresh["spec"]["volumes"][0]);
    assert_eq!(made["metadata"], restored()["metadata"]);
    let again = create(&made).await;
    assert_eq!(
        again["auditAnnotations"]["outcome"],
        "skipped-already-injected"
    );
}

/// A gate of today stays as it is, although other webhooks have changed it and the API server has added its defaults: sluice is called again after
/// them.
#[tokio::test]
async fn what_others_make_of_todays_gate_is_left_to_them() {
    let mut gated = applied(&pod(), &create(&pod()).await);
    gated["spec"]["volumes"][0]["projected"]["defaultMode"] = json!(420);
    let gate = &mut gated["spec"]["initContainers"][0];
    gate["imagePullPolicy"] = json!("Always");
    gate["env"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"name": "HTTP_PROXY", "value": "x"}));
    for image in [
        "localhost/sluice-gate:dev",
        "mirror.example.com/localhost/sluice-gate:dev",
        "localhost/sluice-gate:dev@sha256:aa",
        "mirror.example.com/sluice-gate@sha256:aa",
    ] {
        gated["spec"]["initContainers"][0]["image"] = json!(image);
        let outcome = create(&gated).await["auditAnnotations"]["outcome"].clone();
        assert_eq!(outcome, "skipped-already-injected", "{image}");
    }
    gated["spec"]["initContainers"][0]["image"] = json!("localhost/sluice-gate:v0.1.0");
    let made = applied(&gated, &create(&gated).await);
    assert_eq!(
        made["spec"]["initContainers"][0]["image"],
        "localhost/sluice-gate:dev"
    );
}
