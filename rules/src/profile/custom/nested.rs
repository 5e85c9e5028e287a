//! The words of the parts of a status, where nothing sums them up: `status.plugin.ready: false`, `status.components[].phase:
//! Pending`, `status.planStatus.deploy.status: IN_PROGRESS`.
//!
//! An object that reports itself well has taken its parts into account: a part may be optional, or be replaced. So the parts are
//! read only where neither a condition, nor a word, nor a flag or count of the status itself reports the object well.

use super::{Hindrance, conditions, counts, words};
use crate::kstatus::Conditions;
use serde_json::Value;

/// The fields that name an entry of a list; a list whose entries have none is skipped.
const NAMES: [&str; 5] = ["name", "id", "component", "node", "pod"];

/// The hindrance of the first part of a status that has one, by its word, flag or count; `None` where the status itself reports the object well.
pub(super) fn held(kind: &str, object: &Value, conditions: Conditions<'_>) -> Option<Hindrance> {
    let summed_up = conditions::is_well(kind, conditions)
        || words::is_well(kind, object)
        || counts::is_met(object);
    if summed_up {
        return None;
    }
    let flag = counts::part_not_set(object.get("status")?);
    let flag = flag.map(|flag| Hindrance::Busy(format!("status.{flag} is false")));
    flag.or_else(|| parts(object).find_map(|(path, part)| of_part(kind, &path, part)))
}

/// Whether any part of the status tells whether that part is ready.
pub(super) fn any(object: &Value) -> bool {
    parts(object).any(|(_, part)| {
        words::has_word(part) || counts::has_flag(part) || counts::has_count(None, part)
    })
}

fn of_part(kind: &str, path: &str, part: &Value) -> Option<Hindrance> {
    let flag = || {
        let (flag, word) = counts::not_set(part)?;
        Some(Hindrance::Busy(format!("{path}.{flag} is {word}")))
    };
    let count = || {
        let short = counts::counts(None, part)?;
        Some(Hindrance::Busy(format!("{path}.{short}")))
    };
    words::of_part(kind, path, part)
        .or_else(flag)
        .or_else(count)
}

/// The parts of a status, each with its path: the mappings one level below the status, those below them, and the entries of lists that have a name.
/// The conditions and the fields about the past are left out.
fn parts(object: &Value) -> impl Iterator<Item = (String, &Value)> {
    let status = object.get("status").and_then(Value::as_object);
    let fields = status.into_iter().flatten();
    let fields = fields.filter(|(name, _)| *name != "conditions" && !words::is_history(name));
    fields.flat_map(|(name, value)| {
        let path = format!("status.{name}");
        let entries = value.as_array().into_iter().flatten();
        let below = value.as_object().into_iter().flatten();
        let below = below.filter(|(inner, _)| !words::is_history(inner));
        let entries = entries.filter_map({
            let path = path.clone();
            move |entry| {
                let called = NAMES.iter().find_map(|field| entry.get(field)?.as_str())?;
                Some((format!("{path} {called}"), entry))
            }
        });
        let below = below.map({
            let path = path.clone();
            move |(inner, part)| (format!("{path}.{inner}"), part)
        });
        let own = value.is_object().then_some((path, value));
        let all = own.into_iter().chain(below).chain(entries);
        all.filter(|(_, part)| part.is_object())
    })
}
