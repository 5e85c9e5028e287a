//! The number of rounds of requests in which the command reads a cluster: one for all kinds, however many there are.

use super::server::Server;
use serde_json::{Value, json};

/// The number of custom kinds in the test: more than the command's reader has rounds.
const KINDS: usize = 70;

/// Returns pairs of a path and the answer there: discovery of a group with many kinds, and the ClusterRole by which sluice may follow them.
fn served() -> [(&'static str, Value); 4] {
    let version = json!({"groupVersion": "many.example.com/v1", "version": "v1"});
    let group = json!({"name": "many.example.com", "versions": [version]});
    let kind = |at: usize| json!({"name": format!("k{at}s"), "singularName": format!("k{at}"), "namespaced": true, "kind": format!("K{at}"), "verbs": ["list"]});
    let kinds: Vec<_> = (0..KINDS).map(kind).collect();
    let plurals: Vec<_> = (0..KINDS).map(|at| format!("k{at}s")).collect();
    let verbs = json!(["get", "list", "watch"]);
    let rules = json!([
        {"apiGroups": ["", "apps", "batch"], "resources": ["*"], "verbs": verbs},
        {"apiGroups": ["many.example.com"], "resources": plurals, "verbs": verbs},
    ]);
    [
        ("/apis", json!({"kind": "APIGroupList", "groups": [group]})),
        ("/apis/many.example.com", group.clone()),
        (
            "/apis/many.example.com/v1",
            json!({"kind": "APIResourceList", "groupVersion": "many.example.com/v1", "resources": kinds}),
        ),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/sluice",
            json!({"metadata": {"name": "sluice"}, "rules": rules}),
        ),
    ]
}

/// Returns a pod of release `r` with this list, which waits at its gate.
fn waiting(list: &str) -> Value {
    let address = json!([{"name": "SLUICE_SERVER_NAME", "value": "sluice.elsewhere.svc"}]);
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "namespace": "shop", "name": "api", "labels": {"sluice.dev/gated": "true"},
            "annotations": {"sluice.dev/scope": "r", "sluice.dev/weight": "1", "sluice.dev/depends-on": list},
        },
        "spec": {"initContainers": [{"name": "sluice-gate", "env": address}]},
    })
}

#[test]
fn a_release_is_read_at_once_however_many_kinds_may_be_in_it() {
    for list in ["", "release/other"] {
        let pod = waiting(list);
        let path = "/api/v1/namespaces/shop/pods/api";
        let server = Server::start(&[served().as_slice(), &[(path, pod)]].concat());
        let ran = server.run(&["status", "api"]);
        assert!(ran.out.contains("below 1"), "{}{}", ran.out, ran.error);
        assert_eq!(
            ran.error
                .lines()
                .filter(|it| it.starts_with("error"))
                .count(),
            0
        );
    }
}
