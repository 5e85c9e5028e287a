//! Custom resources.
//!
//! kstatus takes a custom resource without a condition `Ready` for current as soon as it exists, so a gate would open on a
//! database that is still being made. The generic rules close that hole for kinds without a rule of their own. They are all on,
//! and they are safe because each can only hold back, each reads a field by its documented convention, and each ignores a word,
//! type or field that it does not know:
//!
//! * **A condition `Ready` decides**, as kstatus has it (Kubernetes' API conventions make it the summary of the rest), unless it is there
//!   twice and only one of them is `True`.
//!   Only conditions that tell of the latest spec can hold back an object that is `Ready`: they say that what is ready
//!   is the spec before. The other rules are for objects without that condition.
//! * **The generation of a condition** (`metav1.Condition.observedGeneration`): a condition of an older generation
//!   tells of an older spec, as for `kubectl wait`.
//! * **Conditions of a known polarity** ([`conditions`]): `Available: "False"`, `Degraded: "True"`.
//! * **Conditions of parts** ([`parts`]): of the parents of a route, the ancestors of a policy, the listeners of a gateway, the
//!   controllers of a filter.
//! * **Words in the fields where kinds keep one** ([`words`]): `status.phase: Provisioning`, `status.state: error`.
//! * **Flags and counts** ([`counts`]): `status.ready: false`, fewer `readyReplicas` than `spec.replicas`.
//! * **The words of parts** ([`nested`]): flags, words and counts one level deeper, where nothing sums them up.
//! * **The announced fields** ([`summary`]): the definition announces the condition, word, flag or count that sums a status up,
//!   and it is not written yet.
//! * **No status yet**, of a kind that has one: no controller has looked at the object. A `...Template` is exempt: its controller
//!   looks at it when it is used, and many never get a status, unless the definition shows the status.
//!
//! A kind whose healthy objects look different needs a rule of its own, which takes the place of all of these.

mod conditions;
mod counts;
mod nested;
mod parts;
mod summary;
mod told;
mod words;

pub(super) use conditions::{OF_THE_SPEC, is_ready};
pub(super) use words::completes;

use super::{Subject, failed, from_kstatus, waiting};
use crate::definition::Declared;
use crate::judged::{Judged, Reason};
use crate::kinds::Kind;
use crate::kstatus::{Conditions, Status, instant};
use crate::lookup::Lookup;
use crate::path::get;
use jiff::SignedDuration;
use jiff::tz::TimeZone;
use serde_json::Value;

/// How long a new object may take to get its first status where it is unknown whether its kind has one.
const GRACE: SignedDuration = SignedDuration::from_secs(10);

/// The result of a generic rule that holds the object back.
#[derive(Debug, PartialEq, Eq)]
enum Hindrance {
    /// The controller has not looked at the latest spec.
    Stale(String),
    /// The object is on its way to being ready.
    Busy(String),
    /// The object reports a failure.
    Bad(String),
    /// The status is begun, and the field that sums it up is still missing.
    Untold(String),
}

impl Hindrance {
    /// The hindrance of a part as a hindrance of the whole object: its message begins with the name of the part.
    fn within(self, part: &str) -> Self {
        let told = |message| format!("{part}: {message}");
        match self {
            Self::Stale(message) => Self::Stale(told(message)),
            Self::Busy(message) => Self::Busy(told(message)),
            Self::Bad(message) => Self::Bad(told(message)),
            Self::Untold(message) => Self::Untold(told(message)),
        }
    }
}

impl From<Hindrance> for Judged {
    fn from(finding: Hindrance) -> Self {
        match finding {
            Hindrance::Stale(message) => waiting(Reason::NotObserved, message),
            Hindrance::Busy(message) => waiting(Reason::InProgress, message),
            Hindrance::Bad(message) => failed(Reason::Failed, message),
            Hindrance::Untold(message) => waiting(Reason::NoStatusYet, message),
        }
    }
}

/// Judges a custom resource by kstatus, and then by the generic rules. Before both, one without a status waits, unless its kind is known or likely to
/// have none.
pub(super) fn ready(subject: Subject<'_>) -> Judged {
    if has_no_status(subject.object) && expects_status(&subject) {
        return waiting(Reason::NoStatusYet, Reason::NoStatusYet.sentence());
    }
    if subject.evaluation.status != Status::Current {
        return from_kstatus(subject.evaluation);
    }
    match generic(&subject) {
        Some(finding) => finding.into(),
        None => from_kstatus(subject.evaluation),
    }
}

fn generic(subject: &Subject<'_>) -> Option<Hindrance> {
    let (object, conditions, kind) = (subject.object, subject.conditions, kind_of(subject));
    let of_the_spec =
        || conditions::outdated(object).or_else(|| conditions::unapplied(subject.conditions));
    if conditions::is_ready(conditions) {
        return of_the_spec();
    }
    of_the_spec()
        .or_else(|| conditions::known(kind, conditions))
        .or_else(|| conditions::unfinished(kind, conditions))
        .or_else(|| parts::held(object))
        .or_else(|| words::told(kind, object))
        .or_else(|| counts::short(object))
        .or_else(|| nested::held(kind, object, conditions))
        .or_else(|| nothing_reported(object))
        .or_else(|| conditions::unfinished_triple(kind, conditions))
        .or_else(|| untold(subject))
}

/// The hindrance of an object whose status lacks the summary that the definition announces; `None` for an object without any status.
fn untold(subject: &Subject<'_>) -> Option<Hindrance> {
    let kind = kind_of(subject);
    if has_no_status(subject.object) {
        return None;
    }
    let declared = match subject.world.declared(subject.kind) {
        Lookup::Found(declared) => declared,
        // An aggregated API serves the kind: no definition announces anything.
        Lookup::NotFound => return None,
        Lookup::Unavailable(_) => Declared::unseen(),
    };
    if is_template(kind, &declared) {
        return None;
    }
    summary::missing(kind, subject.object, subject.conditions, &declared)
}

/// The name of the kind as the object itself has it, else the word by which a list names the kind.
fn kind_of<'a>(subject: &'a Subject<'_>) -> &'a str {
    let kind = subject.object.get("kind").and_then(Value::as_str);
    kind.unwrap_or(subject.kind.word())
}

/// Judges an object as not ready where one of its conditions is of an older generation or contradicts another of its type, or one of its parts is
/// not ready; else `None`. The check applies to every kind, even to one with a rule in the library.
pub(super) fn hindered(object: &Value) -> Option<Judged> {
    let conditions = Conditions::read(object).unwrap_or_default();
    let hindrance = conditions::outdated(object)
        .or_else(|| conditions::contradicted(conditions))
        .or_else(|| parts::held(object));
    hindrance.map(Judged::from)
}

/// The object's own explanation of a status that is not `Current`; `None` where it has none.
pub(super) fn told(object: &Value, status: Status) -> Option<String> {
    told::told(object, status)
}

/// The hindrance of an object whose list of conditions is there and still empty, and whose status has no word, no set flag and no complete count
/// either.
fn nothing_reported(object: &Value) -> Option<Hindrance> {
    let conditions = get(object, &["status", "conditions"])?.as_array()?;
    (conditions.is_empty() && !words::any(object) && !counts::is_met(object))
        .then(|| Hindrance::Busy("status.conditions is empty".to_owned()))
}

/// Whether no controller has written a status: it is missing, or holds only empty values, as defaults of the schema leave them. A
/// number or a flag counts as written, and so does an observed generation without conditions.
pub(super) fn has_no_status(object: &Value) -> bool {
    object.get("status").is_none_or(says_nothing)
}

fn says_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.values().all(says_nothing),
        Value::Bool(_) | Value::Number(_) => false,
    }
}

/// Whether an object has no status because its kind is known to have none. The definition is only read for an object without a
/// status.
pub(super) fn is_statusless(subject: &Subject<'_>) -> bool {
    let declared = || subject.world.declared(subject.kind);
    matches!(subject.kind, Kind::Custom { .. })
        && has_no_status(subject.object)
        && matches!(declared(), Lookup::Found(declared) if !declared.status)
}

fn expects_status(subject: &Subject<'_>) -> bool {
    let kind = kind_of(subject);
    match subject.world.declared(subject.kind) {
        Lookup::Found(declared) => declared.status && !is_template(kind, &declared),
        Lookup::NotFound | Lookup::Unavailable(_) if is_template(kind, &Declared::unseen()) => {
            false
        }
        // No definition says so: its controller gets a while.
        Lookup::NotFound => {
            let created = get(subject.object, &["metadata", "creationTimestamp"])
                .and_then(|created| instant(created.as_str()?));
            let now = TimeZone::UTC.to_datetime(subject.world.now());
            created.is_none_or(|created| now.saturating_sub(GRACE) < created)
        }
        Lookup::Unavailable(_) => true,
    }
}

/// Whether a controller looks at objects of the kind only when they are used: its name ends in `Template`, and no printer column of its definition
/// shows the status.
fn is_template(kind: &str, declared: &Declared) -> bool {
    let summary = declared.summary.as_ref();
    kind.ends_with("Template") && summary.is_none_or(|summary| summary.columns.is_empty())
}
