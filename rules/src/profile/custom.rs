//! Custom resources, and custom health on any object.

use super::{Subject, from_kstatus, waiting};
use crate::kstatus::{get, instant};
use crate::verdict::{Judged, Reason};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde_json::Value;

/// The prefix of the expressions of ours: the list, and the keys for one path.
const HEALTH: &str = "sluice.dev/health";

/// HIP-0025. One without the other has no effect, there as here.
const READINESS: [&str; 2] = ["helm.sh/readiness-success", "helm.sh/readiness-failure"];

/// How long a new object is given its first status where nobody knows whether its kind has one.
const GRACE: SignedDuration = SignedDuration::from_secs(10);

/// The annotation that asks for custom health, if there is one. Custom health is not evaluated yet; to go on as if it
/// were not there would open a gate that somebody took care to close.
pub(super) fn health_key(object: &Value) -> Option<&str> {
    let annotations = get(object, &["metadata", "annotations"])?.as_object()?;
    if READINESS.iter().all(|key| annotations.contains_key(*key)) {
        return Some(READINESS[0]);
    }
    annotations
        .keys()
        .map(String::as_str)
        .find(|key| key.starts_with(HEALTH))
}

/// As kstatus, but an object without a status of a kind that declares one is not ready: kstatus takes it for current
/// before its controller has seen it.
pub(super) fn ready(subject: Subject<'_>) -> Judged {
    let status = subject.object.get("status");
    let empty = status.is_none_or(|status| match status {
        Value::Object(fields) => fields.is_empty(),
        other => other.is_null(),
    });
    if empty && expects_status(&subject) {
        return waiting(Reason::NoStatusYet, Reason::NoStatusYet.sentence());
    }
    from_kstatus(subject.evaluation)
}

fn expects_status(subject: &Subject<'_>) -> bool {
    subject
        .world
        .declares_status(subject.kind)
        .unwrap_or_else(|| {
            let created = get(subject.object, &["metadata", "creationTimestamp"])
                .and_then(|created| instant(created.as_str()?));
            let now = TimeZone::UTC.to_datetime(subject.now);
            created.is_none_or(|created| now.saturating_sub(GRACE) < created)
        })
}
