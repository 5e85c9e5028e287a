//! Makes the conditions under which an entry of a list stands in a template.

use super::operands::{bare, operands};
use super::switches::Switch;

/// The most values that a condition may test together. A longer condition fits one set of values among many, and would hold for nearly no
/// user.
const MOST_TOGETHER: usize = 4;

/// The condition, as template actions, under which an object or a wait is rendered. `tried` are the sets of values that were rendered, and
/// `seen` are those of them that show the object. `idle` are the switches that alone change nothing. Empty where each tried set shows the
/// object; `None` where the sets do not tell a condition.
pub(super) fn of_sets(
    sets: &[Vec<Switch>],
    (tried, seen): (&[usize], &[usize]),
    idle: &[Switch],
    root: &str,
) -> Option<Vec<Vec<String>>> {
    let is_seen = |set: &usize| seen.contains(set);
    if tried.iter().all(is_seen) {
        return Some(Vec::new());
    }
    let absent = || tried.iter().filter(|it| !is_seen(it)).map(|it| &sets[*it]);
    let mut present: Vec<&Vec<Switch>> = seen
        .iter()
        .map(|it| &sets[*it])
        .filter(|it| !it.is_empty())
        .collect();
    present.sort_by_key(|it| it.len());
    let mut parts = Vec::new();
    let mut failing = None;
    // The chart's own values may not render the workload. Then the smallest set that does takes their place.
    let first = tried.iter().min_by_key(|set| (sets[**set].len(), **set))?;
    if seen.contains(first) {
        let single = absent().filter_map(|it| {
            let more = it.iter().filter(|it| !sets[*first].contains(it));
            let (marks, plain): (Vec<_>, Vec<_>) = more.partition(|it| it.follows());
            // Where a set has a switch and marks, the switch decides: the marks only give the host that the switch needs.
            let decisive = if plain.is_empty() { marks } else { plain };
            let decisive = without_idle(decisive, idle);
            let mut parts = decisive.iter().filter_map(|it| fails(it, idle, root));
            parts.next().filter(|_| parts.next().is_none())
        });
        let single: Vec<String> = single.collect();
        if single.is_empty() {
            return None;
        }
        // A set that has the opposite of the only condition need not test that opposite.
        failing = single
            .first()
            .filter(|it| single.iter().all(|other| other == *it))
            .cloned();
        parts.push(joined("and", single));
        // Of a set without the object, a further switch may bring the object back.
        let is_back = |set: &&Vec<Switch>| {
            let has = |it: &Vec<Switch>| it.iter().all(|switch| set.contains(switch));
            absent().any(|it| it.len() == sets[*first].len() + 1 && has(it))
        };
        present.retain(is_back);
    }
    let mut taken: Vec<&Vec<Switch>> = Vec::new();
    for set in present {
        if taken
            .iter()
            .any(|it| it.iter().all(|switch| set.contains(switch)))
        {
            continue;
        }
        taken.push(set);
        let said = set
            .iter()
            .filter(|it| failing.is_none() || it.holds_not(root) != failing);
        let mut own: Vec<String> = said.filter_map(|it| it.holds(root)).collect();
        if own.is_empty() || own.len() > MOST_TOGETHER {
            return None;
        }
        // Another switch may make the object disappear again, so the entry stands under the opposite of that switch too.
        for other in absent().filter(|it| set.iter().all(|switch| it.contains(switch))) {
            let more = other.iter().filter(|it| !set.contains(it) && !it.follows());
            if let [one] = without_idle(more.collect(), idle).as_slice() {
                own.extend(fails(one, idle, root));
            }
        }
        parts.push(joined("and", own));
    }
    (!parts.is_empty()).then(|| within(&joined("or", parts)))
}

/// The condition that holds while the value of a switch is as the chart has it. Another text of that value in `idle`, which alone changes
/// nothing, counts like the chart's own. `None` where no condition can test the switch.
fn fails(switch: &Switch, idle: &[Switch], root: &str) -> Option<String> {
    switch.widened(idle.iter()).holds_not(root)
}

/// Reduces several switches to the one that alone changes something, since it decides; returns all of them where not exactly one does.
fn without_idle<'s>(switches: Vec<&'s Switch>, idle: &[Switch]) -> Vec<&'s Switch> {
    let rest = switches.iter().filter(|it| !idle.contains(it));
    let rest: Vec<&Switch> = rest.copied().collect();
    if rest.len() == 1 { rest } else { switches }
}

/// The condition that joins several conditions by `op`, which is `and` or `or`. Equal conditions count once, and a single one stays as it is.
pub(super) fn joined(op: &str, parts: Vec<String>) -> String {
    let mut once: Vec<String> = Vec::new();
    for part in parts {
        if !once.contains(&part) {
            once.push(part);
        }
    }
    match once.as_slice() {
        [only] => only.clone(),
        _ => format!("({op} {})", once.join(" ")),
    }
}

/// The actions around an entry for one condition: a single `if`.
fn within(condition: &str) -> Vec<Vec<String>> {
    vec![vec![format!("if {}", bare(condition))]]
}

/// The actions that test those of the `conditions` which the actions `around` an entry do not test already; empty where these test all
/// conditions.
pub(super) fn unsaid(conditions: &[String], around: &[Vec<String>]) -> Vec<Vec<String>> {
    let tests = around
        .iter()
        .filter_map(|branches| match branches.as_slice() {
            [only] => only.strip_prefix("if "),
            _ => None,
        });
    let said: Vec<&str> = tests.flat_map(conjuncts).collect();
    let is_new = |it: &&String| conjuncts(it).iter().any(|part| !said.contains(part));
    let new: Vec<&str> = conditions
        .iter()
        .filter(is_new)
        .map(String::as_str)
        .collect();
    match new.as_slice() {
        [] => Vec::new(),
        [one] => within(one),
        several => within(&format!("(and {})", several.join(" "))),
    }
}

/// The parts of a condition that have to hold together, each without its parentheses.
fn conjuncts(condition: &str) -> Vec<&str> {
    let bare = bare(condition);
    match bare.strip_prefix("and ") {
        Some(all) => operands(all).into_iter().flat_map(conjuncts).collect(),
        None => vec![bare],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_tests_each_condition_once() {
        let action = |text: &str| vec![text.to_owned()];
        let unsaid = |conditions: &[&str], around: &[Vec<String>]| {
            let conditions: Vec<String> = conditions.iter().map(|it| (*it).to_owned()).collect();
            unsaid(&conditions, around).concat()
        };
        let (a, b) = (".Values.a", "(eq .Values.b \"x y\")");
        let both = "if and .Values.a (eq .Values.b \"x y\")";
        assert_eq!(unsaid(&[a, b], &[]), [both]);
        assert_eq!(
            unsaid(&[a, b], &[action("if .Values.a")]),
            ["if eq .Values.b \"x y\""]
        );
        assert_eq!(unsaid(&[a, b], &[action(both)]), [""; 0]);
        assert_eq!(
            unsaid(&["(and .Values.a .Values.c)"], &[action(both)]),
            ["if and .Values.a .Values.c"]
        );
        let around = [
            action("if or .Values.a .Values.c"),
            action("with .Values.a"),
        ];
        assert_eq!(unsaid(&[a], &around), ["if .Values.a"]);
        let other = [vec!["if .Values.a".to_owned(), "else".to_owned()]];
        assert_eq!(unsaid(&[a], &other), ["if .Values.a"], "the other branch");
    }
}
