use harness::cluster::{
    Chart, LIMIT, Manifest, Namespace, alone, await_until, daemon_set, deployment, items, pod,
    replica_set, sluice, stateful_set, text,
};
use serde_json::Value;

/// The number of workloads of each kind.
const EACH: usize = 10;
type Make = fn(&str) -> Manifest;
const KINDS: [(&str, Make); 5] = [
    ("deployment", deployment),
    ("statefulset", stateful_set),
    ("daemonset", daemon_set),
    ("replicaset", replica_set),
    ("pod", pod),
];

/// Fifty annotated workloads are not rolled or restarted when sluice is installed, their chart is upgraded without a change, and sluice is removed.
/// Their lists name missing objects, so every new pod would wait.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn fifty_annotated_workloads_run_on_while_sluice_comes_and_goes() {
    alone("fifty", async |ns| {
        sluice::installed_after(async |release| {
            release.uninstall().await.ok();
            let chart = Chart::new("helm", &fifty());
            chart.upgrade(ns, &[]).await.ok();
            let before = running(ns).await;

            release.install().await;
            chart.upgrade(ns, &[]).await.ok();
            assert_eq!(
                running(ns).await,
                before,
                "after an upgrade without a change"
            );
            release.uninstall().await.ok();
            assert_eq!(running(ns).await, before, "after sluice has gone");
            release.install().await;
        })
        .await;
    })
    .await;
}

fn fifty() -> Vec<Manifest> {
    let named = |(kind, make): (&'static str, Make)| {
        (0..EACH).map(move |n| make(&format!("{kind}-{n}")).depends_on("configmap/never"))
    };
    KINDS.into_iter().flat_map(named).collect()
}

/// Waits until all pods are ready, and returns a line for each pod and workload with the fields that a restart or a rollout would change.
async fn running(ns: &Namespace) -> Vec<String> {
    let pods = await_until("fifty pods are ready", LIMIT, async || {
        let pods = ns.look.list("pod", "").await;
        let ready = pods.iter().filter(|pod| is_ready(pod)).count();
        if (ready, pods.len()) == (KINDS.len() * EACH, KINDS.len() * EACH) {
            Ok(pods)
        } else {
            Err(format!("{ready} of {}", pods.len()))
        }
    })
    .await;
    let restarts = |pod: &Value| items(pod, "/status/containerStatuses")[0]["restartCount"].clone();
    let line = |pod: &Value| format!("pod {} {}", text(pod, "/metadata/uid"), restarts(pod));
    let mut seen: Vec<_> = pods.iter().map(line).collect();
    seen.sort();
    for (kind, _) in KINDS {
        let workloads = ns.look.list(kind, "").await;
        let generation = |it: &Value| {
            format!(
                "{kind} {} {}",
                text(it, "/metadata/name"),
                it["metadata"]["generation"]
            )
        };
        seen.extend(workloads.iter().map(generation));
    }
    seen
}

fn is_ready(pod: &Value) -> bool {
    let ready = |it: &Value| it["type"] == "Ready" && it["status"] == "True";
    items(pod, "/status/conditions").iter().any(ready)
}
