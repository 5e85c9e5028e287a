//! Mixes many switches in one set of values, so that a few sets have nearly all switches together.

use crate::suggest::expected;
use crate::suggest::known::{Group, Known};
use crate::suggest::settle;
use crate::suggest::switches::{self, Switch, is_override};
use crate::suggest::traces;
use std::collections::BTreeSet;

/// The most mixtures of one audit.
pub(super) const MOST_MIXED: usize = 32;

/// The `MOST_MIXED` mixtures for a group in the audit number `round`: the first set of values for each expected list by turns, with about three
/// quarters of its own switches, about half of those in `own` that neither hide the workload nor override names, and all marks that a wait has.
/// Some thirty such sets have nearly every three switches together, in far fewer renders; the mixtures are the same in each run.
pub(super) fn of(
    known: &Known<'_>,
    group: &Group,
    own: &[&Switch],
    round: usize,
) -> Vec<Vec<Switch>> {
    let tried = known.tried(group);
    let bases = settle::alike(&expected::of(known, group), &tried);
    let bases: BTreeSet<usize> = bases.into_values().collect();
    // A set without the workload tells nothing about its list.
    let is_shown = |set: &usize| known.rendered[*set].is_some() && tried.contains(set);
    let hides = |switch: &Switch| {
        let sets = known.sets.iter().enumerate();
        let mut alone = sets.filter(|it| it.1.as_slice() == std::slice::from_ref(switch));
        let is_hidden = alone.any(|(at, _)| known.rendered[at].is_some() && !is_shown(&at));
        // The chart's own values show the workload, so the switch alone takes it away.
        is_hidden
            && known
                .sets
                .iter()
                .position(Vec::is_empty)
                .is_some_and(|it| is_shown(&it))
    };
    // Variations show what other names do.
    let is_part = |it: &&Switch| !is_override(&it.path) && !hides(it);
    let own: Vec<&Switch> = own.iter().copied().filter(is_part).collect();
    // An address of the user counts only with some of the switches, so each mixture has all addresses for which a container waits.
    let waits_for = |mark: &Switch| {
        let found = group.seen.iter().flat_map(|at| &known.seen[*at].found);
        let mut targets = found.filter_map(|it| it.target.as_ref().ok()?.as_ref());
        targets.any(|it| traces::marks(mark, &it.name))
    };
    let marks = tried.iter().flat_map(|it| &known.sets[*it]);
    let marks: Vec<&Switch> = marks.filter(|it| it.follows() && waits_for(it)).collect();
    // A quarter of a base's own switches is left out, because the others may do without them.
    let mixture = |(number, base): (usize, usize)| {
        let bits = |part: usize| hash_of(number, part);
        let base = known.sets[base].iter().enumerate();
        let kept = base.filter(|(at, it)| it.follows() || bits(*at) % 4 != 0);
        let more = own.iter().enumerate();
        let more = more.filter(|(at, _)| bits(usize::MAX - at) % 2 == 0);
        let all = kept.map(|it| it.1).chain(more.map(|it| *it.1));
        switches::dedup(all.chain(marks.iter().copied()).cloned().collect())
    };
    let numbers = round * MOST_MIXED..(round + 1) * MOST_MIXED;
    let bases = bases.iter().copied().cycle();
    numbers.zip(bases).map(mixture).collect()
}

/// SplitMix64's hash of two numbers, the same in each run.
fn hash_of(mixture: usize, switch: usize) -> u64 {
    let mut bits = (mixture as u64)
        .rotate_right(16)
        .wrapping_add(switch as u64)
        .wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ bits >> 31
}
