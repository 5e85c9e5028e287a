//! Audits the lists that were found. A list holds with the sets of values that were tried; with a further set, in which switches meet that the
//! containers read, it may say something else than the loops.

use super::candidates;
use super::expected;
use super::known::{Group, Known};
use super::object::{ChartObject, text};
use super::render;
use super::settle::{self, EditedTemplates, Settled};
use super::source::ObjectSource;
use super::survey::{self, Readings, SeenContainer};
use super::switches::{self, Switch};
use super::tested;
use super::traces;
use anyhow::Result;
use std::collections::BTreeSet;

/// The most further sets of one audit.
const MOST: usize = 24;

/// Renders the chart with further sets of values, with and without the lists that were found. Returns the numbers of the groups whose list
/// says something else than the loops with such a set. These sets then count for the lists. `idle` are the switches that alone change nothing.
pub(super) fn refuted(
    known: &mut Known<'_>,
    source: &mut ObjectSource,
    groups: &mut [Group],
    settled: &Settled,
    idle: &[Switch],
) -> Result<BTreeSet<usize>> {
    let mut refuted = BTreeSet::new();
    let listed: Vec<usize> = settled.lists.keys().copied().collect();
    let sets = further(known, groups, &listed, idle);
    let plain = source.render_all(&sets, render::FOR_AUDIT);
    let written = EditedTemplates::of(known, groups, &settled.lists);
    written.put(source)?;
    let with_lists = source.render_all(&sets[..plain.len()], render::FOR_AUDIT);
    written.take_back(source)?;
    let mut readings = Readings::default();
    for ((set, plain), with_lists) in sets.into_iter().zip(plain).zip(with_lists) {
        let Some(plain) = plain else { continue };
        let number = known.sets.len();
        let values = &known.texts.values;
        let seen = survey::of(&mut readings, number, &plain, &known.missing, values, &set);
        known.sets.push(set);
        known.rendered.push(Some(plain));
        let taken = known.take(seen, groups);
        let says = |at: usize| {
            let group = &groups[at];
            let own = group.seen.iter().map(|it| &known.seen[*it]);
            let mut own = own.filter(|it| it.set == number);
            let is_told = !own.any(|it| it.found.iter().any(|it| it.target.is_err()));
            let expected = expected::of(known, group);
            with_lists.as_ref().is_some_and(|objects| {
                if is_told {
                    settle::holds(known, group, &expected, number, objects)
                } else {
                    // Where the user has to give an address, the list may name that, and no object more than the loops.
                    settle::names_no_more(known, group, &expected, number, objects)
                }
            })
        };
        let others: Vec<usize> = listed.iter().copied().filter(|at| !says(*at)).collect();
        if others.is_empty() {
            known.give_back(taken, groups);
        }
        refuted.extend(others);
    }
    Ok(refuted)
}

/// The further sets for the groups of these numbers: each set that shows a container of the group, with one switch more that the container
/// reads.
fn further(
    known: &Known<'_>,
    groups: &[Group],
    listed: &[usize],
    idle: &[Switch],
) -> Vec<Vec<Switch>> {
    let is_choice = |it: &&Switch| !it.follows() && !it.is_varied();
    let mut switches: Vec<&Switch> = Vec::new();
    for switch in known.sets.iter().flatten().chain(idle).filter(is_choice) {
        if !switches.contains(&switch) {
            switches.push(switch);
        }
    }
    let mut by_base: Vec<Vec<Vec<Switch>>> = Vec::new();
    for group in listed.iter().map(|at| &groups[*at]) {
        let alone = of_targets(known, group).into_iter().map(|it| vec![it]);
        by_base.push(alone.collect());
        let seen = group.seen.iter().map(|it| &known.seen[*it]);
        let seen: Vec<&SeenContainer> = seen.collect();
        let names: BTreeSet<&str> = seen.iter().map(|it| it.container.name.as_str()).collect();
        let read = names.iter().map(|it| tested::read_by(known.texts, it));
        let read: String = read.collect();
        let is_read = |it: &&&Switch| read.contains(&format!(".Values.{}", it.path));
        let own: Vec<&Switch> = switches.iter().filter(is_read).copied().collect();
        let bases = known.tried(group).into_iter().filter(|base| {
            let set = &known.sets[*base];
            let shown = set.iter().filter(|it| !it.follows());
            !set.is_empty() && shown.clone().all(|it| own.contains(&it)) || traces::follow(set)
        });
        for base in bases {
            let set = &known.sets[base];
            let others = own
                .iter()
                .filter(|it| set.iter().all(|one| one.path != it.path));
            let more = others.map(|it| [set.as_slice(), std::slice::from_ref(*it)].concat());
            by_base.push(more.collect());
        }
    }
    let mut once: BTreeSet<Vec<String>> = known.sets.iter().map(|it| question(it)).collect();
    let mut sets = Vec::new();
    // Each base has its turn, because there may be more sets than are rendered.
    let longest = by_base.iter().map(Vec::len).max().unwrap_or_default();
    for turn in 0..longest {
        for set in by_base.iter().filter_map(|it| it.get(turn)) {
            if sets.len() < MOST && once.insert(question(set)) {
                sets.push(set.clone());
            }
        }
    }
    sets
}

/// The switches without which the chart does not render a target of the group, or its whole sub-chart: without the target, the loop may wait
/// for something else, or not at all.
fn of_targets(known: &Known<'_>, group: &Group) -> Vec<Switch> {
    let mut switches: Vec<Switch> = Vec::new();
    for seen in group.seen.iter().map(|at| &known.seen[*at]) {
        let targets = seen.found.iter();
        let targets = targets.filter_map(|it| it.target.as_ref().ok()?.as_ref());
        for object in targets.filter_map(|it| it.object) {
            let object = &known.objects(seen.set)[object];
            for condition in around(known, object) {
                let more = switches::of_condition(&condition, &known.texts.values);
                let more = more.into_iter().filter(|it| it.value == "false");
                for switch in more {
                    if !switches.contains(&switch) {
                        switches.push(switch);
                    }
                }
            }
        }
    }
    switches
}

/// The conditions around an object: those in its template, and the one of its sub-chart, which by custom is `NAME.enabled`.
fn around(known: &Known<'_>, object: &ChartObject) -> Vec<String> {
    let mut parts = object.source.iter().map(|it| it.to_string_lossy());
    if parts.next().is_some_and(|it| it == "charts") {
        let part = parts.next().unwrap_or_default();
        return vec![format!("if .Values.{part}.enabled")];
    }
    let kind = text(&object.value, "/kind");
    let name = text(&object.value, "/metadata/name");
    let file = known.file(&object.source);
    let found = file.and_then(|it| Some((it, candidates::document_of(it, kind, name)?)));
    let line = found.and_then(|(file, it)| Some((file, it.first + it.line_of("kind")?)));
    line.map(|(file, line)| tested::conditions_at(file, line))
        .unwrap_or_default()
}

/// The pairs of a set in one order, whatever the order of its switches.
fn question(set: &[Switch]) -> Vec<String> {
    let mut pairs: Vec<String> = set.iter().map(Switch::pair).collect();
    pairs.sort();
    pairs
}
