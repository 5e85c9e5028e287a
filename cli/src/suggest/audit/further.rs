//! Chooses the further sets of values of an audit.

use super::mixtures::{self, MOST_MIXED};
use crate::suggest::candidates;
use crate::suggest::in_text::actions;
use crate::suggest::known::{Group, Known};
use crate::suggest::list::Listed;
use crate::suggest::object::{ChartObject, text};
use crate::suggest::switches::{self, Switch};
use crate::suggest::tested;
use crate::suggest::traces::{self, is_of_path};
use std::collections::{BTreeMap, BTreeSet};

/// The most further sets of one audit beside the mixtures.
const MOST_OTHERS: usize = 48;

/// The most further sets of one audit that have two switches which both decide about entries.
const MOST_CROSSED: usize = 30;

/// The mixtures (sets of many switches) of an audit for the groups with these lists, at most `MOST_MIXED` from all groups by turns, without
/// sets that were tried. `round` is the number of audits before this one.
pub(super) fn mixtures(
    known: &Known<'_>,
    groups: &[Group],
    lists: &BTreeMap<usize, Vec<Listed>>,
    round: usize,
) -> Vec<Vec<Switch>> {
    let switches = choices(known);
    let mixed = lists.iter().map(|(at, list)| {
        let group = &groups[*at];
        let deciding = deciding(known, group, list);
        let own = own(&switches, &deciding, &known.read_by(group));
        mixtures::of(known, group, &own, round)
    });
    let mixed: Vec<Vec<Vec<Switch>>> = mixed.collect();
    let mixed = untried(known, in_turns(&mixed));
    mixed.into_iter().take(MOST_MIXED).collect()
}

/// The further sets of an audit for the groups with these lists, at most `MOST_OTHERS`, without sets that were tried: two switches that decide about
/// entries together, then each such switch alone, and each set that shows a container of the group with one switch more that the container reads.
pub(super) fn others(
    known: &Known<'_>,
    groups: &[Group],
    lists: &BTreeMap<usize, Vec<Listed>>,
) -> Vec<Vec<Switch>> {
    let switches = choices(known);
    let overrides = overrides(known);
    let mut crossed: Vec<Vec<Switch>> = Vec::new();
    let mut by_base: Vec<Vec<Vec<Switch>>> = Vec::new();
    for (group, list) in lists.iter().map(|(at, list)| (&groups[*at], list)) {
        let deciding = deciding(known, group, list);
        crossed.extend(alternatives(known, group));
        crossed.extend(crossed_conditions(&switches, &deciding, list));
        let text = known.read_by(group);
        let own = own(&switches, &deciding, &text);
        by_base.push(deciding.iter().map(|it| vec![it.clone()]).collect());
        by_base.extend(of_bases(known, group, (&own, &text), &overrides));
    }
    let crossed = crossed.iter().take(MOST_CROSSED);
    let others = untried(known, crossed.chain(in_turns(&by_base)));
    others.into_iter().take(MOST_OTHERS).collect()
}

/// The switches (changed values of the chart) that decide about the targets of a workload's waits, and about the entries of its list, each once.
fn deciding(known: &Known<'_>, group: &Group, list: &[Listed]) -> Vec<Switch> {
    let mut deciding = of_targets(known, group);
    for switch in of_entries(known, list) {
        if !deciding.contains(&switch) {
            deciding.push(switch);
        }
    }
    deciding
}

/// Those of `switches` that `text`, the text of a group's containers, reads, and those of `deciding`.
fn own<'s>(switches: &[&'s Switch], deciding: &'s [Switch], text: &str) -> Vec<&'s Switch> {
    let read = switches.iter().copied().filter(|it| it.is_read_in(text));
    read.chain(deciding).collect()
}

/// The sets with which the chart was not rendered before, each once. Sets that differ only in the order of their switches are one.
fn untried<'s>(known: &Known<'_>, sets: impl Iterator<Item = &'s Vec<Switch>>) -> Vec<Vec<Switch>> {
    let tried = known.sets.iter().enumerate();
    let tried = tried.filter(|(at, _)| !known.untried.contains(at));
    let mut once: BTreeSet<Vec<String>> = tried.map(|(_, it)| question(it.iter())).collect();
    let is_new = |it: &&Vec<Switch>| once.insert(question(it.iter()));
    sets.filter(is_new).cloned().collect()
}

/// The sets of all items by turns: the first set of each item, then the second of each, because there may be more sets than are rendered.
fn in_turns(all: &[Vec<Vec<Switch>>]) -> impl Iterator<Item = &Vec<Switch>> {
    let longest = all.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|turn| all.iter().filter_map(move |it| it.get(turn)))
}

/// The switches that a user may choose, each once: those of all sets, and those that alone change nothing. Left out are made-up hosts and ports
/// (marks), and other names and texts (variations).
fn choices<'k>(known: &'k Known<'_>) -> Vec<&'k Switch> {
    let all = known.sets.iter().flatten().chain(&known.idle);
    let mut switches: Vec<&Switch> = Vec::new();
    for switch in all.filter(|it| !it.follows() && !it.is_varied()) {
        if !switches.contains(&switch) {
            switches.push(switch);
        }
    }
    switches
}

/// The switches of the first variation that sets `fullnameOverride`: an entry has to follow the other names in any other set too. Empty where no
/// variation overrides names.
fn overrides(known: &Known<'_>) -> Vec<Switch> {
    let varied = |set: usize| known.sets[set].iter().filter(|it| it.is_varied());
    let is_of_names = |it: &&usize| varied(**it).any(|it| it.path == "fullnameOverride");
    let variation = known.varied.keys().find(is_of_names);
    variation.map_or_else(Vec::new, |it| varied(*it).cloned().collect())
}

/// Sets made of each base: the base plus `overrides`, if any, and the base plus one switch of `own` (read by a container or deciding about an entry).
/// A base is a tried set of the group with switches of `own` alone, or with host marks that `text`, the containers' with their helpers, reads.
/// The first item belongs to no base: it has each switch of `own` that alone changes nothing.
fn of_bases(
    known: &Known<'_>,
    group: &Group,
    (own, text): (&[&Switch], &str),
    overrides: &[Switch],
) -> Vec<Vec<Vec<Switch>>> {
    // A list may have a condition that a switch fails which alone changes nothing.
    let idle = own.iter().filter(|it| known.idle.contains(it));
    let mut by_base = vec![idle.map(|it| vec![(*it).clone()]).collect()];
    for set in known.tried(group).iter().map(|it| &known.sets[*it]) {
        let mut shown = set.iter().filter(|it| !it.follows());
        let is_own = !set.is_empty() && shown.all(|it| own.contains(&it));
        // Of the sets with marks, those count whose values the container reads.
        let mut marks = set.iter().filter(|it| it.follows() && !traces::is_port(it));
        if !is_own && !marks.any(|it| it.is_read_in(text)) {
            continue;
        }
        let is_other = |it: &&&Switch| set.iter().all(|one| one.path != it.path);
        let others = own.iter().filter(is_other);
        let more = others.map(|it| [set.as_slice(), std::slice::from_ref(*it)].concat());
        let overridden = (!overrides.is_empty()).then(|| [set.as_slice(), overrides].concat());
        by_base.push(overridden.into_iter().chain(more).collect());
    }
    by_base
}

/// The sets of two switches of one condition around the group's workload, of which one is enough: a switch that hides the workload tells nothing
/// about its waits until the other one brings the workload back.
fn alternatives(known: &Known<'_>, group: &Group) -> Vec<Vec<Switch>> {
    let conditions = known.with_document(group, |file, document| {
        let line = document.first + document.line_of("kind")?;
        Some(tested::conditions_at(file, line))
    });
    let mut conditions = conditions.unwrap_or_default();
    conditions.retain(|it| it.split([' ', '(']).any(|word| word == "or"));
    let each = conditions.iter().flat_map(|condition| {
        let switches = switches::of_condition(condition, &known.texts.values);
        pairs(&switches.iter().collect::<Vec<_>>())
    });
    each.collect()
}

/// The sets of two of these switches, of different values.
fn pairs(switches: &[&Switch]) -> Vec<Vec<Switch>> {
    let pairs = switches.iter().enumerate().flat_map(|(at, one)| {
        let others = switches[at + 1..].iter().filter(|it| it.path != one.path);
        others.map(|other| vec![(*one).clone(), (*other).clone()])
    });
    pairs.collect()
}

/// The sets of two switches that both decide about entries of a list: both stand in its conditions, or one in a helper of an entry.
fn crossed_conditions(
    switches: &[&Switch],
    deciding: &[Switch],
    list: &[Listed],
) -> Vec<Vec<Switch>> {
    let conditions = list.iter().flat_map(|it| it.within.iter().flatten());
    let conditions: BTreeSet<&str> = conditions.map(String::as_str).collect();
    let is_part = |path: &str| {
        let value = format!(".Values.{path}");
        conditions.iter().any(|condition| {
            let behind = condition.split(value.as_str()).skip(1);
            behind.into_iter().any(|it| !it.starts_with(is_of_path))
        })
    };
    let own = switches.iter().copied().filter(|it| is_part(&it.path));
    let mut own: Vec<&Switch> = own.collect();
    for switch in deciding {
        if !own.contains(&switch) {
            own.push(switch);
        }
    }
    pairs(&own)
}

/// The switches without which the chart does not render a target of the group, or its whole sub-chart, and those that choose between texts by
/// the values of the sub-chart: the loop may then wait for something else, or not at all.
fn of_targets(known: &Known<'_>, group: &Group) -> Vec<Switch> {
    let mut switches: Vec<Switch> = Vec::new();
    for seen in group.seen.iter().map(|at| &known.seen[*at]) {
        let targets = seen.found.iter();
        let targets = targets.filter_map(|it| it.target.as_ref().ok()?.as_ref());
        for object in targets.filter_map(|it| it.object) {
            let object = &known.objects(seen.set)[object];
            for condition in around(known, object) {
                let more = switches::of_condition(&condition, &known.texts.values);
                let more = more
                    .into_iter()
                    .filter(|it| it.value == "false" || it.is_compared());
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

/// The switches in the helpers that read a value which an entry of the list names: such a helper may choose another server.
fn of_entries(known: &Known<'_>, list: &[Listed]) -> Vec<Switch> {
    let texts = list.iter().map(|it| it.entry.text.as_str());
    let named = texts.flat_map(|it| it.split(".Values.").skip(1));
    let named = named.map(|it| it.split(|it| !is_of_path(it)).next().unwrap_or_default());
    let paths: BTreeSet<String> = named.map(|it| format!(".Values.{it}")).collect();
    let reads = |body: &&String| paths.iter().any(|it| body.contains(it.as_str()));
    let bodies = known.texts.helpers.values().filter(reads);
    let conditions = bodies
        .flat_map(|it| actions(it))
        .filter(|it| tested::decides(it));
    let switches = conditions.flat_map(|it| switches::of_condition(&it, &known.texts.values));
    switches
        .filter(|it| !it.is_text() || it.is_compared())
        .collect()
}

/// The conditions around an object: those in its template; of a sub-chart its own, which by custom is `NAME.enabled`, and the comparisons of its
/// values in the chart's templates.
fn around(known: &Known<'_>, object: &ChartObject) -> Vec<String> {
    let mut parts = object.source.iter().map(|it| it.to_string_lossy());
    if parts.next().is_some_and(|it| it == "charts") {
        let part = parts.next().unwrap_or_default();
        let own = format!("if .Values.{part}.enabled");
        let path = format!(".Values.{part}.");
        let files = known.texts.files.iter().filter(|it| !it.is_values());
        let read = files
            .filter(|it| it.text.contains(&path))
            .flat_map(|it| actions(&it.text));
        let compared = read.filter(|it| it.contains(&path) && tested::decides(it));
        return std::iter::once(own).chain(compared).collect();
    }
    let kind = text(&object.value, "/kind");
    let name = text(&object.value, "/metadata/name");
    let file = known.file(&object.source);
    let found = file.and_then(|it| Some((it, candidates::document_of(it, kind, name)?)));
    let line = found.and_then(|(file, it)| Some((file, it.first + it.line_of("kind")?)));
    line.map(|(file, line)| tested::conditions_at(file, line))
        .unwrap_or_default()
}

/// The pairs `PATH=VALUE` of a set of values, sorted, so that sets which differ only in the order of their switches are equal.
pub(super) fn question<'s>(set: impl Iterator<Item = &'s Switch>) -> Vec<String> {
    let mut pairs: Vec<String> = set.map(Switch::pair).collect();
    pairs.sort();
    pairs
}
