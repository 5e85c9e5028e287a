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
    /// Whether the dependency is outside of the dependent's namespace, so that its message texts stay there.
    pub foreign: bool,
    /// The finding about the edge.
    pub judged: Judged,
    /// The changes of the finding that time alone will bring.
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
    /// The length of the whole wait for the change.
    pub takes: Duration,
}

/// The findings about all edges of one dependent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgement {
    /// The entries in the order of the list, then the wave, if there is one to tell of, and then the slot.
    pub edges: Vec<JudgedEdge>,
    /// The earliest time at which time alone may change the judgement.
    pub again: Option<Timestamp>,
    /// Whether the list of a dependency is still being read, so that the cause of the dependency's own wait is known only in a moment.
    pub reading: bool,
    /// The addresses that the dependent's gate is to try.
    pub probes: Vec<Probe>,
}
