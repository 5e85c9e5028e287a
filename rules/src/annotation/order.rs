//! Reads the text of a plan: a YAML mapping from each part of a release to the entries that come before it.

use super::item::{self, Count};
use super::names::{self, NameRule};
use super::piece::Piece;
use super::problem::{Flaw, PlanFault, Problem};
use super::reference::PartWord;
use super::yaml::{self, Node, Value};
use super::{MAX_ENTRIES, ParseError, parse, short};
use crate::dependency::{Dependency, Part, Parts, Plan, Reference, Step};
use crate::keys::{EVERY_POD, ORDER};
use crate::kinds;
use crate::variables::{self, VariableFault};
use std::collections::HashMap;

/// Reads the text of a plan, which is the value of [`ORDER`]. A text without content is a plan without steps.
///
/// # Errors
///
/// A text that is no mapping from parts to what comes before each, that has a step twice or too many steps, or in which a step waits for itself,
/// directly or through others.
pub fn order(text: &str) -> Result<Plan, ParseError> {
    parse(ORDER, text, |text| {
        if says_nothing(text) {
            return Ok(Plan::default());
        }
        let root = yaml::document(text.text)?;
        let pairs = match &root.value {
            Value::Mapping(pairs) => pairs,
            Value::Text(text) if text.is_null() => return Ok(Plan::default()),
            _ => return Err(Flaw::at(root.at, PlanFault::NotAnOrder)),
        };
        let mut count = Count::default();
        let mut steps: Vec<(usize, Step)> = Vec::new();
        let mut every_pod = None;
        for (key, value) in pairs {
            if is_every_pod(key) {
                if every_pod.is_some() {
                    let name = EVERY_POD.to_owned();
                    return Err(Flaw::at(key.at, PlanFault::DuplicateStep(name)));
                }
                every_pod = Some(outside_of_parts(value)?);
                continue;
            }
            let subject = subject(key, &mut count)?;
            if steps.iter().any(|(_, step)| step.subject == subject) {
                let name = Dependency::on(subject).to_string();
                return Err(Flaw::at(key.at, PlanFault::DuplicateStep(name)));
            }
            if steps.len() == MAX_ENTRIES {
                return Err(Flaw::at(key.at, Problem::TooMany));
            }
            let after = after(value)?;
            steps.push((key.at, Step { subject, after }));
        }
        acyclic(&steps)?;
        Ok(Plan {
            steps: steps.into_iter().map(|(_, step)| step).collect(),
            every_pod: every_pod.unwrap_or_default(),
        })
    })
}

/// Whether a key of the mapping is [`EVERY_POD`]. No sub-chart has that name, since names of charts are in lower case.
fn is_every_pod(key: &Node<'_>) -> bool {
    matches!(&key.value, Value::Text(text) if text.piece().text == EVERY_POD)
}

/// Reads the list of [`EVERY_POD`], which holds pods of every release and of none. So a part of a release in it, also within `any`, is an error.
fn outside_of_parts(value: &Node<'_>) -> Result<Vec<Dependency>, Flaw> {
    let entries = after(value)?;
    let part = entries.iter().find(|entry| names_a_part(&entry.reference));
    match part {
        Some(entry) => Err(Flaw::at(value.at, PlanFault::PartOfNone(entry.to_string()))),
        None => Ok(entries),
    }
}

fn names_a_part(reference: &Reference) -> bool {
    match reference {
        Reference::Part(_) => true,
        Reference::Any(any) => any.of.iter().any(|entry| names_a_part(&entry.reference)),
        Reference::Object(_) | Reference::Selected(_) | Reference::Address(_) => false,
    }
}

/// Whether the text holds only blanks and comments, as a template leaves behind that had nothing to render.
fn says_nothing(text: Piece<'_>) -> bool {
    let mut lines = text.split('\n');
    lines.all(|line| short::without_comment(line).trim().is_empty())
}

/// Reads the subject of a step: a name alone, because a plan asks no state and no number of its subjects. Any more is an error, and so are
/// alternatives, an address and a whole release.
fn subject(node: &Node<'_>, count: &mut Count) -> Result<Reference, Flaw> {
    let entry = entry(node, count)?;
    let name = entry.to_string();
    let is_name = match &entry.reference {
        Reference::Object(_) => true,
        Reference::Selected(selection) => selection.min.is_none(),
        Reference::Part(parts) => !matches!(parts.part, Part::Release(_)) && parts.min.is_none(),
        Reference::Any(_) | Reference::Address(_) => false,
    };
    if is_name && entry == Dependency::on(entry.reference.clone()) {
        return Ok(entry.reference);
    }
    Err(Flaw::at(node.at, PlanFault::NoSubject(name)))
}

fn after(value: &Node<'_>) -> Result<Vec<Dependency>, Flaw> {
    let entries = entries(value)?;
    // A plan holds back pods of many templates, and none of them gives its gate a variable for it.
    match variables::first(&entries) {
        Some(name) => {
            let fault = VariableFault::InPlan(name.to_owned());
            Err(Flaw::at(value.at, Problem::Variable(fault)))
        }
        None => Ok(entries),
    }
}

fn entries(value: &Node<'_>) -> Result<Vec<Dependency>, Flaw> {
    let mut count = Count::default();
    match &value.value {
        Value::Text(text) if text.is_null() => Ok(Vec::new()),
        Value::Text(text) => short::entries(text.piece())
            .map(|entry| {
                count.one_more(value.at)?;
                named(entry)
            })
            .collect(),
        Value::Mapping(_) => Ok(vec![entry(value, &mut count)?]),
        Value::List(items) => items.iter().map(|item| entry(item, &mut count)).collect(),
    }
}

fn entry(node: &Node<'_>, count: &mut Count) -> Result<Dependency, Flaw> {
    match &node.value {
        Value::Text(text) => {
            count.one_more(node.at)?;
            named(text.piece())
        }
        Value::Mapping(_) => item::item(node, count),
        Value::List(_) => Err(Flaw::at(node.at, PlanFault::NotAnOrder)),
    }
}

/// Reads a name of a plan: a sub-chart, as `postgresql` or `airflow/postgresql`, or else an entry of the short form, such as `group/data`,
/// `job/migrate` or `deployment/api:available`.
fn named(written: Piece<'_>) -> Result<Dependency, Flaw> {
    let words: Vec<_> = written.split('/').take(3).collect();
    let chart = match words.as_slice() {
        [_] => Some(written),
        [outer, _] if !is_kind(outer.text) => Some(written),
        [_, _, _] => written.strip_prefix("subchart/"),
        _ => None,
    };
    let Some(chart) = chart else {
        return short::entry(written);
    };
    for name in chart.split('/') {
        names::check("sub-chart", name, NameRule::LabelPart)?;
    }
    Ok(Dependency::on(Reference::Part(Parts {
        part: Part::SubChart(chart.text.to_owned()),
        namespace: None,
        min: None,
    })))
}

/// Whether the first of two words with a slash between them is meant as a kind, even a misspelt one, and not as the name of a chart.
fn is_kind(word: &str) -> bool {
    PartWord::of(word).is_some()
        || word.contains('.')
        || kinds::by_word(word).is_some()
        || kinds::nearest(word).is_some()
}

/// Refuses steps that wait for each other in a cycle, each with its byte in the text. The refusal names every step of the cycle of the first step
/// that is in one.
fn acyclic(steps: &[(usize, Step)]) -> Result<(), Flaw> {
    let before = indexed(steps);
    let round = |start: usize| Some((start, way_round(&before, start)?));
    let Some((start, path)) = (0..steps.len()).find_map(round) else {
        return Ok(());
    };
    let name = |step: usize| Dependency::on(steps[step].1.subject.clone()).to_string();
    let names: Vec<String> = path.into_iter().map(name).collect();
    Err(Flaw::at(
        steps[start].0,
        PlanFault::Round(names.join(" -> ")),
    ))
}

/// For each step of a plan the indexes of the steps that come before it. An entry that is the subject of no step is left out, since it is in no
/// cycle.
fn indexed(steps: &[(usize, Step)]) -> Vec<Vec<usize>> {
    let subjects = steps.iter().map(|(_, step)| &step.subject);
    let places: HashMap<&Reference, usize> = subjects.zip(0..).collect();
    let place = |entry: &Dependency| places.get(&entry.reference).copied();
    let before = |(_, step): &(usize, Step)| step.after.iter().filter_map(place).collect();
    steps.iter().map(before).collect()
}

/// The path from the step `start` through the steps before it back to itself, by their indexes; `None` where there is no such path.
///
/// Each step is a start of its own: one search through all steps would find some cycle, but not the first step's. A plan has no
/// more than 64 steps, and here they are numbers.
fn way_round(before: &[Vec<usize>], start: usize) -> Option<Vec<usize>> {
    // The step from which each step was reached.
    let mut from = vec![None; before.len()];
    let mut open = vec![start];
    while let Some(last) = open.pop() {
        for &next in &before[last] {
            if next == start {
                let back = std::iter::successors(Some(last), |&step| from[step]);
                let mut path: Vec<usize> = [start].into_iter().chain(back).collect();
                path.reverse();
                return Some(path);
            }
            if from[next].is_none() {
                from[next] = Some(last);
                open.push(next);
            }
        }
    }
    None
}
