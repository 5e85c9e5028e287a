//! Flags and counts with one meaning in every kind.

use super::{Hindrance, says_nothing, words};
use crate::path::get;
use serde_json::Value;

/// Flags of a status that are `false` until the object can be used.
const FLAGS: [&str; 18] = [
    "ok",
    "ready",
    "isReady",
    "healthy",
    "available",
    "readyToUse",
    "succeeded",
    "valid",
    "provisioned",
    "bound",
    "complete",
    "completed",
    "deployed",
    "success",
    "accepted",
    "synced",
    "upToDate",
    "reconciled",
];

/// The texts of a flag that is not set, where it is spelt as the status of a condition. A word such as `NotReady` is recognised by its `not`.
const NOT_SET: [&str; 3] = ["False", "false", "Unknown"];

/// Fields of a status that are there while something is wrong. An empty text, or an object that holds only empty values, tells nothing. A
/// `lastError` may be history, so it is not among them.
const ERRORS: [&str; 4] = ["error", "errorMessage", "failureMessage", "failureReason"];

/// The prefixes of a count; the counted thing follows: `readyReplicas`, `availableNodes`, `numberReady` (in a DaemonSet).
const PREFIXES: [&str; 2] = ["ready", "available"];

/// The last words of fields that hold a count such as `1/3`.
const WRITTEN: [&str; 3] = ["ready", "available", "replicas"];

/// Counts that do not name the counted thing: `ready: 1` of `replicas: 2`.
const BARE: [&str; 3] = ["ready", "available", "running"];

/// Counts of the things that have ended, and so do not run any more.
const ENDED: [&str; 3] = ["succeeded", "completed", "finished"];

/// The fields with the wanted number, where the count does not name the counted thing.
const WANTED: [&str; 4] = ["replicas", "desired", "target", "total"];

/// The hindrance by the first field of an object's status that falls short: a flag that is not set, else an error, else a count below the wanted
/// number, else a handler of kopf that has not ended.
pub(super) fn short(object: &Value) -> Option<Hindrance> {
    let status = object.get("status")?;
    if let Some((flag, word)) = not_set(status) {
        return Some(Hindrance::Busy(format!("status.{flag} is {word}")));
    }
    for field in ERRORS {
        let error = match status.get(field) {
            Some(Value::String(text)) if !text.is_empty() => text.clone(),
            Some(error @ Value::Object(fields)) if tells(error) => {
                let message = fields.get("message").and_then(Value::as_str);
                message.unwrap_or("see the object").to_owned()
            }
            _ => continue,
        };
        return Some(Hindrance::Bad(format!("status.{field}: {error}")));
    }
    let spec = object.get("spec");
    counts(spec, status)
        .map(|short| Hindrance::Busy(format!("status.{short}")))
        .or_else(|| updated(object, status))
        .or_else(|| written(status))
        .or_else(|| handled(status))
}

/// The first of [`FLAGS`], in a status or in a part of one, that is not set, with the text of its value; `None` where none is unset.
pub(super) fn not_set(part: &Value) -> Option<(&'static str, &str)> {
    FLAGS.iter().find_map(|flag| match part.get(flag)? {
        Value::Bool(false) => Some((*flag, "false")),
        Value::String(word) if NOT_SET.contains(&word.as_str()) || words::denies(word) => {
            Some((*flag, word.as_str()))
        }
        _ => None,
    })
}

/// The name of the first field of a status that is the flag of a part, such as `proxyReady`, and is `false`.
pub(super) fn part_not_set(status: &Value) -> Option<&str> {
    let mut fields = status.as_object().into_iter().flatten();
    let (name, _) = fields.find(|(name, value)| **value == false && is_flag_of_part(name))?;
    Some(name)
}

fn is_flag_of_part(name: &str) -> bool {
    let words = words::split(name);
    words.len() > 1 && words.last().is_some_and(|last| last == "ready")
}

/// Whether one of [`FLAGS`] in the status is set, or a count of ready things, above zero, has reached the wanted number.
pub(super) fn is_met(object: &Value) -> bool {
    let Some(status) = object.get("status") else {
        return false;
    };
    let set = |flag: &&str| {
        let value = status.get(flag);
        value.is_some_and(|value| *value == true || *value == "True" || *value == "true")
    };
    let full = |(_, have, wanted): (_, i64, i64)| have > 0 && have >= wanted;
    FLAGS.iter().any(set) || compared(object.get("spec"), status).any(full)
}

/// Whether the status has a flag of readiness, or a count of ready things with the wanted number, whether they are met or not.
pub(super) fn any(object: &Value) -> bool {
    let Some(status) = object.get("status") else {
        return false;
    };
    has_flag(status)
        || has_count(object.get("spec"), status)
        || written_counts(status).next().is_some()
}

/// Whether a part of a status has one of [`FLAGS`], with a value that is not empty, or the flag of a part, such as `proxyReady`, as a boolean. It
/// does not matter whether the flag is set.
pub(super) fn has_flag(part: &Value) -> bool {
    let is_flag = |flag: &&str| part.get(flag).is_some_and(|it| !says_nothing(it));
    let mut fields = part.as_object().into_iter().flatten();
    FLAGS.iter().any(is_flag)
        || fields.any(|(name, value)| value.is_boolean() && is_flag_of_part(name))
}

/// Whether the status has a number of ready things, and the status or `spec` the wanted number. It does not matter whether the one has reached the
/// other.
pub(super) fn has_count(spec: Option<&Value>, part: &Value) -> bool {
    compared(spec, part).next().is_some()
}

/// Whether a field of this name is a flag of readiness, or a count of ready things.
pub(super) fn is_known(name: &str) -> bool {
    let counts = || {
        PREFIXES
            .iter()
            .any(|prefix| of_what(name, prefix).is_some())
    };
    is_flag(name) || BARE.contains(&name) || counts()
}

/// Whether a field of this name is a flag of readiness.
pub(super) fn is_flag(name: &str) -> bool {
    FLAGS.contains(&name)
}

/// The hindrance of an object on which an operator made with kopf still works: one of the handlers that kopf notes in the status has neither
/// succeeded nor given up. When all have ended, kopf takes the record away.
fn handled(status: &Value) -> Option<Hindrance> {
    let handlers = get(status, &["kopf", "progress"])?.as_object()?;
    let ended = |record: &Value| record["success"] == true || record["failure"] == true;
    let (name, _) = handlers
        .iter()
        .find(|(_, record)| record.is_object() && !ended(record))?;
    let message = format!("status.kopf.progress.{name} has not ended");
    Some(Hindrance::Busy(message))
}

/// Whether the value of a status field for an error tells of an error. Some controllers always write the field, with
/// zeros or empty texts where there is no error.
fn tells(error: &Value) -> bool {
    match error {
        Value::Bool(set) => *set,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Object(fields) => fields.values().any(tells),
        other => !says_nothing(other),
    }
}

/// The first count of ready things that is below the wanted number, as text: `readyReplicas: 1/3`. A missing count tells nothing: not every kind
/// with `replicas` counts the ready ones too.
pub(super) fn counts(spec: Option<&Value>, status: &Value) -> Option<String> {
    let mut short = compared(spec, status).filter(|(_, have, wanted)| have < wanted);
    short
        .next()
        .map(|(name, have, wanted)| format!("{name}: {have}/{wanted}"))
}

/// The counts of the ready things, by the names of their fields: how many are ready, and how many are wanted, by `spec` or else by the status. A
/// count without a wanted number is left out.
fn compared<'v>(
    spec: Option<&'v Value>,
    status: &'v Value,
) -> impl Iterator<Item = (&'v str, i64, i64)> {
    let number = move |what: &str| {
        let wanted = spec.and_then(|spec| spec.get(what));
        wanted.or_else(|| status.get(what))?.as_i64()
    };
    let fields = status.as_object().into_iter().flatten();
    fields.filter_map(move |(name, have)| {
        let name = name.as_str();
        let have = have.as_i64()?;
        let wanted = match name {
            "numberReady" | "numberAvailable" => number("desiredNumberScheduled"),
            "running" if ENDED.iter().any(|what| status.get(what).is_some()) => None,
            name if BARE.contains(&name) => WANTED.iter().find_map(|what| number(what)),
            name => number(&PREFIXES.iter().find_map(|prefix| of_what(name, prefix))?),
        };
        Some((name, have, wanted?))
    })
}

/// The things that a field with this prefix counts: `replicas` for `readyReplicas`. `None` for a field without the prefix.
fn of_what(name: &str, prefix: &str) -> Option<String> {
    let what = name.strip_prefix(prefix)?;
    let first = what.chars().next().filter(char::is_ascii_uppercase)?;
    Some(format!("{}{}", first.to_ascii_lowercase(), &what[1..]))
}

/// The hindrance of an object with fewer `updatedReplicas` than it asks for, unless a partition holds some back on purpose. A pause is no excuse: a
/// rollout that is paused half way does not match its spec, as with a Deployment.
fn updated(object: &Value, status: &Value) -> Option<Hindrance> {
    let number = |value: Option<&Value>| value.and_then(Value::as_i64);
    let partitions = [
        &["spec", "updateStrategy", "partition"] as &[_],
        &["spec", "updateStrategy", "rollingUpdate", "partition"],
    ];
    let mut set = partitions.iter().filter_map(|path| get(object, path));
    if set.any(|value| value.as_i64() != Some(0)) {
        return None;
    }
    let have = number(status.get("updatedReplicas"))?;
    let wanted =
        number(get(object, &["spec", "replicas"])).or_else(|| number(status.get("replicas")))?;
    (have < wanted).then(|| Hindrance::Busy(format!("status.updatedReplicas: {have}/{wanted}")))
}

/// The hindrance by a count that is written as text, `1/3`, and falls short, in a field of the status or one level below.
fn written(status: &Value) -> Option<Hindrance> {
    let mut short = written_counts(status).filter(|(_, _, have, wanted)| have < wanted);
    let (name, text, ..) = short.next()?;
    Some(Hindrance::Busy(format!("status.{name}: {text}")))
}

/// The counts that a status writes as text, such as `1/3`, in its own fields and one level below: name, text, how many there are, and how many are
/// wanted.
fn written_counts(status: &Value) -> impl Iterator<Item = (&str, &str, u32, u32)> {
    let fields = status.as_object().into_iter().flatten();
    let all = fields.flat_map(|(name, value)| {
        let below = value.as_object().into_iter().flatten();
        std::iter::once((name, value)).chain(below)
    });
    all.filter_map(|(name, value)| {
        let text = value.as_str()?;
        let last = words::split(name).pop()?;
        let (have, wanted) = text.split_once('/')?;
        let number = |text: &str| text.trim().parse::<u32>().ok();
        let (have, wanted) = (number(have)?, number(wanted)?);
        WRITTEN
            .contains(&last.as_str())
            .then_some((name.as_str(), text, have, wanted))
    })
}
