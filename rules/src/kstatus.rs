//! kstatus, exactly: what kubernetes-sigs/cli-utils `pkg/kstatus` says of one object.

use jiff::Timestamp;
use serde_json::Value;

/// The words of kstatus.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// Being reconciled.
    InProgress,
    /// It reports failure.
    Failed,
    /// As it was asked to be.
    Current,
    /// Being deleted.
    Terminating,
    /// Does not exist.
    NotFound,
    /// Cannot be judged.
    Unknown,
}

/// What kstatus says of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// The status.
    pub status: Status,
    /// The reason of the synthetic condition, empty where there is none.
    pub reason: String,
    /// The message.
    pub message: String,
}

/// Why an object cannot be judged: kstatus answers such an object with `Unknown`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Error(pub String);

/// Judges one object at the time `now`.
pub fn compute(_object: &Value, _now: Timestamp) -> Result<Evaluation, Error> {
    Err(Error("not built".to_owned()))
}
