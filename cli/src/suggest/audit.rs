//! Audits the lists that were found. A list holds with the sets of values that were tried; with a further set, in which switches meet that the
//! containers read, it may say something else than the loops.

use super::budget::RenderShare;
use super::candidates;
use super::expected;
use super::in_text::actions;
use super::known::{Group, Known};
use super::list::Listed;
use super::object::{ChartObject, text};
use super::settle::{self, EditedTemplates, Settled};
use super::source::ObjectSource;
use super::survey::{self, Readings, SeenContainer};
use super::switches::{self, Switch};
use super::tested;
use super::traces::{self, is_of_path};
use super::tried;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};

/// The most further sets of one audit.
const MOST: usize = 80;

/// The most of them with a mixture of switches.
const MOST_MIXED: usize = 24;

/// The most of them with two switches that decide about entries.
const MOST_CROSSED: usize = 30;

/// Renders the chart with further sets of values, with and without the lists that were found. Returns the numbers of the groups whose list
/// says something else than the loops with such a set. These sets then count for the lists.
pub(super) fn refuted(
    known: &mut Known<'_>,
    source: &mut ObjectSource,
    groups: &mut [Group],
    settled: &Settled,
) -> Result<BTreeSet<usize>> {
    let mut refuted = BTreeSet::new();
    let listed: Vec<usize> = settled.lists.keys().copied().collect();
    let sets = further(known, groups, &settled.lists);
    let plain = source.render_all(&sets, RenderShare::Audit);
    let written = EditedTemplates::of(known, groups, &settled.lists);
    written.put(source)?;
    let with_lists = source.render_all(&sets[..plain.len()], RenderShare::Audit);
    written.take_back(source)?;
    let mut readings = Readings::default();
    for ((set, plain), with_lists) in sets.into_iter().zip(plain).zip(with_lists) {
        let Some(plain) = plain else { continue };
        let number = known.sets.len();
        let values = &known.texts.values;
        let seen = survey::of(&mut readings, number, &plain, &known.missing, values, &set);
        let base = set.iter().filter(|it| !it.is_varied());
        let base: Vec<String> = question(base);
        let base = known.sets.iter().position(|it| question(it.iter()) == base);
        if let Some(base) = base.filter(|_| set.iter().any(Switch::is_varied)) {
            known.varied.insert(number, base);
        }
        known.sets.push(set);
        known.rendered.push(Some(plain));
        let taken = known.take(seen, groups);
        let says = |at: usize| {
            let group = &groups[at];
            let is_told = !of_set(known, group, number).any(has_rest);
            let expected = expected::of(known, group);
            with_lists.as_ref().is_some_and(|objects| {
                // Where the user has to give an address, the list may name that, and no object more than the loops.
                let fits = if is_told {
                    tried::says
                } else {
                    tried::names_no_more
                };
                settle::all_fit(known, group, &expected, (number, objects), fits)
            })
        };
        let others: Vec<usize> = listed.iter().copied().filter(|at| !says(*at)).collect();
        // A set with which a loop waits for something that no list says has to be told.
        let is_untold = |at: &usize| untold(known, &groups[*at], number);
        if others.is_empty() && !listed.iter().any(is_untold) {
            known.give_back(taken, groups);
        }
        refuted.extend(others);
    }
    Ok(refuted)
}

/// The containers of a group that a set shows.
fn of_set<'k>(
    known: &'k Known<'_>,
    group: &Group,
    set: usize,
) -> impl Iterator<Item = &'k SeenContainer> {
    let all = group.seen.iter().chain(&group.varied);
    all.map(|it| &known.seen[*it])
        .filter(move |it| it.set == set)
}

/// Whether a container has a wait that no list can say.
fn has_rest(seen: &SeenContainer) -> bool {
    seen.found.iter().any(|it| it.target.is_err())
}

/// Whether a container of the group waits with a set for something that no list says, and for more than an address of the user: a set with
/// fewer switches and with marks shows such an address.
fn untold(known: &Known<'_>, group: &Group, set: usize) -> bool {
    of_set(known, group, set).any(|seen| {
        let is_marked = |it: &&SeenContainer| {
            let marked = &known.sets[it.set];
            let mut plain = traces::without(marked);
            traces::follow(marked) && plain.all(|it| known.sets[set].contains(it))
        };
        let mut others = known.seen.iter().filter(|it| it.is_the_same(seen));
        let is_said = others.any(|it| it.is_listed() && is_marked(&it));
        has_rest(seen) && !is_said
    })
}

/// The further sets for the groups with these lists: first two switches that decide about entries together, then mixtures of the switches that a
/// group reads, then each switch that decides about an entry, and each set that shows a container of the group with one switch more that the
/// container reads.
fn further(
    known: &Known<'_>,
    groups: &[Group],
    lists: &BTreeMap<usize, Vec<Listed>>,
) -> Vec<Vec<Switch>> {
    let switches = choices(known);
    let overrides = overrides(known);
    let mut crossed: Vec<Vec<Switch>> = Vec::new();
    let mut by_base: Vec<Vec<Vec<Switch>>> = Vec::new();
    let mut mixed: Vec<Vec<Vec<Switch>>> = Vec::new();
    for (group, list) in lists.iter().map(|(at, list)| (&groups[*at], list)) {
        let mut deciding = of_targets(known, group);
        for switch in of_entries(known, list) {
            if !deciding.contains(&switch) {
                deciding.push(switch);
            }
        }
        crossed.extend(alternatives(known, group));
        crossed.extend(crossed_conditions(&switches, &deciding, list));
        let text = known.read_by(group);
        let is_read = |it: &Switch| text.contains(&format!(".Values.{}", it.path));
        let read = switches.iter().copied().filter(|it| is_read(it));
        let own: Vec<&Switch> = read.chain(&deciding).collect();
        by_base.push(deciding.iter().map(|it| vec![it.clone()]).collect());
        by_base.extend(of_bases(known, group, (&own, &is_read), &overrides));
        mixed.push(mixtures(known, group, &own));
    }
    let tried = known.sets.iter().enumerate();
    let tried = tried.filter(|(at, _)| !known.untried.contains(at));
    let mut once: BTreeSet<Vec<String>> = tried.map(|(_, it)| question(it.iter())).collect();
    let mut sets = Vec::new();
    let crossed = crossed.iter().take(MOST_CROSSED);
    let mixed = in_turns(&mixed).take(MOST_MIXED);
    for set in crossed.chain(mixed).chain(in_turns(&by_base)) {
        if sets.len() < MOST && once.insert(question(set.iter())) {
            sets.push(set.clone());
        }
    }
    sets
}

/// The sets of each item, of which each item has its turn, because there may be more sets than are rendered.
fn in_turns(all: &[Vec<Vec<Switch>>]) -> impl Iterator<Item = &Vec<Switch>> {
    let longest = all.iter().map(Vec::len).max().unwrap_or_default();
    (0..longest).flat_map(|turn| all.iter().filter_map(move |it| it.get(turn)))
}

/// The sets that show a container of the group, each with about half of the switches in `own`. Two dozen such sets have nearly every three
/// switches together, for which a set of their own each would be far too many; the mixture is the same in each run.
fn mixtures(known: &Known<'_>, group: &Group, own: &[&Switch]) -> Vec<Vec<Switch>> {
    let bases = known.tried(group);
    let mixture = |number: usize| {
        let mut set = known.sets[bases[number % bases.len()]].clone();
        for (at, switch) in own.iter().enumerate() {
            let is_other = set.iter().all(|it| it.path != switch.path);
            if is_other && is_mixed_in(number, at) {
                set.push((*switch).clone());
            }
        }
        set
    };
    let count = if bases.is_empty() { 0 } else { MOST_MIXED };
    (0..count).map(mixture).collect()
}

/// Whether the switch number `switch` is a part of the mixture number `mixture`: a bit of SplitMix64's hash of both numbers.
fn is_mixed_in(mixture: usize, switch: usize) -> bool {
    let mut bits = ((mixture as u64) << 32 | switch as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    bits = (bits ^ bits >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ bits >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    (bits ^ bits >> 31) & 1 == 1
}

/// The switches of all sets that a user may choose, each once.
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

/// The names that a variation of one set overrides: an entry of any other set follows them, too. Empty where no variation overrides names.
fn overrides(known: &Known<'_>) -> Vec<Switch> {
    let varied = |set: usize| known.sets[set].iter().filter(|it| it.is_varied());
    let is_of_names = |it: &&usize| varied(**it).any(|it| it.path == "fullnameOverride");
    let variation = known.varied.keys().find(is_of_names);
    variation.map_or_else(Vec::new, |it| varied(*it).cloned().collect())
}

/// The sets that show a container of the group, each with overridden names, and with one more of the switches in `own`, which the container reads
/// or which decide about an entry; and such switches alone. Each item has the sets of one base.
fn of_bases(
    known: &Known<'_>,
    group: &Group,
    (own, is_read): (&[&Switch], &dyn Fn(&Switch) -> bool),
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
        if !is_own && !marks.any(is_read) {
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

/// The pairs of a set in one order, whatever the order of its switches.
fn question<'s>(set: impl Iterator<Item = &'s Switch>) -> Vec<String> {
    let mut pairs: Vec<String> = set.map(Switch::pair).collect();
    pairs.sort();
    pairs
}
