//! The one word in which many kinds tell how they are: `status.phase`, `status.state`, `status.status`, `status.health`
//! and their compounds (`status.overallStatus`, `status.jobStatus.state`).
//!
//! A word holds an object back when English makes its sense plain: a failure, a participle of something under way
//! (`Provisioning`, `ApplyingChanges`), a `not`, a stop. Everything else, known or not, is no opinion. kubedog's ladder
//! of exact spellings needs a list of good words too, and guesses wrong for each word that is on neither list.
//!
//! `Running` is the end for a service and the middle for a task, so there the kind's own name decides: kinds that
//! are called `...Run`, `...Job`, `...Backup` complete.

mod sense;

pub(in crate::profile) use sense::completes;
pub(super) use sense::{denies, holds_back, is_bad, is_busy, is_done, split};

use super::Hindrance;
use sense::{Sense, sense};
use serde_json::{Map, Value};

/// The last words of the names of fields that hold one word about how the object is.
const FIELDS: [&str; 7] = [
    "phase",
    "state",
    "status",
    "health",
    "stage",
    "result",
    "condition",
];

/// The worst hindrance by the words in the fields of an object's status, for an object of this kind; `None` where no word holds it back.
pub(super) fn told(kind: &str, object: &Value) -> Option<Hindrance> {
    let status = object.get("status")?.as_object()?;
    let findings = texts(status).filter_map(|(path, text)| read(kind, &path, text));
    worst(findings)
}

/// The hindrance by one word, which stands at this path, for an object of this kind; `None` for a word that does not hold it back.
fn read(kind: &str, path: &str, text: &str) -> Option<Hindrance> {
    match sense(text)? {
        Sense::Bad => Some(Hindrance::Bad(format!("{path} is {text}"))),
        Sense::Busy | Sense::Stopped => Some(Hindrance::Busy(format!("{path} is {text}"))),
        Sense::Running => completes(kind)
            .then(|| Hindrance::Busy(format!("{path} is {text}, and {kind} has to complete"))),
    }
}

/// The worst hindrance of the words of a part of the status, which has this path.
pub(super) fn of_part(kind: &str, path: &str, part: &Value) -> Option<Hindrance> {
    let fields = FIELDS
        .iter()
        .filter_map(|field| Some((field, part.get(field)?.as_str()?)));
    worst(fields.filter_map(|(field, text)| read(kind, &format!("{path}.{field}"), text)))
}

/// Whether a part of the status has a word in one of [`FIELDS`].
pub(super) fn has_word(part: &Value) -> bool {
    let is_word = |field: &&str| {
        part.get(field)
            .and_then(Value::as_str)
            .is_some_and(|it| !it.is_empty())
    };
    FIELDS.iter().any(is_word)
}

/// The first hindrance that is bad, else the first hindrance.
fn worst(findings: impl Iterator<Item = Hindrance>) -> Option<Hindrance> {
    let mut first = None;
    for finding in findings {
        if matches!(finding, Hindrance::Bad(_)) {
            return Some(finding);
        }
        first.get_or_insert(finding);
    }
    first
}

/// Whether a word stands in one of the status' own fields that does not hold back an object of this kind.
pub(super) fn is_well(kind: &str, object: &Value) -> bool {
    let status = object.get("status").and_then(Value::as_object);
    let own = status
        .into_iter()
        .flatten()
        .filter(|(name, _)| is_word(name));
    let mut words = own.filter_map(|(name, value)| Some((name, value.as_str()?)));
    words.any(|(name, text)| !text.is_empty() && read(kind, name, text).is_none())
}

/// Whether a field of this name holds a word that tells whether its object is ready.
pub(super) fn is_word(name: &str) -> bool {
    holds_a_word(name) && !is_history(name)
}

/// Whether a field of the status holds a word, with a known sense or without.
pub(super) fn any(object: &Value) -> bool {
    let status = object.get("status").and_then(Value::as_object);
    status.is_some_and(|status| texts(status).any(|(_, text)| !text.is_empty()))
}

/// The texts of the fields of the status that hold a word, and of those one level below, each with its path. Fields about the past are left out.
fn texts(status: &Map<String, Value>) -> impl Iterator<Item = (String, &str)> {
    let fields = status.iter().filter(|(name, _)| !is_history(name));
    fields.flat_map(|(name, value)| {
        let own = value.as_str().filter(|_| holds_a_word(name));
        let own = own.map(|text| (format!("status.{name}"), text));
        let below = value.as_object().into_iter().flatten();
        let below = below.filter_map(move |(inner, value)| {
            let text = value.as_str().filter(|_| FIELDS.contains(&inner.as_str()));
            text.map(|text| (format!("status.{name}.{inner}"), text))
        });
        own.into_iter().chain(below)
    })
}

fn holds_a_word(name: &str) -> bool {
    split(name)
        .last()
        .is_some_and(|last| FIELDS.contains(&last.as_str()))
}

/// Whether a field tells of another thing's past: `lastBackup`, `previousState`. The last operation or update is no such field:
/// it made the object as it is now.
pub(super) fn is_history(name: &str) -> bool {
    let words = split(name);
    let is = |at: usize, vocabulary: &[&str]| {
        words
            .get(at)
            .is_some_and(|word| vocabulary.contains(&word.as_str()))
    };
    is(0, &["last", "previous", "history"]) && !is(1, &["operation", "update"])
}
