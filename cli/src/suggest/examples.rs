//! Collects the examples from which the condition of an entry is learned: sets of values that show the entry, and sets that do not.

use super::known::{Group, Hint, Known};
use super::list::Listed;
use super::switches::Switch;
use super::target::Target;
use super::traces;
use std::collections::BTreeSet;

/// A target of the wait loops of a workload, with its entry.
pub(super) struct FoundEntry<'k> {
    /// The number of the set of values with which the loop waits for the target.
    pub(super) set: usize,
    /// The name of the container with the loop.
    pub(super) container: &'k str,
    pub(super) target: &'k Target,
    pub(super) listed: Listed,
}

/// The examples for the condition of one entry.
pub(super) struct Examples {
    /// The sets of values, each with the switches and the made-up addresses (marks) that may decide about the entry.
    pub(super) sets: Vec<Vec<Switch>>,
    /// The numbers of the sets that count.
    pub(super) tried: Vec<usize>,
    /// The numbers of those that show the entry.
    pub(super) seen: Vec<usize>,
}

impl Examples {
    /// The examples that the rendered sets make, and the hints of the group: the mixtures that its audits rendered. `sets` are the sets with the
    /// switches that [`decisive`] leaves, `tried` the numbers of those that render a workload of the group, and `seen` the numbers of those that
    /// show the entry. `own` are the rendered entries of the targets that the entry names, and `found` the targets of all entries: a hint with
    /// a further one tells nothing and is left out.
    pub(super) fn of(
        known: &Known<'_>,
        group: &Group,
        found: &[FoundEntry<'_>],
        (sets, tried, seen): (&[Vec<Switch>], &[usize], &[usize]),
        (target, own): (&Target, &BTreeSet<String>),
    ) -> Self {
        // All marks of an address count, also those in a set that shows another wait: it tells whether the marks alone bring the entry.
        let is_of_address = |it: &Switch| !it.follows() || traces::marks(it, &target.name);
        let mut examples = Self {
            sets: if target.is_address() {
                known
                    .sets
                    .iter()
                    .map(|it| with(it, is_of_address))
                    .collect()
            } else {
                sets.to_vec()
            },
            tried: tried.to_vec(),
            seen: seen.to_vec(),
        };
        let of_all: BTreeSet<String> = found.iter().map(|it| it.target.plain().text).collect();
        let hints = group.hints.iter();
        for Hint { set, entries } in hints.filter(|it| it.entries.is_subset(&of_all)) {
            let is_in_entry = |it: &Switch| entries.iter().any(|entry| traces::marks(it, entry));
            let number = examples.sets.len();
            examples.sets.push(if target.is_address() {
                with(set, is_of_address)
            } else {
                with(set, |it| !it.follows() || is_in_entry(it))
            });
            examples.tried.push(number);
            if !entries.is_disjoint(own) {
                examples.seen.push(number);
            }
        }
        examples
    }
}

/// The switches of a set that `is_part` accepts.
fn with(set: &[Switch], is_part: impl Fn(&Switch) -> bool) -> Vec<Switch> {
    set.iter().filter(|it| is_part(it)).cloned().collect()
}

/// The switches of each set that decide about the entry of a target: all but some marks, which are made-up hosts and ports. A mark decides only as
/// far as an address of the set, or of one with fewer switches, has it; an address needs its own marks alone. `found` has the targets of all sets.
pub(super) fn decisive(
    known: &Known<'_>,
    found: &[FoundEntry<'_>],
    target: &Target,
) -> Vec<Vec<Switch>> {
    let is_seen = |set: usize, it: &Switch| {
        let mut names = found
            .iter()
            .filter(|it| it.set == set)
            .map(|it| &it.target.name);
        names.any(|name| traces::marks(it, name))
    };
    // A set that has one switch more than a set with an address shows what that switch does to the address.
    let is_beyond = |set: usize, it: &Switch| {
        let mut marked = found.iter().filter(|at| traces::marks(it, &at.target.name));
        marked.any(|at| {
            let mut base = known.sets[at.set].iter();
            base.all(|it| known.sets[set].contains(it))
        })
    };
    let is_part = |set: usize, it: &Switch| {
        let is_own = !target.is_address() || traces::marks(it, &target.name);
        !it.follows() || is_own && (is_seen(set, it) || is_beyond(set, it))
    };
    let sets = known.sets.iter().enumerate();
    sets.map(|(set, all)| with(all, |it| is_part(set, it)))
        .collect()
}
