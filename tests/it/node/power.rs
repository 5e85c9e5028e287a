//! A power cycle of the node: everything on it ends at once, the API server and its database too, and starts again.

use harness::cluster::{
    LIMIT, Namespace, Node, Pod, alone, await_until, config_map, deployment, items, pod, text,
};
use jiff::Timestamp;
use serde_json::Value;

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn after_a_power_cycle_everybody_goes_on_where_they_were() {
    let Some(node) = Node::ours().await else {
        return;
    };
    alone("power", async |ns| {
        // It would ask again, and wait, if its own marker did not say that it has passed.
        let released = pod("released")
            .depends_on("configmap/gone")
            .annotated("sluice.dev/regate", "always");
        let waiting = deployment("waiting").depends_on("configmap/go");
        ns.apply([config_map("gone"), released, waiting]).await.ok();
        let (released, waiting) = (ns.pod_of("released").await, ns.pod_of("waiting").await);
        released.starts().await;
        waiting.waits_for("ConfigMap/go", "NotFound").await;
        ns.kubectl(["delete", "configmap/gone"]).await.ok();

        let off = Timestamp::now();
        node.power_cycle().await;
        the_node_is_ready_again(ns, off).await;
        has_started_again(&released, "/status/containerStatuses", off).await;
        has_started_again(&waiting, "/status/initContainerStatuses", off).await;
        let late = admitted(ns).await;
        late.waits_for("ConfigMap/go", "NotFound").await;
        waits_again(&waiting).await;

        ns.apply([config_map("go")]).await.ok();
        late.starts().await;
        waiting.starts().await;
    })
    .await;
}

/// Waits until the kubelet has reported the node as ready since `off`.
async fn the_node_is_ready_again(ns: &Namespace, off: Timestamp) {
    ns.until("node/node", "is ready again", |node| {
        let since = |it: &Value| time(it, "/lastHeartbeatTime") > Some(off);
        let ready = |it: &Value| it["type"] == "Ready" && it["status"] == "True";
        let conditions = items(node, "/status/conditions");
        conditions.iter().any(|it| ready(it) && since(it))
    })
    .await;
}

/// The first container of a list runs, and has done so since then.
async fn has_started_again(pod: &Pod, list: &str, off: Timestamp) {
    let what = format!("{} has started again", pod.name);
    await_until(&what, LIMIT, async || {
        let now = pod.now().await;
        let status = items(&now, list).first().cloned().unwrap_or_default();
        if time(&status, "/state/running/startedAt") > Some(off) {
            Ok(())
        } else {
            Err(format!("{:#}", now["status"]))
        }
    })
    .await;
}

/// A new pod, as soon as sluice is back.
async fn admitted(ns: &Namespace) -> Pod {
    await_until("an annotated pod is admitted", LIMIT, async || {
        let late = pod("late").depends_on("configmap/go");
        let outcome = ns.apply([late]).await;
        if outcome.code == Some(0) {
            Ok(())
        } else {
            Err(outcome.stderr)
        }
    })
    .await;
    ns.pod_of("late").await
}

/// The gate that was started again has asked again, and its application is held back.
async fn waits_again(pod: &Pod) {
    await_until("the gate waits again", LIMIT, async || {
        let log = pod.gate_log().await;
        if log
            .iter()
            .any(|line| line.text.contains("for ConfigMap/go: "))
        {
            Ok(())
        } else {
            Err(format!("{log:?}"))
        }
    })
    .await;
    let now = pod.now().await;
    let app = &items(&now, "/status/containerStatuses")[0];
    assert!(app["state"]["waiting"].is_object(), "{app:#}");
}

fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    text(value, pointer).parse().ok()
}
