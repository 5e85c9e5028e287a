//! The critical path: the chain of dependencies that determined when the last object became ready.

use super::model::Model;
use super::times::{Span, Times, seconds};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The critical path, from its first object to the one that was ready last.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Path {
    pub(super) seconds: i64,
    /// Whether an object of the graph is not ready yet, so that the path may become longer.
    pub(super) unfinished: bool,
    pub(super) steps: Vec<Step>,
}

/// One object on the path: from the moment its last dependency was ready to the moment it was ready itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct Step {
    pub(super) object: String,
    pub(super) seconds: i64,
    pub(super) from: Timestamp,
    pub(super) until: Timestamp,
}

/// The time by which a dependency may seem to be ready later than the gate opened: Kubernetes writes whole seconds, and the clocks of two
/// nodes differ.
const BLUR: SignedDuration = SignedDuration::from_secs(1);

/// The critical path of a graph; `None` where no object became ready, and while a gate waits: the object that was ready last then held
/// nothing up.
pub(super) fn path(model: &Model, times: &Times) -> Option<Path> {
    if times.any_waits() {
        return None;
    }
    let spans = &times.spans;
    let runs = |node: &usize| spans.get(node).is_some_and(|span| span.started.is_some());
    let last = spans
        .iter()
        .filter(|(node, _)| runs(node))
        .filter_map(|(node, span)| Some((span.ready?, *node)))
        .max()?;
    let mut steps = Vec::new();
    let mut seen = BTreeSet::new();
    let mut open = Some((last.1, last.0));
    while let Some((node, until)) = open.take().filter(|(node, _)| seen.insert(*node)) {
        let span = spans.get(&node).copied().unwrap_or_default();
        let before = before(model, spans, node, until);
        // A Service has no time of its own: it is ready with the pods behind it.
        if let Some(started) = span.started {
            let from = before.map_or(started, |(_, ready)| ready).min(until);
            steps.push(Step {
                object: model.nodes[node].id.clone(),
                seconds: seconds(from, until),
                from,
                until,
            });
            open = before;
        } else {
            open = behind(model, spans, node).map(|node| (node, until));
        }
    }
    steps.reverse();
    let (first, end) = (steps.first()?, steps.last()?);
    let ready = |span: &Span| span.started.is_none() || span.ready.is_some();
    Some(Path {
        seconds: seconds(first.from, end.until),
        unfinished: !spans.values().all(ready),
        steps,
    })
}

/// The dependency of an object that became ready last, and when: after the object started, not after `until`, and at most [`BLUR`] after its gate
/// opened. An object that left it a slot counts as a dependency. `None` where there is none, so that the object did not wait.
fn before(
    model: &Model,
    spans: &BTreeMap<usize, Span>,
    node: usize,
    until: Timestamp,
) -> Option<(usize, Timestamp)> {
    let span = spans.get(&node)?;
    let started = span.started?;
    let latest = span.opened.map_or(until, |opened| opened + BLUR).min(until);
    let edges = model.edges.iter().filter(|edge| edge.from_node == node);
    let candidates = edges
        .map(|edge| edge.to_node)
        .chain(slots(model, spans, node));
    let ready = candidates.filter_map(|to| Some((to, spans.get(&to)?.ready?)));
    ready
        .filter(|(_, ready)| started < *ready && *ready <= latest)
        .max_by_key(|(_, ready)| *ready)
}

/// The objects of a node's wave that became ready, and so left a slot, while as many objects of the wave ran as the node's cap allows; none where
/// the node has no cap.
fn slots(model: &Model, spans: &BTreeMap<usize, Span>, node: usize) -> Vec<usize> {
    let own = &model.nodes[node];
    let Some(most) = own.parallelism else {
        return Vec::new();
    };
    let runs: Vec<(usize, Timestamp, Option<Timestamp>)> = spans
        .iter()
        .filter(|(at, _)| {
            let other = &model.nodes[**at];
            let same = (&other.scope, other.wave, &other.namespace)
                == (&own.scope, own.wave, &own.namespace);
            **at != node && same && other.parallelism.is_some()
        })
        .filter_map(|(at, span)| Some((*at, span.opened.or(span.started)?, span.ready)))
        .collect();
    let taken = |then: Timestamp| {
        let at_work = |(_, from, until): &&(usize, Timestamp, Option<Timestamp>)| {
            *from < then && until.is_none_or(|until| until >= then)
        };
        runs.iter().filter(at_work).count() >= most
    };
    let left = runs.iter().filter(|(_, _, ready)| ready.is_some_and(taken));
    left.map(|(at, ..)| *at).collect()
}

/// The workload behind a Service that was ready first; one that is not ready where none is. `None` where the graph has no workload behind the
/// Service.
fn behind(model: &Model, spans: &BTreeMap<usize, Span>, service: usize) -> Option<usize> {
    let edges = model.edges.iter().filter(|edge| edge.from_node == service);
    let workloads = edges.map(|edge| edge.to_node);
    workloads.min_by_key(|node| {
        let ready = spans.get(node).and_then(|span| span.ready);
        (ready.is_none(), ready)
    })
}
