use harness::cluster::{Manifest, Namespace, Pod, config_map, deployment, job, with_namespace};
use serde_json::json;
use std::time::Duration;

/// Makes a Deployment that waits for a ConfigMap and returns its pod. Once the pod is seen to wait, however late, the Deployment gets a timeout of
/// one second, which passes.
async fn times_out(ns: &Namespace, on_timeout: &str) -> Pod {
    let api = deployment("api").depends_on("configmap/go");
    let api = api.annotated("sluice.dev/on-timeout", on_timeout);
    ns.apply([api]).await.ok();
    let api = ns.pod_of("api").await;
    api.waits_for("ConfigMap/go", "NotFound").await;
    ns.annotate("deployment/api", "sluice.dev/timeout", "1s")
        .await;
    api
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn wait_says_that_the_timeout_has_passed_and_waits_on() {
    with_namespace("timeout-wait", async |ns| {
        let api = times_out(ns, "wait").await;
        api.has_event("TimedOut", "the timeout of 1s").await;
        let line = api.gate_says("has passed, and the wait goes on").await;
        assert!(line.contains("for ConfigMap/go: "), "{line}");
        api.stays_shut().await;

        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn fail_ends_the_gate_with_the_reason_and_it_opens_once_the_dependency_is_there() {
    with_namespace("timeout-fail", async |ns| {
        let api = times_out(ns, "fail").await;
        let message = api.is_refused().await;
        for part in [
            "ConfigMap/go: NotFound (NotFound",
            "the timeout of 1s",
            "raise the timeout",
        ] {
            assert!(message.contains(part), "{message}");
        }
        api.has_event("TimedOut", "refused").await;

        ns.apply([config_map("go")]).await.ok();
        api.starts().await; // the kubelet starts the gate of the same pod again
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn fail_fails_the_job_of_somebody_who_asked_for_it() {
    with_namespace("timeout-job", async |ns| {
        let seed = job("seed")
            .depends_on("configmap/go")
            .annotated("sluice.dev/timeout", "5s")
            .annotated("sluice.dev/on-timeout", "fail");
        ns.apply([seed]).await.ok();
        ns.until("job/seed", "has failed", |job| job["status"]["failed"] == 1)
            .await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn proceed_starts_without_the_dependency_and_is_not_remembered() {
    with_namespace("timeout-proceed", async |ns| {
        let first = times_out(ns, "proceed").await;
        first.starts().await;
        first
            .has_event("TimedOut", "opened without ConfigMap/go (NotFound")
            .await;

        ns.annotate("deployment/api", "sluice.dev/timeout", "1h")
            .await;
        second(ns, &first)
            .await
            .waits_for("ConfigMap/go", "NotFound")
            .await;
    })
    .await;
}

/// Scales `api` to two pods, and returns the new one.
async fn second(ns: &Namespace, first: &Pod) -> Pod {
    ns.kubectl(["scale", "deployment/api", "--replicas=2"])
        .await
        .ok();
    let pods = ns.pods_of("api", 2).await;
    let other = pods.into_iter().find(|pod| pod.name != first.name);
    other.expect("two pods have two names")
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_failed_job_ends_the_gate_where_that_is_asked_for() {
    with_namespace("failure-fail", async |ns| {
        let api = deployment("api")
            .depends_on("job/migrate")
            .annotated("sluice.dev/on-failure", "fail");
        ns.apply([job("migrate").runs("exit 1"), api]).await.ok();
        let api = ns.pod_of("api").await;
        let message = api.is_refused().await;
        for part in [
            "Job/migrate: Failed (JobFailed",
            "has failed for good",
            "create it again",
        ] {
            assert!(message.contains(part), "{message}");
        }
        api.has_event("DependencyFailed", "refused").await;

        ns.kubectl(["delete", "job/migrate"]).await.ok();
        ns.apply([job("migrate")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_failed_job_is_waited_for_unless_that_is_asked_for() {
    with_namespace("failure-wait", async |ns| {
        let api = deployment("api")
            .depends_on("job/migrate")
            .annotated("sluice.dev/on-failure", "wait");
        ns.apply([job("migrate").runs("exit 1"), api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Job/migrate", "JobFailed").await;
        api.has_event("DependencyFailed", "waiting for Job/migrate")
            .await;
        api.stays_shut().await;

        ns.annotate("deployment/api", "sluice.dev/on-failure", "fail")
            .await;
        api.is_refused().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn skip_on_the_pod_or_on_its_owner_opens_at_once_and_is_not_remembered() {
    with_namespace("skip", async |ns| {
        ns.apply([deployment("api").depends_on("configmap/go")])
            .await
            .ok();
        let first = ns.pod_of("api").await;
        first.waits_for("ConfigMap/go", "NotFound").await;
        let pod = format!("pod/{}", first.name);
        ns.annotate(&pod, "sluice.dev/skip", "true").await;
        first.starts().await;
        first.has_event("Released", "on the pod").await;

        let second = second(ns, &first).await;
        second.waits_for("ConfigMap/go", "NotFound").await;
        ns.kubectl(["annotate", "deployment/api", "sluice.dev/skip=true"])
            .await
            .ok();
        second.starts().await;
        second.has_event("Released", "on Deployment/api").await;
        assert_eq!(ns.look.list("replicaset", "").await.len(), 1);
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn always_makes_a_pod_of_a_revision_that_has_started_wait_again() {
    with_namespace("regate", async |ns| {
        let api = deployment("api").depends_on("configmap/go");
        let api = api.annotated("sluice.dev/regate", "always");
        ns.apply([config_map("go"), api]).await.ok();
        let first = ns.pod_of("api").await;
        first.starts().await;

        ns.kubectl(["delete", "configmap/go"]).await.ok();
        let second = second(ns, &first).await;
        second.waits_for("ConfigMap/go", "NotFound").await;
        second.stays_shut().await;

        ns.annotate("deployment/api", "sluice.dev/regate", "once")
            .await;
        second.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_that_may_not_fail_once_waits_beyond_its_timeout_and_completes() {
    with_namespace("job-waits", async |ns| {
        let seed = job("seed") // never restarted, no failure allowed
            .depends_on("configmap/go")
            .annotated("sluice.dev/timeout", "5s");
        ns.apply([seed]).await.ok();
        let pod = ns.pod_of("seed").await;
        pod.waits_for("ConfigMap/go", "NotFound").await;
        pod.has_event("TimedOut", "").await;
        tokio::time::sleep(Duration::from_secs(10)).await;
        pod.is_shut().await;
        let seed = ns.look.get("job/seed").await;
        assert!(seed["status"]["failed"].is_null(), "{seed:#}");

        ns.apply([config_map("go")]).await.ok();
        ns.until("job/seed", "is complete", |job| {
            job["status"]["succeeded"] == 1
        })
        .await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_expression_on_an_edge_says_what_ready_means() {
    with_namespace("edge-health", async |ns| {
        let list = "- {kind: Deployment, name: db, health: /status/readyReplicas >= 2}";
        ns.apply([deployment("db"), deployment("api").depends_on(list)])
            .await
            .ok();
        ns.pod_of("db").await.is_ready().await;
        let api = ns.pod_of("api").await;
        api.waits_for("Deployment/db", "HealthNotMet").await;
        api.stays_shut().await;

        ns.kubectl(["scale", "deployment/db", "--replicas=2"])
            .await
            .ok();
        api.starts().await;
    })
    .await;
}

/// An expression may read a ConfigMap: sluice watches only the metadata of ConfigMaps, and reads one by its name where an expression needs it.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_expression_looks_into_a_config_map() {
    with_namespace("map-health", async |ns| {
        let phase = |phase: &str| config_map("phase").with("/data", json!({"phase": phase}));
        let says = |it: Manifest| it.annotated("sluice.dev/health", "/data/phase == done");
        let own = deployment("own").depends_on("configmap/phase");
        let edge = "- {kind: ConfigMap, name: other, health: /data/phase == done}";
        let other = |phase: &str| config_map("other").with("/data", json!({"phase": phase}));
        ns.apply([
            says(phase("begun")),
            other("begun"),
            own,
            deployment("edge").depends_on(edge),
        ])
        .await
        .ok();
        let (own, edge) = (ns.pod_of("own").await, ns.pod_of("edge").await);
        own.waits_for("ConfigMap/phase", "HealthNotMet").await;
        edge.waits_for("ConfigMap/other", "HealthNotMet").await;
        ns.apply([says(phase("done")), other("done")]).await.ok();
        own.starts().await;
        edge.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn nobody_looks_into_a_secret() {
    with_namespace("secret-health", async |ns| {
        let list = "- {kind: Secret, name: key, health: /data/phase == done}";
        let refusal = ns
            .apply([deployment("api").depends_on(list)])
            .await
            .refused();
        let said = "looks at what is never read: of a Secret only the metadata is requested";
        assert!(refusal.contains(said), "{refusal}");
    })
    .await;
}
