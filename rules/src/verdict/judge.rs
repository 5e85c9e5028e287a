//! Finds whether each edge of one dependent is satisfied, and why.
//!
//! Floors, top to bottom; a file calls and imports only files below its own:
//! * `edges`: all edges of a dependent, each an entry of the list, the wave or the slot
//! * `entry`: one entry, and alternatives, which are entries themselves
//! * `named`, `selected`, `part`, `wave`, `slot`: the objects that an edge means
//! * `object`: one object that exists
//! * `address`, `node`, `remembered`: an address outside of the cluster, the pod of a DaemonSet on one node, an object that is gone
//! * `absent`, `missing_status`, `observed`, `recovered`, `since_boot`, `stable`: one reason each to wait on
//! * `settle`, `same_workload`: whether the object may be replaced, or waits itself
//! * `lockstep`: whether an object is of the dependent's revision, and as new as `fresh` asks
//! * `home`, `several`, `patience`: the place of an object, the finding about several objects, the timeout of an entry
//! * `basis`: the dependent, the policy, the world and the time by which every edge is judged
//! * `consent`, `finding`, `judgement`: the right to be told of an object, the finding about an entry, the findings about a dependent

mod absent;
mod address;
mod basis;
mod consent;
mod edges;
mod entry;
mod finding;
mod home;
mod judgement;
mod lockstep;
mod missing_status;
mod named;
mod node;
mod object;
mod observed;
mod part;
mod patience;
mod recovered;
mod remembered;
mod same_workload;
mod selected;
mod settle;
mod several;
mod since_boot;
mod slot;
mod stable;
mod wave;

pub(super) use basis::Judge;
pub use consent::{ClusterScoped, CrossNamespace, Policy, consents, consents_to_nobody};
pub use edges::can_start;
pub(super) use finding::Lead;
pub use judgement::{JudgedEdge, Judgement, Turn};
pub use observed::unobserved;
pub(super) use part::Typed;
pub use patience::Overdue;
pub(super) use patience::{expire, next_timeout};
pub(super) use slot::listed;
