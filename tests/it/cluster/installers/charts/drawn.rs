//! The dependencies in a cluster, as `kubectl sluice graph` prints them.

use super::family::Row;
use super::lived::Lived;
use harness::cluster::{Namespace, Program};
use harness::process::binary;
use serde::Deserialize;
use std::collections::{BTreeMap, BTreeSet};

/// The entries of objects, and the edges that must hold, of all graphs that `kubectl sluice graph` has printed for a namespace, put together. Missing
/// and remembered objects have no entries.
#[derive(Debug, Default)]
pub(super) struct Drawn {
    /// The entries of each object, as they are written.
    entries: BTreeMap<String, Vec<String>>,
    /// Pairs of a dependent and an object that it must wait for.
    edges: BTreeSet<(String, String)>,
}

/// The fields of the JSON that the test reads.
#[derive(Deserialize)]
struct Drawing {
    nodes: Vec<Point>,
    edges: Vec<Arrow>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Point {
    id: String,
    missing: bool,
    /// The reason of a node. A Job that is `Remembered` is drawn although it is gone, and the command no longer knows its dependencies.
    reason: Option<String>,
    waits_for: Vec<String>,
}

#[derive(Deserialize)]
struct Arrow {
    from: String,
    to: String,
    must: bool,
}

impl Drawn {
    /// Runs `kubectl sluice graph`, and returns the entries of the objects that are in the namespace now, and the edges that must hold. Missing and
    /// remembered objects have no entries.
    pub(super) async fn of(ns: &Namespace) -> Self {
        let graph = Program::new(binary("kubectl-sluice"));
        let graph = graph.args(["graph", "--namespace", &ns.name, "-o", "json"]);
        let printed = graph.run().await.ok();
        let printed: Drawing = serde_json::from_str(&printed).expect("it prints its own format");
        let is_there = |node: &Point| !node.missing && node.reason.as_deref() != Some("Remembered");
        let there = printed.nodes.into_iter().filter(is_there);
        let must = printed.edges.into_iter().filter(|edge| edge.must);
        Self {
            entries: there.map(|node| (node.id, node.waits_for)).collect(),
            edges: must.map(|edge| (edge.from, edge.to)).collect(),
        }
    }

    /// Adds the result of another run.
    pub(super) fn add(&mut self, other: Self) {
        self.entries.extend(other.entries);
        self.edges.extend(other.edges);
    }

    /// Fails where the entries of an object differ from its line on the page, or where it has fewer edges than entries.
    pub(super) fn is_what_the_page_says(&self, rows: &[Row]) {
        for Row { object, waits_for } in rows {
            let entries = self.entries.get(object);
            let said = entries.map(|it| it.join(", "));
            assert_eq!(said.as_ref(), Some(waits_for), "{object}");
            let edges = self.edges.iter().filter(|(from, _)| from == object);
            let least = entries.map_or(0, Vec::len);
            assert!(edges.count() >= least, "{object}: {self:#?}");
        }
    }

    /// Fails where an object started before an object that it waits for was ready. An object without pods never starts.
    pub(super) fn held(&self, lived: &Lived) {
        for (from, to) in &self.edges {
            // Of what has no pods, such as a Service, nothing starts.
            let Some(started) = lived.started(from) else {
                continue;
            };
            let ready = lived.ready(to);
            assert!(
                ready.is_some_and(|ready| ready <= started),
                "{from} started at {started}, and {to} was ready at {ready:?}"
            );
        }
    }
}
