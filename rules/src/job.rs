//! Whether a Job has ended: only its terminal conditions tell, never its counters.

use crate::kstatus::{Condition, Conditions};
use serde_json::Value;

/// How a Job has ended.
pub(crate) enum End<'a> {
    /// It has done its work.
    Complete,
    /// It has failed, for good.
    Failed(Condition<'a>),
}

/// How a Job with these conditions has ended, if it has.
pub(crate) fn end(conditions: Conditions<'_>) -> Option<End<'_>> {
    if conditions.is_true("Complete") {
        return Some(End::Complete);
    }
    conditions.find("Failed", "True").map(End::Failed)
}

/// Whether a Job has ended, either way. A suspended one has not: it could go on at any moment.
pub(crate) fn has_ended(job: &Value) -> bool {
    Conditions::read(job).is_ok_and(|conditions| end(conditions).is_some())
}

/// Whether a Job has done its work.
pub fn is_complete(job: &Value) -> bool {
    Conditions::read(job).is_ok_and(|conditions| matches!(end(conditions), Some(End::Complete)))
}
