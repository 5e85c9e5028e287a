//! A namespace with a Job that runs, and an API whose two pods wait for it and for an address, of which only their gates can tell.

use crate::cli::api::Api;
use serde_json::{Value, json};

fn object(version: &str, kind: &str, name: &str, rest: &Value) -> Value {
    let mut made = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop", "uid": name}});
    json_patch::merge(&mut made, rest);
    made
}

/// Returns a pod of the ReplicaSet `owner`, with these further fields.
pub(super) fn pod(name: &str, owner: &str, rest: &Value) -> Value {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": owner, "uid": owner, "controller": true}]);
    let mut pod = object(
        "v1",
        "Pod",
        name,
        &json!({"metadata": {"ownerReferences": owner}}),
    );
    json_patch::merge(&mut pod, rest);
    pod
}

/// Returns a Deployment with this list and without a ready replica, and its ReplicaSet.
pub(super) fn deployment(name: &str, list: &str) -> [Value; 2] {
    let owner = json!([{"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": name, "controller": true}]);
    let spec = json!({"replicas": 1, "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": {"app": name}}, "spec": {"containers": [{"name": "app", "image": "example.com/app:9"}]}}});
    [
        object(
            "apps/v1",
            "Deployment",
            name,
            &json!({"metadata": {"annotations": {"sluice.dev/depends-on": list}}, "spec": spec, "status": {"replicas": 1}}),
        ),
        object(
            "apps/v1",
            "ReplicaSet",
            name,
            &json!({"metadata": {"ownerReferences": owner}}),
        ),
    ]
}

pub(super) fn shop() -> Api {
    let gate = json!({"name": "sluice-gate", "env": [{"name": "SLUICE_SERVER_NAME", "value": "sluice.sluice-system.svc"}]});
    let running = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let at_its_gate = json!({
        "metadata": {"labels": {"sluice.dev/gated": "true", "app": "api"}},
        "spec": {"initContainers": [gate], "containers": [{"name": "app", "image": "example.com/app:9"}]},
        "status": {"phase": "Pending", "initContainerStatuses": [{"name": "sluice-gate", "state": running}]},
    });
    let mut objects = vec![
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}),
        object(
            "batch/v1",
            "Job",
            "migrate",
            &json!({"spec": {"template": {"spec": {"containers": []}}}, "status": {"active": 1}}),
        ),
        pod("api-1", "api", &at_its_gate),
        pod("api-2", "api", &at_its_gate),
        object(
            "v1",
            "Service",
            "api",
            &json!({"spec": {"selector": {"app": "api"}}}),
        ),
    ];
    objects.extend(deployment("api", "job/migrate, tcp://db.example.com:5432"));
    Api::start(&objects)
}
