//! From the edges of one dependent to what its gate is told.

use crate::dependency::Dependency;
use crate::kstatus::Status;

/// Why an edge is satisfied or not: the closed set that may leave the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The edge's state holds.
    Satisfied,
    /// Not found, and the edge is optional.
    OptionalNotFound,
    /// Not created yet, or misspelt.
    NotFound,
    /// Being deleted.
    Terminating,
    /// Its controller has not looked at the latest change yet.
    NotObserved,
    /// Being rolled out, started or reconciled.
    InProgress,
    /// It reports a failure that it may recover from.
    Failed,
    /// A Job that has not completed.
    JobNotComplete,
    /// A Job that is suspended.
    JobSuspended,
    /// A Job that failed: for good.
    JobFailed,
    /// A Service with no endpoint that serves.
    NoEndpoints,
    /// A claim that is not bound.
    ClaimNotBound,
    /// No address was assigned yet.
    NoAddress,
    /// The kind has a status and nobody has written it yet.
    NoStatusYet,
    /// The API server does not serve this kind yet.
    KindNotServed,
    /// sluice may not watch this kind.
    KindForbidden,
    /// The target namespace has not consented.
    NotPermitted,
    /// The dependent waits for itself.
    SelfReference,
    /// The first list of this kind has not arrived yet.
    Syncing,
    /// The API server cannot be reached; what is known may be stale.
    Stale,
    /// The object cannot be judged as it is.
    Unjudgeable,
    /// The object asks for something that this version does not do.
    NotSupported,
}

/// What was found of one edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Whether the edge holds nobody back.
    pub satisfied: bool,
    /// kstatus of the object.
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
    /// What was found.
    pub judged: Judged,
}
