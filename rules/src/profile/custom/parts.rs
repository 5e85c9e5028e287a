//! Conditions that a status keeps for each of its parts, as Gateway API documents them: a route's for each of its parents, a
//! policy's for each of its ancestors (policy attachment), a gateway's for each of its listeners, and a filter's for each
//! controller that reads it. Each implementation reports for its own parts only, so an entry that a removed implementation has
//! left is not waited for.

use super::{Hindrance, conditions};
use crate::kstatus::{Conditions, text};
use crate::path::get;
use serde_json::Value;
use std::cell::LazyCell;
use std::collections::HashSet;

/// The lists of a status that hold parts, and the path of the reference in each entry that names the part.
const LISTS: [(&str, &[&str]); 4] = [
    ("parents", &["parentRef", "name"]),
    ("ancestors", &["ancestorRef", "name"]),
    ("listeners", &["name"]),
    ("controllers", &["controllerName"]),
];

/// The hindrance of the first part in one of [`LISTS`] that has one, by its conditions; else that of a parent which has not reported yet.
pub(super) fn held(object: &Value) -> Option<Hindrance> {
    let missing = || missing_parent(object);
    LISTS
        .iter()
        .find_map(|list| of_list(object, list))
        .or_else(missing)
}

/// Whether the status has a list of parts that tell whether they are ready.
pub(super) fn any(object: &Value) -> bool {
    LISTS.iter().any(|(list, name)| {
        let parts = get(object, &["status", list]).and_then(Value::as_array);
        parts.into_iter().flatten().any(|part| is_named(part, name))
    })
}

/// Conditions that stay `False` until a user changes the part or the object that it refers to.
const REFUSALS: [&str; 2] = ["Accepted", "ResolvedRefs"];

fn of_list(object: &Value, (list, name): &(&str, &[&str])) -> Option<Hindrance> {
    let parts = get(object, &["status", list])?.as_array()?;
    let generation = get(object, &["metadata", "generation"]).and_then(Value::as_i64);
    let stale = |part: &Value| conditions::outdated_of(part.get("conditions"), generation);
    // A controller that has gone leaves its entry behind, and another one reports for the same part.
    let reported_again = LazyCell::new(|| {
        let fresh = parts.iter().filter(|part| stale(part).is_none());
        names(fresh, name)
    });
    // Whether the spec of a route still names this parent.
    let parents = parents(object).filter(|_| *list == "parents");
    let wanted = parents.map(|parents| names(parents, &["name"]));
    let is_wanted = |part: &str| wanted.as_ref().is_none_or(|wanted| wanted.contains(part));
    let named = parts.iter().filter(|part| is_named(part, name));
    let mut named = named.map(|part| (part, text(part, name, "")));
    named.find_map(|(part, called)| {
        if !is_wanted(called) {
            return None;
        }
        let finding = match stale(part) {
            Some(_) if reported_again.contains(called) => return None,
            Some(stale) => stale,
            None => reported(part)?,
        };
        Some(finding.within(&format!("status.{list} {called}")))
    })
}

/// Whether an entry of a list is a part with conditions. Some kinds have a list of the same name whose entries report nothing.
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
    refused().or_else(|| conditions::known("", conditions))
}

/// The names of the entries: the texts at this path.
fn names<'v>(each: impl IntoIterator<Item = &'v Value>, path: &[&str]) -> HashSet<&'v str> {
    let each = each.into_iter();
    each.map(|it| text(it, path, "")).collect()
}

/// The hindrance of a route for which a parent in its spec has not reported yet: a route that one of its gateways has not seen does not work there.
fn missing_parent(object: &Value) -> Option<Hindrance> {
    let reported = get(object, &["status", "parents"])?.as_array()?;
    let reported = names(reported, &["parentRef", "name"]);
    let mut wanted = parents(object)?.iter().map(|it| text(it, &["name"], ""));
    let missing = wanted.find(|name| !reported.contains(name))?;
    Some(Hindrance::Busy(format!(
        "parent {missing} has not reported yet"
    )))
}

fn parents(object: &Value) -> Option<&Vec<Value>> {
    get(object, &["spec", "parentRefs"])?.as_array()
}
