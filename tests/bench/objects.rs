//! The cost of objects of a watched kind: the controller's memory, its start, and the change of one object beside all others.

use crate::Paths;
use crate::api_server;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::crowd;
use crate::measure::{Measure, Unit, as_number};
use crate::step;
use crate::table::Table;
use anyhow::{Context, Result};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The dependency of the gate that is let through as soon as the controller has read all objects.
const THERE: &str = "deployment/of-the-bench-0:present";
/// The dependency of the gate that waits for ever: a Deployment that is never made.
const MISSING: &str = "deployment/of-the-bench";
/// The time until memory has settled: unused memory goes back to the kernel after ten seconds. By then the controller has also
/// looked for stranded pods; it looks again after five minutes.
const SETTLED: Duration = Duration::from_secs(20);

/// The numbers of objects and of changes that are measured.
pub(crate) struct Objects {
    /// Numbers of objects, fewest first.
    pub(crate) counts: &'static [usize],
    /// Pairs: the number of changes a second, and the time for which they are made.
    pub(crate) rates: &'static [(usize, Duration)],
}

/// For each number in `extent.counts`, makes that many Deployments, starts a controller, and adds rows: the time to its first verdict, its memory,
/// and the cost of changes at each rate of the extent.
pub(crate) async fn measure(
    paths: &Paths,
    cluster: &Cluster,
    extent: &Objects,
    table: &mut Table,
) -> Result<()> {
    let pods = [
        cluster.pods(1, THERE).await?,
        cluster.pods(1, MISSING).await?,
    ]
    .concat();
    let mut made = 0;
    for &count in extent.counts {
        step(&format!("{count} watched objects"));
        cluster.deployments(made..count).await?;
        made = count;
        api_server::quiet(cluster).await?;

        let began = Instant::now();
        let mut controller = Controller::start(paths, cluster).await?;
        let ready = began.elapsed();
        let mut gates = crowd::start(&controller, &pods)?;
        let first = gates
            .join_next()
            .await
            .context("no gate is let through")???;
        let what = format!("controller, start to first verdict, {count} watched Deployments");
        let how = format!(
            "from before the fork; it was ready after {ready:.0?}, then a gate asked for one of them"
        );
        let row = table.row(&what, first.duration_since(began), &how);
        match count {
            5000 => row.at_most(500.0),
            20_000 => row.at_most(2000.0),
            _ => row,
        };

        sleep(SETTLED).await;
        let what = format!("controller, memory, {count} watched Deployments");
        let row = table.row(
            &what,
            Measure::bytes(controller.memory()?),
            "VmRSS, 20 s later",
        );
        match count {
            5000 => row.at_most(20_000_000.0),
            20_000 => row.at_most(30_000_000.0),
            _ => row,
        };
        for &(rate, time) in extent.rates {
            let change = Changes::measure(&controller, cluster, count, rate, time).await?;
            change.tell(count, rate, time, table);
        }
        drop(gates);
        controller.stop().await?;
    }
    step("taking the objects away");
    cluster.without_deployments().await?;
    api_server::quiet(cluster).await
}

/// The processor time of a controller with and without changes of objects that no gate waits for, while a gate waits for another object of their
/// kind.
struct Changes {
    count: usize,
    used: Duration,
    alone: Duration,
}

impl Changes {
    async fn measure(
        controller: &Controller,
        cluster: &Cluster,
        objects: usize,
        rate: usize,
        time: Duration,
    ) -> Result<Self> {
        let before = controller.processor()?;
        sleep(time).await;
        let alone = controller.processor()?.saturating_sub(before);
        let before = controller.processor()?;
        let count = cluster.change(objects, rate, time).await?;
        // The last ones are under way.
        sleep(Duration::from_secs(1)).await;
        let used = controller.processor()?.saturating_sub(before);
        Ok(Self { count, used, alone })
    }

    fn tell(&self, objects: usize, rate: usize, time: Duration, table: &mut Table) {
        let cost = self.used.saturating_sub(self.alone).as_secs_f64() * 1000.0;
        let each = cost / as_number(self.count as u64);
        let measure = Measure::once(format!("{each:.2} ms"), Unit::Millis, each);
        let what = format!(
            "controller, processor for a change, {rate} a second, {objects} watched Deployments"
        );
        let how = format!(
            "utime + stime in /proc/PID/stat over {} changes in {time:?}, less as long without any",
            self.count
        );
        table.row(&what, measure, &how).at_most(0.15);
    }
}
