use harness::cluster::{Manifest, Namespace, Pod, deployment, other, with_namespace};
use serde_json::{Value, json};

/// Each test defines the kind in a group of its own: the name of its namespace, below a domain that nobody has.
fn group(ns: &Namespace) -> String {
    format!("{}.example", ns.name)
}

fn definition(ns: &Namespace) -> Manifest {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({
        "name": "v1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": schema}, "subresources": {"status": {}},
    });
    let names = json!({"plural": "widgets", "singular": "widget", "kind": "Widget"});
    let spec =
        json!({"group": group(ns), "scope": "Namespaced", "names": names, "versions": [version]});
    object(
        "apiextensions.k8s.io/v1",
        "CustomResourceDefinition",
        &plural(ns),
    )
    .with("/spec", spec)
}

fn object(api_version: &str, kind: &str, name: &str) -> Manifest {
    let metadata = json!({"name": name});
    other(json!({"apiVersion": api_version, "kind": kind, "metadata": metadata}))
}

fn plural(ns: &Namespace) -> String {
    format!("widgets.{}", group(ns))
}

async fn define(ns: &Namespace) {
    let reference = format!("customresourcedefinition/{}", plural(ns));
    ns.takes_along(&reference);
    ns.apply([definition(ns)]).await.ok();
    ns.kubectl(["wait", "--for=condition=Established", &reference])
        .await
        .ok();
}

async fn create(ns: &Namespace) {
    let widget = object(&format!("{}/v1", group(ns)), "Widget", "one");
    ns.apply([widget]).await.ok();
}

/// What the kind's controller would write.
async fn set_ready(ns: &Namespace, ready: &str) {
    let condition = json!({"type": "Ready", "status": ready, "reason": "Test", "message": ""});
    let patch = json!({"status": {"conditions": [condition]}}).to_string();
    let widget = format!("{}/one", plural(ns));
    ns.kubectl([
        "patch",
        &widget,
        "--subresource=status",
        "--type=merge",
        "--patch",
        &patch,
    ])
    .await
    .ok();
}

/// What the value `rbac.kinds` of the chart does.
async fn grant(ns: &Namespace) {
    let reads = json!({"apiGroups": [group(ns)], "resources": ["widgets"], "verbs": ["get", "list", "watch"]});
    let rbac = "rbac.authorization.k8s.io/v1";
    let role = object(rbac, "ClusterRole", &ns.name).with("/rules", json!([reads]));
    let reference: Value =
        json!({"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": ns.name});
    let account = json!({"kind": "ServiceAccount", "name": "sluice", "namespace": "sluice-system"});
    let binding = object(rbac, "ClusterRoleBinding", &ns.name)
        .with("/roleRef", reference)
        .with("/subjects", json!([account]));
    ns.takes_along(&format!("clusterrolebinding/{}", ns.name));
    ns.takes_along(&format!("clusterrole/{}", ns.name));
    ns.apply([role, binding]).await.ok();
}

async fn dependent(ns: &Namespace) -> Pod {
    let api = deployment("api").depends_on(&format!("Widget.{}/one", group(ns)));
    ns.apply([api]).await.ok();
    ns.pod_of("api").await
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_kind_an_object_and_its_status_may_all_come_later() {
    with_namespace("widget", async |ns| {
        let widget = format!("Widget.{}/one", group(ns));
        grant(ns).await;
        let api = dependent(ns).await;
        api.waits_for(&widget, "KindNotServed").await;
        define(ns).await;
        api.waits_for(&widget, "NotFound").await;
        create(ns).await;
        api.waits_for(&widget, "NoStatusYet").await;
        set_ready(ns, "False").await;
        api.waits_for(&widget, "InProgress").await;

        let before = jiff::Timestamp::now();
        set_ready(ns, "True").await;
        let waited = api.starts().await.duration_since(before);
        assert!(waited.as_secs() < 5, "{waited:?}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_kind_that_sluice_may_not_watch_is_called_so_until_it_may() {
    with_namespace("forbidden", async |ns| {
        let widget = format!("Widget.{}/one", group(ns));
        define(ns).await;
        create(ns).await;
        set_ready(ns, "True").await;
        let api = dependent(ns).await;
        let line = api.waits_for(&widget, "KindForbidden").await;
        assert!(
            line.contains("rbac.kinds"),
            "the way out is missing: {line}"
        );

        grant(ns).await;
        api.starts().await;
    })
    .await;
}
