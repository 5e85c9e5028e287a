//! kstatus against files.

#![expect(
    clippy::unwrap_used,
    reason = "a file of the wrong shape fails its test"
)]

mod corpus;
mod fixtures;
mod library;

use jiff::Timestamp;
use rules::kstatus::{Evaluation, Status, compute};
use serde_json::Value;

/// The result of the library, which for an object that it cannot judge is `Unknown`, with the error.
fn judge(object: &Value, now: Timestamp) -> Evaluation {
    compute(object, now).unwrap_or_else(|error| Evaluation {
        status: Status::Unknown,
        reason: String::new(),
        message: error.to_string(),
        detail: None,
    })
}

/// The time where a case names none; nothing in such a case is younger.
fn some_time() -> Timestamp {
    "2025-01-01T00:00:00Z".parse().unwrap()
}
