//! The changes of a pod that a real API server allows the controller's account where holds are on.

use serde_json::{Value, json};

use super::account::Account;
use super::cluster::kubectl;

const NAMESPACE: &str = "holds-of-sluice";
fn pod() -> Value {
    json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "name": "p", "namespace": NAMESPACE, "labels": {"app": "p"}, "annotations": {"team": "shop"},
            "finalizers": ["example.com/keep"],
        },
        "spec": {
            "schedulingGates": [{"name": "example.com/quota"}, {"name": "sluice.dev/hold"}],
            "serviceAccountName": "default", "automountServiceAccountToken": false,
            "activeDeadlineSeconds": 600, "nodeSelector": {"pool": "gpu"},
            "initContainers": [{"name": "sluice-gate", "image": "x"}],
            "containers": [{"name": "app", "image": "x", "env": [{"name": "A", "value": "1"}]}],
        },
    })
}

/// Returns changes of a pod that a thief of the account's token would try, each a kind of patch and its content. All must be refused.
fn changes() -> Vec<(&'static str, Value)> {
    let metadata = |value: Value| ("merge", json!({ "metadata": value }));
    let spec = |value: Value| ("strategic", json!({ "spec": value }));
    let json = |operations: Value| ("json", operations);
    let remove = |at: usize| json!({"op": "remove", "path": format!("/spec/schedulingGates/{at}")});
    let required = json!({"nodeSelectorTerms": [{"matchExpressions": [{"key": "pool", "operator": "Exists"}]}]});
    vec![
        metadata(json!({"labels": {"app": "other"}})),
        metadata(json!({"labels": {"more": "x"}})),
        metadata(json!({"labels": {"app": null}})),
        metadata(json!({"labels": null})),
        metadata(json!({"annotations": {"sluice.dev/skip": "true"}})),
        metadata(json!({"annotations": {"team": null}})),
        metadata(json!({"annotations": null})),
        metadata(json!({"finalizers": null})),
        metadata(json!({"finalizers": ["example.com/other"]})),
        metadata(
            json!({"ownerReferences": [{"apiVersion": "v1", "kind": "ConfigMap", "name": "x", "uid": "x"}]}),
        ),
        spec(json!({"containers": [{"name": "app", "image": "other"}]})),
        spec(json!({"initContainers": [{"name": "sluice-gate", "image": "other"}]})),
        spec(json!({"containers": [{"name": "app", "env": [{"name": "A", "value": "2"}]}]})),
        spec(json!({"containers": [{"name": "app", "command": ["sh"]}]})),
        spec(json!({"containers": [{"name": "another", "image": "x"}]})),
        spec(json!({"containers": [{"name": "app", "securityContext": {"privileged": true}}]})),
        spec(json!({"activeDeadlineSeconds": 1})),
        spec(json!({"tolerations": [{"key": "gpu", "operator": "Exists"}]})),
        spec(json!({"terminationGracePeriodSeconds": 1})),
        spec(json!({"nodeSelector": {"zone": "a"}})),
        spec(
            json!({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}}),
        ),
        spec(json!({"nodeName": "one"})),
        spec(json!({"hostNetwork": true})),
        spec(json!({"hostPID": true})),
        spec(json!({"serviceAccountName": "admin"})),
        spec(json!({"priority": 1000})),
        spec(json!({"volumes": [{"name": "root", "hostPath": {"path": "/"}}]})),
        json(json!([remove(0)])),
        json(json!([remove(1), remove(0)])),
        json(json!([{"op": "remove", "path": "/spec/schedulingGates"}])),
        json(
            json!([{"op": "replace", "path": "/spec/schedulingGates/1/name", "value": "example.com/mine"}]),
        ),
        json(
            json!([remove(1), {"op": "replace", "path": "/spec/containers/0/image", "value": "other"}]),
        ),
        json(json!([remove(1), {"op": "add", "path": "/metadata/labels/more", "value": "x"}])),
    ]
}

#[test]
#[ignore = "needs a cluster: make test"]
fn the_account_may_take_a_hold_away_and_change_nothing_else_of_a_pod() {
    let flags = ["holds.enabled=true", "podConditions.enabled=true"];
    let Some(account) = Account::under("sluice-holds", &flags, NAMESPACE) else {
        return;
    };
    kubectl(&["create", "--validate=false", "-f", "-"], &pod()).expect("a pod");
    account.is_limited("pod/p");
    let nobody = [
        "only deletion is allowed",
        "pod updates may not",
        "existing toleration",
    ];
    let by_us = account.tries("pod/p", changes(), &nobody);
    assert!(by_us > 15, "{by_us}");
    let takes = json!([
        {"op": "test", "path": "/spec/schedulingGates/1/name", "value": "sluice.dev/hold"},
        {"op": "remove", "path": "/spec/schedulingGates/1"},
    ]);
    let take = || account.patched("pod/p", "json", &takes, false);
    take().expect("what it is there for");
    let left = account.says("pod/p", ".spec.schedulingGates[*].name");
    assert_eq!(left.as_deref(), Ok("example.com/quota"));
    take().expect_err("whoever comes second");
    let free = json!({"metadata": {"finalizers": null}}).to_string();
    let free = [
        "-n",
        NAMESPACE,
        "patch",
        "pod/p",
        "--type=merge",
        "-p",
        &free,
    ];
    kubectl(&free, &Value::Null).expect("the pod may go");
}
