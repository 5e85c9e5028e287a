//! Flags and counts that mean the same wherever they are found.

use super::{Hindrance, says_nothing, words};
use crate::path::get;
use serde_json::Value;

/// `false` until the object can be used.
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

/// A flag that is spelt as the status of a condition; others are a word, such as `NotReady`.
const NOT_SET: [&str; 3] = ["False", "false", "Unknown"];

/// What is there while something is wrong: an empty text, or an object of nothing but empty values, tells nothing. A
/// `lastError` may be history, so it is not among them.
const ERRORS: [&str; 4] = ["error", "errorMessage", "failureMessage", "failureReason"];

/// What a count is of follows these: `readyReplicas`, `availableNodes`, `numberReady` (as a DaemonSet has it).
const PREFIXES: [&str; 2] = ["ready", "available"];

/// The last words of fields that hold a count such as `1/3`.
const WRITTEN: [&str; 3] = ["ready", "available", "replicas"];

/// What falls short, if anything does.
pub(super) fn short(object: &Value) -> Option<Hindrance> {
    let status = object.get("status")?;
    for flag in FLAGS {
        let word = match status.get(flag) {
            Some(Value::Bool(false)) => "false",
            Some(Value::String(word))
                if NOT_SET.contains(&word.as_str()) || words::denies(word) =>
            {
                word
            }
            _ => continue,
        };
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
    counts(object, status)
        .or_else(|| updated(object, status))
        .or_else(|| written(status))
        .or_else(|| handled(status))
}

/// A handler of kopf's that has begun, and has neither succeeded nor given up. When all have ended, kopf takes the record away.
fn handled(status: &Value) -> Option<Hindrance> {
    let handlers = get(status, &["kopf", "progress"])?.as_object()?;
    let ended = |record: &Value| record["success"] == true || record["failure"] == true;
    let (name, _) = handlers
        .iter()
        .find(|(_, record)| record.is_object() && !ended(record))?;
    let message = format!("status.kopf.progress.{name} has not ended");
    Some(Hindrance::Busy(message))
}

/// Whether an error that is always written says that there is one: a structure that is left as it is made has zeros in it, too.
fn tells(error: &Value) -> bool {
    match error {
        Value::Bool(set) => *set,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::Object(fields) => fields.values().any(tells),
        other => !says_nothing(other),
    }
}

/// Fewer are ready than there should be. A count that is missing tells nothing: not every kind that has `replicas`
/// counts the ready ones too.
fn counts(object: &Value, status: &Value) -> Option<Hindrance> {
    let spec = object.get("spec");
    status.as_object()?.iter().find_map(|(name, have)| {
        let have = have.as_i64()?;
        let what = match name.as_str() {
            "numberReady" | "numberAvailable" => "desiredNumberScheduled".to_owned(),
            name => PREFIXES.iter().find_map(|prefix| of_what(name, prefix))?,
        };
        let wanted = spec.and_then(|spec| spec.get(&what));
        let wanted = wanted.or_else(|| status.get(&what))?.as_i64()?;
        (have < wanted).then(|| Hindrance::Busy(format!("status.{name}: {have}/{wanted}")))
    })
}

/// `replicas` of `readyReplicas`.
fn of_what(name: &str, prefix: &str) -> Option<String> {
    let what = name.strip_prefix(prefix)?;
    let first = what.chars().next().filter(char::is_ascii_uppercase)?;
    Some(format!("{}{}", first.to_ascii_lowercase(), &what[1..]))
}

/// Fewer are of the latest revision than there should be, unless a partition holds some back on purpose. A pause does not count: what is
/// paused half way is not what its spec says, as with a Deployment.
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

/// A count that is written out, `1/3`, beside the status' own fields or one level below.
fn written(status: &Value) -> Option<Hindrance> {
    let fields = status.as_object()?.iter();
    let all = fields.flat_map(|(name, value)| {
        let below = value.as_object().into_iter().flatten();
        std::iter::once((name, value)).chain(below)
    });
    all.filter_map(|(name, value)| Some((name, value.as_str()?)))
        .filter(|(name, _)| {
            let last = words::split(name).pop();
            last.is_some_and(|last| WRITTEN.contains(&last.as_str()))
        })
        .find_map(|(name, text)| {
            let (have, wanted) = text.split_once('/')?;
            let number = |text: &str| text.trim().parse::<u32>().ok();
            (number(have)? < number(wanted)?)
                .then(|| Hindrance::Busy(format!("status.{name}: {text}")))
        })
}
