//! Packets between sluice and the API server get lost while no connection is closed: the knowledge of sluice grows old, and no gate opens by it.

use harness::cluster::{
    Namespace, Node, Pod, alone, config_map, deployment, finally, service, sluice,
};
use serde_json::{Value, json};
use std::time::Duration;

/// The time without a sign of the API server after which a replica does not believe its knowledge any more.
const STALE: Duration = Duration::from_secs(30);

/// Returns the time for which nothing arrives: 45 seconds, or the seconds of `SLUICE_SILENCE`.
fn silence() -> Duration {
    let asked = std::env::var("SLUICE_SILENCE").ok();
    asked
        .and_then(|it| it.parse().ok())
        .map_or(STALE + Duration::from_secs(15), Duration::from_secs)
}

/// Makes a Deployment that waits for a Service, which is ready at once because it has no selector, and for a missing ConfigMap. Returns its waiting
/// pod.
async fn somebody_waits(ns: &Namespace) -> Pod {
    let a = service("a").with("/spec/selector", Value::Null);
    let api = deployment("api").depends_on("svc/a, configmap/late");
    ns.apply([a, api]).await.ok();
    let api = ns.pod_of("api").await;
    api.waits_for("ConfigMap/late", "NotFound").await;
    api
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn nothing_opens_while_no_packet_arrives_and_the_right_ones_open_afterwards() {
    let Some(node) = Node::ours().await else {
        return;
    };
    alone("cut-off", async |ns| {
        let api = somebody_waits(ns).await;
        let replicas = sluice::addresses().await;
        finally(
            async || {
                node.lose_packets_of(&replicas).await;
                ns.kubectl(["delete", "service/a"]).await.ok();
                ns.apply([config_map("late")]).await.ok();
                api.gate_says("to reach the API server again").await;
                tokio::time::sleep(silence().saturating_sub(STALE)).await;
                api.is_shut().await;
            },
            async |_| node.lose_nothing().await,
        )
        .await;
        api.waits_for("Service/a", "NotFound").await;
        ns.apply([service("a").with("/spec/selector", Value::Null)])
            .await
            .ok();
        api.starts().await;
    })
    .await;
}

/// A watch that gets no packets any more opens no gate. The test cuts only the connections of the watches of Services, so all other knowledge of
/// sluice is up to date.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_watch_that_dies_silently_opens_nothing() {
    let Some(node) = Node::ours().await else {
        return;
    };
    alone("dead-watch", async |ns| {
        let api = somebody_waits(ns).await;
        let replicas = sluice::addresses().await;
        let before = node.told(&replicas).await;
        for turn in 0..20 {
            let text = format!("{turn}{}", "x".repeat(4000));
            let patch = json!({"metadata": {"annotations": {"example.com/note": text}}});
            ns.look.patch("service/a", &patch).await;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
        let mut watches = node.told(&replicas).await;
        watches.retain(|at, bytes| *bytes > before.get(at).unwrap_or(&0) + 60_000);
        assert!(watches.len() >= replicas.len(), "{watches:?}");

        finally(
            async || {
                node.lose_packets_between(watches.keys()).await;
                ns.kubectl(["delete", "service/a"]).await.ok();
                // The watch of Services is the only one that could tell.
                tokio::time::sleep(STALE + Duration::from_secs(10)).await;
                ns.apply([config_map("late")]).await.ok();
                api.waits_for("Service/a", "NotFound").await;
                api.stays_shut().await;
            },
            async |_| node.lose_nothing().await,
        )
        .await;
        ns.apply([service("a").with("/spec/selector", Value::Null)])
            .await
            .ok();
        api.starts().await;
    })
    .await;
}
