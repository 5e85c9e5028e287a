//! Argo CD's Application: kstatus takes it for current at once, as it has no condition `Ready`.

use super::{Subject, failed, satisfied, waiting};
use crate::judged::{Judged, Reason};
use crate::kstatus::text;
use crate::path::get;
use serde_json::Value;

/// Judges whether an Application is ready: healthy and synced by the source that the spec has now, and no operation running or asked for. One that
/// is `Degraded` has failed.
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

/// Whether health and sync are those of the source in the current spec: Argo CD records the source that it has compared
/// (`ComparedTo` of its types). Where it has recorded none, or a hydrator writes the source, the answer is yes, because nothing
/// tells.
fn is_compared(object: &Value) -> bool {
    let field = |name: &str| get(object, &["spec", name]).filter(|it| !is_empty(it));
    if field("sourceHydrator").is_some() {
        return true;
    }
    // Where there are several, Argo CD leaves the single one out of account.
    let of = |name: &'static str| field(name).map(|wanted| (name, wanted));
    let Some((name, wanted)) = of("sources").or_else(|| of("source")) else {
        return true;
    };
    let compared = get(object, &["status", "sync", "comparedTo", name]);
    compared.is_none_or(|compared| as_written(wanted, false) == as_written(compared, false))
}

/// A value as Argo CD records it: without empty fields, and numbers as floats. In a `free` value (`valuesObject`) only nulls are
/// dropped.
fn as_written(value: &Value, free: bool) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.iter().map(|(name, value)| {
                let free = free || name == "valuesObject";
                (name.clone(), as_written(value, free))
            });
            let kept = |value: &Value| !value.is_null() && (free || !is_empty(value));
            Value::Object(fields.filter(|(_, value)| kept(value)).collect())
        }
        Value::Array(items) => {
            let items = items.iter().filter(|item| !item.is_null());
            items.map(|item| as_written(item, free)).collect()
        }
        Value::Number(number) => number.as_f64().into(),
        other => other.clone(),
    }
}

fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::String(text) => text.is_empty(),
        Value::Array(items) => items.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        Value::Bool(true) | Value::Number(_) => false,
    }
}
