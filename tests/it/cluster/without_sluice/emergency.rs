use harness::cluster::{LIMIT, Program, alone, await_until, pod, sluice};

/// The emergency exit of docs/operating.md: once the webhook configuration is deleted, every pod starts without a gate, and the chart puts the
/// configuration back.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn without_the_configuration_everything_is_let_through() {
    alone("emergency", async |ns| {
        sluice::installed_after(async |release| {
            let delete = ["delete", "mutatingwebhookconfiguration", "sluice"];
            Program::new("kubectl").args(delete).run().await.ok();
            ns.apply([pod("free").depends_on("configmap/never")])
                .await
                .ok();
            ns.pod_of("free").await.says("started").await;
            release.install().await;
        })
        .await;
        // The replicas look every ten seconds, and until one has put its CA back nothing annotated is admitted.
        await_until("annotated pods are admitted again", LIMIT, async || {
            let bound = ns.apply([pod("bound").depends_on("configmap/never")]).await;
            if bound.code == Some(0) {
                Ok(())
            } else {
                Err(bound.stderr)
            }
        })
        .await;
        let bound = ns.pod_of("bound").await;
        bound.waits_for("ConfigMap/never", "NotFound").await;
    })
    .await;
}
