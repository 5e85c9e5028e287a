//! A cluster with sluice in it, as its API server shows it.

use super::cases::{Case, namespace, object, pod};
use rules::judged::Reason;
use rules::{kinds, shards};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The arguments that decide on verdicts, as the chart writes them.
pub(super) const SETTINGS: [&str; 6] = [
    "--memory-config-map=sluice-memory",
    "--slots-config-map=sluice-slots",
    "--health-rules-configmap=health",
    "--builtin-health-rules=true",
    "--allow-cross-namespace=nobody->elsewhere",
    "--watch-cluster-role=sluice-watch",
];

/// Returns the objects of a cluster with sluice and with these cases, each in a namespace of its own.
pub(super) fn cluster(cases: &[(Reason, Case)]) -> Vec<Value> {
    let mut all = installation();
    for (reason, case) in cases {
        let name = namespace(*reason);
        all.push(object(
            "v1",
            "Namespace",
            &name,
            json!({"metadata": {"creationTimestamp": "1969-01-01T00:00:00Z"}}),
        ));
        all.push(pod(*reason, case));
        for it in &case.objects {
            let mut it = it.clone();
            it["metadata"]["namespace"] = json!(name);
            all.push(it);
        }
    }
    all
}

fn installation() -> Vec<Value> {
    let home = |kind: &str, name: &str, rest: Value| {
        let mut made = object(
            "v1",
            kind,
            name,
            json!({"metadata": {"namespace": "sluice-system", "resourceVersion": "1"}}),
        );
        json_patch::merge(&mut made, &rest);
        made
    };
    let labels =
        json!({"app.kubernetes.io/name": "sluice", "app.kubernetes.io/component": "controller"});
    let containers = json!([{"name": "webhook", "args": SETTINGS}]);
    let controller = json!({"metadata": {"labels": labels}, "spec": {"template": {"spec": {"containers": containers}}}});
    let follow = |group: &str, resource: &str| json!({"apiGroups": [group], "resources": [resource], "verbs": ["get", "list", "watch"]});
    let builtin = kinds::all().iter().filter(|it| it.kind != "Secret");
    let mut rules: Vec<Value> = builtin.map(|it| follow(it.group, it.plural)).collect();
    let jobsets = follow("jobset.x-k8s.io", "jobsets");
    let custom = ["widgets", "gauges"].map(|it| follow("example.com", it));
    let custom: Vec<Value> = custom.into_iter().chain([jobsets]).collect();
    rules.push(follow("authentication.k8s.io", "tokenreviews"));
    rules.push(follow("events.k8s.io", "events"));
    let remembered = json!({"uid": "u", "created": 0, "completed": 60, "labels": {"app": "seed"}});
    let holder = json!({"group": "batch", "kind": "Job", "name": "first", "uid": "first", "revision": "first", "pods_of": "first", "most": 1});
    let capped = namespace(Reason::NoSlot);
    let wave = format!(r#"{{"scope":{{"namespace":"{capped}","name":"r"}},"weight":0}}"#);
    let mut held: Value = serde_json::from_str(&wave).unwrap();
    held["holders"] = json!([holder]);
    let hash = Sha256::digest(wave)[..16]
        .iter()
        .fold(String::new(), |hash, byte| format!("{hash}{byte:02x}"));
    let held = json!({"whole-since": "2026-01-01T00:00:00Z", format!("{capped}.{hash}"): held.to_string()});
    let slots = &shards::names("sluice-slots")[shards::of(&capped)];
    let defined = |group: &str, kind: &str, plural: &str| {
        let names = json!({"kind": kind, "plural": plural, "singular": kind.to_lowercase()});
        let version =
            json!({"name": "v1", "served": true, "storage": true, "subresources": {"status": {}}});
        let spec =
            json!({"group": group, "scope": "Namespaced", "names": names, "versions": [version]});
        let status = json!({"conditions": [{"type": "Established", "status": "True"}]});
        let name = format!("{plural}.{group}");
        object(
            "apiextensions.k8s.io/v1",
            "CustomResourceDefinition",
            &name,
            json!({"spec": spec, "status": status}),
        )
    };
    let mut deployment = home("Deployment", "sluice", controller);
    deployment["apiVersion"] = json!("apps/v1");
    vec![
        deployment,
        home(
            "Service",
            "sluice",
            json!({"spec": {"clusterIP": "127.0.0.1", "clusterIPs": ["127.0.0.1"]}}),
        ),
        home(
            "ConfigMap",
            "sluice-memory",
            json!({"data": {format!("job.{}.remembered", namespace(Reason::Remembered)): remembered.to_string()}}),
        ),
        home("ConfigMap", slots, json!({"data": held})),
        home(
            "ConfigMap",
            "health",
            json!({"data": {"rules.yaml": "- {apiVersion: example.com/v1, kind: Gauge, current: 'status.('}"}}),
        ),
        object(
            "admissionregistration.k8s.io/v1",
            "MutatingWebhookConfiguration",
            "sluice",
            json!({"webhooks": []}),
        ),
        object(
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            "sluice",
            json!({"rules": rules}),
        ),
        object(
            "rbac.authorization.k8s.io/v1",
            "ClusterRole",
            "sluice-watch",
            json!({"metadata": {"resourceVersion": "1"}, "rules": custom}),
        ),
        object(
            "storage.k8s.io/v1",
            "StorageClass",
            "fast",
            json!({"provisioner": "p", "volumeBindingMode": "Immediate"}),
        ),
        object("v1", "Namespace", "elsewhere", json!({})),
        defined("example.com", "Widget", "widgets"),
        defined("example.com", "Gauge", "gauges"),
        defined("jobset.x-k8s.io", "JobSet", "jobsets"),
    ]
}
