//! Helm 3 and 4, in every way in which they write, upgrade a release whose workloads wait, and no workload is rolled.

use harness::cluster::{
    Chart, LIMIT, Manifest, Namespace, await_until, config_map, cron_job, deployment, job,
    stateful_set, text, with_namespace,
};
use serde_json::json;

const LIST: &str = "configmap/go";
const REVISION: &str = "{{ .Release.Revision }}";

/// Returns a Deployment, a StatefulSet, a Job and a CronJob that wait for a ConfigMap, and the ConfigMap. The Job names its pods itself, so that Helm
/// can replace it as a whole, as `--force` does.
fn release() -> [Manifest; 5] {
    let labels = json!({"matchLabels": {"app": "seed"}});
    let seed = job("seed")
        .with("/spec/manualSelector", true)
        .with("/spec/selector", labels);
    [
        config_map("go"),
        deployment("api").depends_on(LIST),
        stateful_set("db").depends_on(LIST),
        seed.depends_on(LIST),
        cron_job("nightly").depends_on(LIST),
    ]
}

/// The kinds of the release's objects, and of the objects that Kubernetes makes for them.
const KINDS: [&str; 6] = [
    "deployment",
    "statefulset",
    "job",
    "cronjob",
    "replicaset",
    "pod",
];

/// Returns the UID and the generation of each object of these kinds: a rollout, a restart or a replacement would change one of them.
async fn identities(ns: &Namespace, kinds: &[&str]) -> Vec<String> {
    let mut seen = vec![];
    for kind in kinds {
        for object in ns.look.list(kind, "").await {
            let uid = text(&object, "/metadata/uid");
            let generation = &object["metadata"]["generation"];
            // That of a pod counts what the kubelet does.
            let generation = Some(generation).filter(|_| *kind != "pod");
            seen.push(format!("{kind} {uid} {generation:?}"));
        }
    }
    seen
}

async fn comes_changes_nothing_and_goes(helm: &'static str, force: &[&str]) {
    with_namespace(&format!("installs-{helm}"), async |ns| {
        let chart = Chart::new(helm, &release());
        chart.upgrade(ns, &["--wait"]).await.ok();
        ns.until("job/seed", "is complete", |it| {
            it["status"]["succeeded"] == 1
        })
        .await;
        for workload in ["api", "db", "seed"] {
            ns.pod_of(workload).await.is_gated().await;
        }
        let before = identities(ns, &KINDS).await;
        for step in 1..=3 {
            chart.upgrade(ns, &["--wait"]).await.ok();
            assert_eq!(identities(ns, &KINDS).await, before, "upgrade {step}");
        }
        // A PUT without its revision counts as a change of a Deployment, with or without sluice; what came of it stays.
        let before = identities(ns, &KINDS[1..]).await;
        chart.upgrade(ns, force).await.ok();
        assert_eq!(identities(ns, &KINDS[1..]).await, before, "{force:?}");
        chart.rollback(ns, &["--wait"]).await.ok();
        assert_eq!(identities(ns, &KINDS[1..]).await, before, "rollback");

        chart.uninstall(ns).await.ok();
        await_until("nothing is left", LIMIT, async || {
            match identities(ns, &KINDS).await {
                left if left.is_empty() => Ok(()),
                left => Err(format!("{left:?}")),
            }
        })
        .await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_release_of_helm_4_comes_changes_nothing_and_goes() {
    comes_changes_nothing_and_goes(
        "helm",
        &["--wait", "--force-replace", "--server-side=false"],
    )
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_release_of_helm_3_comes_changes_nothing_and_goes() {
    comes_changes_nothing_and_goes("helm3", &["--wait", "--force"]).await;
}

/// Returns the manifests of a chart whose second revision becomes ready as a whole, and whose check, a hook after the upgrade, then fails.
fn refused_by_its_check() -> [Manifest; 3] {
    let tagged = |manifest: Manifest| {
        manifest
            .annotated("sluice.dev/revision", REVISION)
            .template_annotated("example.com/release", REVISION)
    };
    let check = job("check-{{ .Release.Revision }}").runs("exit 1");
    [
        tagged(stateful_set("db").ready_after(2)),
        tagged(deployment("api").depends_on("statefulset/db")),
        check.annotated("helm.sh/hook", "post-upgrade"),
    ]
}

async fn a_failed_upgrade_goes_back_in_order(helm: &'static str, atomic: &str) {
    with_namespace(&format!("atomic-{helm}"), async |ns| {
        let chart = Chart::new(helm, &refused_by_its_check());
        chart.upgrade(ns, &["--wait"]).await.ok();
        let said = chart.upgrade(ns, &[atomic]).await.refused();
        assert!(said.contains("post-upgrade"), "{said}");

        let api = ns.look.get("deployment/api").await;
        let releases = &api["spec"]["template"]["metadata"]["annotations"];
        assert_eq!(releases["example.com/release"], "1", "{api:#}");
        ns.until("deployment/api", "has one pod again", |api| {
            let status = &api["status"];
            status["observedGeneration"] == api["metadata"]["generation"]
                && [
                    &status["replicas"],
                    &status["updatedReplicas"],
                    &status["availableReplicas"],
                ] == [1, 1, 1]
        })
        .await;
        let ready = ns.pod_of("db").await.says("ready").await;
        let starts = ns.pod_of("api").await.starts().await;
        assert!(ready <= starts, "{starts} is before {ready}");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_failed_upgrade_of_helm_4_goes_back_in_order() {
    a_failed_upgrade_goes_back_in_order("helm", "--rollback-on-failure").await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_failed_upgrade_of_helm_3_goes_back_in_order() {
    a_failed_upgrade_goes_back_in_order("helm3", "--atomic").await;
}
