//! The rights of sluice's own account.

use harness::cluster::{Look, Program, alone, sluice, text};
use serde_json::json;

const CONFIGURATION: &str = "mutatingwebhookconfiguration/sluice";

/// The arguments by which kubectl acts with the rights of sluice's account, as a dry run that writes nothing.
const AS_SLUICE: [&str; 2] = [
    "--as=system:serviceaccount:sluice-system:sluice",
    "--dry-run=server",
];

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn sluices_account_may_write_the_ca_bundle_of_its_webhooks_and_nothing_else() {
    alone("own-account", async |ns| {
        let patch = async |patch: serde_json::Value| {
            let patch = patch.to_string();
            let arguments = ["patch", CONFIGURATION, "--type=strategic", "--patch"];
            let kubectl = ns.program("kubectl").args(arguments);
            kubectl.args([patch.as_str()]).args(AS_SLUICE).run().await
        };
        let entry = |own: serde_json::Value| {
            let mut entry = json!({"name": "pods.sluice.dev"});
            for (field, value) in own.as_object().expect("a mapping") {
                entry[field] = value.clone();
            }
            json!({"webhooks": [entry]})
        };
        let configuration = Look::at(sluice::NAMESPACE).await.get(CONFIGURATION).await;
        let bundle = text(&configuration, "/webhooks/0/clientConfig/caBundle");
        patch(entry(json!({"clientConfig": {"caBundle": bundle}})))
            .await
            .ok();
        let anything = json!({"apiGroups": ["*"], "apiVersions": ["*"], "operations": ["*"], "resources": ["*"]});
        for change in [
            entry(json!({"rules": [anything]})),
            entry(json!({"failurePolicy": "Ignore", "timeoutSeconds": 1})),
            entry(json!({"clientConfig": {"service": {"name": "somebody", "namespace": "else", "path": "/x"}}})),
            entry(json!({"namespaceSelector": {"$patch": "replace"}})),
            entry(json!({"$patch": "delete"})),
            json!({"metadata": {"labels": {"somebody": "else"}}}),
        ] {
            let refusal = patch(change.clone()).await.refused();
            let said = "may write the CA bundle of these webhooks and nothing else";
            assert!(refusal.contains(said), "{change}: {refusal}");
        }
    })
    .await;
}

/// A ClusterRole with the label `sluice.dev/aggregate-to-watch` may only grant reading: Kubernetes gives sluice every right of such a role.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_role_that_is_handed_on_to_sluice_lets_it_read_and_nothing_else() {
    alone("handed-on", async |ns| {
        let create = async |rule: serde_json::Value| {
            let labels = json!({"sluice.dev/aggregate-to-watch": "true"});
            let role = json!({
                "apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole",
                "metadata": {"name": ns.name, "labels": labels}, "rules": [rule],
            });
            let kubectl = ns.program("kubectl");
            let kubectl = kubectl.args(["create", "--dry-run=server", "-f", "-"]);
            kubectl.input(role.to_string()).run().await
        };
        let rule = |group: &str, resource: &str, verbs: serde_json::Value| {
            json!({"apiGroups": [group], "resources": [resource], "verbs": verbs})
        };
        let read = || json!(["get", "list", "watch"]);
        create(rule("example.com", "widgets", read())).await.ok();
        for wrong in [
            rule("example.com", "widgets", json!(["get", "list", "watch", "patch"])),
            rule("example.com", "widgets", json!(["*"])),
            rule("example.com", "*", read()),
            rule("*", "widgets", read()),
            rule("", "secrets", read()),
            rule("", "nodes/proxy", read()),
            rule("", "secrets/status", read()),
            json!({"nonResourceURLs": ["/metrics"], "verbs": ["get"]}),
        ] {
            let refusal = create(wrong.clone()).await.refused();
            let said = "names kinds that sluice may read";
            assert!(refusal.contains(said), "{wrong}: {refusal}");
        }
    })
    .await;
}

/// A pod like a replica's is admitted in sluice's namespace, which enforces the Pod Security level `restricted`. `make install` sets that label,
/// perhaps after the replicas came.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn sluice_runs_in_a_namespace_that_enforces_restricted() {
    let look = Look::at(sluice::NAMESPACE).await;
    let namespace = look.get(&format!("namespace/{}", sluice::NAMESPACE)).await;
    let level = &namespace["metadata"]["labels"]["pod-security.kubernetes.io/enforce"];
    assert_eq!(level, "restricted");
    let (replica, _) = sluice::replicas().await.remove(0);
    let mut spec = look.get(&format!("pod/{replica}")).await["spec"].take();
    spec["nodeName"] = json!(null);
    let pod =
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one-more"}, "spec": spec});
    let arguments = ["create", "--dry-run=server", "-f", "-", "--namespace"];
    let kubectl = Program::new("kubectl")
        .args(arguments)
        .args([sluice::NAMESPACE]);
    kubectl.input(pod.to_string()).run().await.ok();
}
