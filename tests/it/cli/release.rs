//! Tests of `kubectl sluice release`, which lets a waiting pod start without its dependencies.

use super::server::Server;
use serde_json::json;

/// Starts an API server with a waiting pod, its ReplicaSet and its Deployment.
fn shop() -> Server {
    let object = |kind: &str, name: &str, owner: Option<(&str, &str)>| {
        let owners = owner.map(|(kind, name)| json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "controller": true}]));
        json!({"kind": kind, "metadata": {"namespace": "shop", "name": name, "ownerReferences": owners,
            "labels": {"sluice.dev/gated": "true"}}})
    };
    Server::start(&[
        (
            "/api/v1/namespaces/shop",
            json!({"kind": "Namespace", "metadata": {"name": "shop"}}),
        ),
        (
            "/api/v1/namespaces/shop/pods/api-1",
            object("Pod", "api-1", Some(("ReplicaSet", "api-6c"))),
        ),
        (
            "/apis/apps/v1/namespaces/shop/replicasets/api-6c",
            object("ReplicaSet", "api-6c", Some(("Deployment", "api"))),
        ),
        (
            "/apis/apps/v1/namespaces/shop/deployments/api",
            object("Deployment", "api", None),
        ),
    ])
}

#[test]
fn a_pod_is_released_by_one_annotation() {
    let server = shop();
    let ran = server.run(&["release", "api-1"]);
    assert_eq!((ran.code, ran.error.as_str()), (Some(0), ""));
    assert!(
        ran.out.ends_with(
            "To undo it: kubectl annotate pods/api-1 --namespace shop sluice.dev/skip-\n"
        ),
        "{}",
        ran.out
    );
    let ran = server.run(&["release", "pod/api-1", "--owner"]);
    assert_eq!((ran.code, ran.error.as_str()), (Some(0), ""));
    let ran = server.run(&["release", "api-1", "--reason", "drained by hand"]);
    assert!(
        ran.out
            .ends_with(" sluice.dev/skip- sluice.dev/skip-reason-\n"),
        "{}",
        ran.out
    );
    let patch = json!({"metadata": {"annotations": {"sluice.dev/skip": "true"}}});
    let mut because = patch.clone();
    because["metadata"]["annotations"]["sluice.dev/skip-reason"] = json!("drained by hand");
    let expected = [
        (
            "/api/v1/namespaces/shop/pods/api-1".to_owned(),
            patch.clone(),
        ),
        (
            "/apis/apps/v1/namespaces/shop/deployments/api".to_owned(),
            patch,
        ),
        ("/api/v1/namespaces/shop/pods/api-1".to_owned(), because),
    ];
    assert_eq!(*server.written.lock().unwrap(), expected);
}

#[test]
fn a_pod_that_is_not_there_is_not_released() {
    let ran = shop().run(&["release", "api-2"]);
    assert_eq!(
        ran.error,
        "error: pod \"api-2\" not found in namespace \"shop\"\n"
    );
    assert_eq!(ran.code, Some(1));
}
