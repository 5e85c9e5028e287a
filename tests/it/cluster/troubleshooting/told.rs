use harness::cluster::{Program, config_map, deployment, with_namespace};
use harness::process::binary;

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn events_on_the_pod_tell_that_it_waits_and_that_it_does_not_any_more() {
    with_namespace("events", async |ns| {
        ns.apply([deployment("api").depends_on("configmap/go")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        api.has_event("NotFound", "ConfigMap/go").await;

        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
        api.has_event("Released", "").await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn kubectl_sluice_status_says_what_a_pod_waits_for() {
    with_namespace("status", async |ns| {
        ns.apply([deployment("api").depends_on("configmap/go")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        let status = || {
            Program::new(binary("kubectl-sluice"))
                .args(["status", &api.name, "--namespace", &ns.name])
                .run()
        };
        let waiting = status().await;
        assert_eq!(waiting.code, Some(3), "{waiting}");
        assert!(waiting.stdout.contains("ConfigMap/go"), "{waiting}");
        assert!(waiting.stdout.contains("NotFound"), "{waiting}");

        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
        let open = status().await;
        assert_eq!(open.code, Some(0), "{open}");
    })
    .await;
}
