//! Argo CD's Application: kstatus takes it for current at once, as it has no condition `Ready`.

use super::{Subject, failed, satisfied, waiting};
use crate::judged::{Judged, Reason};
use crate::kstatus::text;

/// Healthy, synced, and no operation running.
pub(super) fn ready(subject: &Subject<'_>) -> Judged {
    let field = |path: &[&str]| text(subject.object, path, "");
    let health = field(&["status", "health", "status"]);
    let sync = field(&["status", "sync", "status"]);
    let operation = field(&["status", "operationState", "phase"]);
    if health.is_empty() && sync.is_empty() {
        return waiting(Reason::NoStatusYet, Reason::NoStatusYet.sentence());
    }
    let told = |text: &str| {
        if text.is_empty() {
            "unknown".to_owned()
        } else {
            text.to_owned()
        }
    };
    match (health, sync, operation) {
        ("Healthy", "Synced", "Running") => {
            waiting(Reason::InProgress, "Application has an operation running")
        }
        ("Healthy", "Synced", _) => satisfied("Application is Healthy and Synced"),
        ("Degraded", _, _) => failed(Reason::Failed, "Application is Degraded"),
        (health, sync, _) => waiting(
            Reason::InProgress,
            format!("Application health: {}, sync: {}", told(health), told(sync)),
        ),
    }
}
