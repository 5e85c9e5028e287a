//! The sentences that refuse a plan.

use crate::text::Quoted;

/// The fault of a plan.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[expect(missing_docs, reason = "each variant's sentence is its description")]
pub enum PlanFault {
    #[error(
        "a plan is a mapping from a sub-chart, a group or an object to a list of what comes before it, e.g. \"api: [postgresql, job/migrate]\""
    )]
    NotAnOrder,
    #[error("{} appears twice in the plan; write one list for it", Quoted(.0))]
    DuplicateStep(String),
    #[error(
        "a plan cannot order {}: write a sub-chart, group/name, kind/name or {{kind: ..., selector: ...}}, and what is asked of it in the lists",
        Quoted(.0)
    )]
    NoSubject(String),
    #[error(
        "{} is a part of a release, and \"everyPod\" holds pods of every release and of none; name an object, or several by a selector",
        Quoted(.0)
    )]
    PartOfNone(String),
    #[error("the plan has a cycle: {0}; take one of these out")]
    Round(String),
}
