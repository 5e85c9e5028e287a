//! Creations of annotated pods while a fault lasts, as dry runs: the API server calls admission and keeps nothing.

use crate::site::Site;
use harness::unscheduled::pod;
use k8s_openapi::api::core::v1::Pod;
use kube::Client;
use kube::api::{Api, PostParams};
use rules::keys::DEPENDS_ON;
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::{interval, sleep};

/// The pause between two creations: twenty a second.
const PACE: Duration = Duration::from_millis(50);
/// The pause before a creation that was refused is tried once more: a user or a controller waits at least this long.
const PAUSE: Duration = Duration::from_millis(250);

/// Creations under way.
pub(crate) struct Creates {
    stop: oneshot::Sender<()>,
    work: JoinHandle<Created>,
}

/// The results of the creations.
#[derive(Debug, Default)]
pub(crate) struct Created {
    pub(crate) tried: usize,
    /// The number of creations that were refused at the first try, or admitted without a gate.
    pub(crate) failed: usize,
    /// The number of creations that failed a second time, a quarter of a second later.
    pub(crate) failed_again: usize,
    /// The durations of the first tries.
    pub(crate) took: Vec<Duration>,
    /// One of the refusals.
    pub(crate) refusal: Option<String>,
}

impl Creates {
    /// Starts a task that creates twenty pods a second until [`Self::stop`].
    pub(crate) fn start(site: &Site<'_>) -> Self {
        let (stop, stopped) = oneshot::channel();
        let work = tokio::spawn(create(site.client.clone(), site.namespace.clone(), stopped));
        Self { stop, work }
    }

    /// Ends the creations, waits until each is answered, and returns their results.
    pub(crate) async fn stop(self) -> Created {
        // Where the work has ended by itself, its panic is what counts.
        let _ = self.stop.send(());
        self.work.await.expect("creating does not panic")
    }
}

async fn create(client: Client, namespace: String, mut stopped: oneshot::Receiver<()>) -> Created {
    let annotations = json!({DEPENDS_ON: "configmap/dependency"});
    let pod: Pod = serde_json::from_value(pod(&annotations, 6000)).expect("it is a pod");
    let (mut pace, mut under_way) = (interval(PACE), JoinSet::new());
    loop {
        tokio::select! {
            _ = &mut stopped => break,
            _ = pace.tick() => {
                let pods = Api::<Pod>::namespaced(client.clone(), &namespace);
                under_way.spawn(one(pods, pod.clone()));
            }
        }
    }
    let mut created = Created::default();
    for (took, first, again) in under_way.join_all().await {
        created.tried += 1;
        created.took.push(took);
        created.failed += usize::from(first.is_some());
        created.failed_again += usize::from(again.is_some());
        created.refusal = again.or(first).or(created.refusal);
    }
    created
}

/// Creates one pod, as a dry run, and once more if it was refused or got no gate. Returns the duration of the first try, and the reasons why the
/// first and the second try failed.
async fn one(pods: Api<Pod>, pod: Pod) -> (Duration, Option<String>, Option<String>) {
    let parameters = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let attempt = async || {
        let answer = pods.create(&parameters, &pod).await;
        let gated = answer.map(|pod| pod.spec.and_then(|spec| spec.init_containers));
        match gated {
            Ok(Some(_)) => None,
            Ok(None) => Some("admitted without a gate".to_owned()),
            Err(error) => Some(error.to_string()),
        }
    };
    let began = Instant::now();
    let first = attempt().await;
    let took = began.elapsed();
    let again = if first.is_some() {
        sleep(PAUSE).await;
        attempt().await
    } else {
        None
    };
    (took, first, again)
}
