//! From the edges of one dependent to what its gate is told.

mod beside;
mod cause;
mod consent;
mod cycle;
mod decide;
mod edge;
mod likely;
mod never;
mod node;
mod observed;
mod outside;
mod part;
mod patience;
mod recovered;
mod remembered;
mod revision;
mod room;
mod ruling;
mod search;
mod settle;
mod several;
mod slot;
mod stable;
mod unwritten;
mod wave;

pub use cause::cause_of;
pub use consent::{ClusterScoped, CrossNamespace, consents, consents_to_nobody};
pub use decide::{Decided, Found, Ground, awaiting, decide, find, skipped, unread};
pub use never::MISSING_AFTER;
pub use observed::unobserved;
pub use patience::Overdue;
pub use ruling::{Ruling, rule};
pub use search::Search;

use crate::annotation::MAX_ENTRIES;
use crate::dependency::Edge;
use crate::dependent::Dependent;
use crate::judged::Judged;
use crate::text::one_line;
use crate::world::World;
use edge::Judge;
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use std::cell::{Cell, RefCell};
use std::time::Duration;
use wire::Answer;
use wire::probe::Probe;

/// Longest message that is reported of one edge, in bytes. What was found of several objects and why is put together.
const LONGEST_REPORT: usize = 2048;
/// What is said of an edge beside its message, in bytes: its names come from lists that are short themselves.
const BESIDE_A_REPORT: usize = 1024;
// An answer to a full list of ours and as long a one of the other key is one that a gate reads, though JSON may write a byte as two.
const _: () =
    assert!(2 * MAX_ENTRIES * (2 * LONGEST_REPORT + BESIDE_A_REPORT) < wire::LONGEST_ANSWER);

/// What the administrator has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Which namespaces may depend on which without the target's consent.
    pub cross_namespace: CrossNamespace,
    /// Which namespaces may depend on which kinds of objects that are in none.
    pub cluster_scoped: ClusterScoped,
    /// Whether [`crate::keys::CONFIG_DEPENDS_ON`] counts.
    pub config_depends_on: bool,
}

impl Policy {
    /// The defaults of the chart.
    pub fn of_the_chart() -> Self {
        Self {
            cross_namespace: CrossNamespace::default(),
            cluster_scoped: ClusterScoped::default(),
            config_depends_on: true,
        }
    }
}

/// One edge and what was found of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedEdge {
    /// What the dependent waits for.
    pub edge: Edge,
    /// Whether the dependency is outside of the dependent's namespace, so that its message texts stay there.
    pub foreign: bool,
    /// What was found.
    pub judged: Judged,
    /// What time alone will change of that.
    pub turns: Vec<Turn>,
}

/// What time alone will change of an edge, unless its dependency changes before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// What it comes to: one of the words of [`wire::turn`].
    pub what: &'static str,
    /// When.
    pub at: Timestamp,
    /// How long it takes in all.
    pub takes: Duration,
}

/// What was found of all edges of one dependent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgement {
    /// The entries in the order of its list, then the wave, if it has one to tell of, and then the slot.
    pub edges: Vec<JudgedEdge>,
    /// When time alone may change this, at the earliest.
    pub again: Option<Timestamp>,
    /// Whether what a dependency waits for itself is still being read: its cause is known in a moment.
    pub reading: bool,
    /// What the dependent's gate is to try, for edges that only it can find out about.
    pub probes: Vec<Probe>,
}

/// Judges every edge of one dependent.
pub fn judge(
    dependent: &Dependent,
    edges: Vec<Edge>,
    policy: &Policy,
    world: &dyn World,
    now: Timestamp,
) -> Judgement {
    let judge = Judge {
        dependent,
        policy,
        world,
        now,
        at_once: false,
        again: Cell::new(None),
        reading: Cell::default(),
        probes: RefCell::default(),
    };
    // A slot is for a dependent that can start at once, so it is judged by what was found of everything else.
    let (slots, others): (Vec<Edge>, Vec<Edge>) = edges
        .into_iter()
        .partition(|edge| matches!(edge, Edge::Slot(_)));
    let others = others.into_iter().map(|edge| judge.edge(edge, false));
    let mut edges: Vec<JudgedEdge> = others.collect();
    let can_start = can_start(&edges, dependent.started, now);
    edges.extend(slots.into_iter().map(|edge| judge.edge(edge, can_start)));
    edges.retain(|edge| !judge.is_idle_wave(edge));
    for edge in edges.iter_mut().filter(|edge| !edge.judged.satisfied) {
        judge.look_behind(edge);
    }
    Judgement {
        edges,
        again: judge.again.get(),
        reading: judge.reading.get(),
        probes: judge.probes.take(),
    }
}

/// Whether a dependent that was started then could start at once: none of these edges holds it back, or it has given up those
/// that do. Who asks for a slot and who gives one have to agree on that.
pub fn can_start(edges: &[JudgedEdge], started: Option<Timestamp>, now: Timestamp) -> bool {
    let mut edges = edges.iter();
    edges.all(|edge| edge.judged.satisfied || patience::is_given_up(edge, started, now))
}

/// Whether no edge holds the dependent back.
fn is_satisfied(edges: &[JudgedEdge]) -> bool {
    edges.iter().all(|edge| edge.judged.satisfied)
}

/// What the gate is told of its edges. An empty list opens: a marker without a list is inert.
pub fn answer(edges: &[JudgedEdge]) -> Answer {
    let verdict = if is_satisfied(edges) {
        wire::Decision::Open
    } else {
        wire::Decision::Wait
    };
    Answer {
        verdict,
        digest: String::new(),
        dependencies: edges.iter().map(report).collect(),
        note: None,
        probes: Vec::new(),
    }
}

fn report(edge: &JudgedEdge) -> wire::Report {
    let message = edge.judged.told(edge.foreign);
    let message = message.map(|text| one_line(text.to_owned(), LONGEST_REPORT));
    wire::Report {
        dependency: edge.edge.to_string(),
        name: edge.edge.name(),
        satisfied: edge.judged.satisfied,
        status: edge.judged.status.word().to_owned(),
        reason: edge.judged.reason.label().to_owned(),
        message,
        turns: edge.turns.iter().map(turn).collect(),
    }
}

/// In whole seconds, and not before its time.
fn turn(Turn { what, at, takes }: &Turn) -> wire::Turn {
    let whole = TimestampRound::new()
        .smallest(Unit::Second)
        .mode(RoundMode::Ceil);
    wire::Turn {
        what: (*what).to_owned(),
        at: at.round(whole).unwrap_or(*at).to_string(),
        takes: takes.as_secs(),
    }
}

#[cfg(test)]
mod tests;
