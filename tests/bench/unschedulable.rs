//! Gates that wait for a Deployment whose pod fits on no node: each is told so, and admission beside them is to take no longer.

use crate::Paths;
use crate::admission;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::crowd;
use crate::step;
use crate::table::Table;
use anyhow::Result;
use std::time::Duration;
use tokio::time::sleep;

/// The time over which admission is measured.
const BESIDE: Duration = Duration::from_secs(8);

/// For each of these numbers, starts a controller and that many gates that wait for a pod that fits on no node. Adds rows: the controller's processor
/// share, and the time of a review with and without these gates.
pub(crate) async fn measure(
    paths: &Paths,
    cluster: &Cluster,
    counts: &[usize],
    window: Duration,
    table: &mut Table,
) -> Result<()> {
    let list = cluster.unschedulable().await?;
    let mut pods = vec![];
    for &count in counts {
        step(&format!("{count} gates wait for what fits on no node"));
        pods.extend(cluster.pods(count - pods.len(), list).await?);
        crate::api_server::quiet(cluster).await?;
        let mut controller = Controller::start(paths, cluster).await?;
        let ((), alone) = admission::beside(&controller, sleep(BESIDE)).await?;
        let gates = crowd::start(&controller, &pods)?;
        controller.asked_by(count).await?;
        controller.quiet().await?;
        let busy = crowd::busy(&controller, window).await?;
        let what = format!("{count} gates wait for what fits on no node, processor");
        table
            .row(&what, busy, &crowd::busy_for(window))
            .at_most(1.0);
        let ((), waiting) = admission::beside(&controller, sleep(BESIDE)).await?;
        let what = format!("admission while {count} gates wait for what fits on no node");
        let how = format!("a review every 5 ms for {BESIDE:?}; unchanged is up to a fifth more");
        table
            .row(&what, &waiting, &how)
            .beside("no gates", &alone, Some(1.2));
        drop(gates);
        controller.stop().await?;
    }
    Ok(())
}
