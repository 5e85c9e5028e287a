//! Tests of kstatus on cases in files.

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

/// Judges an object as a reader of the library sees it: an object that cannot be judged is `Unknown`, with the error as the message.
fn judge(object: &Value, now: Timestamp) -> Evaluation {
    compute(object, now).unwrap_or_else(|error| Evaluation {
        status: Status::Unknown,
        reason: String::new(),
        message: error.to_string(),
        detail: None,
    })
}

/// Returns the time of judgement for a case that names none. No time in such a case is later.
fn some_time() -> Timestamp {
    "2025-01-01T00:00:00Z".parse().unwrap()
}
