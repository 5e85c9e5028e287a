//! What is meant to come out, put together without a patch.

use super::{EXCLUSIONS, MARKER};
use serde_json::{Map, Value, json};

fn names<'a>(pod: &'a Value, list: &str) -> Vec<&'a str> {
    let items = pod["spec"][list].as_array().into_iter().flatten();
    items.filter_map(|item| item["name"].as_str()).collect()
}

/// A mapping or list that may be absent or null, made where it is not there.
pub(in crate::admission) fn made<'a>(
    parent: &'a mut Value,
    key: &str,
    empty: &Value,
) -> &'a mut Value {
    let child = &mut parent[key];
    if child.is_null() {
        *child = empty.clone();
    }
    child
}

/// Where the gate is meant to be among the init containers.
fn intended_index(pod: &Value) -> usize {
    let init = pod["spec"]["initContainers"].as_array();
    let init = init.map_or(&[][..], Vec::as_slice);
    let position = pod["metadata"]["annotations"]["sluice.dev/gate-position"].as_str();
    let after = match position {
        Some("first") => return 0,
        Some("last") => return init.len(),
        other => other.and_then(|text| text.strip_prefix("after=")),
    };
    if let Some(place) = init
        .iter()
        .rposition(|item| Some(item["name"].as_str().unwrap_or_default()) == after)
    {
        return place + 1;
    }
    let native = |item: &Value| {
        item["restartPolicy"] == "Always"
            && (item["name"] == "istio-proxy" || item["name"] == "linkerd-proxy")
    };
    init.iter().rposition(native).map_or(0, |last| last + 1)
}

/// The pod that is meant to come out, put together in place and without a patch.
pub(in crate::admission) fn intended(pod: &Value) -> Value {
    let mut result = pod.clone();
    let place = intended_index(pod);
    let mesh = EXCLUSIONS.iter().find(|(proxy, redirector, _)| {
        let init = names(pod, "initContainers");
        let native = init.iter().position(|name| name == proxy);
        let native =
            native.filter(|at| pod["spec"]["initContainers"][*at]["restartPolicy"] == "Always");
        let redirected = !init.contains(redirector) || init[..place].contains(redirector);
        let runs = native.is_some_and(|at| at < place);
        (names(pod, "containers").contains(proxy) || native.is_some()) && redirected && !runs
    });
    if let Some((_, _, key)) = mesh {
        let ports = made(
            made(&mut result, "metadata", &json!({})),
            "annotations",
            &json!({}),
        );
        let listed = ports[key].as_str().unwrap_or_default().to_owned();
        let mut all: Vec<&str> = listed
            .split(',')
            .map(str::trim)
            .filter(|port| !port.is_empty())
            .collect();
        if !all.contains(&"9764") {
            all.push("9764");
            ports[key] = json!(all.join(","));
        }
    }
    made(&mut result["metadata"], "labels", &json!({}))[MARKER] = json!("true");
    let volumes = made(&mut result["spec"], "volumes", &json!([]))
        .as_array_mut()
        .unwrap();
    volumes.push(json!({"name": "sluice-token", "projected": {"sources": [
        {"serviceAccountToken": {"audience": "sluice", "expirationSeconds": 600, "path": "token"}},
    ]}}));
    volumes.push(json!({"name": "sluice-state", "emptyDir": {"sizeLimit": "1Mi"}}));
    let resources = intended_resources(pod);
    let init = made(&mut result["spec"], "initContainers", &json!([]))
        .as_array_mut()
        .unwrap();
    let mut gate = json!({
        "name": "sluice-gate",
        "image": "localhost/sluice-gate:dev",
        "env": [
            {"name": "SLUICE_ADDRESSES", "value": "10.96.0.7:9764,sluice.sluice-system.svc:9764"},
            {"name": "SLUICE_SERVER_NAME", "value": "sluice.sluice-system.svc"},
            {"name": "SLUICE_CA_BUNDLE", "value": "-----BEGIN CERTIFICATE-----\n"},
            {"name": "SLUICE_TOKEN_FILE", "value": "/var/run/secrets/kubernetes.io/serviceaccount/token"},
            {"name": "SLUICE_STATE_DIR", "value": "/run/sluice"},
        ],
        "volumeMounts": [
            {"name": "sluice-token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true},
            {"name": "sluice-state", "mountPath": "/run/sluice"},
        ],
        "securityContext": {
            "runAsNonRoot": true,
            "runAsUser": 65532,
            "allowPrivilegeEscalation": false,
            "readOnlyRootFilesystem": true,
            "capabilities": {"drop": ["ALL"]},
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "terminationMessagePolicy": "File",
    });
    if let Some(resources) = resources {
        gate["resources"] = resources;
    }
    init.insert(place, gate);
    result
}

/// The `qosClass` by the letter of the documentation, for amounts that have one spelling.
pub(in crate::admission) fn qos(pod: &Value) -> &'static str {
    let all: Vec<&Value> = ["containers", "initContainers"]
        .iter()
        .filter_map(|list| pod["spec"][list].as_array())
        .flatten()
        .collect();
    let empty = |value: &Value| value.as_object().is_none_or(Map::is_empty);
    let silent = |item: &&Value| {
        empty(&item["resources"]["requests"]) && empty(&item["resources"]["limits"])
    };
    let equal = |item: &&Value| {
        let (requests, limits) = (&item["resources"]["requests"], &item["resources"]["limits"]);
        ["cpu", "memory"]
            .iter()
            .all(|name| limits[name].is_string() && limits[name] == requests[name])
    };
    if all.iter().all(silent) {
        "BestEffort"
    } else if all.iter().all(equal) {
        "Guaranteed"
    } else {
        "Burstable"
    }
}

fn intended_resources(pod: &Value) -> Option<Value> {
    let limits = json!({"cpu": "50m", "memory": "32Mi"});
    match qos(pod) {
        "BestEffort" => None,
        "Guaranteed" => Some(json!({"requests": limits, "limits": limits})),
        _ => Some(json!({"requests": {"cpu": "5m", "memory": "8Mi"}, "limits": limits})),
    }
}

/// A pod without our parts, and without parents that are empty.
pub(in crate::admission) fn without_additions(pod: &Value) -> Value {
    let mut pod = pod.clone();
    for (key, ours) in [
        ("volumes", &["sluice-token", "sluice-state"][..]),
        ("initContainers", &["sluice-gate"]),
    ] {
        if let Some(items) = pod["spec"][key].as_array_mut() {
            items.retain(|item| !ours.contains(&item["name"].as_str().unwrap_or_default()));
        }
    }
    for key in ["labels", "annotations"] {
        if let Some(map) = pod["metadata"][key].as_object_mut() {
            map.retain(|name, _| {
                !(key == "labels" && name == MARKER
                    || EXCLUSIONS.iter().any(|(.., own)| own == name))
            });
        }
    }
    for (parent, key) in [
        ("metadata", "labels"),
        ("metadata", "annotations"),
        ("spec", "volumes"),
        ("spec", "initContainers"),
    ] {
        let parent = pod[parent].as_object_mut().unwrap();
        let empty = |value: &Value| match value {
            Value::Array(items) => items.is_empty(),
            Value::Object(map) => map.is_empty(),
            other => other.is_null(),
        };
        if parent.get(key).is_some_and(empty) {
            parent.remove(key);
        }
    }
    pod
}
