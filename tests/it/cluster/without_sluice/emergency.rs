use harness::cluster::{LIMIT, Look, Program, alone, await_until, pod, sluice};

/// What docs/operating.md calls the emergency exit: everything is let through, and the chart puts it back.
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
        let look = Look::at(sluice::NAMESPACE).await;
        await_until("the webhook is back", LIMIT, async || {
            match look.find("mutatingwebhookconfiguration/sluice").await {
                Some(_) => Ok(()),
                None => Err("there is none".to_owned()),
            }
        })
        .await;
        ns.apply([pod("bound").depends_on("configmap/never")])
            .await
            .ok();
        let bound = ns.pod_of("bound").await;
        bound.waits_for("ConfigMap/never", "NotFound").await;
    })
    .await;
}
