//! `graph`: which workload waits for which, in which order they start, and where the time went.

mod build;
mod cluster;
mod critical;
mod dot;
mod gate_wait;
mod line;
mod mermaid;
mod model;
mod order;
mod text;
mod times;
mod told;

use crate::gate_findings;
use crate::gate_log::GateWord;
use crate::installation::{self, Basis, Installation};
use crate::installed::Installed;
use crate::objects::{self, Doubt, Graph, Input, Object, Read};
use crate::output::{self, API_VERSION, printable};
use crate::reader::Reader;
use crate::root_causes::HeldUp;
use crate::style::Style;
use crate::subject::no_release;
use crate::{status, stranded};
use anyhow::{Context, Result, bail, ensure};
use clap::ValueEnum;
use cluster::Judges;
use critical::Path;
use gate_wait::GateWait;
use jiff::Timestamp;
use kube::Client;
use model::Model;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::process::ExitCode;
use times::Lived;
use told::Findings;

/// The exit code of `graph` where there is a cycle, so that some objects never start.
const CYCLE: u8 = 3;

/// The form of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum GraphFormat {
    /// A table in the order in which things start.
    Text,
    /// For Graphviz.
    Dot,
    /// For Mermaid, as in Markdown.
    Mermaid,
    /// One JSON object: nodes, edges, cycles, gates, times, criticalPath.
    Json,
}

/// The graph as JSON: everything that `graph` prints.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Drawing {
    api_version: &'static str,
    #[serde(flatten)]
    model: Model,
    /// The root causes of the waits; of a cluster only.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    root_causes: Vec<HeldUp>,
    /// How long the gate of each pod waited; of a cluster only.
    #[serde(skip_serializing_if = "Option::is_none")]
    gates: Option<Vec<GateWait>>,
    /// When each object started and was ready; of a cluster only.
    #[serde(skip_serializing_if = "Option::is_none")]
    times: Option<Vec<Lived>>,
    /// The chain of dependencies that ended with the last object to become ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    critical_path: Option<Path>,
}

impl Drawing {
    /// The text of the graph in the language of Mermaid.
    pub(crate) fn mermaid(&self) -> String {
        mermaid::mermaid(&self.model)
    }
}

/// The graph of a namespace or of manifests, or of one release in it, with its warnings.
#[derive(Debug)]
pub(crate) struct NamespaceGraph {
    /// The graph; it has no node where there is no workload, or none of the release.
    pub(crate) drawing: Drawing,
    /// The names of all releases among the objects that were read, also of those that the graph leaves out.
    pub(crate) releases: BTreeSet<String>,
    /// The lines about kinds and parts of the installed sluice that the caller may not see, and about lists that cannot be read.
    pub(crate) warnings: Vec<String>,
}

/// Prints the graph of a namespace of the cluster, or of one release in it, with what each object waits for.
pub(crate) async fn cluster(
    client: Client,
    namespace: &str,
    release: Option<&str>,
    form: (GraphFormat, Style),
) -> Result<ExitCode> {
    let told = tell(&client, namespace, release).await?;
    answer(&told, release, &format!("namespace {namespace}"), form)
}

/// Reads the graph of a namespace, or of one release in it, from the cluster.
async fn tell(client: &Client, namespace: &str, release: Option<&str>) -> Result<NamespaceGraph> {
    let mut reader = Reader::new(client.clone());
    let basis = basis(client, &mut reader, namespace).await?;
    let mut facts = GateFacts::default();
    look(&mut reader, &basis, &mut facts, (namespace, release)).await
}

/// The settings, rights and health rules of the installed sluice. The gates in a namespace tell in which namespace sluice is; where there are
/// none, sluice is looked for in all namespaces.
pub(crate) async fn basis(client: &Client, reader: &mut Reader, namespace: &str) -> Result<Basis> {
    let home = reader.settle(|reader| Ok(cluster::home(reader, namespace)));
    let home = home.await?;
    Installation::basis(client, home.as_deref()).await
}

/// The facts about waiting pods that their objects do not tell; `None` until they are asked for.
#[derive(Debug, Default)]
pub(crate) struct GateFacts {
    /// The last lines of gates, by the names of their pods.
    pub(crate) words: Option<BTreeMap<String, GateWord>>,
    /// The UIDs of the stranded pods.
    pub(crate) stranded: Option<BTreeSet<String>>,
}

/// Makes the graph of a namespace, or of a release in it, with the health of its objects, their times and the critical path. Objects that
/// `reader` has and facts that `facts` has are not requested again from the API server. A graph without nodes is an error where the caller
/// lacks a right or the namespace does not exist.
pub(crate) async fn look(
    reader: &mut Reader,
    basis: &Basis,
    facts: &mut GateFacts,
    (namespace, release): (&str, Option<&str>),
) -> Result<NamespaceGraph> {
    let now = Timestamp::now();
    let workloads = &basis.settings.workloads;
    let rules = &basis.settings.policy.node_rules;
    let seen = reader.settle(|reader| {
        let world = world(reader, basis);
        Ok(cluster::see(reader, namespace, workloads, (rules, &world)))
    });
    let seen = seen.await?;
    let graph =
        reader.settle(|reader| Ok(Graph::new(&seen.objects).under(rules, &world(reader, basis))));
    let graph = graph.await?;
    let shown = build::shown(&graph, release);
    let findings = reader.settle(|reader| {
        let world = world(reader, basis);
        let judges = Judges {
            world: &world,
            policy: &basis.settings.policy,
            workloads,
            withheld: &|kind| world.withheld(kind),
            now,
        };
        Ok(Findings::of(&graph, &shown, &seen, &judges))
    });
    let mut findings = findings.await?;
    let drawn = Model::new(&graph, &shown, &findings);
    let times = reader.settle(|reader| {
        let world = world(reader, basis);
        Ok(times::of(&seen, &graph, &drawn, &world, now))
    });
    let mut times = times.await?;
    let answers = reader.settle(|reader| Ok(times.answers(&seen, &world(reader, basis), now)));
    times.answered(answers.await?);
    if facts.stranded.is_none() && times.any_at_gate() {
        facts.stranded = Some(stranded::pods(&reader.client(), Some(namespace)).await);
    }
    if let Some(uids) = &facts.stranded {
        times.strand(uids);
    }
    // Only the gates know what came of an address outside of the cluster.
    if facts.words.is_none() {
        let unheard = times.unheard().map(|pod| (pod, namespace, pod));
        facts.words = Some(gate_findings::listen(&reader.client(), unheard).await);
    }
    let mut unjudged = Vec::new();
    if let Some(words) = &facts.words {
        unjudged = times.hear(words);
        findings.hear(words);
    }
    let mut model = Model::new(&graph, &shown, &findings);
    // An object that the caller may not read may well exist.
    for node in &mut model.nodes {
        node.missing &= !seen.hides(&node.kind);
    }
    let lacking = seen.lacking();
    if model.nodes.is_empty() {
        ensure!(lacking.is_empty(), lacking.join("; "));
        let exists = reader.settle(|reader| status::exists(reader, namespace));
        exists.await?;
    }
    let left_out = lacking
        .iter()
        .map(|why| format!("left out is what cannot be read: {why}"));
    let unread = unread(&model, &graph);
    let warnings = left_out
        .chain(installation::warnings(&basis.unseen))
        .chain(installation::warnings(&gate_findings::unseen(unjudged)))
        .chain(unread);
    let warnings = warnings.collect();
    times.explain(&mut model);
    times.mark_waits(&mut model);
    Ok(NamespaceGraph {
        releases: releases(&graph),
        warnings,
        drawing: Drawing {
            api_version: API_VERSION,
            critical_path: critical::path(&model, &times),
            root_causes: times.held_up(namespace),
            times: Some(times::lived(&model, &times.spans)),
            gates: Some(times.gates),
            model,
        },
    })
}

/// The world by which the graph's objects are judged: the cluster as the installed sluice sees it, with the memory of passed revisions.
fn world<'a>(reader: &'a Reader, basis: &'a Basis) -> Installed<'a> {
    Installed {
        reader,
        basis,
        afresh: false,
    }
}

/// Prints the graph of manifests, or of one release in them, without a cluster. An input that cannot be read is an error.
pub(crate) fn offline(
    input: &Input,
    release: Option<&str>,
    form: (GraphFormat, Style),
) -> Result<ExitCode> {
    let Read {
        objects,
        unread,
        unbuilt,
        ..
    } = objects::read(input)?;
    if let Some(doubt) = unread.first() {
        bail!("{doubt}");
    }
    let mut told = of_manifests(&objects, release);
    told.warnings.extend(unbuilt.iter().map(Doubt::to_string));
    answer(&told, release, "these manifests", form)
}

fn of_manifests(objects: &[Object], release: Option<&str>) -> NamespaceGraph {
    let graph = Graph::new(objects);
    let shown = build::shown(&graph, release);
    let model = Model::new(&graph, &shown, &Findings::default());
    NamespaceGraph {
        releases: releases(&graph),
        warnings: unread(&model, &graph),
        drawing: Drawing {
            api_version: API_VERSION,
            model,
            root_causes: Vec::new(),
            gates: None,
            times: None,
            critical_path: None,
        },
    }
}

/// A warning for each object of the graph whose list cannot be read, and whether its pods then wait or start.
fn unread(model: &Model, graph: &Graph<'_>) -> Vec<String> {
    let errors = model.at.iter().filter_map(|(at, node)| {
        let fault = graph.unreadable[*at].as_ref()?;
        let id = &model.nodes[*node].id;
        let why = &fault.why;
        Some(if fault.waits {
            format!("{id} waits until its list can be read: {why}")
        } else {
            format!("{id} asks for no gate, so its pods start without waiting: {why}")
        })
    });
    errors.collect()
}

fn releases(graph: &Graph<'_>) -> BTreeSet<String> {
    let scopes = graph.objects.iter().filter_map(|it| it.scope.as_ref());
    scopes.map(|it| it.name.clone()).collect()
}

/// Prints a graph, and its warnings on standard error; a graph without a node is an error. `place` names its source, such as `namespace shop`.
fn answer(
    told: &NamespaceGraph,
    release: Option<&str>,
    place: &str,
    form: (GraphFormat, Style),
) -> Result<ExitCode> {
    for warning in &told.warnings {
        eprintln!("warning: {}", printable(warning));
    }
    told.is_filled(release, place)?;
    finish(&told.drawing, form)
}

impl NamespaceGraph {
    fn is_filled(&self, release: Option<&str>, place: &str) -> Result<()> {
        if !self.drawing.model.nodes.is_empty() {
            return Ok(());
        }
        let Some(release) = release else {
            bail!(
                "there is no workload in {place}; name another namespace with -n, or a file with -f"
            );
        };
        bail!(no_release(release, place, &self.releases))
    }
}

#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
fn finish(told: &Drawing, (format, style): (GraphFormat, Style)) -> Result<ExitCode> {
    match format {
        GraphFormat::Text => print!("{}", text::text(told, style, output::columns())),
        GraphFormat::Dot => print!("{}", dot::dot(&told.model)),
        GraphFormat::Mermaid => print!("{}", told.mermaid()),
        GraphFormat::Json => println!(
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
