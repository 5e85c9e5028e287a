//! The verdict on one dependent: judges its edges, finds words for them, and decides whether its gate waits, opens or refuses.
//!
//! Floors, top to bottom; a file calls and imports only files below its own:
//! * `decide`: the verdict, by the terms of the wait
//! * `explain`, `report`, `why`: the words for an edge, the words on the wire, the reason for a verdict
//! * `judge`: the facts of each edge

mod decide;
mod explain;
mod judge;
mod report;
mod why;

pub use decide::{Found, Verdict, decide, find};
pub use explain::{MISSING_AFTER, Search, cause_of, judge, judge_opened, restarted, stuck_pod};
pub use judge::{
    ClusterScoped, CrossNamespace, JudgedEdge, Judgement, Overdue, Policy, Turn, can_start,
    consents, consents_to_nobody, unobserved,
};
pub use report::answer;
pub use why::Why;

#[cfg(test)]
mod tests;
