//! A wrong clock of the replicas affects no gate: the time that counts is the API server's.

use harness::cluster::{Manifest, alone, config_map, deployment, sluice, stateful_set};
use serde_json::json;

/// Returns the seconds by which the clock is ahead in each round, from `SLUICE_CLOCKS` (comma separated). A round takes a minute; without the
/// variable there is none.
fn offsets() -> Vec<i64> {
    let asked = std::env::var("SLUICE_CLOCKS").unwrap_or_else(|_| {
        eprintln!("skipped: SLUICE_CLOCKS names no clock, such as 3600,-172800");
        String::new()
    });
    asked.split(',').filter_map(|it| it.parse().ok()).collect()
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn timeouts_settling_and_certificates_are_right_by_a_wrong_clock() {
    for offset in offsets() {
        let argument = format!("--clock-offset={offset}");
        alone("clock", async |ns| {
            ns.apply(shop()).await.ok();
            let old = ns.pod_of("api").await;
            old.starts().await;
            sluice::with_argument(&argument, async || {
                // Admitted by certificates that are valid now, and not yet late.
                let late = deployment("late").depends_on("configmap/go");
                let late = late.annotated("sluice.dev/timeout", "30m");
                let late = late.annotated("sluice.dev/on-timeout", "fail");
                ns.apply([late]).await.ok();
                let late = ns.pod_of("late").await;
                late.waits_for("ConfigMap/go", "NotFound").await;

                let template =
                    json!({"spec": {"template": {"metadata": {"labels": {"version": "2"}}}}});
                ns.look.patch("deployment/api", &template).await;
                let api = ns.next_pod_of("api", &old).await;
                tokio::select! {
                    _ = api.waits_for("StatefulSet/db", "Settling") => {}
                    () = ns.keeps_writing("deployment/other") => {}
                }
                api.starts().await;
                late.is_shut().await;
                ns.apply([config_map("go")]).await.ok();
                late.starts().await;
            })
            .await;
        })
        .await;
    }
}

/// Returns the objects of one release: an API that waits for a database, the database, and another Deployment.
fn shop() -> [Manifest; 3] {
    let of_shop = |it: Manifest| it.with("/metadata/labels/app.kubernetes.io~1instance", "shop");
    [
        deployment("api").depends_on("statefulset/db"),
        deployment("other"),
        stateful_set("db"),
    ]
    .map(of_shop)
}
