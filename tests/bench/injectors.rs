//! Our admission beside that of another injector: both get reviews of equal pods from as many clients, in turns.

use crate::Paths;
use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::load::{Connection, Load, Seen};
use crate::measure::Measure;
use crate::reviews::{Endpoint, review};
use crate::step;
use crate::table::{Row, Table};
use crate::vault::{self, Injector};
use anyhow::Result;
use harness::samples::Samples;
use harness::unscheduled::pod;
use rules::keys::DEPENDS_ON;
use serde_json::json;
use std::time::Duration;
use tokio::task::block_in_place;
use tokio::time::sleep;

/// The sizes of pods, as the API server sends them with `managedFields`: the word of the table, and the bytes of environment
/// that make a pod so big.
const PODS: [(&str, usize); 4] = [
    ("2 kB", 0),
    ("4.5 kB", 1_500),
    ("60 kB", 36_000),
    ("1 MB", 620_000),
];
const CLIENTS: [usize; 3] = [1, 8, 64];
/// The number of turns that our controller gets, and the other injector too.
const TURNS: usize = 2;
/// The size of the pod whose figures are compared with the targets of throughput and memory.
const USUAL: &str = "4.5 kB";

/// The extent of the measurement: whether all sizes and loads are measured, or only some of the usual size, and the length of a turn.
pub(crate) struct Reach {
    pub(crate) whole: bool,
    pub(crate) turn: Duration,
}

impl Reach {
    /// Whether a size and a load are measured: all of them where `whole`, else only the usual size, on kept connections or with eight clients.
    fn has(&self, size: &str, load: Load) -> bool {
        let kept = load.connection == Connection::Kept;
        self.whole || size == USUAL && (kept || load.clients == 8)
    }
}

/// Our controller and the peer, or our controller alone where the peer cannot be started.
struct Pair {
    own: Controller,
    endpoint: Endpoint,
    peer: Result<Injector>,
}

/// Adds rows about our admission beside HashiCorp's injector: memory, and for each size of pod and each load that `reach` has, latency and
/// throughput. Where the injector cannot be started, our figures stand alone.
pub(crate) async fn side_by_side(
    paths: &Paths,
    cluster: &Cluster,
    reach: &Reach,
    table: &mut Table,
) -> Result<()> {
    step(&format!("admission beside {}", vault::NAME));
    let own = Controller::start(paths, cluster).await?;
    let smallest = admitted(cluster, 0).await?;
    let mut pair = Pair {
        endpoint: own.endpoint()?,
        own,
        peer: Injector::start(cluster, paths.scratch.path(), &smallest).await,
    };
    // Memory that a start leaves unused goes back to the kernel after ten seconds.
    sleep(Duration::from_secs(20)).await;
    pair.memory("VmRSS", "memory, idle", "20 s after it is ready", table)?
        .at_most(12_000_000.0);
    for (size, bytes) in PODS {
        let review = admitted(cluster, bytes).await?;
        for connection in [Connection::Kept, Connection::Fresh] {
            for clients in CLIENTS {
                let load = Load {
                    clients,
                    connection,
                };
                if reach.has(size, load) {
                    block_in_place(|| pair.measure(size, &review, load, reach.turn, table))?;
                }
            }
        }
        if size == USUAL {
            let what = "most memory while pods up to 4.5 kB are reviewed";
            pair.memory("VmHWM", what, "after the loads above", table)?;
        }
    }
    if let Ok(peer) = &mut pair.peer {
        peer.stop().await?;
    }
    pair.own.stop().await
}

/// Returns the review of a pod with about `bytes` bytes of environment, completed by the API server. Its annotations make both injectors patch it.
async fn admitted(cluster: &Cluster, bytes: usize) -> Result<String> {
    let plain = serde_json::from_value(pod(&json!({"example.com/note": "none"}), bytes))?;
    let mut pod = serde_json::to_value(cluster.rehearse(&plain).await?)?;
    pod["metadata"]["annotations"] = json!({
        DEPENDS_ON: "configmap/dependency",
        "vault.hashicorp.com/agent-inject": "true",
        "vault.hashicorp.com/role": "shop",
    });
    Ok(review(&pod))
}

impl Pair {
    fn measure(
        &self,
        size: &str,
        review: &str,
        load: Load,
        turn: Duration,
        table: &mut Table,
    ) -> Result<()> {
        let (mut own, mut other) = (Seen::default(), Seen::default());
        let mut failed = None;
        let (mut own_busy, mut other_busy) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..TURNS {
            let before = self.own.processor()?;
            load.run(&self.endpoint, review, turn, &mut own)?;
            own_busy += self.own.processor()?.saturating_sub(before);
            if let Ok(peer) = &self.peer {
                let before = peer.processor()?;
                let ran = load.run(&peer.endpoint, review, turn, &mut other);
                other_busy += peer.processor()?.saturating_sub(before);
                failed = failed.or(ran.err());
            }
        }
        let peer = match (&self.peer, failed) {
            (Err(error), _) => Err(Measure::skipped(error)),
            (_, Some(error)) => Err(Measure::skipped(&error)),
            _ => Ok(other),
        };
        let Load {
            clients,
            connection,
        } = load;
        let connected = match connection {
            Connection::Kept => "connections kept",
            Connection::Fresh => "a connection for each review",
        };
        let many = if clients == 1 { "client" } else { "clients" };
        let how = format!(
            "a review of {} bytes again and again over TLS, {TURNS} turns of {turn:?} each",
            review.len()
        );
        let (rate, each, latency) = match peer {
            Ok(other) => (
                Measure::per_second(other.rate()),
                Measure::from(other.each(other_busy)),
                Measure::from(&Samples::new(other.took)),
            ),
            Err(skipped) => (skipped.clone(), skipped.clone(), skipped),
        };
        let what = format!("admission of a {size} pod, {clients} {many}, {connected}");
        let (own_rate, own_each) = (Measure::per_second(own.rate()), own.each(own_busy));
        let target = latency_target(size, load);
        table
            .row(&what, &Samples::new(own.took), &how)
            .beside(vault::NAME, latency, target);
        let target = rate_target(size, load);
        table
            .row(&format!("{what}, throughput"), own_rate, &how)
            .beside(vault::NAME, rate, target);
        // The clients take as much of the machine for each side, so throughput shows less of the difference.
        let how = format!("utime and stime in /proc/PID/stat of the injector alone; {how}");
        table
            .row(&format!("{what}, processor of each"), own_each, &how)
            .beside(vault::NAME, each, processor_target(size, load));
        Ok(())
    }

    fn memory<'a>(
        &self,
        line: &str,
        what: &str,
        when: &str,
        table: &'a mut Table,
    ) -> Result<&'a mut Row> {
        let peer = match &self.peer {
            Ok(peer) => Measure::bytes(peer.memory(line)?),
            Err(error) => Measure::skipped(error),
        };
        let own = Measure::bytes(self.own.memory_of(line)?);
        let how = format!("{line} in /proc/PID/status, {when}");
        let row = table.row(&format!("controller, {what}"), own, &how);
        Ok(row.beside(vault::NAME, peer, Some(0.25)))
    }
}

/// The target of the 99th percentile of latency, as a multiple of the peer's; `None` where there is none.
fn latency_target(size: &str, load: Load) -> Option<f64> {
    match (size, load.connection, load.clients) {
        ("4.5 kB", Connection::Kept, 1) => Some(0.15),
        ("4.5 kB", Connection::Kept, 8) => Some(0.10),
        ("4.5 kB", Connection::Kept, 64) => Some(0.08),
        ("1 MB", Connection::Kept, 64) => Some(0.25),
        _ => None,
    }
}

fn rate_target(size: &str, load: Load) -> Option<f64> {
    match (size, load.connection, load.clients) {
        ("4.5 kB", Connection::Kept, 8) => Some(6.0),
        ("4.5 kB", Connection::Fresh, 8) => Some(3.0),
        _ => None,
    }
}

/// Returns the target of the processor time of a review, as a multiple of the peer's; `None` where there is none.
fn processor_target(size: &str, load: Load) -> Option<f64> {
    matches!(
        (size, load.connection, load.clients),
        ("4.5 kB", Connection::Fresh, 8)
    )
    .then_some(1.0 / 3.0)
}
