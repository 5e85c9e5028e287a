use harness::cluster::{config_map, deployment, with_namespace};

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_missing_may_come_later() {
    with_namespace("later", async |ns| {
        let api = deployment("api").depends_on("configmap/later");
        ns.apply([api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/later", "NotFound").await;
        api.stays_shut().await;

        ns.apply([config_map("later")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_optional_may_be_missing() {
    with_namespace("optional", async |ns| {
        let list = "- kind: ConfigMap\n  name: never\n  optional: true\n- configmap/there\n";
        ns.apply([config_map("there"), deployment("api").depends_on(list)])
            .await
            .ok();
        ns.pod_of("api").await.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_several_each_has_to_be_there() {
    with_namespace("several", async |ns| {
        let api = deployment("api").depends_on("configmap/one, configmap/three, configmap/two");
        ns.apply([config_map("two"), api]).await.ok();
        let api = ns.pod_of("api").await;
        let line = api.waits_for("ConfigMap/one", "NotFound").await;
        assert!(line.contains("and 1 other"), "{line}");

        ns.apply([config_map("one")]).await.ok();
        api.waits_for("ConfigMap/three", "NotFound").await;
        ns.apply([config_map("three")]).await.ok();
        api.starts().await;
    })
    .await;
}
