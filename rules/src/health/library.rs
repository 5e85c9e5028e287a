//! The rules that are built in: the files of `rules/library`, which `build.rs` puts into the program.

#[cfg(test)]
pub(super) mod file;

use super::{For, Rule, RuleEntry, Rules, unwritten};
use crate::judged::{Judged, Reason};
use crate::kstatus::Status;
use crate::path::get;
use crate::profile;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::LazyLock;

/// One rule of the library: the API group, the kind (`None`: every other kind of the group), and the expressions `current`, `inProgress`
/// and `failed`.
type Row = (
    &'static str,
    Option<&'static str>,
    &'static str,
    Option<&'static str>,
    Option<&'static str>,
);

mod table {
    use super::Row;
    include!(concat!(env!("OUT_DIR"), "/library.rs"));
}

/// The rules of the built-in library. An expression is compiled only when an object of its kind is first judged, because a process needs
/// few of the hundreds of rules. A test compiles all of them.
pub(super) static LIBRARY: LazyLock<Rules> = LazyLock::new(|| {
    let entry = |&(group, kind, current, in_progress, failed): &Row| {
        let rule = Rule::fixed(current, in_progress, failed);
        let subject = (group.to_owned(), kind.map(str::to_owned));
        (subject, Ok(Box::new(rule)))
    };
    Rules {
        entries: table::TABLE.iter().map(entry).collect(),
        unreadable: None,
    }
});

/// Judges an object by the rule that the library has for the object's kind; `None` without such a rule.
///
/// The caller has checked three facts, so that a rule can be about its kind alone: there is a status (unless the rule holds without one),
/// no condition is of an older generation, and no part of the object with conditions of its own is held back.
///
/// A rule for a whole group does not judge a kind that is known to have no status. A rule that names its kind does: some operators write
/// a status that the definition does not declare.
pub fn builtin(object: &Value, statusless: bool) -> Option<Judged> {
    judged_by(LIBRARY.found(object), object, statusless)
}

/// Judges an object by one entry of the library; `None` without an entry, and by the rule of a group for an object without a status of a kind that
/// has none. Any other object without a status waits, unless the rule holds without one.
fn judged_by(
    entry: Option<(&For, &RuleEntry)>,
    object: &Value,
    statusless: bool,
) -> Option<Judged> {
    let Some(((_, named), Ok(rule))) = entry else {
        return None;
    };
    let whole = filled(object);
    if !profile::has_no_status(object) {
        return Some(profile::hindered(object).unwrap_or_else(|| rule.judge(&whole, statusless)));
    }
    // Some kinds carry data, and of others the spec says that this object never gets a status.
    if rule.evaluate(&whole) == Ok(Status::Current) {
        return Some(Rule::told(object, Status::Current));
    }
    if statusless && named.is_none() {
        return None;
    }
    Some(unwritten(Reason::NoStatusYet.sentence().to_owned()))
}

/// The fields that every condition of a status has.
const SAID: [&str; 2] = ["type", "status"];

/// The object as the rules read it. An object without a spec or a status gets an empty one, and a condition without a field gets an empty
/// text, because CEL refuses to read a missing field.
fn filled(object: &Value) -> Cow<'_, Value> {
    let mut whole = Cow::Borrowed(object);
    for field in ["spec", "status"] {
        if object.get(field).is_none_or(Value::is_null) {
            whole.to_mut()[field] = json!({});
        }
    }
    let lacks = |condition: &Value| {
        condition.is_object() && SAID.iter().any(|field| condition.get(field).is_none())
    };
    let conditions = get(object, &["status", "conditions"]).and_then(Value::as_array);
    if conditions.is_some_and(|all| all.iter().any(lacks)) {
        let conditions = whole.to_mut()["status"]["conditions"].as_array_mut();
        for condition in conditions.into_iter().flatten() {
            for field in SAID {
                if let Some(map) = condition.as_object_mut() {
                    map.entry(field).or_insert_with(|| json!(""));
                }
            }
        }
    }
    whole
}

/// Whether the library's rule for the object's kind reads a generation.
pub(super) fn reads_a_generation(object: &Value) -> bool {
    LIBRARY.reads_a_generation(object)
}

/// Whether the library has a rule for the object's kind.
pub fn is_builtin(object: &Value) -> bool {
    LIBRARY.entry(object).is_some()
}

/// Judges an object as if the library had no rule for exactly its kind: by the next entry, such as the rule of its group.
#[cfg(test)]
pub(crate) fn without_the_nearest(object: &Value, statusless: bool) -> Option<Judged> {
    judged_by(LIBRARY.candidates(object).nth(1), object, statusless)
}
