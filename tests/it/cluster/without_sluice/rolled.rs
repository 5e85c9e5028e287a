use super::waiting_pods;
use harness::cluster::{Namespace, alone, config_map, deployment, pod, sluice};

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_rollout_of_sluice_refuses_nobody_and_opens_nothing() {
    alone("rolled", async |ns| {
        let waiting = waiting_pods(ns).await;
        tokio::select! {
            () = sluice::roll() => {}
            refusal = first_refusal(ns) => assert!(refusal.is_empty(), "{refusal}"),
        }
        for pod in &waiting {
            pod.is_shut().await;
        }
        ns.apply([config_map("go")]).await.ok();
        for pod in &waiting {
            pod.starts().await;
        }
    })
    .await;
}

/// Creates a pod and a Deployment, as dry runs, again and again until the API server refuses one, and returns the refusal. Without one it never
/// returns.
async fn first_refusal(ns: &Namespace) -> String {
    let asked = [pod("probe"), deployment("probe")].map(|it| it.depends_on("configmap/go"));
    loop {
        let outcome = ns.pipe("create", &asked, &["--dry-run=server"]).await;
        if outcome.code != Some(0) {
            return outcome.to_string();
        }
    }
}
