use super::waiting_pods;
use harness::cluster::{
    Manifest, Namespace, TIMEOUT, alone, config_map, cron_job, daemon_set, deployment, job, other,
    pod, service, sluice, stateful_set,
};
use serde_json::{Value, json};

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_not_annotated_does_not_notice_and_the_rest_recovers() {
    alone("stopped", async |ns| {
        let waiting = waiting_pods(ns).await;
        let annotated = ["grows", "stretches", "goes"].map(deployment);
        ns.apply(annotated.map(|it| it.depends_on("configmap/never")))
            .await
            .ok();
        ns.pod_of("grows").await;

        sluice::restarted_after(async || {
            sluice::stop().await;
            ns.apply([autoscaler("stretches")]).await.ok();
            nobody_else_notices(ns).await;
            an_annotated_object_is_refused_by_name(ns).await;
            an_annotated_workload_scales_and_goes(ns).await;
            ns.apply([config_map("go")]).await.ok();
            for pod in &waiting {
                pod.is_shut().await;
            }
        })
        .await;

        for pod in &waiting {
            pod.starts().await;
            assert_eq!(pod.gate().await["restartCount"], 0);
        }
        for name in ["grows", "stretches"] {
            for pod in ns.pods_of(name, 2).await {
                pod.waits_for("ConfigMap/never", "NotFound").await;
            }
        }
    })
    .await;
}

/// Checks that objects without annotations of sluice are made, changed and deleted while sluice is stopped, as in a cluster without it.
async fn nobody_else_notices(ns: &Namespace) {
    let plain = [
        pod("plain-pod"),
        deployment("plain-deployment"),
        stateful_set("plain-statefulset"),
        daemon_set("plain-daemonset"),
        job("plain-job"),
        cron_job("plain-cronjob"),
        config_map("plain-configmap"),
        service("plain-service"),
    ];
    ns.apply(plain.clone()).await.ok();
    for kind in ["pod", "deployment", "statefulset", "daemonset", "job"] {
        let pod = ns.pod_of(&format!("plain-{kind}")).await;
        pod.says("started").await;
    }
    let changed = plain.map(|manifest| manifest.annotated("example.com/changed", "yes"));
    ns.apply(changed.clone()).await.ok();
    for kind in ["deployment", "statefulset", "daemonset"] {
        let workload = format!("{kind}/plain-{kind}");
        let restart = ["rollout", "restart", &workload];
        ns.kubectl(restart).await.ok();
        ns.kubectl(["rollout", "status", TIMEOUT, &workload])
            .await
            .ok();
    }
    ns.pipe("delete", &changed, &["--wait=true", TIMEOUT])
        .await
        .ok();
}

async fn an_annotated_object_is_refused_by_name(ns: &Namespace) {
    for (manifest, webhook) in [
        (pod("late"), "pods.sluice.dev"),
        (deployment("late"), "workloads.sluice.dev"),
        (cron_job("late"), "cronjobs.sluice.dev"),
    ] {
        let key = "sluice.dev/depends-on";
        let inside = manifest.clone().template_annotated(key, "configmap/go");
        for late in [manifest.depends_on("configmap/go"), inside] {
            let refusal = ns.apply([late]).await.refused();
            assert!(refusal.contains(webhook), "{refusal}");
        }
    }
}

/// Checks that annotated workloads can be scaled and deleted, and lose an annotation, while sluice is stopped: by hand, and by the controllers of
/// Kubernetes.
async fn an_annotated_workload_scales_and_goes(ns: &Namespace) {
    ns.kubectl(["scale", "deployment/grows", "--replicas=2"])
        .await
        .ok();
    ns.until("deployment/stretches", "has been scaled", |it| {
        it["spec"]["replicas"] == 2
    })
    .await;
    ns.kubectl(["annotate", "deployment/grows", &format!("{REVISION}-")])
        .await
        .ok();
    ns.until("deployment/grows", "has its revision again", |it| {
        it["metadata"]["annotations"][REVISION] == "1"
    })
    .await;

    ns.patch("deployment/goes", &finalizers(&json!(["example.com/hold"])))
        .await;
    ns.kubectl(["delete", "deployment/goes", "--wait=false"])
        .await
        .ok();
    ns.patch("deployment/goes", &finalizers(&Value::Null)).await;
    ns.kubectl(["wait", "--for=delete", "deployment/goes", TIMEOUT])
        .await
        .ok();
}

/// The annotation that the deployment controller writes on a Deployment.
const REVISION: &str = "deployment.kubernetes.io/revision";

fn finalizers(list: &Value) -> Value {
    json!({"metadata": {"finalizers": list}})
}

/// Returns an autoscaler for a Deployment with a minimum of two replicas, which needs no metrics for that.
fn autoscaler(deployment: &str) -> Manifest {
    let target = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": deployment});
    other(json!({
        "apiVersion": "autoscaling/v2", "kind": "HorizontalPodAutoscaler", "metadata": {"name": deployment},
        "spec": {"scaleTargetRef": target, "minReplicas": 2, "maxReplicas": 3},
    }))
}
