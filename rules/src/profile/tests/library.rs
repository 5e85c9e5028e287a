//! The cases of the library of health rules, judged with every check that a gate hears of: an earlier check may keep a rule from being asked.

use super::*;
use crate::ending_kinds;
use crate::health::tests::library::cases;
use crate::health::{builtin, without_the_nearest};
use std::collections::BTreeSet;

/// How many rules change none of their cases. The number only goes down: add a case that such a rule changes, or take the rule away.
const UNCHANGING: usize = 126;

/// How many kinds of the library are named after a process with an end, fail by their rules, and have no row in `ENDINGS` of `ending_kinds.rs`:
/// some go on after they are ready, and of the others it is not yet known whether a failure is final. The number only goes down: give a
/// new kind its row.
const UNDECIDED: usize = 136;

/// Judges an object in a world with these health rules.
fn judged(cluster: &Cluster, object: &Value, health: fn(&Value, bool) -> Option<Judged>) -> Judged {
    let world = Only {
        health: Box::new(health),
        ..cluster.world()
    };
    judge(&kind_of(object), object, State::Ready, &world, noon())
}

#[test]
fn the_library_judges_its_cases_as_they_are_meant() {
    let cluster = Cluster::declaring(true);
    let mut wrong = Vec::new();
    for case in cases() {
        let judged = judged(&cluster, &case.object, builtin);
        let right = match case.word.as_str() {
            "ready" => judged.satisfied && judged.status == Status::Current,
            "progressing" => judged.status == Status::InProgress,
            "failed" => judged.status == Status::Failed,
            _ => !judged.satisfied && judged.status != Status::Unknown,
        };
        if !right {
            wrong.push(format!(
                "{:?} is not {}: {} {}: {}",
                case.rule, case.word, judged.reason, judged.message, case.object
            ));
        }
    }
    assert_eq!(wrong, [""; 0]);
}

/// A rule without which each of its cases is judged alike, in a cluster whose definitions declare a status, declare none, or are not
/// known, has no use.
#[test]
fn every_rule_changes_a_case() {
    let clusters = [
        Cluster::declaring(true),
        Cluster::declaring(false),
        Cluster::empty(),
    ];
    let (mut all, mut needed) = (BTreeSet::new(), BTreeSet::new());
    for case in cases() {
        let changes = |cluster: &Cluster| {
            let told = |health| {
                let judged = judged(cluster, &case.object, health);
                (judged.satisfied, judged.status)
            };
            told(builtin) != told(without_the_nearest)
        };
        if !needed.contains(&case.rule) && clusters.iter().any(changes) {
            needed.insert(case.rule.clone());
        }
        all.insert(case.rule);
    }
    let without: Vec<_> = all.difference(&needed).collect();
    assert_eq!(
        without.len(),
        UNCHANGING,
        "the number only goes down: {without:#?}"
    );
}

/// Counts the kinds that come to an end by their names, fail by their rules and have no row in `ENDINGS`: such a kind is neither remembered nor
/// failed for good.
#[test]
fn a_kind_that_ends_has_a_row() {
    let failing = cases().into_iter().filter(|case| case.word == "failed");
    let kinds: BTreeSet<(String, String)> = failing
        .filter_map(|case| Some((case.rule.0, case.rule.1?)))
        .filter(|(_, kind)| super::super::custom::completes(kind))
        .collect();
    let known = |(group, kind): &&(String, String)| ending_kinds::named(group, kind).is_some();
    let (known, undecided): (Vec<_>, Vec<_>) = kinds.iter().partition(known);
    assert!(known.len() > 10, "{known:?}");
    assert_eq!(undecided.len(), UNDECIDED, "{undecided:?}");
}
