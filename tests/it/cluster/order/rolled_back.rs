//! A rollback of a StatefulSet or a DaemonSet: the revision that comes back is the ControllerRevision of before, not a new object.

use harness::cluster::{
    Manifest, Namespace, Pod, config_map, daemon_set, stateful_set, text, with_namespace,
};
use serde_json::{Value, json};

const SCHEMA: &str = "configmap/schema";

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_stateful_set_that_is_rolled_back_asks_again() {
    with_namespace("set-back", async |ns| {
        asks_again(ns, "statefulset/db", stateful_set("db"), "db").await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_daemon_set_that_is_rolled_back_asks_again() {
    with_namespace("daemon-back", async |ns| {
        asks_again(ns, "daemonset/agent", daemon_set("agent"), "agent").await;
    })
    .await;
}

async fn asks_again(ns: &Namespace, workload: &str, manifest: Manifest, name: &str) {
    let schema = async || ns.apply([config_map("schema")]).await.ok();
    let version = async |version: Value| {
        let labels = json!({"version": version});
        let template = json!({"spec": {"template": {"metadata": {"labels": labels}}}});
        ns.patch(workload, &template).await;
    };
    schema().await;
    ns.apply([manifest.depends_on(SCHEMA)]).await.ok();
    let first = ns.pod_of(name).await;
    first.is_ready().await;
    let revision = revision_of(&first).await;
    version(json!("2")).await;
    let second = ns.next_pod_of(name, &first).await;
    second.is_ready().await;

    ns.kubectl(["delete", SCHEMA]).await.ok();
    version(Value::Null).await;
    let third = ns.next_pod_of(name, &second).await;
    let back = revision_of(&third).await;
    assert_eq!(back, revision, "it is not the one of before");
    third.waits_for("ConfigMap/schema", "NotFound").await;
    third.stays_shut().await;
    schema().await;
    third.is_ready().await;

    // From then on it has passed, as any other.
    ns.kubectl(["delete", SCHEMA]).await.ok();
    ns.kubectl(["delete", "pod", &third.name]).await.ok();
    ns.next_pod_of(name, &third).await.starts().await;
}

async fn revision_of(pod: &Pod) -> String {
    let pod = pod.now().await;
    text(&pod, "/metadata/labels/controller-revision-hash").to_owned()
}
