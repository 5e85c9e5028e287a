use harness::cluster::{Manifest, config_map, deployment, other, pod, with_namespace};
use serde_json::json;

const LIST: &str = "configmap/go";

fn with_resources(manifest: Manifest, requests: &str, limits: &str) -> Manifest {
    let amounts = |cpu: &str| json!({"cpu": cpu, "memory": "32Mi"});
    manifest.in_app(
        "/resources",
        json!({"requests": amounts(requests), "limits": amounts(limits)}),
    )
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_strictest_pod_security_admits_the_gate() {
    with_namespace("restricted", async |ns| {
        let level = "pod-security.kubernetes.io/enforce=restricted";
        let namespace = format!("namespace/{}", ns.name);
        ns.kubectl(["label", &namespace, level]).await.ok();
        let context = json!({
            "runAsNonRoot": true, "runAsUser": 1000, "allowPrivilegeEscalation": false,
            "capabilities": {"drop": ["ALL"]}, "seccompProfile": {"type": "RuntimeDefault"},
        });
        let api = pod("api")
            .depends_on(LIST)
            .in_app("/securityContext", context);
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
async fn a_pod_that_runs_as_root_has_a_gate_that_does_not() {
    with_namespace("root", async |ns| {
        let api = pod("api").depends_on(LIST);
        ns.apply([
            config_map("go"),
            api.in_pod("/spec/securityContext/runAsUser", 0),
        ])
        .await
        .ok();
        ns.pod_of("api").await.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn each_pod_keeps_its_quality_of_service() {
    with_namespace("qos", async |ns| {
        ns.apply([
            config_map("go"),
            with_resources(pod("guaranteed"), "10m", "10m").depends_on(LIST),
            with_resources(pod("burstable"), "5m", "10m").depends_on(LIST),
            pod("best-effort").depends_on(LIST),
        ])
        .await
        .ok();
        for (name, class) in [
            ("guaranteed", "Guaranteed"),
            ("burstable", "Burstable"),
            ("best-effort", "BestEffort"),
        ] {
            let pod = ns.pod_of(name).await;
            assert_eq!(pod.now().await["status"]["qosClass"], class);
            pod.is_gated().await;
            pod.starts().await;
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_quota_on_limits_admits_the_gate() {
    with_namespace("quota", async |ns| {
        let quota = other(json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "limits"},
            "spec": {"hard": {"limits.cpu": "1", "limits.memory": "128Mi"}},
        }));
        ns.apply([quota]).await.ok();
        ns.until("resourcequota/limits", "is in force", |quota| {
            quota["status"]["hard"]["limits.cpu"] == "1"
        })
        .await;
        let api = with_resources(deployment("api"), "5m", "10m").depends_on(LIST);
        ns.apply([config_map("go"), api]).await.ok();
        ns.pod_of("api").await.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_without_a_token_has_a_gate_with_one_of_its_own() {
    with_namespace("token", async |ns| {
        let api = pod("api")
            .depends_on(LIST)
            .in_pod("/spec/automountServiceAccountToken", false);
        ns.apply([config_map("go"), api]).await.ok();
        let api = ns.pod_of("api").await;
        api.starts().await;
        let pod = api.now().await;
        let app = &pod["spec"]["containers"][0];
        assert!(app["volumeMounts"].is_null(), "{app:#}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_in_the_network_of_its_node_waits_too() {
    with_namespace("host-network", async |ns| {
        let api = pod("api")
            .depends_on(LIST)
            .in_pod("/spec/hostNetwork", true);
        ns.apply([api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
    })
    .await;
}
