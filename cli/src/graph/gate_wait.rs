//! The wait of a pod at its gate, or in its hold before.

use crate::gate_findings::Unjudged;
use jiff::Timestamp;
use rules::cause::RootCause;
use serde::Serialize;
use wire::Answer;

/// The wait of one pod, past or present, at its gate or in its hold before.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct GateWait {
    pub(super) pod: String,
    /// The id of the node whose object made the pod.
    pub(super) of: String,
    /// The length of the wait in seconds; until now, if the pod still waits.
    pub(super) seconds: i64,
    pub(super) since: Timestamp,
    /// Whether the pod is held before it takes a node.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) held: bool,
    /// Whether the gate trusts no certificate of sluice any more, so that it never opens.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub(super) stranded: bool,
    /// The end of the wait; `None` while the pod waits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<Timestamp>,
    /// The answer that the pod's gate would get; `None` once the pod waits no more, for a stranded pod, and where the answer is unknown.
    #[serde(flatten)]
    pub(super) answer: Option<Answer>,
    /// The root causes of the pod's wait: the ends of the chains behind its unsatisfied dependencies.
    #[serde(skip)]
    pub(super) roots: Vec<RootCause>,
    /// The dependencies of the answer that the caller lacks a right to judge.
    #[serde(skip)]
    pub(super) unjudged: Vec<Unjudged>,
    /// The pod's UID.
    #[serde(skip)]
    pub(super) uid: String,
}

impl GateWait {
    /// Whether the pod waits at its gate at this moment; false while it is held before it takes a node.
    pub(super) fn is_at_gate(&self) -> bool {
        self.until.is_none() && !self.held
    }
}
