use super::way::Says;
use super::{each, everywhere, soak};
use harness::cluster::{config_map, deployment, job};
use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The time for which the test watches an engine: long enough for it to act.
const AT_MOST: Duration = Duration::from_secs(60);

#[tokio::test]
#[ignore = "needs a cluster with sluice, Argo CD and Flux: make test-gitops"]
async fn an_application_whose_dependency_is_not_there_is_progressing_until_it_is() {
    let settings = "configmap/settings";
    let manifests = [
        deployment("api").depends_on(settings),
        job("seed").depends_on(settings),
    ];
    everywhere("waiting", &manifests, async |_, sites| {
        each(sites, async |site| {
            site.comes_to(&Says::Progressing).await;
            let waiting = [site.ns.pod_of("api").await, site.ns.pod_of("seed").await];
            for pod in &waiting {
                pod.waits_for("ConfigMap/settings", "NotFound").await;
            }
            let start = Instant::now();
            while start.elapsed() < soak().min(AT_MOST) {
                assert_eq!(site.says().await, Says::Progressing, "{}", site.ns.name);
                sleep(Duration::from_secs(1)).await;
            }

            site.ns.apply([config_map("settings")]).await.ok();
            for pod in &waiting {
                pod.starts().await;
            }
            site.comes_to(&Says::Settled).await;
            site.remove().await;
        })
        .await;
    })
    .await;
}
