//! Conditions that a status keeps for each of its parts, as Gateway API documents them: a route's for each of its
//! parents, a policy's for each of its ancestors (policy attachment), a gateway's for each of its listeners, and a filter's
//! for each controller that reads it. Each implementation reports for its own parts only, so what is left over of another
//! one is not waited for.

use super::{Hindrance, conditions};
use crate::kstatus::{Conditions, text};
use crate::path::get;
use serde_json::Value;

/// Lists of a status, and the reference in each entry that tells what the part is.
const LISTS: [(&str, &[&str]); 4] = [
    ("parents", &["parentRef", "name"]),
    ("ancestors", &["ancestorRef", "name"]),
    ("listeners", &["name"]),
    ("controllers", &["controllerName"]),
];

/// What holds the first part back that something holds back.
pub(super) fn held(object: &Value) -> Option<Hindrance> {
    let missing = || missing_parent(object);
    LISTS
        .iter()
        .find_map(|list| of_list(object, list))
        .or_else(missing)
}

/// `False` in the end, until somebody changes the part or what it refers to.
const REFUSALS: [&str; 2] = ["Accepted", "ResolvedRefs"];

fn of_list(object: &Value, (list, name): &(&str, &[&str])) -> Option<Hindrance> {
    let parts = get(object, &["status", list])?.as_array()?;
    let generation = get(object, &["metadata", "generation"]).and_then(Value::as_i64);
    let stale = |part: &Value| conditions::outdated_of(part.get("conditions"), generation);
    // A controller that has gone leaves its entry behind, and another one reports for the same part.
    let is_replaced = |part: &Value| {
        let named = text(part, name, "");
        parts
            .iter()
            .any(|other| text(other, name, "") == named && stale(other).is_none())
    };
    let counted = parts
        .iter()
        .filter(|part| is_named(part, name) && is_wanted(object, list, text(part, name, "")));
    counted.into_iter().find_map(|part| {
        let finding = match stale(part) {
            Some(_) if is_replaced(part) => return None,
            Some(stale) => stale,
            None => reported(part)?,
        };
        Some(finding.within(&format!("status.{list} {}", text(part, name, ""))))
    })
}

/// Other kinds have lists of these names too, of entries that report nothing.
fn is_named(part: &Value, name: &[&str]) -> bool {
    get(part, name).is_some() && (name.len() > 1 || part.get("conditions").is_some())
}

fn reported(part: &Value) -> Option<Hindrance> {
    let conditions = Conditions::of(Some(part)).ok()?;
    if conditions.iter().next().is_none() {
        return Some(Hindrance::Busy("has no conditions yet".to_owned()));
    }
    let refused = || {
        REFUSALS
            .iter()
            .find_map(|kind| conditions.find(kind, "False"))
            .map(|condition| Hindrance::Bad(conditions::describe(&condition)))
    };
    refused().or_else(|| conditions::known(conditions))
}

/// Whether the spec of a route still names this parent.
fn is_wanted(object: &Value, list: &str, name: &str) -> bool {
    list != "parents"
        || parents(object).is_none_or(|refs| refs.iter().any(|it| text(it, &["name"], "") == name))
}

/// Every parent of a route has to report: a route that one of its gateways has not seen does not work there.
fn missing_parent(object: &Value) -> Option<Hindrance> {
    let reported = get(object, &["status", "parents"])?.as_array()?;
    let missing = parents(object)?
        .iter()
        .map(|wanted| text(wanted, &["name"], ""))
        .find(|name| {
            !reported
                .iter()
                .any(|part| text(part, &["parentRef", "name"], "") == *name)
        })?;
    Some(Hindrance::Busy(format!(
        "parent {missing} has not reported yet"
    )))
}

fn parents(object: &Value) -> Option<&Vec<Value>> {
    get(object, &["spec", "parentRefs"])?.as_array()
}
