//! `make bench`: what sluice costs and how fast it is, in one table.
//!
//! Objects, tokens and TLS are real. The controller is the binary of the image, run as a process of this machine with a
//! Service, a CA and a namespace of its own, so that its requests, memory and processor time are nobody else's; the
//! gates are processes too, because a node has no room for as many pods. Only the cost of a request to the API server
//! is that of the sluice which is installed there.

/// Admission over TLS, and as the API server sees it.
mod admission;
/// The objects that are made for this, and taken away again.
mod cluster;
/// The controller as a process, and what can be read of it.
mod controller;
/// Gates as processes.
mod gates;
/// How long a gate takes to notice.
mod release;
/// What one change costs in a scope of many objects.
mod scope;
/// The lines of the table.
mod table;

use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::gates::Gates;
use crate::table::{Table, megabytes};
use anyhow::{Context, Result, bail};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::sleep;

/// What most clusters never have at a time.
const MANY: usize = 500;
/// Objects of a kind that somebody depends on.
const OBJECTS: usize = 1000;
/// How long requests are counted.
const WINDOW: Duration = Duration::from_mins(1);

/// Where things are.
struct Paths {
    gate: PathBuf,
    webhook: PathBuf,
    images: PathBuf,
    /// For tokens and markers; goes with this value.
    scratch: tempfile::TempDir,
}

#[tokio::main]
async fn main() -> Result<()> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))?;
    let mut table = Table::default();
    if std::env::args().skip(1).eq(["scope"]) {
        scope::changes(&mut table)?;
        table.print();
        return Ok(());
    }
    let paths = paths()?;
    let cluster = Cluster::create().await?;
    let measured = tokio::select! {
        measured = measure(&paths, &cluster, &mut table) => measured,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    step("taking everything away");
    let removed = cluster.remove().await;
    table.print();
    measured.and(removed)
}

fn paths() -> Result<Paths> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [target, images] = &arguments[..] else {
        bail!(
            "usage: bench TARGET IMAGES, the folders of the static binaries and of the image archives; or bench scope, which needs neither"
        );
    };
    let target = Path::new(target);
    Ok(Paths {
        gate: target.join("gate/sluice-gate"),
        webhook: target.join("release/sluice-webhook"),
        images: images.into(),
        scratch: tempfile::tempdir().context("failed to make a folder for tokens")?,
    })
}

async fn measure(paths: &Paths, cluster: &Cluster, table: &mut Table) -> Result<()> {
    table.machine(&harness::machine::describe(), &cluster.version().await?);
    sizes(paths, table)?;
    step("changes in a scope");
    scope::changes(table)?;
    step("admission at the API server");
    admission::at_the_api_server(cluster, table).await?;
    many_objects(paths, cluster, table).await?;

    step(&format!(
        "{MANY} pods that are never scheduled, and their tokens"
    ));
    let pods = cluster.pods(MANY, "configmap/dependency").await?;
    let mut controller = Controller::start(paths, cluster).await?;
    let gates = Gates::new(paths, &controller, &pods);
    waiting(&gates, &controller, cluster, table).await?;
    for (count, rounds) in [(50, 10), (1, 50)] {
        let measured = release::rounds(&gates, cluster, &controller, count, rounds).await?;
        measured.tell(table);
    }
    step("a gate that is let through");
    release::open_at_once(&gates, cluster, table).await?;
    step("admission over TLS");
    admission::over_tls(&controller, table).await?;
    table.row(
        "controller, most memory at any time of the above",
        megabytes(controller.peak()?),
        "VmHWM in /proc/PID/status",
    );
    controller.stop().await
}

fn sizes(paths: &Paths, table: &mut Table) -> Result<()> {
    let size = |path: &Path| -> Result<u64> {
        let metadata = fs::metadata(path).with_context(|| format!("no {}", path.display()))?;
        Ok(metadata.len())
    };
    let bytes = size(&paths.gate)?;
    table.row(
        "gate, static binary",
        format!("{bytes} bytes"),
        "`stat`, after `make images`",
    );
    let archives = ["gate", "webhook"].map(|name| paths.images.join(format!("sluice-{name}.tar")));
    for (archive, what) in archives.iter().zip(["gate", "controller"]) {
        let value = megabytes(size(archive)?);
        table.row(
            &format!("{what}, image archive"),
            value,
            "`stat` of the OCI archive",
        );
    }
    Ok(())
}

/// A fresh controller, alone and with many objects to watch.
async fn many_objects(paths: &Paths, cluster: &Cluster, table: &mut Table) -> Result<()> {
    step(&format!("{OBJECTS} watched objects"));
    let mut controller = Controller::start(paths, cluster).await?;
    sleep(Duration::from_secs(5)).await;
    let idle = controller.memory()?;
    table.row(
        "controller, memory, idle",
        megabytes(idle),
        "VmRSS in /proc/PID/status, 5 s after it is ready",
    );
    cluster.deployments(OBJECTS).await?;
    let pods = cluster.pods(1, "deployment/of-the-bench-0").await?;
    let gates = Gates::new(paths, &controller, &pods);
    let asking = gates.start(1)?;
    controller.asked_by(1).await?;
    sleep(Duration::from_secs(5)).await;
    let full = controller.memory()?;
    table.row(
        &format!("controller, memory, {OBJECTS} watched Deployments"),
        megabytes(full),
        "the same, once a gate has asked for one of them",
    );
    asking.stop().await;
    controller.stop().await?;
    cluster.no_deployments().await
}

/// What waiting costs, and then how it ends.
async fn waiting(
    gates: &Gates<'_>,
    controller: &Controller,
    cluster: &Cluster,
    table: &mut Table,
) -> Result<()> {
    step("what the controller asks of the API server by itself");
    let alone = window(controller).await?;
    step(&format!("{MANY} gates wait"));
    let begun = controller.requests()?;
    let asking = gates.start(MANY)?;
    controller.asked_by(MANY).await?;
    controller.quiet().await?;
    let mut told = difference(&begun, &controller.requests()?);
    // The replica's own polls and watches have nothing to do with how many gates there are.
    told.retain(|what, _| what.starts_with("create "));
    let crowd = window(controller).await?;
    let how = format!(
        "`sluice_api_requests_total` over 60 s, {MANY} gates waiting; reviews, Events and what exceeds no gates"
    );
    let minutes = WINDOW.as_secs_f64() / 60.0;
    let excess = crowd.excess(&alone);
    #[expect(clippy::cast_precision_loss, reason = "counts of requests are small")]
    let each = excess as f64 / minutes / MANY as f64;
    table.row(
        "API requests for a waiting gate",
        format!("{each:.3} a minute ({excess} in all)"),
        &how,
    );
    table.row(
        "API requests when a gate begins to wait",
        list(&told, MANY),
        "the same counter from the first question to the last Event; a review again every 10 min",
    );
    table.row(
        "API requests of a replica by itself",
        list(&alone.requests, 1),
        "the same counter over 60 s, no gate",
    );
    let memory = crowd.memory.saturating_sub(alone.memory);
    table.row(
        &format!("controller, memory, {MANY} gates waiting"),
        format!(
            "{} ({} kB a gate)",
            megabytes(crowd.memory),
            memory / 1000 / MANY as u64
        ),
        "VmRSS; a gate's part is what it exceeds the same process without gates",
    );
    table.row(
        &format!("controller, processor, {MANY} gates waiting"),
        format!(
            "{:.1} % of a core (none waiting: {:.1} %)",
            crowd.processor, alone.processor
        ),
        "utime + stime in /proc/PID/stat over 60 s",
    );
    table.row(
        "gate, memory while it waits",
        format!("{} kB", asking.memory()? / 1000),
        "Private_Dirty in /proc/PID/smaps_rollup, mean: what one more gate costs a node",
    );
    asking.stop().await;
    let measured = release::rounds(gates, cluster, controller, MANY, 4).await?;
    measured.tell(table);
    Ok(())
}

/// A minute of a controller's life.
struct Window {
    requests: BTreeMap<String, u64>,
    memory: u64,
    processor: f64,
}

impl Window {
    /// Requests that the other window does not have. Watches end and begin by themselves every few minutes.
    fn excess(&self, other: &Self) -> u64 {
        let own = self
            .requests
            .iter()
            .filter(|(what, _)| !what.starts_with("watch "));
        own.map(|(what, count)| {
            // A poll may fall into a window once more than into another.
            let usual = other.requests.get(what).map_or(0, |count| count + 1);
            count.saturating_sub(usual)
        })
        .sum()
    }
}

async fn window(controller: &Controller) -> Result<Window> {
    let (before, processor) = (controller.requests()?, controller.processor()?);
    sleep(WINDOW).await;
    let used = controller.processor()?.saturating_sub(processor);
    Ok(Window {
        requests: difference(&before, &controller.requests()?),
        memory: controller.memory()?,
        processor: used.as_secs_f64() / WINDOW.as_secs_f64() * 100.0,
    })
}

fn difference(
    before: &BTreeMap<String, u64>,
    after: &BTreeMap<String, u64>,
) -> BTreeMap<String, u64> {
    let grown = after
        .iter()
        .map(|(what, count)| (what.clone(), count - before.get(what).unwrap_or(&0)));
    grown.filter(|(_, count)| *count > 0).collect()
}

/// `create events 1.0, create tokenreviews 1.0`, a gate.
fn list(requests: &BTreeMap<String, u64>, among: usize) -> String {
    #[expect(clippy::cast_precision_loss, reason = "counts of requests are small")]
    let each = requests.iter().map(|(what, count)| match among {
        1 => format!("{what} {count}"),
        _ => format!("{what} {:.2}", *count as f64 / among as f64),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Says on standard error what is going on; the table alone goes to standard output.
fn step(what: &str) {
    eprintln!("==> {what}");
}
