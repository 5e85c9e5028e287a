use harness::cluster::{
    LIMIT, Namespace, TIMEOUT, UNTIL_ENOUGH, await_until, config_map, deployment, job,
    with_namespace,
};

/// Makes the Job `seed`, which completes, and waits until it is removed.
pub(in crate::cluster) async fn seeded(ns: &Namespace) {
    let seed = job("seed").with("/spec/ttlSecondsAfterFinished", 0);
    ns.apply([seed]).await.ok();
    await_until("job/seed is removed", LIMIT, async || {
        match ns.look.find("job/seed").await {
            None => Ok(()),
            Some(_) => Err("it is there".to_owned()),
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_that_was_removed_after_it_completed_goes_on_counting() {
    with_namespace("job-removed", async |ns| {
        seeded(ns).await;
        ns.apply([deployment("api").depends_on("job/seed")])
            .await
            .ok();
        ns.pod_of("api").await.starts().await;

        ns.apply([job("seed").runs("sleep 3600")]).await.ok();
        ns.apply([deployment("late").depends_on("job/seed")])
            .await
            .ok();
        let late = ns.pod_of("late").await;
        late.waits_for("Job/seed", "JobNotComplete").await;
        ns.kubectl(["delete", "job/seed", "--wait"]).await.ok();
        late.waits_for("Job/seed", "NotFound").await; // the newer Job replaced the memory of the older one
        late.is_shut().await;
    })
    .await;
}

/// A completed Job is not remembered beyond its namespace: after that is deleted and made anew, a list waits for a new Job of the name.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_is_not_remembered_beyond_its_namespace() {
    with_namespace("job-home", async |ns| {
        seeded(ns).await;
        ns.apply([deployment("api").depends_on("job/seed")])
            .await
            .ok();
        ns.pod_of("api").await.starts().await;
        let name = ns.name.as_str();
        ns.kubectl(["delete", "namespace", name, "--wait"])
            .await
            .ok();
        ns.kubectl(["create", "namespace", name]).await.ok();
        ns.apply([deployment("api").depends_on("job/seed")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Job/seed", "NotFound").await;
        api.is_shut().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_revision_that_has_started_once_does_not_wait_again() {
    with_namespace("revision", async |ns| {
        let api = deployment("api").depends_on("configmap/go");
        ns.apply([config_map("go"), api]).await.ok();
        ns.pod_of("api").await.starts().await;

        ns.kubectl(["delete", "configmap/go"]).await.ok();
        ns.kubectl(["scale", "deployment/api", "--replicas=2"])
            .await
            .ok();
        for pod in ns.pods_of("api", 2).await {
            pod.starts().await;
        }

        let next = ["rollout", "restart", "deployment/api"];
        ns.kubectl(next).await.ok();
        let selector = "app=api";
        await_until("a pod of the next revision waits", LIMIT, async || match ns
            .look
            .list("pod", selector)
            .await
            .len()
        {
            3 => Ok(()),
            count => Err(format!("{count} pods")),
        })
        .await;
        ns.apply([config_map("go")]).await.ok();
        let status = ["rollout", "status", "deployment/api", TIMEOUT];
        ns.kubectl(status).await.ok();
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_container_that_is_started_again_does_not_ask_again() {
    with_namespace("restart", async |ns| {
        let api = deployment("api")
            .runs(UNTIL_ENOUGH)
            .depends_on("configmap/go");
        ns.apply([config_map("go"), api]).await.ok();
        let api = ns.pod_of("api").await;
        api.starts().await;
        let opened = api.gate_log().await.len();
        ns.kubectl(["delete", "configmap/go"]).await.ok();

        ns.tell_enough("deployment/api").await;
        let pod = format!("pod/{}", api.name);
        ns.until(&pod, "runs again", |pod| {
            let app = &pod["status"]["containerStatuses"][0];
            app["restartCount"] == 1 && !app["state"]["running"].is_null()
        })
        .await;
        assert_eq!(api.gate().await["restartCount"], 0);
        assert_eq!(api.gate_log().await.len(), opened);
    })
    .await;
}
