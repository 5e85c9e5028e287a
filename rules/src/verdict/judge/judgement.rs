//! What was found of all edges of one dependent.

use crate::dependency::Edge;
use crate::judged::Judged;
use jiff::Timestamp;
use std::time::Duration;
use wire::probe::Probe;

/// One edge, and what was found of it.
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
    /// One of the words of [`wire::turn`].
    pub what: &'static str,
    /// When the change comes.
    pub at: Timestamp,
    /// How long the wait for the change takes in all.
    pub takes: Duration,
}

/// What was found of all edges of one dependent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgement {
    /// The entries in the order of the list, then the wave, if there is one to tell of, and then the slot.
    pub edges: Vec<JudgedEdge>,
    /// When time alone may change the judgement, at the earliest.
    pub again: Option<Timestamp>,
    /// Whether the list of a dependency is still being read: why it waits is known in a moment.
    pub reading: bool,
    /// The addresses that the dependent's gate is to try.
    pub probes: Vec<Probe>,
}
