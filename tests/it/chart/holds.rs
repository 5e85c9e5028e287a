//! What a real API server lets the controller's account do to a pod where holds are on.
//!
//! The role and the policy are the chart's own under another name. The account is that of an installed sluice, which need not be
//! there.

use serde_json::{Value, json};

use super::cluster::kubectl;
use super::helm::{Render, helm};

const NAMESPACE: &str = "holds-of-sluice";
const ACCOUNT: &str = "--as=system:serviceaccount:sluice-system:sluice";
const KINDS: [&str; 4] = [
    "ClusterRoleBinding",
    "ClusterRole",
    "ValidatingAdmissionPolicyBinding",
    "ValidatingAdmissionPolicy",
];

/// Takes everything away, however the test ends.
struct Cleanup;

impl Drop for Cleanup {
    fn drop(&mut self) {
        for kind in KINDS {
            let delete = ["delete", "--ignore-not-found", kind, NAMESPACE];
            let _ = kubectl(&delete, &Value::Null);
        }
        let delete = ["delete", "--wait=false", "namespace", NAMESPACE];
        let _ = kubectl(&delete, &Value::Null);
    }
}

/// The account's rights to pods, and what limits them.
fn rights() -> Option<Vec<Value>> {
    let flags = ["holds.enabled=true", "podConditions.enabled=true"];
    let manifest = Render::new(&helm()?).flags(&flags).manifest();
    let named = |kind: &str, name: &str| {
        let mut all = manifest.all(kind).into_iter();
        let mut found = all.find(|it| it["metadata"]["name"] == name).expect(name);
        found["metadata"]["name"] = json!(NAMESPACE);
        for pointer in ["/roleRef/name", "/spec/policyName"] {
            if let Some(name) = found.pointer_mut(pointer) {
                *name = json!(NAMESPACE);
            }
        }
        found
    };
    Some(vec![
        named("ValidatingAdmissionPolicy", "sluice-holds"),
        named("ValidatingAdmissionPolicyBinding", "sluice-holds"),
        named("ClusterRole", "sluice"),
        named("ClusterRoleBinding", "sluice"),
    ])
}

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

/// What the account is told that would change the pod so.
fn patched(kind: &str, patch: &Value, dry: bool) -> Result<String, String> {
    let (kind, patch) = (format!("--type={kind}"), patch.to_string());
    let mut args = vec![
        "-n", NAMESPACE, "patch", "pod", "p", ACCOUNT, &kind, "-p", &patch,
    ];
    args.extend(dry.then_some("--dry-run=server"));
    kubectl(&args, &Value::Null)
}

/// Each is what whoever steals the account's token would try.
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
    let Some(rights) = rights() else { return };
    let namespace =
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}});
    let _cleanup = Cleanup;
    for object in [vec![namespace], rights].concat() {
        kubectl(&["apply", "-f", "-"], &object).expect("the API server accepts it");
    }
    kubectl(&["create", "--validate=false", "-f", "-"], &pod()).expect("a pod");
    let ours = "and change nothing else of it";
    // The API server reads the policy with a delay.
    let in_force = |_: &usize| {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let label = json!({"metadata": {"labels": {"app": "other"}}});
        patched("merge", &label, true).is_err_and(|complaint| complaint.contains(ours))
    };
    assert!((0..100).find(in_force).is_some(), "the policy is in force");
    let mut by_us = 0;
    for (kind, change) in changes() {
        let complaint = patched(kind, &change, true).expect_err(&change.to_string());
        // Some the API server lets nobody make.
        let refused = [
            "only deletion is allowed",
            "pod updates may not",
            "existing toleration",
        ];
        let by_others = refused.iter().any(|word| complaint.contains(word));
        assert!(
            complaint.contains(ours) || by_others,
            "{change}: {complaint}"
        );
        by_us += usize::from(complaint.contains(ours));
    }
    assert!(by_us > 15, "{by_us}");
    let takes = json!([
        {"op": "test", "path": "/spec/schedulingGates/1/name", "value": "sluice.dev/hold"},
        {"op": "remove", "path": "/spec/schedulingGates/1"},
    ]);
    patched("json", &takes, false).expect("what it is there for");
    let get = [
        "-n",
        NAMESPACE,
        "get",
        "pod",
        "p",
        "-o",
        "jsonpath={.spec.schedulingGates[*].name}",
    ];
    assert_eq!(
        kubectl(&get, &Value::Null).as_deref(),
        Ok("example.com/quota")
    );
    patched("json", &takes, false).expect_err("whoever comes second");
    let keep = json!({"metadata": {"finalizers": null}});
    let free = [
        "-n",
        NAMESPACE,
        "patch",
        "pod",
        "p",
        "--type=merge",
        "-p",
        &keep.to_string(),
    ];
    kubectl(&free, &Value::Null).expect("the pod may go");
}
