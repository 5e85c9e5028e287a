//! kstatus against files.

#![expect(
    clippy::unwrap_used,
    reason = "a file of the wrong shape fails its test"
)]

mod corpus;
mod fixtures;

use jiff::Timestamp;
use rules::kstatus::{Evaluation, Status, compute};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// What the library makes of an object that it cannot judge: `Unknown`, with the error.
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

fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap()
        .to_owned()
}

/// Fails with every complaint at once, so that one run shows all that is wrong.
fn settle(cases: usize, complaints: &[String]) {
    assert!(cases > 0, "no case was found");
    assert!(
        complaints.is_empty(),
        "{} of {cases} cases:\n{}",
        complaints.len(),
        complaints.join("\n")
    );
}
