//! The checks that hold for every kind: deletion, generation, the standard conditions, and `Ready`.

use super::field::{nested_int, nested_text, text};
use super::{Conditions, Evaluation, KstatusError, Status};
use crate::path::get;
use serde_json::Value;

/// The type of the standard condition that is `True` while an object works towards its spec.
pub(super) const RECONCILING: &str = "Reconciling";

/// The type of the standard condition that is `True` while an object cannot reach the state of its spec.
pub(super) const STALLED: &str = "Stalled";

/// The reason where the controller has not seen the latest spec.
pub(crate) const NOT_OBSERVED: &str = "LatestGenerationNotObserved";

const GENERATION: [&str; 2] = ["metadata", "generation"];
const OBSERVED: [&str; 2] = ["status", "observedGeneration"];

pub(super) fn deleted(object: &Value) -> Result<Option<Evaluation>, KstatusError> {
    let since = nested_text(object, &["metadata", "deletionTimestamp"])?;
    Ok(since
        .filter(|since| !since.is_empty())
        .map(|_| Evaluation::new(Status::Terminating, "", "Resource scheduled for deletion")))
}

/// In progress while `status.observedGeneration` differs from `metadata.generation`, in either direction; `None` where they are equal or one is
/// absent.
pub(super) fn generation(object: &Value) -> Result<Option<Evaluation>, KstatusError> {
    let Some(generation) = nested_int(object, &GENERATION)? else {
        return Ok(None);
    };
    let Some(observed) = nested_int(object, &OBSERVED)? else {
        return Ok(None);
    };
    if observed == generation {
        return Ok(None);
    }
    let kind = text(object, &["kind"], "");
    Ok(Some(Evaluation::in_progress(
        NOT_OBSERVED,
        format!("{kind} generation is {generation}, but latest observed generation is {observed}"),
    )))
}

/// In progress while a `DaemonSet` lacks `metadata.generation` or `status.observedGeneration`; only for this kind does kstatus
/// demand both. Runs after [`generation`], which compares the two.
pub(super) fn generation_set(object: &Value) -> Option<Evaluation> {
    let missing = |path: &[&str]| get(object, path).is_none();
    let (reason, field) = if missing(&GENERATION) {
        ("NoGeneration", "metadata.generation")
    } else if missing(&OBSERVED) {
        ("NoObservedGeneration", "status.observedGeneration")
    } else {
        return None;
    };
    let kind = text(object, &["kind"], "");
    Some(Evaluation::in_progress(
        reason,
        format!("{kind} {field} not found"),
    ))
}

/// In progress by a condition `Reconciling`, or failed by a condition `Stalled`, by the first of these that is `True`; `None` without one.
pub(super) fn standard(conditions: Conditions<'_>) -> Option<Evaluation> {
    conditions
        .iter()
        .find_map(|condition| match (condition.kind, condition.status) {
            (RECONCILING, "True") => {
                Some(Evaluation::in_progress(condition.reason, condition.message))
            }
            (STALLED, "True") => Some(Evaluation::failed(condition.reason, condition.message)),
            _ => None,
        })
}

/// Current or in progress by the first condition `Ready` whose status is `True`, `False` or `Unknown`; `None` without one.
pub(super) fn ready(conditions: Conditions<'_>) -> Option<Evaluation> {
    conditions
        .iter()
        .filter(|condition| condition.kind == "Ready")
        .find_map(|condition| match condition.status {
            "True" => Some(Evaluation::current("Resource is Ready")),
            "False" | "Unknown" => {
                Some(Evaluation::in_progress(condition.reason, condition.message))
            }
            _ => None,
        })
}
