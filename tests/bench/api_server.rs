//! What the API server's processor takes for what a gate and its pod cost it. `bench plan` goes on from there.

use crate::cluster::Cluster;
use crate::measure::{Measure, Unit, as_number};
use crate::step;
use crate::table::Table;
use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt, stream};
use harness::unscheduled::{AT_ONCE, Unscheduled};
use std::time::Duration;
use tokio::time::sleep;

/// For what goes on by itself in a cluster.
const ALONE: Duration = Duration::from_secs(5);

/// Between two looks at its processor time, and how much of a core is little.
const LOOK: Duration = Duration::from_secs(2);
const LITTLE: f64 = 0.25;

/// What of a gate is asked of the API server.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sort {
    Review,
    Event,
    Status,
}

/// One of each sort for each pod. No token may have been reviewed within ten seconds, for which the API server remembers it.
pub(crate) async fn requests(
    cluster: &Cluster,
    pods: &[Unscheduled],
    table: &mut Table,
) -> Result<()> {
    let count = pods.len();
    step(&format!(
        "what {count} requests of each sort cost the API server"
    ));
    let before = processor(cluster).await?;
    sleep(ALONE).await;
    let alone = (processor(cluster).await? - before) / ALONE.as_secs_f64();
    for (sort, what) in [
        (Sort::Review, "a TokenReview"),
        (Sort::Event, "an Event"),
        (Sort::Status, "a pod's status"),
    ] {
        let (before, began) = (processor(cluster).await?, std::time::Instant::now());
        let sent = stream::iter(pods).map(|pod| cluster.ask(sort, pod));
        sent.buffer_unordered(AT_ONCE).try_collect::<()>().await?;
        let others = alone * began.elapsed().as_secs_f64();
        let used = (processor(cluster).await? - before - others).max(0.0);
        let each = used * 1000.0 / as_number(count as u64);
        table.row(
            &format!("API server, processor time for {what}"),
            Measure::once(format!("{each:.2} ms"), Unit::Millis, each),
            &format!("its own `process_cpu_seconds_total` over {count}, {AT_ONCE} at a time, less what it takes by itself"),
        );
    }
    Ok(())
}

/// Waits until the API server has done what follows from so many writes: then it takes little of a core.
pub(crate) async fn quiet(cluster: &Cluster) -> Result<()> {
    for _ in 0..60 {
        let before = processor(cluster).await?;
        sleep(LOOK).await;
        if (processor(cluster).await? - before) / LOOK.as_secs_f64() < LITTLE {
            return Ok(());
        }
    }
    bail!("the API server does not become quiet")
}

/// In seconds, since it began.
async fn processor(cluster: &Cluster) -> Result<f64> {
    let text = cluster.metrics().await?;
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix("process_cpu_seconds_total "));
    let value = value.context("the API server does not tell its processor time")?;
    Ok(value.parse()?)
}
