//! `helm test` of sluice's own release: its pod is gated, and released.

use harness::cluster::{alone, sluice};

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn is_green_at_once_with_helm_3_and_4() {
    alone("helm-test", async |ns| {
        let namespace = format!("helmTest.namespace={}", ns.name);
        let values = ["--set", "helmTest.enabled=true", "--set", &namespace];
        sluice::with_values(&values, async || {
            for helm in ["helm", "helm3"] {
                let said = sluice::tested_by(helm).await.ok();
                assert!(said.contains("Succeeded"), "{helm}: {said}");
            }
        })
        .await;
    })
    .await;
}
