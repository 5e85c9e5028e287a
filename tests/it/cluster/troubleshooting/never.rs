//! Tests of dependencies that can never come: the gate, the Event and `kubectl sluice status` say why, soon and in the same words.

use crate::cluster::command_line::judged::status;
use harness::cluster::{
    Chart, Manifest, Namespace, Pod, config_map, deployment, job, pod, service, with_namespace,
};

const HOOK: &str = "helm.sh/hook";
const WAVE: &str = "argocd.argoproj.io/sync-wave";

const MAY_NEVER_COME: &str = "it may be a later hook or sync wave: if the installer waits for this workload, it never makes it";
const POST_INSTALL: &str = "Job/migrate is a post-install hook, which runs only once everything else is ready, so with --wait \
     neither comes; make it a plain object";
const LATER_WAVE: &str = "Job/migrate is in sync wave 1 of Argo CD, which comes only once wave 0, where this one is, is healthy: \
     neither comes; put it into an earlier wave";

/// Fails unless the Event, the gate and `kubectl sluice status` say these words of the only dependency of a pod, and `status` ends with code 3.
async fn all_say(ns: &Namespace, pod: &Pod, event: &str, words: &str) {
    pod.has_event(event, words).await;
    pod.gate_says(words).await;
    let told = status(ns, pod, &[]).await;
    let reports = told
        .stdout
        .lines()
        .filter(|line| line.starts_with("  wait"));
    assert!(reports.clone().any(|it| it.contains(words)), "{told}");
    assert_eq!(told.code, Some(3), "{told}");
}

fn migrate(script: &str, key: &str, value: &str) -> Manifest {
    job("migrate").runs(script).annotated(key, value)
}

fn api() -> Manifest {
    deployment("api").depends_on("job/migrate")
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_hook_that_helm_makes_after_the_wait_may_never_come() {
    with_namespace("never-wait", async |ns| {
        let hook = migrate("true", HOOK, "post-install,post-upgrade");
        let chart = Chart::new("helm", &[hook, api()]);
        let looks = async {
            let api = ns.pod_of("api").await;
            api.waits_for("Job/migrate", "NotFound").await;
            all_say(ns, &api, "NotFound", MAY_NEVER_COME).await;
        };
        let installs = chart.upgrade(ns, &["--wait", "--timeout", "40s"]);
        let (installed, ()) = tokio::join!(installs, looks);
        installed.refused();
        // Without the wait the object comes, and there is nothing to report.
        chart.upgrade(ns, &[]).await.ok();
        ns.pod_of("api").await.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_hook_that_failed_is_made_again_only_after_its_dependent() {
    with_namespace("never-hook", async |ns| {
        let hook = migrate("exit 1", HOOK, "post-install,post-upgrade");
        let chart = Chart::new("helm", &[hook, api()]);
        chart.upgrade(ns, &[]).await.refused();
        let api = ns.pod_of("api").await;
        api.waits_for("Job/migrate", "JobFailed").await;
        all_say(ns, &api, "DependencyFailed", POST_INSTALL).await;
    })
    .await;
}

/// A dependency in a later sync wave of Argo CD can never come. The waves count by their annotations, without Argo CD.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_later_sync_wave_never_comes() {
    with_namespace("never-wave", async |ns| {
        let missing = deployment("other").depends_on("job/later");
        ns.apply([
            migrate("exit 1", WAVE, "1"),
            api(),
            missing.annotated(WAVE, "0"),
        ])
        .await
        .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Job/migrate", "JobFailed").await;
        all_say(ns, &api, "DependencyFailed", LATER_WAVE).await;
        let other = ns.pod_of("other").await;
        all_say(ns, &other, "NotFound", MAY_NEVER_COME).await;
    })
    .await;
}

fn own_service(name: &str) -> String {
    format!(
        "Service/{name} selects its own pods, and nobody else is behind it: it has no endpoint before they start, and they \
         wait for it; take it out of the list"
    )
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_service_in_front_of_its_dependent_alone_has_no_endpoint() {
    with_namespace("never-service", async |ns| {
        let named = |it: Manifest| {
            let name = it.name().to_owned();
            it.depends_on(&format!("svc/{name}"))
        };
        let [web, bare] = [deployment("web"), pod("bare")].map(named);
        ns.apply([service("web"), service("bare"), web, bare])
            .await
            .ok();
        for name in ["web", "bare"] {
            let pod = ns.pod_of(name).await;
            all_say(ns, &pod, "Cycle", &own_service(name)).await;
        }

        // Of two, one is enough: the other may serve.
        let shared = |name: &str, list: &str| {
            let labels = "/spec/template/metadata/labels/tier";
            deployment(name).with(labels, "shared").depends_on(list)
        };
        let tier = service("tier").with("/spec/selector", serde_json::json!({"tier": "shared"}));
        let [one, two] = [("one", "svc/tier"), ("two", "configmap/go")];
        ns.apply([tier, shared(one.0, one.1), shared(two.0, two.1)])
            .await
            .ok();
        let one = ns.pod_of("one").await;
        one.waits_for("Service/tier", "NoEndpoints").await;
        ns.apply([config_map("go")]).await.ok();
        one.starts().await;
    })
    .await;
}
