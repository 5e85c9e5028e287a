//! Judges one object of a manifest, which makes one line of the answer.

use crate::manifest::Entry;
use jiff::Timestamp;
use rules::dependency::State;
use rules::judged::{Judged, Reason};
use rules::keys;
use rules::kinds::{self, Kind};
use rules::kstatus::{self, Evaluation, Status};
use rules::object::group_kind;
use rules::profile;
use rules::verdict;
use rules::world::World;
use serde::Serialize;
use serde_json::Value;

/// The verdict on one object of a manifest.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct ObjectVerdict {
    pub(super) kind: String,
    pub(super) namespace: String,
    pub(super) name: String,
    /// A status of kstatus. By the rules of sluice it is `Current` exactly where a dependent may start.
    pub(super) status: &'static str,
    /// The reason of the status: with the rules of kstatus that of its condition, empty for `Current`; with sluice's a word such as `Satisfied`.
    pub(super) reason: String,
    pub(super) message: String,
}

impl ObjectVerdict {
    fn new(object: &Value, status: Status, reason: &str, message: String) -> Self {
        let text = |pointer: &str| {
            let value = object.pointer(pointer).and_then(Value::as_str);
            value.unwrap_or_default().to_owned()
        };
        Self {
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
            status: status.word(),
            reason: reason.to_owned(),
            message,
        }
    }

    fn unknown(object: &Value, message: String) -> Self {
        Self::new(
            object,
            Status::Unknown,
            Reason::Unjudgeable.label(),
            message,
        )
    }
}

/// The verdict of kstatus. Where the entry has a fault, or the library returns an error, the status is `Unknown` and the message is that fault or
/// error.
pub(super) fn kstatus(entry: &Entry, now: Timestamp) -> ObjectVerdict {
    let object = &entry.object;
    if let Some(problem) = &entry.problem {
        return ObjectVerdict::unknown(object, problem.to_string());
    }
    match kstatus::compute(object, now) {
        Ok(evaluation) => {
            let Evaluation {
                status,
                reason,
                message,
                ..
            } = evaluation;
            ObjectVerdict::new(object, status, &reason, message)
        }
        Err(error) => ObjectVerdict::unknown(object, error.to_string()),
    }
}

/// The verdict of sluice's rules on whether the object is ready for its dependents. An entry with a fault, or without a valid kind, is `Unknown`.
/// A ready object that no rule knows gets a hint that this rests on common words alone.
pub(super) fn sluice(entry: &Entry, world: &dyn World, now: Timestamp) -> ObjectVerdict {
    let object = &entry.object;
    if let Some(problem) = &entry.problem {
        return ObjectVerdict::unknown(object, problem.to_string());
    }
    let kind = match kind_of(object) {
        Ok(kind) => kind,
        Err(problem) => return ObjectVerdict::unknown(object, problem),
    };
    let Judged {
        satisfied: _, // equals the status `Current`
        status,
        reason,
        mut message,
    } = verdict::unobserved(
        profile::judge(&kind, object, State::Ready, world, now),
        (&kind, object),
        world,
        now,
    );
    if status == Status::Current && profile::rests_on_vocabulary(&kind, object, world) {
        message.push_str(&hint(&kind));
    }
    ObjectVerdict::new(object, status, reason.label(), message)
}

/// The advice to the user where no rule has decided on the kind.
fn hint(kind: &Kind) -> String {
    format!(
        "; no rule knows {kind}, so this rests on common words alone: to be sure, write {} on the object, or a health rule for its kind",
        keys::HEALTH
    )
}

/// The kind of an object, by its `kind` and `apiVersion`; an error that says why, where one of them is missing or malformed, or where the core group
/// has no such kind.
pub(crate) fn kind_of(object: &Value) -> Result<Kind, String> {
    let field = |name: &str| match object.get(name) {
        Some(Value::String(text)) if !text.is_empty() => Ok(text.as_str()),
        Some(Value::String(_)) | None => Err(format!("it has no {name}")),
        Some(_) => Err(format!("its {name} is not a text")),
    };
    let (kind, version) = (field("kind")?, field("apiVersion")?);
    if version.matches('/').count() > 1 {
        return Err(format!(
            "its apiVersion {version:?} has more than one slash"
        ));
    }
    let (group, _) = group_kind(object);
    match kinds::builtin(group, kind) {
        Some(builtin) => Ok(Kind::Builtin(builtin)),
        None if group.is_empty() => Err(format!("{version} has no kind {kind:?} with a status")),
        None => Ok(Kind::Custom {
            group: group.to_owned(),
            word: kind.to_owned(),
        }),
    }
}
