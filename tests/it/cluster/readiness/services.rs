use harness::cluster::{Namespace, deployment, service, with_namespace};

async fn set_ready(ns: &Namespace, ready: bool) {
    let verb = if ready { "touch" } else { "rm" };
    ns.kubectl(["exec", "deployment/db", "--", verb, "/tmp/ready"])
        .await
        .ok();
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_service_counts_when_somebody_behind_it_is_ready() {
    with_namespace("service", async |ns| {
        let api = deployment("api").depends_on("svc/db");
        ns.apply([service("db"), api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Service/db", "NoEndpoints").await;

        ns.apply([deployment("db").ready_when_told()]).await.ok();
        ns.pod_of("db").await.says("started").await;
        api.stays_shut().await;

        set_ready(ns, true).await;
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_service_that_lost_everybody_counts_no_more() {
    with_namespace("service-lost", async |ns| {
        ns.apply([service("db"), deployment("db").ready_when_told()])
            .await
            .ok();
        let db = ns.pod_of("db").await;
        db.says("started").await;
        set_ready(ns, true).await;
        db.is_ready().await;
        set_ready(ns, false).await;
        ns.until("deployment/db", "has nobody ready", |db| {
            db["status"]["unavailableReplicas"] == 1
        })
        .await;

        ns.apply([deployment("late").depends_on("svc/db")])
            .await
            .ok();
        let late = ns.pod_of("late").await;
        late.waits_for("Service/db", "NoEndpoints").await;

        set_ready(ns, true).await;
        late.starts().await;
    })
    .await;
}
