//! Adds to unsatisfied edges the words that the finding alone does not have: root causes, cycles, misspelt names. Nothing here makes an edge
//! satisfied.
//!
//! Floors, top to bottom; a file calls and imports only files below its own, and the files of `judge`:
//! * `edges`: all edges of a dependent
//! * `pod_cause`, `restarted`: why the pods behind an edge are not ready, and which of them crash although they are
//! * `no_room`, `lead`: why pods find no node, and the words for a lead, a fact that the judge notes about an entry
//! * `cycle`, `near_miss`, `too_late`: the way back to the dependent, a slip in a name, an object that never comes
//! * `targets`: the objects that an edge leads to
//! * `basis`, `search`: the judge with the facts that only explain a verdict, and the search behind one object

mod basis;
mod cycle;
mod edges;
mod lead;
mod near_miss;
mod no_room;
mod pod_cause;
mod restarted;
mod search;
mod targets;
mod too_late;

pub use edges::{judge, judge_opened};
pub use pod_cause::cause_of;
pub use restarted::restarted;
pub use search::{Search, stuck_pod};
pub use too_late::MISSING_AFTER;
