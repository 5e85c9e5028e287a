use futures::future::join_all;
use harness::cluster::{
    Defined, Manifest, Namespace, Program, alone, cron_job, deployment, job, pod, rollout, sluice,
};

/// The number of objects of each kind.
const MANY: usize = 100;

/// A hundred objects of each kind without annotations of sluice come, change and go without a call of sluice's webhooks, by the API server's own
/// counters.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_hundred_of_each_kind_come_change_and_go_without_a_call() {
    alone("uncalled", async |ns| {
        let rollouts = Defined::new("argoproj.io", "v1alpha1", "Rollout");
        if ns.kubectl(["get", &rollouts.definition()]).await.code != Some(0) {
            rollouts.define(ns).await;
        }
        sluice::restarted_after(async || {
            sluice::stop().await;
            let before = calls().await;
            let kinds = [
                plain_pod,
                plain_job,
                plain_deployment,
                plain_cron_job,
                plain_rollout,
            ];
            join_all(kinds.map(async |kind| come_change_and_go(ns, kind).await)).await;
            assert_eq!(calls().await, before);

            ns.apply([pod("asks").depends_on("configmap/never")])
                .await
                .refused();
            assert_ne!(calls().await, before, "the figures show no call");
        })
        .await;
    })
    .await;
}

async fn come_change_and_go(ns: &Namespace, kind: fn(&str) -> Manifest) {
    let all: Vec<_> = (0..MANY).map(|n| kind(&format!("plain-{n}"))).collect();
    let change = |manifest: Manifest| manifest.annotated("example.com/changed", "yes");
    let changed: Vec<_> = all.iter().cloned().map(change).collect();
    ns.pipe("create", &all, &[]).await.ok();
    ns.pipe("apply", &changed, &["--server-side", "--force-conflicts"])
        .await
        .ok();
    ns.pipe("delete", &all, &["--wait=false"]).await.ok();
}

/// Returns the lines of the API server's metrics that count calls of sluice's webhooks.
async fn calls() -> Vec<String> {
    let metrics = Program::new("kubectl").args(["get", "--raw", "/metrics"]);
    let metrics = metrics.run().await.ok();
    let ours = |line: &&str| {
        let (figure, labels) = line.split_once('{').unwrap_or_default();
        let counts = figure.starts_with("apiserver_admission_webhook_")
            && !figure.ends_with("_bucket")
            && !figure.ends_with("_sum");
        counts && labels.contains(".sluice.dev\"")
    };
    let lines = metrics.lines().filter(ours);
    lines.map(str::to_owned).collect()
}

/// Returns a pod that no node takes, since the test is about admission alone.
fn plain_pod(name: &str) -> Manifest {
    pod(name).in_pod("/spec/nodeSelector/example.com~1none", "here")
}

fn plain_job(name: &str) -> Manifest {
    job(name).with("/spec/suspend", true)
}

fn plain_cron_job(name: &str) -> Manifest {
    cron_job(name).with("/spec/suspend", true)
}

fn plain_deployment(name: &str) -> Manifest {
    deployment(name).with("/spec/replicas", 0)
}

fn plain_rollout(name: &str) -> Manifest {
    rollout(name).with("/spec/replicas", 0)
}
