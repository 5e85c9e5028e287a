use harness::cluster::{config_map, deployment, with_namespace};

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_list_on_the_pod_template_counts() {
    with_namespace("template", async |ns| {
        let api = deployment("api").template_annotated("sluice.dev/depends-on", "configmap/go");
        ns.apply([api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_list_of_the_pod_template_wins() {
    with_namespace("wins", async |ns| {
        let api = deployment("api")
            .depends_on("configmap/never")
            .template_annotated("sluice.dev/depends-on", "configmap/go");
        ns.apply([api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_list_of_cli_utils_counts() {
    with_namespace("cli-utils", async |ns| {
        let list = format!("/namespaces/{}/ConfigMap/go", ns.name);
        let api = deployment("api").annotated("config.kubernetes.io/depends-on", &list);
        ns.apply([api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for(&format!("{}/ConfigMap/go", ns.name), "NotFound")
            .await;
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn who_asks_for_nothing_gets_nothing() {
    with_namespace("plain", async |ns| {
        ns.apply([deployment("api")]).await.ok();
        let api = ns.pod_of("api").await;
        api.says("started").await;
        let pod = api.now().await;
        assert!(pod["spec"]["initContainers"].is_null(), "{pod:#}");
        assert!(pod["metadata"]["labels"]["sluice.dev/gated"].is_null());
    })
    .await;
}

/// A key that sluice does not act on gets one warning, with or without a list beside it. The API server itself gives it: without a key of sluice an
/// object is not sent to the webhook.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_key_that_nobody_acts_on_gets_a_word_once() {
    with_namespace("foreign", async |ns| {
        for (key, ours) in [
            ("helm.sh/weight", "sluice.dev/weight"),
            ("helm.sh/depends-on", "sluice.dev/depends-on"),
            ("helm.sh/health", "sluice.dev/health"),
        ] {
            let word = format!("nobody acts on {key}; write {ours}");
            let api = || deployment("api").annotated(key, "5");
            for api in [api(), api().depends_on("configmap/go")] {
                let told = ns.apply([api]).await;
                assert_eq!(told.stderr.matches(&word).count(), 1, "{told}");
                told.ok();
                ns.kubectl(["delete", "deployment/api"]).await.ok();
            }
        }
    })
    .await;
}
