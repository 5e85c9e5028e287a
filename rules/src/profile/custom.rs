//! Custom resources.

use super::{Subject, from_kstatus, waiting};
use crate::kstatus::{get, instant};
use crate::verdict::{Judged, Reason};
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde_json::Value;

/// How long a new object is given its first status where nobody knows whether its kind has one.
const GRACE: SignedDuration = SignedDuration::from_secs(10);

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
