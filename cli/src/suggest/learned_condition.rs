//! Learns the condition of an entry from the sets of values that were rendered: a short one that holds with each set that shows the entry,
//! and with no other. The condition is a disjunction of conjunctions, found greedily.

use super::conditions::joined;
use super::examples::Examples;
use super::operands::bare;
use super::switches::{Switch, Tested};
use super::texts::value_at;
use serde_json::Value;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

/// The most conjunctions of one condition.
const MOST_TERMS: usize = 3;
/// The most clauses of a condition: a longer one only lists the sets that were tried.
const MOST_CLAUSES: usize = 6;

/// A condition on one value, and the numbers of the sets with which the condition holds.
#[derive(Debug, Clone, PartialEq)]
struct Clause {
    text: String,
    sets: BTreeSet<usize>,
    /// Whether the loop's own text reads the value. A condition of such clauses is preferred to any other.
    is_read: bool,
}

/// The condition, as template actions, under which an entry stands; empty where each tried set shows the entry. `values` are the chart's own, and
/// `read` is the text of the loop with its helpers: a condition on values in it is preferred. `None` where no short condition of the examples'
/// switches tells the sets with the entry from those without it.
pub(super) fn of_examples(
    examples: &Examples,
    values: &Value,
    read: &str,
    root: &str,
) -> Option<Vec<Vec<String>>> {
    let Examples { sets, tried, seen } = examples;
    let absent: BTreeSet<usize> = tried
        .iter()
        .filter(|it| !seen.contains(it))
        .copied()
        .collect();
    if absent.is_empty() {
        return Some(Vec::new());
    }
    let clauses = clauses(sets, tried, values, read, root);
    let mut open = seen.clone();
    // The set with the fewest switches tells most about each of them.
    open.sort_by_key(|it| (sets[*it].len(), *it));
    let is_read = |it: &&Clause| it.is_read;
    let all: Vec<&Clause> = clauses.iter().collect();
    let read: Vec<&Clause> = all.iter().copied().filter(is_read).collect();
    condition(&read, &open, &absent).or_else(|| condition(&all, &open, &absent))
}

/// The condition of these clauses that holds with the sets `seen`, of which the most telling comes first, and with none of `absent`. `None` where no short condition does.
fn condition(
    clauses: &[&Clause],
    seen: &[usize],
    absent: &BTreeSet<usize>,
) -> Option<Vec<Vec<String>>> {
    let mut open = seen.to_vec();
    let mut terms: Vec<Vec<&Clause>> = Vec::new();
    while let Some(first) = open.first() {
        let term = term(clauses, *first, &open, absent, &terms)?;
        open.retain(|set| !term.iter().all(|it| it.sets.contains(set)));
        terms.push(term);
        if terms.len() > MOST_TERMS {
            return None;
        }
    }
    join(&mut terms, seen, absent);
    // A clause of all terms stands once.
    let all = terms.clone();
    let is_common = |it: &&Clause| all.iter().all(|term| term.contains(it));
    let common: Vec<&Clause> = all.first()?.iter().copied().filter(is_common).collect();
    let texts = |term: Vec<&Clause>| term.into_iter().map(|it| it.text.clone()).collect();
    let rest = terms.into_iter().map(|mut term| {
        term.retain(|it| !common.contains(it));
        term
    });
    let rest: Vec<Vec<&Clause>> = rest.collect();
    if common.len() + rest.iter().map(Vec::len).sum::<usize>() > MOST_CLAUSES {
        return None;
    }
    let mut whole: Vec<String> = texts(common.clone());
    if rest.iter().all(|it| !it.is_empty()) {
        let rest = rest.into_iter().map(|it| joined("and", texts(it)));
        whole.push(joined("or", rest.collect()));
    }
    let condition = joined("and", whole);
    Some(vec![vec![format!("if {}", bare(&condition))]])
}

/// The conditions on the value of each switch in the tried sets, each with the sets in which it holds: that the value is as the switch sets it,
/// and that it is not.
fn clauses(
    sets: &[Vec<Switch>],
    tried: &[usize],
    values: &Value,
    read: &str,
    root: &str,
) -> Vec<Clause> {
    // The last switch of a value counts.
    let given = tried.iter().map(|set| {
        let given = sets[*set].iter().map(|it| (it.path.as_str(), it));
        (*set, given.collect::<BTreeMap<&str, &Switch>>())
    });
    let given: Vec<(usize, BTreeMap<&str, &Switch>)> = given.collect();
    let mut once: BTreeSet<(&str, &str)> = BTreeSet::new();
    let switches = tried.iter().flat_map(|it| &sets[*it]);
    let mut clauses: Vec<Clause> = Vec::new();
    let switches = switches.filter(|it| once.insert((&it.path, &it.value)));
    let switches: Vec<&Switch> = switches.collect();
    let others = switches.iter().filter(|it| it.is_other());
    let widened = others.map(|it| it.widened(switches.iter().copied()));
    let widened: Vec<Switch> = widened.collect();
    for switch in switches.into_iter().chain(&widened) {
        let own = text_of(value_at(values, &switch.path));
        let is_read = switch.is_read_in(read);
        for is_on in [true, false] {
            let text = if is_on {
                switch.holds(root)
            } else {
                switch.holds_not(root)
            };
            let Some(text) = text.filter(|text| clauses.iter().all(|it| it.text != *text)) else {
                continue;
            };
            let holds = given.iter().filter(|(_, given)| {
                let given = given.get(switch.path.as_str()).map(|it| it.value.as_str());
                is_as_set(switch, given, &own) == is_on
            });
            clauses.push(Clause {
                text,
                sets: holds.map(|it| it.0).collect(),
                is_read,
            });
        }
    }
    clauses
}

/// A conjunction that holds with the set `first` and with no set of `absent`, and that holds with as many sets of `open` as it can; `None` where
/// no clauses tell these sets apart.
fn term<'p>(
    clauses: &[&'p Clause],
    first: usize,
    open: &[usize],
    absent: &BTreeSet<usize>,
    earlier: &[Vec<&Clause>],
) -> Option<Vec<&'p Clause>> {
    let mut rest = absent.clone();
    let mut term: Vec<&Clause> = Vec::new();
    while !rest.is_empty() {
        let fitting = clauses.iter().filter(|it| it.sets.contains(&first));
        let best = fitting.max_by_key(|it| {
            let without = rest.iter().filter(|set| !it.sets.contains(set)).count();
            let covered = open.iter().filter(|set| it.sets.contains(set)).count();
            // Clauses that all terms have stand once.
            let is_used = earlier.iter().flatten().any(|used| used == *it);
            (
                without,
                it.is_read,
                is_used,
                covered,
                Reverse(it.text.len()),
            )
        })?;
        let before = rest.len();
        rest.retain(|set| best.sets.contains(set));
        if rest.len() == before || term.len() == MOST_CLAUSES {
            return None;
        }
        term.push(best);
    }
    // A later clause may have made an earlier one needless.
    for at in (0..term.len()).rev() {
        let mut others = term.clone();
        others.remove(at);
        let holds = |set: &usize| others.iter().all(|it| it.sets.contains(set));
        if !others.is_empty() && !absent.iter().any(holds) {
            term = others;
        }
    }
    Some(term)
}

/// Puts clauses of the first term in the place of clauses that only a later term has, as far as the terms still hold with the same sets: a clause
/// that all terms have stands once.
fn join(terms: &mut [Vec<&Clause>], seen: &[usize], absent: &BTreeSet<usize>) {
    let holds = |term: &[&Clause], set: &usize| term.iter().all(|it| it.sets.contains(set));
    let Some(first) = terms.first().cloned() else {
        return;
    };
    for at in 1..terms.len() {
        for clause in &first {
            for place in 0..terms[at].len() {
                if terms[at].contains(clause) || first.contains(&terms[at][place]) {
                    continue;
                }
                let own = std::mem::replace(&mut terms[at][place], *clause);
                let is_shown = |set: &usize| terms.iter().any(|it| holds(it, set));
                let is_wrong = absent.iter().any(|it| holds(&terms[at], it));
                if is_wrong || !seen.iter().all(is_shown) {
                    terms[at][place] = own;
                }
            }
        }
    }
}

/// Whether the value of a switch is as the switch sets it, in the sense of the switch's test. `given` is the value in a set, and `own` the
/// chart's.
fn is_as_set(switch: &Switch, given: Option<&str>, own: &str) -> bool {
    let value = given.unwrap_or(own);
    let is_true = !matches!(value, "" | "false" | "0");
    match &switch.tested {
        Tested::Equals => value == switch.value,
        Tested::Among(it) => it.texts.iter().any(|it| it == value),
        Tested::Other(it) => it.texts.iter().all(|it| it != value),
        Tested::IsSet => is_true == (switch.value != "false"),
        Tested::Follows { own } if own.is_empty() => is_true,
        Tested::Follows { own } => value != own,
        Tested::Varied { .. } | Tested::Each(_) => given.is_some(),
    }
}

/// A value as a text. An unset value, and an empty list or map, which a template takes for false, are an empty text; `false` stays `false`.
fn text_of(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(all)) if all.is_empty() => String::new(),
        Some(Value::Object(all)) if all.is_empty() => String::new(),
        Some(other) => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn switch(path: &str, value: &str) -> Switch {
        Switch {
            path: path.to_owned(),
            value: value.to_owned(),
            tested: Tested::IsSet,
        }
    }

    fn learned(sets: &[&[(&str, &str)]], seen: &[usize]) -> Option<String> {
        let values = json!({"db": {"enabled": true}, "run": true, "outside": false, "x": false});
        let set = |it: &&[(&str, &str)]| it.iter().map(|it| switch(it.0, it.1)).collect();
        let sets: Vec<Vec<Switch>> = sets.iter().map(set).collect();
        let tried: Vec<usize> = (0..sets.len()).collect();
        let seen = seen.to_vec();
        let found = of_examples(&Examples { sets, tried, seen }, &values, "", "")?;
        Some(found.concat().concat())
    }

    #[test]
    fn a_short_condition_that_tells_the_sets_apart_is_found() {
        let off = ("db.enabled", "false");
        let idle = ("run", "false");
        let outside = ("outside", "true");
        let other = ("x", "true");
        for (sets, seen, expected) in [
            // Shown with every set.
            (vec![&[][..], &[off]], vec![0, 1], Some("")),
            (vec![&[], &[off]], vec![0], Some("if .Values.db.enabled")),
            (
                vec![&[], &[off], &[idle], &[other], &[off, idle]],
                vec![0, 3],
                Some("if and .Values.run .Values.db.enabled"),
            ),
            (
                vec![&[], &[off], &[off, outside], &[other]],
                vec![0, 2, 3],
                Some("if or .Values.db.enabled .Values.outside"),
            ),
            (
                vec![&[], &[off], &[outside], &[off, idle], &[off, outside, idle]],
                vec![1],
                Some("if and .Values.run (not .Values.db.enabled)"),
            ),
            // Two switches that together take the entry away, with one that is needed in any case.
            (
                vec![
                    &[],
                    &[outside],
                    &[outside, other],
                    &[outside, idle],
                    &[outside, other, idle],
                    &[other, idle],
                    &[idle],
                    &[other],
                ],
                vec![1, 2, 3],
                Some("if and .Values.outside (or .Values.run (not .Values.x))"),
            ),
            // Two sets that no switch tells apart.
            (vec![&[], &[]], vec![0], None),
        ] {
            assert_eq!(learned(&sets, &seen).as_deref(), expected, "{sets:?}");
        }
    }
}
