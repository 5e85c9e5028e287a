//! The cost of admission: by itself, and as a part of a request to the API server.

use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::reviews::{Reviews, review};
use crate::table::Table;
use anyhow::Result;
use harness::samples::Samples;
use harness::unscheduled::pod;
use k8s_openapi::api::core::v1::Pod;
use rules::keys::DEPENDS_ON;
use serde_json::json;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};
use tokio::task::spawn_blocking;

/// The size of the reviewed pod's environment, in bytes, which is nearly that of the whole pod.
const SIZE: usize = 6000;

/// The pause between two reviews beside other work.
const PAUSE: Duration = Duration::from_millis(5);

/// Adds rows about the creation of one pod with and without a list, `pods` times each, in turns and as a dry run, at the API server of a cluster in
/// which sluice is installed. The last row is the difference of the medians. Twenty first rounds do not count.
pub(crate) async fn at_the_api_server(
    cluster: &Cluster,
    pods: usize,
    table: &mut Table,
) -> Result<()> {
    let read = |value| serde_json::from_value::<Pod>(value);
    let gated = read(pod(&json!({DEPENDS_ON: "configmap/dependency"}), SIZE))?;
    let plain = read(pod(
        &json!({"example.com/note": "configmap/dependency"}),
        SIZE,
    ))?;
    let (mut with, mut without) = (vec![], vec![]);
    for round in 0..pods + 20 {
        for (pod, took) in [(&plain, &mut without), (&gated, &mut with)] {
            let began = Instant::now();
            cluster.rehearse(pod).await?;
            // The first ones open connections.
            if round >= 20 {
                took.push(began.elapsed());
            }
        }
    }
    let (with, without) = (Samples::new(with), Samples::new(without));
    let how = format!(
        "POST of a 6 kB Pod with dryRun=All, {pods} in turns with the other sort, the installed sluice"
    );
    table.row("API server, creation of a gated Pod", &with, &how);
    table.row(
        "API server, creation of a Pod without annotation",
        &without,
        &how,
    );
    let cost = with.percentile(50).saturating_sub(without.percentile(50));
    table.row(
        "API server, what the gate adds",
        cost,
        "difference of the two lines above",
    );
    Ok(())
}

/// Connects to the controller, for reviews of one pod with a list.
fn begin(controller: &Controller) -> Result<Reviews> {
    let pod = pod(&json!({DEPENDS_ON: "configmap/dependency"}), SIZE);
    Reviews::begin(&controller.endpoint()?, &review(&pod))
}

/// Runs `work`, and meanwhile sends the controller one review after another, each 5 ms after the last answer. Returns the result of `work` and the
/// durations of the reviews, of which there is at least one.
pub(crate) async fn beside<T>(
    controller: &Controller,
    work: impl Future<Output = T>,
) -> Result<(T, Samples)> {
    let mut reviews = begin(controller)?;
    let (done, stop) = channel::<()>();
    let reviewing = spawn_blocking(move || {
        let mut took = vec![reviews.next()?];
        while stop.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
            took.push(reviews.next()?);
        }
        anyhow::Ok(took)
    });
    let worked = work.await;
    drop(done);
    Ok((worked, Samples::new(reviewing.await??)))
}
