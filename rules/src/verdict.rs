//! From the edges of one dependent to what its gate is told.

mod consent;
mod cycle;
mod decide;
mod edge;
mod node;
mod part;
mod revision;
mod room;
mod ruling;
mod settle;
mod several;
mod slot;
mod wave;

pub use consent::CrossNamespace;
pub use decide::{Decided, Ground, awaiting, decide, skipped, unread};
pub use ruling::{Ruling, rule};

use crate::dependency::Dependency;
use crate::dependent::Dependent;
use crate::judged::Judged;
use crate::world::World;
use edge::Judge;
use jiff::Timestamp;
use std::cell::Cell;
use wire::Answer;

/// What the administrator has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Which namespaces may depend on which without the target's consent.
    pub cross_namespace: CrossNamespace,
    /// Whether [`crate::keys::CONFIG_DEPENDS_ON`] counts.
    pub config_depends_on: bool,
}

impl Policy {
    /// The defaults of the chart.
    pub fn of_the_chart() -> Self {
        Self {
            cross_namespace: CrossNamespace::default(),
            config_depends_on: true,
        }
    }
}

/// One edge and what was found of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edge {
    /// What the dependent wrote.
    pub dependency: Dependency,
    /// Whether the dependency is in another namespace, so that its message texts stay there.
    pub foreign: bool,
    /// What was found.
    pub judged: Judged,
}

/// What was found of all edges of one dependent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Judgement {
    /// The edges in the order of its list, which ends with the wave, if it has one to tell of.
    pub edges: Vec<Edge>,
    /// When time alone may change this, at the earliest.
    pub again: Option<Timestamp>,
}

/// Judges every edge of one dependent.
pub fn judge(
    dependent: &Dependent,
    dependencies: Vec<Dependency>,
    policy: &Policy,
    world: &dyn World,
    now: Timestamp,
) -> Judgement {
    let judge = Judge {
        dependent,
        policy,
        world,
        now,
        again: Cell::new(None),
        held_back: Cell::new(false),
    };
    let judge_one = |dependency: Dependency| {
        let (foreign, judged) = judge.edge(&dependency);
        if !judged.satisfied {
            judge.held_back.set(true);
        }
        Edge {
            dependency,
            foreign,
            judged,
        }
    };
    let mut edges: Vec<Edge> = dependencies.into_iter().map(judge_one).collect();
    edges.retain(|edge| !judge.is_idle_wave(edge));
    for edge in edges.iter_mut().filter(|edge| !edge.judged.satisfied) {
        judge.look_behind(edge);
    }
    Judgement {
        edges,
        again: judge.again.get(),
    }
}

/// What the gate is told of its edges. An empty list opens: a marker without a list is inert.
pub fn answer(edges: &[Edge]) -> Answer {
    let open = edges.iter().all(|edge| edge.judged.satisfied);
    let verdict = if open {
        wire::Decision::Open
    } else {
        wire::Decision::Wait
    };
    Answer {
        verdict,
        digest: String::new(),
        dependencies: edges.iter().map(report).collect(),
        note: None,
    }
}

fn report(edge: &Edge) -> wire::Report {
    let message =
        Some(edge.judged.message.clone()).filter(|text| !edge.foreign && !text.is_empty());
    wire::Report {
        dependency: edge.dependency.to_string(),
        name: edge.dependency.name(),
        satisfied: edge.judged.satisfied,
        status: edge.judged.status.word().to_owned(),
        reason: edge.judged.reason.label().to_owned(),
        message,
    }
}

#[cfg(test)]
mod tests;
