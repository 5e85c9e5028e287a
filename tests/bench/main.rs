//! `make bench`: what sluice costs and how fast it is, in one table.
//!
//! Objects, tokens and TLS are real. The controller is the binary of the image, run as a process of this machine with a
//! Service, a CA and a namespace of its own, so that its requests, memory and processor time are nobody else's; the
//! gates are processes too, because a node has no room for as many pods. Only the cost of a request to the API server
//! is that of the sluice which is installed there.

/// Admission over TLS, and as the API server sees it.
mod admission;
/// What requests cost the API server.
mod api_server;
/// The objects that are made for this, and taken away again.
mod cluster;
/// Two tables side by side.
mod compare;
/// The controller as a process, and what can be read of it.
mod controller;
/// Gates as tasks.
mod crowd;
/// How much is measured.
mod extent;
/// Gates as processes.
mod gates;
/// What a cluster would see that is too large for this machine.
mod plan;
/// How long a gate takes to notice.
mod release;
/// What one change costs in a scope of many objects.
mod scope;
/// The lines of the table.
mod table;

use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::extent::{Extent, QUICK, WHOLE};
use crate::gates::Gates;
use crate::table::{Measure, Table, Unit, as_number, megabytes};
use anyhow::{Context, Result, bail};
use harness::unscheduled::Unscheduled;
use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use tokio::time::sleep;

const USAGE: &str = "usage: bench TARGET IMAGES [quick], the folders of the static binaries and of the image archives
       bench scope, which needs neither
       bench plan FILE, a large cluster by what bench has written
       bench compare BEFORE AFTER, two files that bench has written";

/// Where things are.
struct Paths {
    gate: PathBuf,
    webhook: PathBuf,
    images: PathBuf,
    /// For tokens and markers; goes with this value.
    scratch: tempfile::TempDir,
}

#[tokio::main]
async fn main() -> Result<ExitCode> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))?;
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["compare", before, after] => return compared(before.as_ref(), after.as_ref()),
        ["scope"] => {
            let mut table = Table::default();
            scope::changes(&mut table)?;
            table.print();
        }
        ["plan", file] => {
            let mut table = Table::default();
            plan::tell(&Table::read(file.as_ref())?, &mut table)?;
            table.print();
        }
        [target, images] => run(target, images, &WHOLE).await?,
        [target, images, "quick"] => run(target, images, &QUICK).await?,
        _ => bail!(USAGE),
    }
    Ok(ExitCode::SUCCESS)
}

/// Fails where something has become worse.
fn compared(before: &Path, after: &Path) -> Result<ExitCode> {
    let (text, worse) = compare::compare(&Table::read(before)?, &Table::read(after)?);
    // One that nobody reads is no error.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(ExitCode::from(u8::from(worse > 0)))
}

async fn run(target: &str, images: &str, extent: &Extent) -> Result<()> {
    let target = Path::new(target);
    let paths = Paths {
        gate: target.join("gate/sluice-gate"),
        webhook: target.join("release/sluice-webhook"),
        images: images.into(),
        scratch: tempfile::tempdir().context("failed to make a folder for tokens")?,
    };
    let cluster = Cluster::create().await?;
    let mut table = Table::default();
    let measured = tokio::select! {
        measured = measure(&paths, &cluster, extent, &mut table) => measured,
        _ = tokio::signal::ctrl_c() => Err(anyhow::anyhow!("interrupted")),
    };
    step("taking everything away");
    let removed = cluster.remove().await;
    table.print();
    let file = paths.images.join("bench.json");
    table.write(&file)?;
    eprintln!("the same for `make bench-compare`: {}", file.display());
    measured.and(removed)
}

async fn measure(
    paths: &Paths,
    cluster: &Cluster,
    extent: &Extent,
    table: &mut Table,
) -> Result<()> {
    table.machine(&harness::machine::describe(), &cluster.version().await?);
    sizes(paths, table)?;
    step("changes in a scope");
    scope::changes(table)?;
    step("admission at the API server");
    admission::at_the_api_server(cluster, extent.pods, table).await?;
    many_objects(paths, cluster, extent.objects, table).await?;

    let count = extent.gates;
    step(&format!(
        "{count} pods that are never scheduled, and their tokens"
    ));
    let pods = cluster.pods(count, "configmap/dependency").await?;
    api_server::requests(cluster, &pods, table).await?;
    let mut controller = Controller::start(paths, cluster).await?;
    let gates = Gates::new(paths, &controller, &pods);
    waiting(&gates, &controller, extent, table).await?;
    for (count, rounds) in extent.releases {
        let measured = release::rounds(&gates, cluster, &controller, count, rounds).await?;
        measured.tell(table);
    }
    step("a gate that is let through");
    release::open_at_once(&gates, cluster, extent.starts, table).await?;
    drop(gates);
    controller.stop().await?;
    crowds(paths, cluster, extent, pods, table).await?;
    let mut controller = Controller::start(paths, cluster).await?;
    step("admission over TLS");
    admission::over_tls(&controller, extent.reviews, table).await?;
    controller.stop().await
}

/// More and more gates, each number with a controller of its own.
async fn crowds(
    paths: &Paths,
    cluster: &Cluster,
    extent: &Extent,
    mut pods: Vec<Unscheduled>,
    table: &mut Table,
) -> Result<()> {
    for &count in extent.crowds {
        let lacking = count.saturating_sub(pods.len());
        step(&format!("{lacking} more pods that are never scheduled"));
        pods.extend(cluster.pods(lacking, "configmap/dependency").await?);
        let mut controller = Controller::start(paths, cluster).await?;
        crowd::measure(&controller, cluster, &pods, extent.window, table).await?;
        let peak = Measure::bytes(controller.peak()?);
        let what = format!("controller, most memory with {count} gates");
        table.row(&what, peak, "VmHWM in /proc/PID/status");
        controller.stop().await?;
    }
    Ok(())
}

fn sizes(paths: &Paths, table: &mut Table) -> Result<()> {
    let size = |path: &Path| -> Result<u64> {
        let metadata = fs::metadata(path).with_context(|| format!("no {}", path.display()))?;
        Ok(metadata.len())
    };
    let bytes = size(&paths.gate)?;
    table
        .row(
            "gate, static binary",
            Measure::bytes(bytes),
            "`stat`, after `make images`",
        )
        .at_most(2_300_000.0);
    let archives = ["gate", "webhook"].map(|name| paths.images.join(format!("sluice-{name}.tar")));
    for (archive, what) in archives.iter().zip(["gate", "controller"]) {
        let value = Measure::bytes(size(archive)?);
        table.row(
            &format!("{what}, image archive"),
            value,
            "`stat` of the OCI archive",
        );
    }
    Ok(())
}

/// A fresh controller, alone and with many objects to watch.
async fn many_objects(
    paths: &Paths,
    cluster: &Cluster,
    count: usize,
    table: &mut Table,
) -> Result<()> {
    step(&format!("{count} watched objects"));
    let mut controller = Controller::start(paths, cluster).await?;
    sleep(Duration::from_secs(5)).await;
    let idle = Measure::bytes(controller.memory()?);
    table
        .row(
            "controller, memory, idle",
            idle,
            "VmRSS in /proc/PID/status, 5 s after it is ready",
        )
        .at_most(12_000_000.0);
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

/// What waiting costs.
async fn waiting(
    gates: &Gates<'_>,
    controller: &Controller,
    extent: &Extent,
    table: &mut Table,
) -> Result<()> {
    let (count, time) = (extent.gates, extent.window);
    step("what the controller asks of the API server by itself");
    let alone = Window::of(controller, time).await?;
    step(&format!("{count} gates wait"));
    let begun = controller.requests()?;
    let asking = gates.start(count)?;
    controller.asked_by(count).await?;
    controller.quiet().await?;
    let mut told = difference(&begun, &controller.requests()?);
    // The replica's own polls and watches have nothing to do with how many gates there are.
    told.retain(|what, _| what.starts_with("create "));
    let crowd = Window::of(controller, time).await?;
    let how = format!(
        "`sluice_api_requests_total` over {time:?}, {count} gates waiting; reviews, Events and what exceeds no gates"
    );
    let excess = crowd.excess(&alone);
    let each = as_number(excess) * 60.0 / time.as_secs_f64() / as_number(count as u64);
    let value = format!("{each:.3} a minute ({excess} in all)");
    table
        .row(
            "API requests for a waiting gate",
            Measure::once(value, Unit::PerMinute, each),
            &how,
        )
        .at_most(0.0);
    table.row(
        "API requests when a gate begins to wait",
        list(&told, count),
        "the same counter from the first question to the last Event; a review again every 10 min",
    );
    table.row(
        "API requests of a replica by itself",
        list(&alone.requests, 1),
        &format!("the same counter over {time:?}, no gate"),
    );
    crowd.tell(&alone, count, table);
    table
        .row(
            "gate, memory while it waits",
            Measure::bytes(asking.memory()?),
            "Private_Dirty in /proc/PID/smaps_rollup, mean: what one more gate costs a node",
        )
        .at_most(180_000.0);
    asking.stop().await;
    Ok(())
}

/// A part of a controller's life.
struct Window {
    requests: BTreeMap<String, u64>,
    memory: u64,
    processor: f64,
}

impl Window {
    async fn of(controller: &Controller, time: Duration) -> Result<Self> {
        let (before, processor) = (controller.requests()?, controller.processor()?);
        sleep(time).await;
        let used = controller.processor()?.saturating_sub(processor);
        Ok(Self {
            requests: difference(&before, &controller.requests()?),
            memory: controller.memory()?,
            processor: used.as_secs_f64() / time.as_secs_f64() * 100.0,
        })
    }

    /// What so many gates cost beside none.
    fn tell(&self, alone: &Self, count: usize, table: &mut Table) {
        let text = megabytes(self.memory);
        table.row(
            &format!("controller, memory, {count} gates waiting"),
            Measure::bytes(self.memory),
            "VmRSS",
        );
        let each = self.memory.saturating_sub(alone.memory) / count as u64;
        let how = format!("what {text} exceeds the same process without gates");
        table
            .row(
                "controller, memory of a waiting gate",
                Measure::once(
                    format!("{:.1} KiB", as_number(each) / 1024.0),
                    Unit::Bytes,
                    as_number(each),
                ),
                &how,
            )
            .at_most(20.0 * 1024.0);
        let text = format!(
            "{:.1} % of a core (none waiting: {:.1} %)",
            self.processor, alone.processor
        );
        table.row(
            &format!("controller, processor, {count} gates waiting"),
            Measure::once(text, Unit::Percent, self.processor),
            "utime + stime in /proc/PID/stat",
        );
    }

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
    let each = requests.iter().map(|(what, count)| match among {
        1 => format!("{what} {count}"),
        _ => format!("{what} {:.2}", as_number(*count) / as_number(among as u64)),
    });
    each.collect::<Vec<_>>().join(", ")
}

/// Says on standard error what is going on; the table alone goes to standard output.
fn step(what: &str) {
    eprintln!("==> {what}");
}
