//! Argo CD's Application: kstatus takes it for current at once, as it has no condition `Ready`.

use super::{Subject, failed, satisfied, waiting};
use crate::judged::{Judged, Reason};
use crate::kstatus::text;
use crate::path::get;
use serde_json::{Map, Value};

/// Healthy and synced by the source that the spec has now, and no operation running or asked for.
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
        ("Healthy", "Synced", "Running" | "Terminating") => {
            waiting(Reason::InProgress, "Application has an operation running")
        }
        ("Healthy", "Synced", _) if subject.object["operation"].is_object() => waiting(
            Reason::InProgress,
            "Application has an operation that has not begun",
        ),
        ("Healthy", "Synced", _) if !is_compared(subject.object) => waiting(
            Reason::InProgress,
            "Application has a source that Argo CD has not looked at yet",
        ),
        ("Healthy", "Synced", _) => satisfied("Application is Healthy and Synced"),
        ("Degraded", _, _) => failed(Reason::Failed, "Application is Degraded"),
        (health, sync, _) => waiting(
            Reason::InProgress,
            format!("Application health: {}, sync: {}", told(health), told(sync)),
        ),
    }
}

/// Whether health and sync are of the source that the spec has now: Argo CD writes down which one it has compared (`ComparedTo`
/// of its types). Where it has written none, nobody can tell.
fn is_compared(object: &Value) -> bool {
    ["sources", "source"].iter().all(|field| {
        let compared = get(object, &["status", "sync", "comparedTo", field]);
        let wanted = get(object, &["spec", field]);
        let both = wanted.zip(compared);
        both.is_none_or(|(wanted, compared)| without_empty(wanted) == without_empty(compared))
    })
}

/// Argo CD writes no empty field, which a manifest may have.
fn without_empty(value: &Value) -> Value {
    let is_empty = |value: &Value| match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    };
    match value {
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| (name.clone(), without_empty(value)));
            Value::Object(
                fields
                    .filter(|(_, value)| !is_empty(value))
                    .collect::<Map<_, _>>(),
            )
        }
        Value::Array(items) => items.iter().map(without_empty).collect(),
        other => other.clone(),
    }
}
