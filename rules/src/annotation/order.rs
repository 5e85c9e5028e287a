//! The text of a plan: a YAML mapping from a sub-chart or a group to those that come before it.

use super::names::{self, NameRule};
use super::problem::{Flaw, Problem};
use super::yaml::{self, Node, Text, Value};
use super::{MAX_ENTRIES, ParseError, parse};
use crate::dependency::{Part, Plan, Step};
use crate::keys::ORDER;

/// Reads the value of [`ORDER`].
///
/// # Errors
///
/// A text that is no such mapping, or in which a step waits for itself, by whatever way round.
pub fn order(text: &str) -> Result<Plan, ParseError> {
    parse(ORDER, text, |text| {
        let root = yaml::document(text)?;
        let Value::Mapping(pairs) = &root.value else {
            return Err(Flaw::at(root.at, Problem::NotAnOrder));
        };
        let mut steps: Vec<(usize, Step)> = Vec::new();
        for (key, value) in pairs {
            let part = part(key)?;
            if steps.iter().any(|(_, step)| step.part == part) {
                return Err(Flaw::at(key.at, Problem::DuplicateStep(part.to_string())));
            }
            if steps.len() == MAX_ENTRIES {
                return Err(Flaw::at(key.at, Problem::TooMany));
            }
            let after = after(value)?;
            steps.push((key.at, Step { part, after }));
        }
        acyclic(&steps)?;
        let steps = steps.into_iter().map(|(_, step)| step).collect();
        Ok(Plan { steps })
    })
}

fn after(value: &Node<'_>) -> Result<Vec<Part>, Flaw> {
    match &value.value {
        Value::Text(text) if text.is_null() => Ok(Vec::new()),
        Value::Text(_) => Ok(vec![part(value)?]),
        Value::List(items) if items.len() > MAX_ENTRIES => {
            Err(Flaw::at(value.at, Problem::TooMany))
        }
        Value::List(items) => items.iter().map(part).collect(),
        Value::Mapping(_) => Err(Flaw::at(value.at, Problem::NotAnOrder)),
    }
}

/// `postgresql`, `group/data`
fn part(node: &Node<'_>) -> Result<Part, Flaw> {
    let Value::Text(text) = &node.value else {
        return Err(Flaw::at(node.at, Problem::NotAnOrder));
    };
    named(text).map_err(|flaw| text.flaw(flaw))
}

fn named(text: &Text<'_>) -> Result<Part, Flaw> {
    let content = &*text.content;
    let (what, at, name) = match content.split_once('/') {
        None => ("sub-chart", 0, content),
        Some(("subchart", name)) => ("sub-chart", "subchart/".len(), name),
        Some(("group", name)) => ("group", "group/".len(), name),
        Some(_) => return Err(Flaw::at(0, Problem::NoStep(content.to_owned()))),
    };
    names::check(what, name, NameRule::LabelPart).map_err(|flaw| flaw.after(at))?;
    let name = name.to_owned();
    Ok(match what {
        "group" => Part::Group(name),
        _ => Part::SubChart(name),
    })
}

/// Refuses an order that nobody can keep, with the whole way round.
fn acyclic(steps: &[(usize, Step)]) -> Result<(), Flaw> {
    let plan: Vec<&Step> = steps.iter().map(|(_, step)| step).collect();
    for (at, step) in steps {
        if let Some(path) = way_round(&plan, &step.part) {
            let names: Vec<String> = path.iter().map(ToString::to_string).collect();
            return Err(Flaw::at(*at, Problem::Round(names.join(" -> "))));
        }
    }
    Ok(())
}

/// From a part over what comes before it back to itself.
fn way_round(plan: &[&Step], start: &Part) -> Option<Vec<Part>> {
    let mut open = vec![vec![start.clone()]];
    let mut seen = Vec::new();
    while let Some(path) = open.pop() {
        let last = path.last()?;
        let before = plan.iter().find(|step| step.part == *last);
        for part in before.into_iter().flat_map(|step| &step.after) {
            let mut longer = path.clone();
            longer.push(part.clone());
            if part == start {
                return Some(longer);
            }
            if !seen.contains(part) {
                seen.push(part.clone());
                open.push(longer);
            }
        }
    }
    None
}
