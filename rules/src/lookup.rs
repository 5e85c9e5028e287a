//! What may be known of something in the cluster, and why nothing may be.

use serde::{Deserialize, Serialize};

/// What is known of something in the cluster.
#[derive(Debug, Clone, PartialEq)]
pub enum Lookup<T> {
    /// It is there.
    Found(T),
    /// It is not there, and we would know.
    NotFound,
    /// Nobody can say, and why.
    Unavailable(Unavailable),
}

/// What is remembered of a Job that completed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompletedJob {
    /// `metadata.uid`
    pub uid: String,
    /// `metadata.creationTimestamp`, in seconds since 1970.
    pub created: i64,
    /// `status.completionTime`, in seconds since 1970.
    pub completed: i64,
    /// The value of `sluice.dev/revision`, for dependents in lockstep.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
}

/// Why nothing is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unavailable {
    /// The first list has not arrived yet.
    Syncing,
    /// The API server does not serve this kind; its CustomResourceDefinition may come later.
    NotServed,
    /// The API server forbids sluice to list or watch this kind.
    Forbidden,
    /// The watch has been disconnected for longer than the bound; what it said last may no longer hold.
    Stale,
    /// Whether the API server serves this kind cannot be told: it was asked and did not say, as while an aggregated API
    /// is down.
    Undiscovered,
}
