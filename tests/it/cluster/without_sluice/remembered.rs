use crate::cluster::readiness::memory::seeded;
use harness::cluster::{alone, config_map, deployment, sluice};

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_remembered_outlives_sluice() {
    alone("remembered", async |ns| {
        seeded(ns).await;
        let api = deployment("api").depends_on("configmap/go");
        ns.apply([config_map("go"), api]).await.ok();
        ns.pod_of("api").await.starts().await;
        ns.kubectl(["delete", "configmap/go"]).await.ok();

        sluice::restarted_after(async || {
            sluice::stop().await;
            sluice::start().await;
        })
        .await;

        ns.apply([deployment("late").depends_on("job/seed")])
            .await
            .ok();
        ns.pod_of("late").await.starts().await;
        ns.kubectl(["scale", "deployment/api", "--replicas=2"])
            .await
            .ok();
        for pod in ns.pods_of("api", 2).await {
            pod.starts().await;
        }
    })
    .await;
}
