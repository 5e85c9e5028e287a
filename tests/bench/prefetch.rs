//! The time between the end of a wait and the start of the container, with an image that takes long to pull.

use crate::cluster::Cluster;
use crate::measure::Measure;
use crate::registry::{HOST, Registry};
use crate::step;
use crate::table::Table;
use anyhow::{Result, bail};
use harness::cluster::Node;
use harness::samples::Samples;
use k8s_openapi::api::core::v1::{ConfigMap, ContainerStatus, Pod, PodStatus};
use kube::api::DeleteParams;
use rules::keys::{DEPENDS_ON, GATE_CONTAINER, PREFETCH};
use serde_json::json;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The time that a pull of an image from the bench's registry takes.
const PULL: Duration = Duration::from_secs(10);

/// The pause between two looks at a pod.
const PAUSE: Duration = Duration::from_millis(20);

/// The longest time until a container runs.
const LIMIT: Duration = Duration::from_mins(2);

/// Adds a row: the time from the creation of the dependency until the container runs, for `rounds` pods with `sluice.dev/prefetch` and as many
/// without, in turns, each with its own slowly pulled image. The row is skipped where the node is not ours.
pub(crate) async fn measure(cluster: &Cluster, rounds: usize, table: &mut Table) -> Result<()> {
    step(&format!(
        "{rounds} times two pods whose image takes {PULL:?} to pull"
    ));
    let what = "dependency comes to container runs, image of a 10 s pull";
    let Some(node) = Node::ours().await else {
        let reason =
            anyhow::anyhow!("only the node of this machine's cluster can be told of a registry");
        table.row(what, Measure::skipped(&reason), "");
        return Ok(());
    };
    let registry = Registry::start(node.machine(), PULL).await?;
    node.pulls_from(HOST, &registry.address());
    let measured = turns(cluster, &registry, rounds).await;
    node.pulls_from_nowhere(HOST);
    let [with, without] = measured?;
    table
        .row(
            what,
            &with,
            "from the creation of the ConfigMap until the API server says that the container runs; with sluice.dev/prefetch",
        )
        .beside("without prefetch", &without, None);
    Ok(())
}

async fn turns(cluster: &Cluster, registry: &Registry, rounds: usize) -> Result<[Samples; 2]> {
    let [mut with, mut without] = [vec![], vec![]];
    for round in 0..rounds {
        with.push(waited(cluster, registry, &format!("with-{round}"), true).await?);
        without.push(waited(cluster, registry, &format!("without-{round}"), false).await?);
    }
    Ok([with, without].map(Samples::new))
}

/// Returns the time from the creation of the dependency of a pod until the pod's container runs. When the dependency is created, the gate has waited
/// for as long as a pull takes.
async fn waited(
    cluster: &Cluster,
    registry: &Registry,
    name: &str,
    prefetch: bool,
) -> Result<Duration> {
    let list = format!("configmap/{name}");
    let annotations = json!({DEPENDS_ON: list, PREFETCH: prefetch.to_string()});
    let container = json!({"name": "app", "image": registry.image(name).await?});
    cluster
        .make::<Pod>(json!({
            "metadata": {"name": name, "annotations": annotations},
            "spec": {"containers": [container], "terminationGracePeriodSeconds": 0},
        }))
        .await?;
    runs(cluster, name, GATE_CONTAINER).await?;
    sleep(PULL).await;
    let comes = Instant::now();
    cluster
        .make::<ConfigMap>(json!({"metadata": {"name": name}}))
        .await?;
    runs(cluster, name, "app").await?;
    let took = comes.elapsed();
    cluster
        .api::<Pod>()
        .delete(name, &DeleteParams::default())
        .await?;
    Ok(took)
}

/// Waits until a container of the pod runs; an error after two minutes.
async fn runs(cluster: &Cluster, pod: &str, container: &str) -> Result<()> {
    let began = Instant::now();
    while began.elapsed() < LIMIT {
        let status = cluster.api::<Pod>().get(pod).await?.status;
        if status.is_some_and(|status| is_running(status, container)) {
            return Ok(());
        }
        sleep(PAUSE).await;
    }
    bail!("the container {container} of the pod {pod} does not run")
}

fn is_running(status: PodStatus, container: &str) -> bool {
    let lists = [status.init_container_statuses, status.container_statuses];
    let runs = |it: &ContainerStatus| {
        let state = it.state.as_ref();
        it.name == container && state.is_some_and(|state| state.running.is_some())
    };
    lists.into_iter().flatten().flatten().any(|it| runs(&it))
}
