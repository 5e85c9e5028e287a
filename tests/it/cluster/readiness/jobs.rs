use harness::cluster::{UNTIL_ENOUGH, config_map, deployment, job, with_namespace};

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_running_job_holds_back_until_it_completes() {
    with_namespace("job-running", async |ns| {
        let migrate = job("migrate").runs(&format!("{UNTIL_ENOUGH}; echo done"));
        let api = deployment("api").depends_on("job/migrate");
        ns.apply([migrate, api]).await.ok();

        let api = ns.pod_of("api").await;
        ns.pod_of("migrate").await.says("started").await;
        api.waits_for("Job/migrate", "JobNotComplete").await;
        api.stays_shut().await;

        ns.tell_enough("job/migrate").await;
        let done = ns.pod_of("migrate").await.says("done").await;
        assert!(done < api.starts().await);
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_suspended_job_holds_back_until_it_completes() {
    with_namespace("job-suspended", async |ns| {
        let migrate = job("migrate").with("/spec/suspend", true);
        let api = deployment("api").depends_on("job/migrate");
        ns.apply([migrate.clone(), api]).await.ok();

        let api = ns.pod_of("api").await;
        api.waits_for("Job/migrate", "JobSuspended").await;
        api.stays_shut().await;

        ns.apply([migrate.with("/spec/suspend", false)]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_failed_job_holds_back_until_another_completes() {
    with_namespace("job-failed", async |ns| {
        let api = deployment("api").depends_on("job/migrate");
        ns.apply([job("migrate").runs("exit 1"), api]).await.ok();

        let api = ns.pod_of("api").await;
        api.waits_for("Job/migrate", "JobFailed").await;
        api.stays_shut().await;

        ns.kubectl(["delete", "job/migrate"]).await.ok();
        ns.apply([job("migrate")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_completed_job_holds_nobody_back() {
    with_namespace("job-complete", async |ns| {
        ns.apply([job("migrate")]).await.ok();
        ns.until("job/migrate", "is complete", |job| {
            job["status"]["succeeded"] == 1
        })
        .await;

        let api = deployment("api").depends_on("job/migrate");
        ns.apply([api]).await.ok();
        ns.pod_of("api").await.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_that_may_not_fail_waits_without_a_failure() {
    with_namespace("job-waits", async |ns| {
        // It has no second attempt: the harness's Jobs have restartPolicy Never and backoffLimit 0.
        ns.apply([job("seed").depends_on("configmap/go")])
            .await
            .ok();
        let seed = ns.pod_of("seed").await;
        seed.waits_for("ConfigMap/go", "NotFound").await;
        seed.stays_shut().await;
        let waiting = ns.look.get("job/seed").await;
        assert_eq!(waiting["status"]["active"], 1, "{waiting:#}");
        assert!(waiting["status"]["failed"].is_null(), "{waiting:#}");

        ns.apply([config_map("go")]).await.ok();
        seed.starts().await;
        ns.until("job/seed", "is complete", |job| {
            job["status"]["succeeded"] == 1
        })
        .await;
        let done = ns.look.get("job/seed").await;
        assert!(done["status"]["failed"].is_null(), "{done:#}");
    })
    .await;
}
