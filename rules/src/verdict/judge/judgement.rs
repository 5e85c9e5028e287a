//! The findings about all edges of one dependent.

use crate::cause::RootCause;
use crate::dependency::Edge;
use crate::judged::Judged;
use jiff::Timestamp;
use std::time::Duration;
use wire::probe::Probe;

/// One edge with its finding.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JudgedEdge {
    /// The edge: an entry, a wave or a slot that the dependent waits for.
    pub edge: Edge,
    /// Whether the dependency is outside of the dependent's namespace, so that the texts of its message are not shown to the dependent.
    pub foreign: bool,
    /// The finding about the edge.
    pub judged: Judged,
    /// The changes of the finding that time alone will bring: `stable` ends, or a timeout passes.
    pub turns: Vec<Turn>,
    /// The root cause: the end of the chain of waits behind the edge. `None` for a satisfied edge, and in a world without hints.
    pub root: Option<Box<RootCause>>,
}

/// A change of an edge's finding that time alone will bring, unless the dependency changes before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// The word for the change: one of [`wire::turn`].
    pub what: &'static str,
    /// The time at which the change comes.
    pub at: Timestamp,
    /// The length of the whole wait for the change, from its start: the entry's `stable` or `timeout`.
    pub takes: Duration,
}

/// The findings about all edges of one dependent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgement {
    /// The entries of lists and plans in their order, the wave, the entries of node rules, and last the slot. A satisfied wave of a dependent
    /// without a weight is left out.
    pub edges: Vec<JudgedEdge>,
    /// The earliest time at which time alone may change a finding, timeouts apart; `None` where time changes nothing.
    pub again: Option<Timestamp>,
    /// Whether the cause of a dependency's own wait is still being read, so that a better message follows in a moment.
    pub reading: bool,
    /// The addresses that the dependent's gate is to try.
    pub probes: Vec<Probe>,
}
