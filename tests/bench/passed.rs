//! The controller's memory of a pod that runs, because its gate has opened.

use crate::Paths;
use crate::api_server;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::measure::{Measure, Unit, as_number};
use crate::step;
use crate::table::Table;
use anyhow::Result;
use futures::{StreamExt, TryStreamExt, stream};
use harness::unscheduled::{AT_ONCE, pod};
use k8s_openapi::api::core::v1::{ConfigMap, Pod};
use kube::ResourceExt;
use kube::api::{Patch, PatchParams};
use rules::keys::{DEPENDS_ON, GATE_CONTAINER};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// The time until memory has settled: unused memory goes back to the kernel after ten seconds.
const SETTLED: Duration = Duration::from_secs(20);

/// The object that owns the pods. No controller of the cluster looks at its kind, so the pods stay as they are.
const OWNER: &str = "owner-of-passed";

/// Adds a row: the controller's memory for a pod whose gate has opened, as the difference with and without `count` such pods, divided by `count`.
pub(crate) async fn measure(
    paths: &Paths,
    cluster: &Cluster,
    count: usize,
    table: &mut Table,
) -> Result<()> {
    step(&format!("{count} pods whose gates have opened"));
    let without = memory(paths, cluster).await?;
    let owner = json!({"metadata": {"name": OWNER}});
    let owner = cluster.make::<ConfigMap>(owner).await?;
    let mut copy = pod(&json!({DEPENDS_ON: "configmap/dependency"}), 1500);
    copy["metadata"]["ownerReferences"] = json!([{
        "apiVersion": "v1", "kind": "ConfigMap", "name": OWNER, "uid": owner.uid(), "controller": true,
    }]);
    let made = stream::iter(0..count).map(|_| runs(cluster, copy.clone()));
    made.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    api_server::quiet(cluster).await?;
    let all = memory(paths, cluster).await?;
    let each = as_number(all.saturating_sub(without)) / as_number(count as u64);
    let how = format!(
        "VmRSS of a controller {SETTLED:?} after it is ready, with and without {count} such pods of an owner"
    );
    table
        .row(
            "controller, memory of a pod whose gate has opened",
            Measure::once(format!("{each:.0} bytes"), Unit::Bytes, each),
            &how,
        )
        .at_most(400.0);
    Ok(())
}

/// Starts a controller that finds the present pods of the cluster, and returns its resident memory after twenty seconds, in bytes.
async fn memory(paths: &Paths, cluster: &Cluster) -> Result<u64> {
    let mut controller = Controller::start(paths, cluster).await?;
    sleep(SETTLED).await;
    let memory = controller.memory()?;
    controller.stop().await?;
    Ok(memory)
}

/// Makes a pod, and writes the status that a kubelet would write once the pod runs.
async fn runs(cluster: &Cluster, pod: Value) -> Result<()> {
    let made = cluster.make::<Pod>(pod).await?;
    let patch = Patch::Strategic(json!({"status": status()}));
    let params = PatchParams::default();
    cluster
        .api::<Pod>()
        .patch_status(&made.name_any(), &params, &patch)
        .await?;
    Ok(())
}

fn status() -> Value {
    const TIME: &str = "2026-01-01T11:00:05Z";
    let conditions = [
        "PodReadyToStartContainers",
        "Initialized",
        "Ready",
        "ContainersReady",
        "PodScheduled",
    ];
    let conditions = conditions
        .map(|it| json!({"type": it, "status": "True", "lastTransitionTime": TIME, "observedGeneration": 1}));
    let container = |name: &str, state: Value| {
        let id = format!("containerd://{}", "a3".repeat(32));
        json!({
            "name": name, "image": "localhost/pause:none", "imageID": format!("sha256:{}", "b4".repeat(32)),
            "containerID": id, "ready": true, "started": true, "restartCount": 0, "state": state,
        })
    };
    let ended = json!({"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": TIME, "finishedAt": TIME}});
    json!({
        "phase": "Running", "conditions": conditions, "hostIP": "192.0.2.7", "podIP": "10.244.3.17",
        "podIPs": [{"ip": "10.244.3.17"}], "startTime": TIME, "qosClass": "BestEffort",
        "initContainerStatuses": [container(GATE_CONTAINER, ended)],
        "containerStatuses": [container("app", json!({"running": {"startedAt": TIME}}))],
    })
}
