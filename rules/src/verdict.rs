//! From the edges of one dependent to what its gate is told.

mod consent;
mod cycle;
mod edge;
mod node;
mod part;
mod reason;
mod revision;
mod room;
mod ruling;
mod settle;
mod several;
mod slot;
mod wave;

pub use consent::CrossNamespace;
pub use reason::Reason;
pub use ruling::{Ruling, rule};

use crate::dependency::Dependency;
use crate::dependent::Dependent;
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::wire::{self, Answer};
use crate::world::{Unavailable, World};
use edge::Judge;
use jiff::Timestamp;
use std::cell::Cell;

/// What the administrator has chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// Which namespaces may depend on which without the target's consent.
    pub cross_namespace: CrossNamespace,
    /// Whether [`crate::keys::CONFIG_DEPENDS_ON`] counts.
    pub config_depends_on: bool,
}

/// The defaults of the chart.
impl Default for Policy {
    fn default() -> Self {
        Self {
            cross_namespace: CrossNamespace::default(),
            config_depends_on: true,
        }
    }
}

/// What was found of one edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Whether the edge holds nobody back.
    pub satisfied: bool,
    /// The word of kstatus for it, by the rules of the state that was asked for: a running Job is `InProgress` to
    /// `ready` and `Current` to `started`. Except under `present`, `Current` says the same as `satisfied`.
    pub status: Status,
    /// Why.
    pub reason: Reason,
    /// One line for people; may quote the object, so it stays within the object's namespace.
    pub message: String,
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

/// What an edge is when nothing can be known of its object.
pub(crate) fn unavailable(why: Unavailable, kind: &Kind, optional: bool) -> Judged {
    let (status, reason, message) = match why {
        Unavailable::NotServed if optional => return not_found(true, ""),
        Unavailable::NotServed => {
            let message = format!(
                "the API server serves no kind {kind} yet; its CustomResourceDefinition is missing"
            );
            (Status::NotFound, Reason::KindNotServed, message)
        }
        Unavailable::Forbidden => {
            let message =
                format!("sluice may not watch {kind}; add it to the chart's value rbac.kinds");
            (Status::Unknown, Reason::KindForbidden, message)
        }
        Unavailable::Syncing => (
            Status::Unknown,
            Reason::Syncing,
            format!("sluice is reading {kind} objects"),
        ),
        Unavailable::Stale => {
            let message =
                "sluice has lost its connection to the API server; what it knows may be stale"
                    .to_owned();
            (Status::Unknown, Reason::Stale, message)
        }
    };
    unmet(status, reason, message)
}

/// Nothing of it is there; `what` says so of an edge that is not content with that.
fn not_found(optional: bool, what: &str) -> Judged {
    if !optional {
        return unmet(Status::NotFound, Reason::NotFound, what.to_owned());
    }
    Judged {
        satisfied: true,
        status: Status::NotFound,
        reason: Reason::OptionalNotFound,
        message: "not found, and optional".to_owned(),
    }
}

/// An edge that holds its dependent back.
pub(crate) fn unmet(status: Status, reason: Reason, message: String) -> Judged {
    Judged {
        satisfied: false,
        status,
        reason,
        message,
    }
}

#[cfg(test)]
mod tests;
