//! What objects of a watched kind cost.

use crate::Paths;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::gates::Gates;
use crate::measure::Measure;
use crate::step;
use crate::table::Table;
use anyhow::Result;
use std::time::Duration;
use tokio::time::sleep;

/// A fresh controller, with many objects to watch.
pub(crate) async fn measure(
    paths: &Paths,
    cluster: &Cluster,
    count: usize,
    table: &mut Table,
) -> Result<()> {
    step(&format!("{count} watched objects"));
    let mut controller = Controller::start(paths, cluster).await?;
    cluster.deployments(count).await?;
    let pods = cluster.pods(1, "deployment/of-the-bench-0").await?;
    let gates = Gates::new(paths, &controller, &pods);
    let asking = gates.start(1)?;
    controller.asked_by(1).await?;
    sleep(Duration::from_secs(5)).await;
    let full = Measure::bytes(controller.memory()?);
    table.row(
        &format!("controller, memory, {count} watched Deployments"),
        full,
        "the same, once a gate has asked for one of them",
    );
    asking.stop().await;
    controller.stop().await?;
    cluster.no_deployments().await
}
