//! The object's own explanation of why it is not ready, for the reader of a message. Nothing here decides.
//!
//! A condition is shown with its type, status, reason and message: a message alone (`all jobs are ready`) may be that of a
//! condition whose `False` is good news.

use super::conditions::{describe, is_hoped_for, is_negative};
use super::{counts, words};
use crate::judged::Judged;
use crate::kstatus::{Condition, Conditions, Status};
use crate::path::get;
use serde_json::Value;

/// The conditions that sum up the others, the best first.
const SUMMARIES: [&str; 4] = ["Ready", "Available", "Healthy", "Progressing"];

/// The fields of the status in which kinds write a sentence for people.
const SENTENCES: [&str; 3] = ["message", "error", "reason"];

/// The fields of the status in which kinds write a sentence about a failure.
const FAILURES: [&str; 3] = ["failureMessage", "failureReason", "errorMessage"];

/// The fields of the status in which kinds write one word, the best first.
const WORDS: [&str; 3] = ["phase", "state", "status"];

/// The object's explanation of a status that is not `Current`: of a failure the condition or the sentence that tells of it, else the word, the
/// sentence and the unmet condition of its status. `None` where it has none.
pub(super) fn told(object: &Value, status: Status) -> Option<String> {
    let conditions = Conditions::read(object).unwrap_or_default();
    let told = if status == Status::Failed {
        failure(conditions)
            .or_else(|| sentence(object, &FAILURES))
            .or_else(|| sentence(object, &SENTENCES))
    } else {
        None
    };
    told.or_else(|| under_way(object, conditions))
}

/// The condition that made an object fail: one whose `True` is trouble, a type named after a failure first; else one that did not
/// come true, with a reason that reads as a failure.
fn failure(conditions: Conditions<'_>) -> Option<String> {
    let is_true = |it: &Condition<'_>| it.status == "True" && is_negative(it.kind);
    let named = |it: &Condition<'_>| is_true(it) && it.kind.starts_with("Fail");
    let lost =
        |it: &Condition<'_>| it.status != "True" && !is_negative(it.kind) && is_failure(it.reason);
    let found = conditions.iter().find(named);
    let found = found.or_else(|| conditions.iter().find(is_true));
    let found = found.or_else(|| summary(conditions, lost));
    found
        .or_else(|| conditions.iter().find(lost))
        .map(|it| describe(&it))
}

/// The explanation of an object on its way: its words, and the first unmet condition that sums it up.
fn under_way(object: &Value, conditions: Conditions<'_>) -> Option<String> {
    let word = word(object);
    let sentence = sentence(object, &SENTENCES);
    let mut told: Vec<String> = word.into_iter().chain(sentence).collect();
    let condition = unmet(conditions).filter(|it| !told.iter().any(|told| repeats(told, it)));
    told.extend(condition.map(|it| describe(&it)));
    if told.is_empty() {
        told.extend(counts::short(object).map(|it| Judged::from(it).message));
    }
    (!told.is_empty()).then(|| told.join("; "))
}

/// The first condition that holds an object back: first a summary, then one whose `True` is work under way, then one that comes
/// true in the end. A condition whose `False` is good news never does.
fn unmet(conditions: Conditions<'_>) -> Option<Condition<'_>> {
    // Operators that report both set `Progressing` to False when nothing is left to do.
    let at_rest = conditions.iter().any(|it| it.kind == "Degraded");
    let not_true = |it: &Condition<'_>| {
        it.status != "True" && !(it.kind == "Progressing" && it.status == "False" && at_rest)
    };
    let busy = |it: &Condition<'_>| it.status == "True" && words::holds_back(it.kind);
    let lacks = |it: &Condition<'_>| it.status != "True" && is_hoped_for(it.kind);
    let found = summary(conditions, not_true);
    let found = found.or_else(|| conditions.iter().find(busy));
    found.or_else(|| conditions.iter().find(lacks))
}

/// Whether the reason of a condition tells of a failure, or of a limit that was exceeded.
fn is_failure(reason: &str) -> bool {
    words::is_bad(reason) || reason.ends_with("Exceeded")
}

fn summary<'c>(
    conditions: Conditions<'c>,
    which: impl Fn(&Condition<'c>) -> bool,
) -> Option<Condition<'c>> {
    SUMMARIES
        .iter()
        .find_map(|kind| conditions.iter().find(|it| it.kind == *kind && which(it)))
}

/// Whether a text already contains the message of a condition, so that the condition need not be told as well.
fn repeats(told: &str, condition: &Condition<'_>) -> bool {
    !condition.message.is_empty() && told.contains(condition.message)
}

/// Writes the word of a status with its reason: `status.phase is Setting up primary: Creating primary instance orders-1`. `None` for a status without
/// a word.
fn word(object: &Value) -> Option<String> {
    let (field, word) = WORDS
        .iter()
        .find_map(|field| Some((field, text(object, field)?)))?;
    let mut told = format!("status.{field} is {word}");
    if let Some(reason) = text(object, &format!("{field}Reason")) {
        told = format!("{told}: {reason}");
    }
    if word == "Paused" {
        told.push_str(", until somebody resumes or promotes it, or its time is over");
    }
    Some(told)
}

/// Writes the first of these `fields` that a status has: `status.message: CanaryPauseStep`. `None` where it has none of them.
fn sentence(object: &Value, fields: &[&str]) -> Option<String> {
    let found = fields.iter().find_map(|it| Some((it, text(object, it)?)));
    found.map(|(field, text)| format!("status.{field}: {text}"))
}

fn text<'o>(object: &'o Value, field: &str) -> Option<&'o str> {
    let text = get(object, &["status", field])?.as_str()?;
    (!text.is_empty()).then_some(text)
}

#[cfg(test)]
mod tests;
