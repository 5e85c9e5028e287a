//! From the edges of one dependent to what its gate is told.

mod consent;
mod edge;
mod node;
mod reason;
mod revision;
mod ruling;
mod several;

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

/// Judges every edge of one dependent, in the order of its list.
pub fn judge(
    dependent: &Dependent,
    dependencies: Vec<Dependency>,
    allowed: &CrossNamespace,
    world: &dyn World,
    now: Timestamp,
) -> Vec<Edge> {
    let judge = Judge {
        dependent,
        allowed,
        world,
        now,
    };
    let judge_one = |dependency: Dependency| {
        let (foreign, judged) = judge.edge(&dependency);
        Edge {
            dependency,
            foreign,
            judged,
        }
    };
    dependencies.into_iter().map(judge_one).collect()
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
