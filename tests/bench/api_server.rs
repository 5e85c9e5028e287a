//! The processor time of the API server for the requests that a gate and its pod cause. `bench plan` computes with these figures.

use crate::cluster::Cluster;
use crate::measure::{Measure, Unit, as_number};
use crate::step;
use crate::table::Table;
use anyhow::{Context, Result, bail};
use futures::{StreamExt, TryStreamExt, stream};
use harness::unscheduled::{AT_ONCE, Unscheduled};
use std::time::Duration;
use tokio::time::sleep;

/// The time over which the API server's processor time without the measured requests is read.
const ALONE: Duration = Duration::from_secs(5);

/// The time between two looks at the API server's processor time.
const LOOK: Duration = Duration::from_secs(2);
/// The share of a core below which the API server is quiet.
const LITTLE: f64 = 0.25;

/// The sort of a request that a gate or its pod causes at the API server: a TokenReview, an Event, or the status of a pod.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Sort {
    Review,
    Event,
    Status,
}

/// Adds a row for each sort of request: the API server's processor time for one, as the mean over one request for each pod, less its idle load. No
/// token may have been reviewed in the last ten seconds, since the API server remembers a review for that long.
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

/// Waits until the API server has handled earlier writes: until it uses less than a quarter of a core for two seconds. An error after sixty looks.
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

/// The processor time of the API server since its start, in seconds.
async fn processor(cluster: &Cluster) -> Result<f64> {
    let text = cluster.metrics().await?;
    let mut lines = text.lines();
    let value = lines.find_map(|line| line.strip_prefix("process_cpu_seconds_total "));
    let value = value.context("the API server does not tell its processor time")?;
    Ok(value.parse()?)
}
