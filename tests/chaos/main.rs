//! `make chaos`: tests gates and admission while everything around them breaks, and prints one table.
//!
//! Objects, tokens, TLS and the sluice that is installed are real. Most gates are processes of this machine, because a node
//! has no room for as many pods; `tests/it/node` tries some of the same with pods.
#![expect(
    clippy::disallowed_methods,
    reason = "who waits for a task hears of its panic"
)]

/// Clients that flood the replicas.
mod attack;
/// Creations while a fault lasts.
mod creates;
/// Gates that wait while a fault lasts.
mod crowd;
/// The faults.
mod faults;
/// The cluster, the namespaces and the folders of the trials.
mod site;
/// One trial: a fault, the promises that hold through it, and the row of its result.
mod trial;
/// The memory and the restarts of the replicas during a trial.
mod watched;

use crate::site::Site;
use crate::trial::{Row, Trial};
use anyhow::{Context, Result, bail};
use harness::cluster::{Look, Node, alone, sluice};
use kube::Client;
use std::io::Write;
use std::process::ExitCode;
use std::time::Instant;

const HEAD: &str = "| fault | times | creates tried / failed / failed again | they took | gates | opened early | failed | never opened | last one late by | restarts | most memory | memory after | what was seen |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

#[tokio::main]
async fn main() -> Result<ExitCode> {
    rustls::crypto::ring::default_provider()
        .install_default()
        .map_err(|_| anyhow::anyhow!("a TLS provider is installed already"))?;
    let mut arguments = std::env::args().skip(1);
    let Some(gate) = arguments.next() else {
        bail!("usage: chaos GATE [PART OF A ROW'S NAME…]; GATE is the static binary of the gate");
    };
    let wanted: Vec<String> = arguments.collect();
    let is_wanted = |trial: &Trial| {
        wanted.is_empty() || wanted.iter().any(|it| trial.name.contains(it.as_str()))
    };
    let Some(node) = Node::ours().await else {
        bail!("chaos breaks the node itself: it runs on the cluster of `make cluster` alone");
    };
    let client = Client::try_default()
        .await
        .context("failed to find the API server")?;
    std::panic::set_hook(Box::new(|panic| eprintln!("    {panic}")));
    let mut failed = 0;
    alone("chaos", async |ns| {
        let site = Site {
            client,
            node,
            namespace: ns.name.clone(),
            ns,
            sluice: Look::at(sluice::NAMESPACE).await,
            gate: gate.into(),
            scratch: tempfile::tempdir().expect("there is room for logs"),
        };
        let limit = limit(&site).await;
        let mut text = HEAD.to_owned();
        for (number, trial) in faults::all()
            .iter()
            .enumerate()
            .filter(|(_, it)| is_wanted(it))
        {
            eprintln!("==> {}", trial.name);
            let began = Instant::now();
            let row = trial.run(&site, number, limit).await;
            failed += row.faults.len();
            let line = line(&row);
            eprint!("    {:.0?} {line}", began.elapsed());
            text.push_str(&line);
        }
        // A reader that has gone is no error.
        let _ = std::io::stdout().write_all(text.as_bytes());
    })
    .await;
    eprintln!("{failed} things were not as promised");
    Ok(ExitCode::from(u8::from(failed > 0)))
}

/// Returns the memory limit of the controller's container, in bytes.
async fn limit(site: &Site<'_>) -> u64 {
    let deployment = site.sluice.get("deployment/sluice").await;
    let container = &deployment["spec"]["template"]["spec"]["containers"][0];
    let limit = container["resources"]["limits"]["memory"].as_str();
    let mebibytes = limit.and_then(|it| it.strip_suffix("Mi")?.parse::<u64>().ok());
    mebibytes.expect("the chart says a limit in Mi") << 20
}

fn line(row: &Row) -> String {
    const LONGEST: usize = 300;
    let mut cells = row.cells.clone();
    for fault in &row.faults {
        let fault: String = fault.chars().take(LONGEST).collect();
        cells.push(format!("**not as promised: {fault}**"));
    }
    format!("| {} |\n", cells.join(" | ").replace('\n', " "))
}
