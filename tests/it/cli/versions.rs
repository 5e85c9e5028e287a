//! Kinds that are served only in a version that their group does not prefer, as OpenKruise's CloneSet.

use super::server::{Server, list};
use serde_json::{Value, json};

/// Starts an API server with a pod that waits for an object of the preferred version, and for one of a kind that only an older version has.
fn kruise() -> Server {
    let version =
        |name: &str| json!({"groupVersion": format!("apps.kruise.io/{name}"), "version": name});
    let group = json!({"name": "apps.kruise.io", "versions": [version("v1beta1"), version("v1alpha1")],
        "preferredVersion": version("v1beta1")});
    let serves = |version: &str, kinds: &[&str]| {
        let resource = |kind: &&str| {
            json!({"name": format!("{}s", kind.to_lowercase()), "kind": kind, "singularName": "",
            "namespaced": true, "verbs": ["get", "list"]})
        };
        let resources: Vec<_> = kinds.iter().map(resource).collect();
        json!({"kind": "APIResourceList", "groupVersion": format!("apps.kruise.io/{version}"), "resources": resources})
    };
    let made = |version: &str, kind: &str, ready: u8| {
        let status = json!({"observedGeneration": 1, "replicas": 2, "readyReplicas": ready, "updatedReplicas": ready,
            "updatedReadyReplicas": ready, "availableReplicas": ready, "updatedAvailableReplicas": ready});
        json!({"apiVersion": format!("apps.kruise.io/{version}"), "kind": kind,
            "metadata": {"namespace": "shop", "name": "inpl", "generation": 1}, "spec": {"replicas": 2}, "status": status})
    };
    let pod = json!({"apiVersion": "v1", "kind": "Pod",
        "metadata": {"namespace": "shop", "name": "api", "uid": "u", "creationTimestamp": "2026-01-01T00:00:00Z",
            "labels": {"sluice.dev/gated": "true"}, "annotations": {
                "sluice.dev/depends-on": "cloneset.apps.kruise.io/inpl, statefulset.apps.kruise.io/inpl"}},
        "spec": {"initContainers": [{"name": "sluice-gate"}]},
        "status": {"phase": "Pending", "initContainerStatuses":
            [{"name": "sluice-gate", "state": {"running": {"startedAt": "2026-01-01T00:00:01Z"}}}]}});
    let apis = "/apis/apps.kruise.io";
    let shop = json!({"kind": "Namespace", "metadata": {"name": "shop"}});
    Server::start(&[
        ("/apis", json!({"kind": "APIGroupList", "groups": [group]})),
        // The preferred version is not asked for what it does not serve.
        (
            &format!("{apis}/v1beta1"),
            serves("v1beta1", &["StatefulSet"]),
        ),
        (
            &format!("{apis}/v1alpha1"),
            serves("v1alpha1", &["CloneSet", "StatefulSet"]),
        ),
        (
            &format!("{apis}/v1alpha1/namespaces/shop/clonesets/inpl"),
            made("v1alpha1", "CloneSet", 1),
        ),
        (
            &format!("{apis}/v1beta1/namespaces/shop/statefulsets/inpl"),
            made("v1beta1", "StatefulSet", 2),
        ),
        ("/api/v1/namespaces/shop", shop),
        (
            "/api/v1/namespaces/shop/pods",
            list(std::slice::from_ref(&pod)),
        ),
        ("/api/v1/namespaces/shop/pods/api", pod),
    ])
}

#[test]
fn a_kind_is_found_in_a_version_that_its_group_does_not_prefer() {
    let server = kruise();
    let told = server.run(&["status", "api", "-o", "json"]);
    let told: Value = serde_json::from_str(&told.out).unwrap();
    let reasons = ["CloneSet", "StatefulSet"].map(|kind| {
        let mut all = told["dependencies"].as_array().unwrap().iter();
        let name = kind.to_lowercase();
        let of = all.find(|it| {
            it["dependency"]
                .as_str()
                .unwrap()
                .to_lowercase()
                .starts_with(&name)
        });
        of.unwrap()["reason"].clone()
    });
    assert_eq!(reasons, ["InProgress", "Satisfied"], "{told}");
    let drawn = server.run(&["graph", "-o", "json"]);
    let drawn: Value = serde_json::from_str(&drawn.out).unwrap();
    let nodes = drawn["nodes"].as_array().unwrap();
    assert!(nodes.iter().all(|node| node["missing"] == false), "{drawn}");
}
