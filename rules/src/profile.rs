//! The rules of a dependent that go beyond kstatus: the `ready` rules, and those of the other states.
//!
//! kstatus comes first, read tolerantly (see the `tolerant` module). An object that is being deleted, or whose controller has not
//! seen its latest spec, is not satisfied, of any kind. Then the rule of the kind decides; for a kind without one, kstatus does.
//! For the state `ready`, an object's own health (`sluice.dev/health`, HIP-0025) takes the place of the rule.

mod address;
mod application;
mod claim;
mod custom;
mod evidence;
mod generation;
mod health;
mod job;
mod judged;
mod kueue;
mod pod;
mod service;
mod simple;
mod since;
mod tolerant;
mod workload;

use crate::dependency::State;
use crate::ending_kinds;
use crate::expression::Expression;
use crate::judged::{Judged, Reason, unavailable};
use crate::kept;
use crate::kinds::Kind;
use crate::kstatus::{self, Conditions, Evaluation, Status};
use crate::lookup::Unavailable;
use crate::path::get;
use crate::text::one_line;
use crate::world::{Ready, World};
use evidence::Evidence;
pub(crate) use generation::says_a_generation;
use jiff::Timestamp;
use judged::{failed, from_kstatus, satisfied, waiting};
use serde_json::Value;
pub(crate) use service::pods_behind;
pub use since::since;
use std::borrow::Cow;

/// The longest message about one object, in bytes.
const LONGEST_MESSAGE: usize = 1024;

/// The input of the rule of a kind: a tolerant reading of the object, and the result of kstatus for it.
struct Subject<'a> {
    kind: &'a Kind,
    object: &'a Value,
    /// The original object, which its author had in mind: nothing in it is repaired.
    original: &'a Value,
    conditions: Conditions<'a>,
    evaluation: Evaluation,
    world: &'a Evidence<'a>,
    /// The health expressions of the edge; empty for the rule of the object's kind.
    health: &'a [Expression],
}

/// Judges one object that was found, against the state that an edge asks for.
///
/// `kind` is how the dependency names it; the rule is chosen by the object's own group and kind, and by `kind` where
/// the object carries neither, as the entries of a list do.
pub fn judge(
    kind: &Kind,
    object: &Value,
    state: State,
    world: &dyn World,
    now: Timestamp,
) -> Judged {
    judge_by(kind, object, (state, &[]), world, now)
}

/// Judges one object for an edge that may carry its own expressions for `ready`. They count before the object's own health,
/// because a consumer knows its needs. Without expressions the answer is that of [`judge`].
pub fn judge_by(
    kind: &Kind,
    object: &Value,
    asked: (State, &[Expression]),
    world: &dyn World,
    now: Timestamp,
) -> Judged {
    judge_with(kind, object, asked, &Evidence::new(world, now))
}

/// Whether an object that was found is ready, and whether that holds until the object itself changes.
pub fn readiness(kind: &Kind, object: &Value, world: &dyn World, now: Timestamp) -> Ready {
    let evidence = Evidence::new(world, now);
    let judged = judge_with(kind, object, (State::Ready, &[]), &evidence);
    match (judged.satisfied, evidence.was_looked_at()) {
        (ready, false) => Ready::Lasting(ready),
        (ready, true) => Ready::Momentary(ready),
    }
}

fn judge_with(
    kind: &Kind,
    object: &Value,
    asked: (State, &[Expression]),
    evidence: &Evidence<'_>,
) -> Judged {
    let mut judged = judge_object(kind, object, asked, evidence);
    // Objects and controllers may put anything into a word or a message, even a megabyte; our message is one line of a log and of
    // a table, and is kept for each edge that leads to the object.
    judged.message = one_line(judged.message, LONGEST_MESSAGE);
    judged
}

fn judge_object(
    kind: &Kind,
    object: &Value,
    (state, health): (State, &[Expression]),
    world: &Evidence<'_>,
) -> Judged {
    if kept::is_too_large(object) {
        // The metadata proves that the object exists.
        return if state == State::Present {
            present(None)
        } else {
            unavailable(Unavailable::TooLarge, kind, false)
        };
    }
    let whole = match health::whole(kind, object, (state, health), world) {
        Ok(whole) => whole,
        Err(why) => return unavailable(why, kind, false),
    };
    let original = &*whole;
    let object = &*tolerant::read(kind, original);
    let computed = kstatus::compute_at(object, &|| world.now());
    if state == State::Present {
        return present(computed.ok());
    }
    let (evaluation, conditions) = match (computed, Conditions::read(object)) {
        (Ok(evaluation), Ok(conditions)) => (evaluation, conditions),
        (Err(error), _) | (_, Err(error)) => {
            return Judged {
                status: Status::Unknown,
                ..waiting(Reason::Unjudgeable, error.to_string())
            };
        }
    };
    if evaluation.status == Status::Terminating || evaluation.reason == kstatus::NOT_OBSERVED {
        return from_kstatus(evaluation);
    }
    let subject = Subject {
        kind,
        object,
        original,
        conditions,
        evaluation,
        world,
        health,
    };
    match state {
        State::Present | State::Started => started(subject),
        State::Ready => ready(subject),
        State::Available => available(subject),
        State::Complete => complete(subject),
        State::Addressed => address::addressed(&subject),
        // Of the Service itself no more can be said.
        State::Connects => waiting(Reason::NotProbed, Reason::NotProbed.sentence().to_owned()),
    }
}

/// The finding for the state `present` about an object that was found: it is satisfied, whichever status it has. `evaluation` is only shown.
fn present(evaluation: Option<Evaluation>) -> Judged {
    Judged {
        status: evaluation.map_or(Status::Unknown, |evaluation| evaluation.status),
        ..satisfied("it exists")
    }
}

/// Judges `ready` by the edge's expressions, else by the object's own health, else by the rule of its kind: the administrator's,
/// the library's, sluice's, that of kstatus.
fn ready(subject: Subject<'_>) -> Judged {
    if let Some(judged) = health::by_edge(subject.original, subject.health) {
        return judged;
    }
    let health::Health { judged, warning } = health::judge(subject.kind, subject.original);
    let mut judged = judged.unwrap_or_else(|| {
        let ends = ends(subject.object);
        let judged = by_kind(subject);
        // The rule of a kind that comes to an end knows both ends.
        match judged.reason {
            Reason::Failed if ends => failed(Reason::FailedForGood, judged.message),
            _ => judged,
        }
    });
    if let Some(warning) = warning {
        judged.message = format!("{}; {warning}", judged.message);
    }
    judged
}

fn by_kind(subject: Subject<'_>) -> Judged {
    let statusless = custom::is_statusless(&subject);
    if let Some(judged) = subject.world.health(&for_rules(&subject), statusless) {
        return judged;
    }
    let current = subject.evaluation.status == Status::Current;
    match kstatus::group_and_kind(subject.object) {
        ("apps" | "extensions", "Deployment") => workload::deployment(subject),
        ("apps" | "extensions", "DaemonSet") => workload::daemon_set(subject),
        ("apps", "StatefulSet") => workload::stateful_set(subject),
        ("batch", "Job") => job::complete(&subject),
        ("", "Pod") => pod::ready(subject),
        ("", "Service") => service::ready(subject),
        ("", "PersistentVolumeClaim") => claim::ready(subject),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => simple::definition(subject),
        // Kinds that kstatus takes for current as soon as they exist.
        ("", "ReplicationController") if current => workload::replication_controller(&subject),
        ("", "Namespace") if current => simple::namespace(&subject),
        ("apiregistration.k8s.io", "APIService") if current => simple::api_service(&subject),
        ("policy", "PodDisruptionBudget") if current => simple::budget(subject),
        ("argoproj.io", "Application") if current => application::ready(&subject),
        _ if matches!(subject.kind, Kind::Custom { .. }) => custom::ready(subject),
        _ => from_kstatus(subject.evaluation),
    }
}

/// Whether an object is of a custom kind that comes to an end.
fn ends(object: &Value) -> bool {
    let (group, kind) = kstatus::group_and_kind(object);
    ending_kinds::named(group, kind).is_some()
}

/// The object for a health rule: conditions that are a map are put back; the tolerant reading leaves them out, because kstatus
/// cannot read a map.
fn for_rules<'a>(subject: &Subject<'a>) -> Cow<'a, Value> {
    let conditions = get(subject.original, &["status", "conditions"]);
    let Some(map) = conditions.filter(|it| it.is_object()) else {
        return Cow::Borrowed(subject.object);
    };
    let mut object = subject.object.clone();
    object["status"]["conditions"] = map.clone();
    Cow::Owned(object)
}

/// Judges `started` by kstatus, which is content with a running Job and also with a suspended one; a suspended Job is not started
/// here.
fn started(subject: Subject<'_>) -> Judged {
    match kstatus::group_and_kind(subject.object) {
        ("batch", "Job") => job::started(subject),
        _ => from_kstatus(subject.evaluation),
    }
}

fn available(subject: Subject<'_>) -> Judged {
    match kstatus::group_and_kind(subject.object) {
        ("apps" | "extensions", "Deployment") => workload::available(subject),
        _ => ready(subject),
    }
}

fn complete(subject: Subject<'_>) -> Judged {
    match kstatus::group_and_kind(subject.object) {
        ("batch", "Job") => job::complete(&subject),
        ("", "Pod") => pod::complete(subject),
        // A kind that is named after a process that ends is ready once the process has ended well.
        (_, kind)
            if ends(subject.object)
                || matches!(subject.kind, Kind::Custom { .. }) && custom::completes(kind) =>
        {
            ready(subject)
        }
        (_, kind) => waiting(
            Reason::NotSupported,
            format!("nobody knows when a {kind} completes; write ready in place of complete"),
        ),
    }
}

/// Whether an object of a custom kind that is ready is so by the generic rules alone: the object has no health annotations, its
/// kind no rule, and its status no condition `Ready`. The generic rules do not count for a kind without a status.
pub fn rests_on_vocabulary(kind: &Kind, object: &Value, world: &dyn World) -> bool {
    let object = &*tolerant::read(kind, object);
    let conditions = Conditions::read(object).unwrap_or_default();
    matches!(kind, Kind::Custom { .. })
        && kstatus::group_and_kind(object) != ("argoproj.io", "Application")
        && !custom::has_no_status(object)
        && !kept::says_its_health(object)
        && !custom::is_ready(conditions)
        && world.health(object, false).is_none()
}

/// Whether no controller has written a status of the object.
pub(crate) fn has_no_status(object: &Value) -> bool {
    custom::has_no_status(object)
}

/// Judges an object as not ready where one of its conditions is of an older generation or contradicts another of its type, or one of its parts is
/// not ready; `None` for any other object.
pub(crate) fn hindered(object: &Value) -> Option<Judged> {
    custom::hindered(object)
}

/// The object's own explanation of a status that is not `Current`, for the reader of a message; `None` where it has none.
pub(crate) fn told(object: &Value, status: Status) -> Option<String> {
    custom::told(object, status)
}

#[cfg(test)]
mod tests;
