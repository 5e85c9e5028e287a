//! The time from the write that makes a dependency ready to the exit of the gates that waited for it.

use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::dependency::Dependency;
use crate::gates::{Gates, to_the_end};
use crate::kubectl;
use crate::measure::Measure;
use crate::running::Running;
use crate::table::Table;
use anyhow::{Context, Result, bail};
use harness::samples::Samples;
use std::time::{Duration, Instant};
use tokio::process::Command;
use tokio::time::sleep;

/// A program that does nothing: its duration is the cost of any process on this machine.
const DOES_NOTHING: &str = "/bin/true";

/// The durations of several rounds of releases, all with one number of gates.
pub(crate) struct Release {
    count: usize,
    /// The durations from the sending of the write to the exit of each gate.
    sent: Samples,
    /// The durations from the arrival of the API server's answer to the write to the exit of each gate.
    pub(crate) known: Samples,
    /// The durations from the sending of the write to the exit of the last gate, one for each round.
    last: Samples,
}

/// In each of `rounds` rounds lets gates wait, makes their dependency ready, and notes when they exit. `start` starts the gates of a round, and
/// returns when all of them wait. A gate that exits before is an error.
pub(crate) async fn rounds(
    cluster: &Cluster,
    dependency: Dependency,
    rounds: usize,
    start: impl AsyncFn(usize) -> Result<Running>,
) -> Result<Release> {
    let (mut count, mut sent, mut known, mut last) = (0, vec![], vec![], vec![]);
    for round in 0..rounds {
        let running = start(round).await?;
        count = running.0.len();
        let mut exits = running.exits();
        sleep(Duration::from_millis(200)).await;
        if exits.try_join_next().is_some() {
            bail!("a gate opened too early");
        }
        let sending = Instant::now();
        dependency.fulfil(cluster).await?;
        let knowing = Instant::now();
        let mut longest = Duration::ZERO;
        while let Some(exit) = exits.join_next().await {
            let exit = exit.context("a wait was cancelled")??;
            let took = exit.duration_since(sending);
            sent.push(took);
            known.push(exit.saturating_duration_since(knowing));
            longest = longest.max(took);
        }
        last.push(longest);
        dependency.withdraw(cluster).await?;
        sleep(Duration::from_millis(500)).await;
    }
    Ok(Release {
        count,
        sent: Samples::new(sent),
        known: Samples::new(known),
        last: Samples::new(last),
    })
}

/// Starts `count` gates, and returns a second after all of them have asked. They are released within the ten seconds in which no Event is written,
/// which would be measured too.
pub(crate) async fn waiting(
    gates: &Gates<'_>,
    controller: &Controller,
    count: usize,
) -> Result<Running> {
    let running = gates.start(count)?;
    controller.asked_by(count).await?;
    sleep(Duration::from_secs(1)).await;
    Ok(running)
}

impl Release {
    /// Adds the rows of these rounds: the times until the exit of each gate, from the API server's answer, with a target for 1, 20 and 500 gates, and
    /// from the sending of the write; and with several gates, the median time until the last one's exit.
    pub(crate) fn tell(&self, table: &mut Table) {
        let Self {
            count,
            sent,
            known,
            last,
        } = self;
        let gates = if *count == 1 { "gate" } else { "gates" };
        let how = |from: &str| {
            format!(
                "from {from} to `waitid` of each gate process, {} rounds",
                last.count()
            )
        };
        let what = format!("dependency ready to gate gone, {count} {gates} waiting");
        let row = table.row(&what, known, &how("the API server's answer"));
        match count {
            1 => row.at_most(1.0),
            20 => row.at_most(2.0),
            500 => row.at_most(30.0),
            _ => row,
        };
        let sending = how("sending the write");
        table.row(
            &format!("{what}, and what the API server takes"),
            sent,
            &sending,
        );
        if *count > 1 {
            let what = format!("dependency ready to last of {count} gates gone");
            table.row(&what, last.percentile(50), &sending);
        }
    }
}

/// Adds a row: the time from start to exit of a gate whose dependency is ready, `starts` times, beside that of a program that does nothing and of
/// `kubectl wait`.
pub(crate) async fn open_at_once(
    gates: &Gates<'_>,
    cluster: &Cluster,
    starts: usize,
    table: &mut Table,
) -> Result<()> {
    Dependency::ConfigMap.fulfil(cluster).await?;
    sleep(Duration::from_millis(500)).await;
    let (mut took, mut nothing) = (vec![], vec![]);
    for _ in 0..starts {
        took.push(gates.once().await?);
        nothing.push(to_the_end(&mut Command::new(DOES_NOTHING)).await?);
    }
    let kubectl = kubectl::at_once(&cluster.namespace, Dependency::ConfigMap.list()).await;
    Dependency::ConfigMap.withdraw(cluster).await?;
    let how = format!(
        "before the fork to after the exit, {starts} starts one after another, TLS to the controller on loopback"
    );
    table
        .row(
            "gate, start to exit when the answer is open",
            &Samples::new(took),
            &how,
        )
        .at_most(1.4)
        .beside(DOES_NOTHING, &Samples::new(nothing), None)
        .beside(
            kubectl::WAIT,
            kubectl.unwrap_or_else(|error| Measure::skipped(&error)),
            None,
        );
    Ok(())
}
