//! `graph`: who waits for whom, in which order things start, and where the time went.

mod build;
mod cluster;
mod critical;
mod dot;
mod mermaid;
mod model;
mod order;
mod text;
mod times;

use crate::installation::Installation;
use crate::installed::Installed;
use crate::objects::{self, Doubt, Graph, Input, Object, Read};
use crate::output::printable;
use crate::reader::Reader;
use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use critical::Path;
use jiff::Timestamp;
use kube::Client;
use model::Model;
use serde::Serialize;
use std::collections::BTreeSet;
use std::process::ExitCode;
use times::GateWait;

/// The exit code for "some of it never starts".
const CYCLE: u8 = 3;

/// How a graph is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table in the order in which things start.
    Text,
    /// For Graphviz.
    Dot,
    /// For Mermaid, as in Markdown.
    Mermaid,
    /// One JSON object: nodes, edges, cycles, gates, criticalPath.
    Json,
}

/// Everything that is printed.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Drawing {
    #[serde(flatten)]
    model: Model,
    /// How long the gate of each pod waited; of a cluster only.
    #[serde(skip_serializing_if = "Option::is_none")]
    gates: Option<Vec<GateWait>>,
    /// What determined when the last object became ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    critical_path: Option<Path>,
}

/// The graph of a namespace.
pub(crate) async fn cluster(
    client: Client,
    namespace: &str,
    release: Option<&str>,
    format: Format,
) -> Result<ExitCode> {
    let now = Timestamp::now();
    let mut reader = Reader::new(client.clone());
    let home = reader.settle(|reader| Ok(cluster::home(reader, namespace)));
    let home = home.await?;
    let basis = Installation::basis(&client, home.as_deref()).await?;
    let workloads = &basis.settings.workloads;
    let seen = reader.settle(|reader| Ok(cluster::see(reader, namespace, workloads)));
    let seen = seen.await?;
    for kind in &seen.hidden {
        eprintln!("warning: {kind} objects in {namespace} cannot be read, so they are left out");
    }
    let graph = Graph::new(&seen.objects);
    let model = reader.settle(|reader| {
        let world = Installed {
            reader,
            basis: &basis,
            afresh: false,
        };
        let judge =
            |object: &Object| cluster::judge(object, &world, |kind| world.withheld(kind), now);
        Ok(Model::new(&graph, release, &judge))
    });
    let model = model.await?;
    for unseen in &basis.unseen {
        eprintln!("warning: {unseen}");
    }
    check(&model, &graph, release, &format!("namespace {namespace}"))?;
    let times = times::of(&seen, &graph, &model, now);
    let path = critical::path(&model, &times.spans);
    finish(
        &Drawing {
            model,
            gates: Some(times.gates),
            critical_path: path,
        },
        format,
    )
}

/// The graph of manifests.
pub(crate) fn offline(input: &Input, release: Option<&str>, format: Format) -> Result<ExitCode> {
    let Read {
        objects, unread, ..
    } = objects::read(input)?;
    if let Some(Doubt {
        place,
        position,
        why,
    }) = unread.first()
    {
        let at = position.map(|it| format!("{it}: ")).unwrap_or_default();
        bail!("{}: {at}{why}", place.file);
    }
    let graph = Graph::new(&objects);
    let model = Model::new(&graph, release, &|_| None);
    check(&model, &graph, release, "these manifests")?;
    finish(
        &Drawing {
            model,
            gates: None,
            critical_path: None,
        },
        format,
    )
}

/// Warns of lists that cannot be read, and refuses an empty graph.
fn check(model: &Model, graph: &Graph<'_>, release: Option<&str>, place: &str) -> Result<()> {
    for (at, node) in &model.at {
        if let Some(error) = &graph.unreadable[*at] {
            let id = &model.nodes[*node].id;
            let warning = format!("warning: {id} waits until its list can be read: {error}");
            eprintln!("{}", printable(&warning));
        }
    }
    let Some(release) = release else {
        ensure!(
            !model.nodes.is_empty(),
            "there is no workload in {place}; name another namespace with -n, or a file with -f"
        );
        return Ok(());
    };
    if model.nodes.is_empty() {
        let scopes = graph.objects.iter().filter_map(|it| it.scope.as_ref());
        let names: BTreeSet<&str> = scopes.map(|it| it.name.as_str()).collect();
        let names: Vec<_> = names.into_iter().collect();
        let others = match names.as_slice() {
            [] => "there is no release in it".to_owned(),
            names => format!("there are {}", names.join(", ")),
        };
        bail!("no workload of release {release:?} in {place}; {others}");
    }
    Ok(())
}

#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
fn finish(told: &Drawing, format: Format) -> Result<ExitCode> {
    match format {
        Format::Text => print!("{}", text::text(told)),
        Format::Dot => print!("{}", dot::dot(&told.model)),
        Format::Mermaid => print!("{}", mermaid::mermaid(&told.model)),
        Format::Json => println!(
            "{}",
            serde_json::to_string(told).context("cannot write it as JSON")?
        ),
    }
    Ok(if told.model.cycles.is_empty() {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(CYCLE)
    })
}

#[cfg(test)]
mod tests;
