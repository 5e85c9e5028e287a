//! Judges whether a Namespace, a `CustomResourceDefinition`, an `APIService` or a `PodDisruptionBudget` is ready.

use super::{Subject, failed, from_kstatus, satisfied, waiting};
use crate::judged::{Judged, Reason};
use crate::kstatus::{Status, text};

pub(super) fn namespace(subject: &Subject<'_>) -> Judged {
    match text(subject.object, &["status", "phase"], "") {
        "Active" => satisfied("Namespace is Active"),
        "" => waiting(Reason::InProgress, "Namespace has no phase yet"),
        phase => waiting(Reason::InProgress, format!("Namespace is {phase}")),
    }
}

/// Judges a definition by kstatus, and by condition `NamesAccepted`: its names can be lost to another definition after it was
/// established.
pub(super) fn definition(subject: Subject<'_>) -> Judged {
    if subject.evaluation.status != Status::Current || subject.conditions.is_true("NamesAccepted") {
        return from_kstatus(subject.evaluation);
    }
    waiting(
        Reason::InProgress,
        "CRD is established, but its names are not accepted",
    )
}

/// Judges the condition `Available` of an APIService; kstatus has no rule for it.
pub(super) fn api_service(subject: &Subject<'_>) -> Judged {
    let mut conditions = subject.conditions.iter();
    match conditions.find(|condition| condition.kind == "Available") {
        Some(condition) if condition.status == "True" => satisfied("APIService is available"),
        Some(condition) => waiting(
            Reason::InProgress,
            format!(
                "APIService is not available: {} {}",
                condition.reason, condition.message
            ),
        ),
        None => waiting(Reason::InProgress, "APIService is not available yet"),
    }
}

/// Judges a PodDisruptionBudget by its condition `DisruptionAllowed`, which kstatus does not read: ready once it is there, whether True or False,
/// because a budget that is used up serves its purpose. With the reason `SyncFailed` it has failed.
pub(super) fn budget(subject: Subject<'_>) -> Judged {
    let mut conditions = subject.conditions.iter();
    match conditions.find(|condition| condition.kind == "DisruptionAllowed") {
        None => waiting(
            Reason::InProgress,
            "PodDisruptionBudget has not been worked out yet",
        ),
        Some(condition) if condition.reason == "SyncFailed" => failed(
            Reason::Failed,
            format!(
                "PodDisruptionBudget cannot be worked out: {}",
                condition.message
            ),
        ),
        Some(_) => from_kstatus(subject.evaluation),
    }
}
