//! Measures more gates than one replica has to bear, on two replicas. In a cluster the Service would spread the gates; the bench gives half of them
//! to each replica itself.

use crate::Paths;
use crate::admission;
use crate::api_server;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::crowd;
use crate::dependency::Dependency;
use crate::measure::Measure;
use crate::step;
use crate::table::Table;
use anyhow::Result;
use harness::samples::Samples;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The memory of a replica, in bytes: the chart's limit.
const LIMIT: f64 = 256.0 * 1024.0 * 1024.0;

/// Adds rows about `count` gates on two replicas: the time and processor time until all have arrived, the cost while they wait, and the time until
/// one change lets all through.
pub(crate) async fn measure(
    paths: &Paths,
    cluster: &Cluster,
    count: usize,
    window: Duration,
    table: &mut Table,
) -> Result<()> {
    step(&format!("{count} pods that are never scheduled"));
    let list = Dependency::ConfigMap.list();
    let pods = cluster.pods(count, list).await?;
    api_server::quiet(cluster).await?;
    let mut pair = Pair {
        one: Controller::start(paths, cluster).await?,
        other: Controller::start(paths, cluster).await?,
    };
    pair.one.strands(count).await?;
    pair.other.strands(count).await?;

    step(&format!("{count} gates on two replicas"));
    let (ones, others) = pods.split_at(count / 2);
    let (began, used) = (Instant::now(), pair.processor()?);
    let gates = (
        crowd::start(&pair.one, ones)?,
        crowd::start(&pair.other, others)?,
    );
    pair.one.asked_by(ones.len()).await?;
    pair.other.asked_by(others.len()).await?;
    let arrived = began.elapsed();
    let cost = pair.processor()?.saturating_sub(used);
    let what = format!("{count} gates on two replicas");
    let how = "from the first connection until both have all of theirs";
    table.row(&format!("{what} arrive"), arrived, how);
    let how = "utime + stime of both in /proc/PID/stat meanwhile";
    table.row(&format!("{what} arrive, processor time"), cost, how);

    wait_and_pass(&pair, gates, cluster, &what, window, table).await?;
    pair.one.stop().await?;
    pair.other.stop().await
}

/// Adds rows about gates that wait at both replicas: the processor share over `window`, their release, the reviews beside that, and the most memory
/// of a replica. `what` names the gates in the rows.
async fn wait_and_pass(
    pair: &Pair,
    gates: (crowd::Gates, crowd::Gates),
    cluster: &Cluster,
    what: &str,
    window: Duration,
    table: &mut Table,
) -> Result<()> {
    sleep(crowd::SETTLED).await;
    let busy = crowd::busy_by(|| pair.processor(), window).await?;
    let how = format!("of both, {}", crowd::busy_for(window));
    table.row(&format!("{what} wait, processor"), busy, &how);

    let sending = Instant::now();
    Dependency::ConfigMap.fulfil(cluster).await?;
    let all = async { tokio::join!(crowd::ended(gates.0), crowd::ended(gates.1)) };
    let (ends, during) = admission::beside(&pair.one, all).await?;
    let ends = [ends.0?, ends.1?].concat().into_iter();
    let took = Samples::new(ends.map(|end| end.duration_since(sending)).collect());
    let how = "from sending the write that lets all of them through to the answer that each got";
    table.row(&format!("{what} are let through"), &took, how);
    table.row(
        &format!("the last of {what} is let through"),
        took.longest(),
        how,
    );
    let how = "a review every 5 ms";
    table.row(
        &format!("admission while {what} are let through"),
        &during,
        how,
    );
    let how = "the higher VmHWM in /proc/PID/status of the two";
    let peak = Measure::bytes(pair.one.peak()?.max(pair.other.peak()?));
    table
        .row(&format!("{what}, most memory of one"), peak, how)
        .at_most(LIMIT);
    Dependency::ConfigMap.withdraw(cluster).await
}

struct Pair {
    one: Controller,
    other: Controller,
}

impl Pair {
    /// Returns the processor time that both replicas together have used since their start.
    fn processor(&self) -> Result<Duration> {
        Ok(self.one.processor()? + self.other.processor()?)
    }
}
