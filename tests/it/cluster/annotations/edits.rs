use harness::cluster::{config_map, deployment, job, stateful_set, with_namespace};

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_typo_in_the_list_of_a_stateful_set_is_mended_in_place() {
    with_namespace("typo", async |ns| {
        ns.apply([job("migrate"), stateful_set("db").depends_on("job/migrat")])
            .await
            .ok();
        let db = ns.pod_of("db").await;
        db.waits_for("Job/migrat", "NotFound").await;

        ns.now_depends_on("statefulset/db", "job/migrate").await;
        db.starts().await; // the same pod: the harness holds on to its UID
        let set = ns.look.get("statefulset/db").await;
        assert_eq!(set["metadata"]["generation"], 1);
        assert_eq!(ns.look.list("controllerrevision", "").await.len(), 1);
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn twenty_edits_of_a_list_roll_nothing() {
    with_namespace("edits", async |ns| {
        ns.apply([deployment("api").depends_on("configmap/never")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        for edit in 1..=20 {
            ns.now_depends_on("deployment/api", &format!("configmap/edit-{edit}"))
                .await;
        }
        api.waits_for("ConfigMap/edit-20", "NotFound").await;
        assert_eq!(ns.look.list("replicaset", "").await.len(), 1);

        ns.apply([config_map("edit-20")]).await.ok();
        api.starts().await;
        assert_eq!(ns.look.list("replicaset", "").await.len(), 1);
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_that_waits_takes_another_list() {
    with_namespace("job-edit", async |ns| {
        let seed = job("seed").depends_on("configmap/one");
        ns.apply([seed.clone()]).await.ok();
        let pod = ns.pod_of("seed").await;
        pod.waits_for("ConfigMap/one", "NotFound").await;
        let uid = ns.look.get("job/seed").await["metadata"]["uid"].clone();

        let seed = seed.depends_on("configmap/two");
        ns.apply([config_map("two"), seed]).await.ok();
        pod.starts().await;
        let seed = ns.look.get("job/seed").await;
        assert_eq!(seed["metadata"]["uid"], uid);
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_list_that_is_taken_away_frees_the_pod() {
    with_namespace("no-list", async |ns| {
        ns.apply([deployment("api").depends_on("configmap/never")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/never", "NotFound").await;

        ns.kubectl(["annotate", "deployment/api", "sluice.dev/depends-on-"])
            .await
            .ok();
        api.starts().await;
    })
    .await;
}
