//! Migrations that are hooks of Helm: a Job of one name in each release, deleted before the next is made.

use harness::cluster::{Chart, Pod, deployment, job, with_namespace};

const REVISION: &str = "sluice.dev/revision";
const RELEASE: &str = "{{ .Release.Revision }}";

/// Installs and upgrades a chart whose API waits for a Job that is a hook. Each API starts after its own migration, and the old one serves until the
/// new one does. Where `in_lockstep`, both name their revision.
async fn migrates_before_it_starts(
    helm: &'static str,
    hook: &str,
    in_lockstep: bool,
    wait: &[&str],
) {
    let about = format!("hook-{helm}-{}", hook.split('-').next().unwrap_or(hook));
    with_namespace(&about, async |ns| {
        let job = |name, script| {
            job(name)
                .runs(script)
                .annotated("helm.sh/hook", hook)
                .annotated("helm.sh/hook-delete-policy", "before-hook-creation")
        };
        // While it runs, the migration of the release before is still there.
        let prepare = job("prepare", "sleep 4").annotated("helm.sh/hook-weight", "-1");
        let mut migrate = job("migrate", "sleep 2; echo done");
        let mut api = deployment("api")
            .ready_after(1)
            .depends_on("job/migrate")
            .template_annotated("example.com/release", RELEASE);
        if in_lockstep {
            migrate = migrate.annotated(REVISION, RELEASE);
            api = api.annotated(REVISION, RELEASE);
        }
        let chart = Chart::new(helm, &[prepare, migrate, api]);
        chart.upgrade(ns, wait).await.ok();
        let (migrate, api) = (ns.pod_of("migrate").await, ns.pod_of("api").await);
        goes_first(&migrate, &api).await;
        api.is_ready().await;

        let upgrade = async {
            chart.upgrade(ns, wait).await.ok();
            let new = ns.next_pod_of("api", &api).await;
            goes_first(&ns.next_pod_of("migrate", &migrate).await, &new).await;
        };
        ns.keeps_available("deployment/api", 1, upgrade).await;
    })
    .await;
}

async fn goes_first(migrate: &Pod, api: &Pod) {
    let done = migrate.says("done").await;
    let starts = api.starts().await;
    assert!(done <= starts, "{starts} is before {done}");
}

/// A hook of `post-upgrade` runs after Helm has applied everything else, so the new API meets the completed Job of the release before. (With `--wait`
/// it would wait for the API before it makes the Job.)
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn after_the_upgrade_with_helm_4() {
    migrates_before_it_starts("helm", "post-install,post-upgrade", true, &[]).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn after_the_upgrade_with_helm_3() {
    migrates_before_it_starts("helm3", "post-install,post-upgrade", true, &[]).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn before_the_upgrade_with_helm_4() {
    migrates_before_it_starts("helm", "pre-install,pre-upgrade", false, &["--wait"]).await;
}
