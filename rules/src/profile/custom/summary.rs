//! The field that sums a status up, and has not been written yet.
//!
//! A controller often begins a status before it knows whether the object is ready: it notes a generation, a name, the first step.
//! The definition of the kind tells which field is to come: `kubectl get` shows it in a column, or the schema names a field that
//! sums a status up by convention. The columns count first. The schema is a poorer witness, since not every field of it is ever
//! written, so it counts only where nothing else in the status tells whether the object is ready.

use super::{Hindrance, conditions, counts, nested, parts, says_nothing, words};
use crate::definition::{Column, Declared, Shown, Summary};
use crate::kstatus::Conditions;
use crate::path::get;
use serde_json::Value;

/// Fields that sum up a status by the conventions of Kubernetes' API, and of the kinds that follow these conventions. A flag of
/// readiness, such as `ready` ([`counts::is_flag`]), sums a status up as well.
const SUMS_UP: [&str; 4] = ["conditions", "phase", "state", "status"];

/// The count of a status that Go leaves out while it is zero.
const READY: &str = "readyReplicas";

/// The hindrance of an object that lacks the condition, field or count that its kind's definition announces as the summary of the status; `None`
/// where it is there, or where the definition announces none.
pub(super) fn missing(
    kind: &str,
    object: &Value,
    conditions: Conditions<'_>,
    declared: &Declared,
) -> Option<Hindrance> {
    let nothing = Summary::default();
    let summary = declared.summary.as_ref().unwrap_or(&nothing);
    if let Some(types) = shown_conditions(kind, &summary.columns) {
        return condition(conditions, &types);
    }
    if !conditions::is_well(kind, conditions)
        && let Some(finding) = uncounted(object, summary)
    {
        return Some(finding);
    }
    if tells(kind, object, conditions) {
        return None;
    }
    let shown: Vec<_> = summary.columns.iter().filter_map(shown_field).collect();
    if !shown.is_empty() {
        return field(object, &shown);
    }
    let begun = conditions.iter().next();
    let sums_up = |field: &&String| SUMS_UP.contains(&field.as_str()) || counts::is_flag(field);
    let expected = summary.fields.iter().find(sums_up);
    let told = match (begun, expected, &declared.summary) {
        (Some(step), ..) => format!(
            "nothing but steps is told yet, such as condition {}",
            step.kind
        ),
        (None, Some(field), _) => format!("status.{field} has not been written yet"),
        (None, None, None) => "nothing in its status says yet how it is".to_owned(),
        (None, None, Some(_)) => return None,
    };
    Some(Hindrance::Untold(told))
}

/// The types of the conditions that printer columns show and that sum the object up: `Ready` alone where it is among them. An empty list stands for
/// any condition; `None` where the columns show no such condition.
fn shown_conditions<'c>(kind: &str, columns: &'c [Column]) -> Option<Vec<&'c str>> {
    let (mut types, mut steps) = (Vec::new(), Vec::new());
    let mut any = false;
    for column in columns {
        match &column.shown {
            Shown::Condition(shown) if shown == "Ready" => return Some(vec!["Ready"]),
            Shown::Condition(shown)
                if conditions::sums_up(conditions::plain(kind, shown)) || promises(column) =>
            {
                types.push(shown.as_str());
            }
            Shown::Condition(shown) if conditions::is_hoped_for(conditions::plain(kind, shown)) => {
                steps.push(shown.as_str());
            }
            Shown::Conditions => any = true,
            Shown::Condition(_) | Shown::Field(_) => {}
        }
    }
    // Where it shows a step and nothing else, that step is all that there is.
    let shown = if types.is_empty() { steps } else { types };
    (any || !shown.is_empty()).then_some(shown)
}

/// Whether the heading of a column says that the column tells whether the object is ready: its last word is `ready`.
fn promises(column: &Column) -> bool {
    words::split(&column.name)
        .last()
        .is_some_and(|last| last == "ready")
}

fn condition(conditions: Conditions<'_>, types: &[&str]) -> Option<Hindrance> {
    let is_there = |kind: &str| types.is_empty() || types.contains(&kind);
    if conditions.iter().any(|it| is_there(it.kind)) {
        return None;
    }
    let what = match types {
        [] => "no condition".to_owned(),
        types => format!("no condition {}", types.join(" or ")),
    };
    Some(Hindrance::Untold(format!("{what} has been written yet")))
}

/// The path of the field that a column shows, if by its name or the column's heading the field tells whether the object is ready.
fn shown_field(column: &Column) -> Option<Vec<&str>> {
    let Shown::Field(names) = &column.shown else {
        return None;
    };
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let last = names.last()?;
    let current = !names.iter().any(|name| words::is_history(name));
    let tells = words::is_word(last) || counts::is_known(last) || promises(column);
    (current && tells).then_some(names)
}

fn field(object: &Value, shown: &[Vec<&str>]) -> Option<Hindrance> {
    let status = object.get("status")?;
    let is_there = |path: &Vec<&str>| get(status, path).is_some_and(|it| !says_nothing(it));
    if shown.iter().any(is_there) || wants_none(object) {
        return None;
    }
    let first = shown.first()?.join(".");
    Some(Hindrance::Untold(format!(
        "status.{first} has not been written yet"
    )))
}

/// The hindrance of an object that asks for replicas and has no `readyReplicas`, although the kind's definition knows that count: no replica is
/// ready yet.
fn uncounted(object: &Value, summary: &Summary) -> Option<Hindrance> {
    let shown = |column: &Column| matches!(&column.shown, Shown::Field(names) if *names == [READY]);
    let counts =
        summary.fields.iter().any(|field| field == READY) || summary.columns.iter().any(shown);
    let wanted = wanted(object).filter(|wanted| counts && *wanted > 0)?;
    let is_there = get(object, &["status", READY]).is_some();
    (!is_there).then(|| Hindrance::Busy(format!("status.{READY}: 0/{wanted}")))
}

fn wanted(object: &Value) -> Option<i64> {
    let number = |path: &[&str]| get(object, path)?.as_i64();
    number(&["spec", "replicas"]).or_else(|| number(&["status", "replicas"]))
}

/// Whether the object is scaled to zero, and so has nothing to count.
fn wants_none(object: &Value) -> bool {
    wanted(object) == Some(0)
}

/// Whether anything in the status tells whether the object is ready.
fn tells(kind: &str, object: &Value, conditions: Conditions<'_>) -> bool {
    conditions::tell(kind, conditions)
        || words::any(object)
        || counts::any(object)
        || nested::any(object)
        || parts::any(object)
}
