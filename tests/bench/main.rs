//! `make bench`: measures the costs and the speed of sluice, and prints them in one table.
//!
//! Objects, tokens and TLS are real. The controller is the binary of the image, run as a process of this machine with a
//! Service, a CA and a namespace of its own, so that its requests, memory and processor time are its own alone; the
//! gates are processes too, because a node has no room for as many pods. Only the cost of a request to the API server
//! is that of the sluice which is installed there.

/// The credentials that the pod of HashiCorp's injector would find.
mod account;
/// Gates that wait for an address.
mod address;
/// Admission over TLS, and as the API server sees it.
mod admission;
/// The cost of requests at the API server.
mod api_server;
/// The namespace of the bench with its objects, made at the start and deleted at the end.
mod cluster;
/// The comparison of two tables of the bench.
mod compare;
/// The controller as a process, and what can be read of it.
mod controller;
/// Counts of instructions, which no noise alters.
mod count;
/// The cost of many creations that are held at once.
mod creations;
/// Gates that are tasks of the bench's own process.
mod crowd;
/// The dependency of the gates.
mod dependency;
/// How often each part of the bench is measured, and with how many objects.
mod extent;
/// Gates that are processes of this machine.
mod gates;
/// Our admission beside that of HashiCorp's injector.
mod injectors;
/// The gate beside init containers that users write without sluice.
mod kubectl;
/// Many clients that send reviews to admission at the same time.
mod load;
/// A figure of the table.
mod measure;
/// The cost of many objects of a kind that the controller watches.
mod objects;
/// Pods whose gates have opened.
mod passed;
/// Computed figures of a cluster that is too large for this machine.
mod plan;
/// Images that are pulled while gates wait.
mod prefetch;
/// Gates while the controller may read every kind of the presets.
mod presets;
/// A registry that takes its time.
mod registry;
/// The time from a ready dependency to the exit of its gates.
mod release;
/// Gates of more than one controller.
mod replicas;
/// A client that sends reviews to admission on one connection.
mod reviews;
/// The time until a whole application serves.
mod rollout;
/// Waiting processes: gates, and scripts that users write without sluice.
mod running;
/// The cost of one change in a scope of many objects.
mod scope;
/// The sizes of the shipped programs and images.
mod sizes;
/// The rules of `kubectl sluice status -f`, without a cluster.
mod statuses;
/// The lines of the table.
mod table;
/// Gates that wait for a pod that fits on no node.
mod unschedulable;
/// HashiCorp's injector, which is measured beside our admission.
mod vault;
/// The cost of waiting gates that are processes.
mod waiting;

use crate::cluster::Cluster;
use crate::controller::Controller;
use crate::dependency::Dependency;
use crate::extent::{Extent, QUICK, WHOLE};
use crate::gates::Gates;
use crate::table::Table;
use anyhow::{Context, Result, bail};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: bench TARGET IMAGES [quick] [PART...], the folders of the static binaries and of the image archives;
         the parts are sizes, scope, statuses, api-server, admission, creations, objects, gates, presets, addresses, waiters, unschedulable, crowds,
         passed, prefetch and replicas
       bench scope, which needs neither
       bench count review|list|gate TIMES, for callgrind
       bench plan FILE, a large cluster by what bench has written
       bench compare BEFORE AFTER, two files that bench has written
       bench rollout IMAGES ROUNDS [WAY...], releases of a whole application";

/// The paths of programs, images and temporary files.
struct Paths {
    gate: PathBuf,
    webhook: PathBuf,
    images: PathBuf,
    /// The folder for tokens and markers, which is deleted when this is dropped.
    scratch: tempfile::TempDir,
}

/// A part of the bench that can run by itself.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Sizes,
    Scope,
    Statuses,
    ApiServer,
    Admission,
    Creations,
    Objects,
    Gates,
    Presets,
    Addresses,
    Waiters,
    Unschedulable,
    Crowds,
    Passed,
    Prefetch,
    Replicas,
}

impl Part {
    const ALL: [(&str, Self); 16] = [
        ("sizes", Self::Sizes),
        ("scope", Self::Scope),
        ("statuses", Self::Statuses),
        ("api-server", Self::ApiServer),
        ("admission", Self::Admission),
        ("creations", Self::Creations),
        // Measured before there are pods, since a controller knows every gated pod.
        ("objects", Self::Objects),
        ("gates", Self::Gates),
        ("presets", Self::Presets),
        ("addresses", Self::Addresses),
        ("waiters", Self::Waiters),
        ("unschedulable", Self::Unschedulable),
        ("crowds", Self::Crowds),
        ("passed", Self::Passed),
        ("prefetch", Self::Prefetch),
        ("replicas", Self::Replicas),
    ];

    /// Returns the parts with these names, or where no name is given, all parts that the extent does not leave out. An unknown name is an error.
    fn chosen(names: &[&str], extent: &Extent) -> Result<Vec<Self>> {
        let known = |name: &&str| Self::ALL.iter().any(|(known, _)| known == name);
        if !names.iter().all(known) {
            bail!(USAGE);
        }
        let chosen = |name: &str, part: Self| match names {
            [] => !extent.without.contains(&part),
            _ => names.contains(&name),
        };
        let parts = Self::ALL.into_iter();
        let parts = parts.filter(|(name, part)| chosen(name, *part));
        Ok(parts.map(|(_, part)| part).collect())
    }
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
        ["count", work, times] => count::work(work, times.parse()?).await?,
        ["plan", file] => {
            let mut table = Table::default();
            plan::tell(&Table::read(file.as_ref())?, &mut table)?;
            table.print();
        }
        ["rollout", images, rounds, ref ways @ ..] => {
            rollout::measure(images.as_ref(), rounds.parse()?, ways).await?;
        }
        [target, images, "quick", ref parts @ ..] => run(target, images, &QUICK, parts).await?,
        [target, images, ref parts @ ..] => run(target, images, &WHOLE, parts).await?,
        _ => bail!(USAGE),
    }
    Ok(ExitCode::SUCCESS)
}

/// Compares two tables in files, prints both side by side, and returns exit code 1 where a figure has become worse.
fn compared(before: &Path, after: &Path) -> Result<ExitCode> {
    let (text, worse) = compare::compare(&Table::read(before)?, &Table::read(after)?);
    // A reader that has gone is no error.
    let _ = std::io::stdout().write_all(text.as_bytes());
    Ok(ExitCode::from(u8::from(worse > 0)))
}

async fn run(target: &str, images: &str, extent: &Extent, parts: &[&str]) -> Result<()> {
    let parts = Part::chosen(parts, extent)?;
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
        measured = measure(&paths, &cluster, extent, &parts, &mut table) => measured,
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
    parts: &[Part],
    table: &mut Table,
) -> Result<()> {
    table.machine(&harness::machine::describe(), &cluster.version().await?);
    for part in parts {
        match part {
            Part::Sizes => sizes::measure(paths, table)?,
            Part::Scope => scope::changes(table)?,
            Part::Statuses => {
                statuses::measure(paths, table)?;
                count::measure(table);
            }
            Part::ApiServer => {
                admission::at_the_api_server(cluster, extent.pods, table).await?;
            }
            Part::Admission => {
                injectors::side_by_side(paths, cluster, &extent.beside, table).await?;
            }
            Part::Creations => {
                creations::measure(paths, cluster, extent.creations, table).await?;
            }
            Part::Objects => objects::measure(paths, cluster, &extent.objects, table).await?,
            Part::Gates => gates(paths, cluster, extent, table).await?,
            Part::Presets => presets::measure(paths, cluster, extent.gates, table).await?,
            Part::Addresses => address::measure(paths, cluster, extent.addresses, table).await?,
            Part::Waiters => kubectl::side_by_side(paths, cluster, &extent.waiters, table).await?,
            Part::Unschedulable => {
                unschedulable::measure(paths, cluster, extent.unschedulable, extent.window, table)
                    .await?;
            }
            Part::Crowds => crowd::all(paths, cluster, extent, table).await?,
            Part::Passed => passed::measure(paths, cluster, extent.passed, table).await?,
            Part::Prefetch => prefetch::measure(cluster, extent.pulls, table).await?,
            Part::Replicas => {
                replicas::measure(paths, cluster, extent.replicas, extent.window, table).await?;
            }
        }
    }
    Ok(())
}

/// Measures the cost of the requests of gates at the API server, and gates that are processes: while they wait, when they are released, and when they
/// need not wait.
async fn gates(paths: &Paths, cluster: &Cluster, extent: &Extent, table: &mut Table) -> Result<()> {
    let count = extent.gates;
    step(&format!(
        "{count} pods that are never scheduled, and their tokens"
    ));
    let pods = cluster.pods(count, Dependency::ConfigMap.list()).await?;
    api_server::requests(cluster, &pods, table).await?;
    let mut controller = Controller::start(paths, cluster).await?;
    let gates = Gates::new(paths, &controller, &pods);
    waiting::measure(&gates, &controller, extent, table).await?;
    for (count, rounds) in extent.releases {
        step(&format!("{count} gates released, {rounds} times"));
        let start = async |_| release::waiting(&gates, &controller, count).await;
        release::rounds(cluster, Dependency::ConfigMap, rounds, start)
            .await?
            .tell(table);
    }
    step("a gate that is let through");
    release::open_at_once(&gates, cluster, extent.starts, table).await?;
    drop(gates);
    controller.stop().await
}

/// Prints the present step of the run to standard error; the table alone goes to standard output.
fn step(what: &str) {
    eprintln!("==> {what}");
}
