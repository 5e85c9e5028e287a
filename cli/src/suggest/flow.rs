//! The way from a chart, or a folder of manifests, to the proposed lists: it renders with several sets of values, surveys the waits, writes
//! lists, and tries them.

use super::budget::RenderShare;
use super::known::Known;
use super::object::{ChartObject, own_pods};
use super::report::{Report, Says};
use super::search;
use super::source::ObjectSource;
use super::switches::{self, Switch};
use super::telling;
use super::texts::{File, Texts};
use super::tried_sets::TriedSets;
use super::values;
use super::varied::{self, Variation};
use super::ways;
use anyhow::Result;
use std::collections::BTreeMap;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most sets of values that one round renders which add one switch to an earlier set.
const MOST_PAIRS: usize = 40;

/// The most sets of values that are rendered which add one switch to a set in which a container waits for something new.
const MOST_CROSSED: usize = 24;

/// The most values that get a made-up text, one at a time, in order to render the chart's own workloads at all.
const MOST_TEXTS: usize = 8;

/// The most values or sets that a note names.
const MOST_TOLD: usize = 6;

/// A set of values with one switch more than an earlier set, and the number of the earlier set.
type Pair = (usize, Vec<Switch>);

/// Splits sets of values into those that are tried, at most [`MOST_PAIRS`] different ones, and those beyond that limit. Sets that differ in the
/// order of their switches count once, because Helm renders them once.
fn first_pairs(pairs: Vec<Pair>) -> (Vec<Pair>, Vec<Pair>) {
    let mut questions: BTreeSet<Vec<String>> = BTreeSet::new();
    pairs.into_iter().partition(|(_, set)| {
        let mut question: Vec<String> = set.iter().map(Switch::pair).collect();
        question.sort();
        questions.contains(&question) || questions.len() < MOST_PAIRS && questions.insert(question)
    })
}

/// Renders the sets in which a container may wait for the elements of a list of addresses, with a made-up address (a mark) for each element. An
/// element may have several forms, such as with a port; the first form counts with which each waited-for address shows its mark.
fn mark_lists(tried: &mut TriedSets<'_>, source: &mut ObjectSource) {
    let mut open = tried.lists();
    while !open.is_empty() {
        let with_marks = |(base, forms): &mut (usize, Vec<Vec<Switch>>)| {
            let set = [tried.sets[*base].as_slice(), &forms.remove(0)].concat();
            (*base, set)
        };
        let sets: Vec<Pair> = open.iter_mut().map(with_marks).collect();
        let switches: Vec<_> = sets.iter().map(|it| it.1.clone()).collect();
        let all = source.render_all(&switches, RenderShare::Followed);
        let mut next = Vec::new();
        for (((base, set), objects), rest) in sets.into_iter().zip(all).zip(open) {
            let fits = objects.is_some_and(|it| tried.take_list(set, it, source.missing(), base));
            if !fits && !rest.1.is_empty() {
                next.push(rest);
            }
        }
        open = next;
    }
}

/// Renders the variations of the sets of values, which have other names and texts. Of one that does not render, or with which a loop never ends,
/// the halves are tried. Returns the paths of the values that were not varied, and the sets without variations; both empty for plain manifests.
fn vary(
    tried: &mut TriedSets<'_>,
    source: &mut ObjectSource,
    texts: &Texts,
) -> (Vec<String>, Vec<Vec<Switch>>) {
    let Some(names) = source.names() else {
        return (Vec::new(), Vec::new());
    };
    let mut untried: Vec<String> = Vec::new();
    let (mut open, others) = varied::of(texts, tried, &names);
    let others = others
        .into_iter()
        .map(|it| tried.sets[it].clone())
        .collect();
    while !open.is_empty() {
        let set = |it: &Variation| [tried.sets[it.base].as_slice(), &it.switches].concat();
        let sets: Vec<Vec<Switch>> = open.iter().map(set).collect();
        let all = source.render_all(&sets, RenderShare::Varied);
        let rest = open.split_off(all.len());
        let rest = rest.iter().flat_map(|it| &it.switches);
        untried.extend(rest.map(|it| it.path.clone()));
        let mut next = Vec::new();
        for ((one, set), objects) in open.into_iter().zip(sets).zip(all) {
            let is_taken =
                objects.is_some_and(|it| tried.vary(set, it, source.missing(), one.base));
            match one.halves() {
                _ if is_taken => {}
                Some(halves) => next.extend(halves),
                None => untried.extend(one.switches.iter().map(|it| it.path.clone())),
            }
        }
        open = next;
    }
    untried.sort();
    untried.dedup();
    (untried, others)
}

/// The first [`MOST_TOLD`] items of a list, with commas, and the number of the others, for a note.
fn first_of(all: impl ExactSizeIterator<Item = String>) -> String {
    let more = all.len().saturating_sub(MOST_TOLD);
    let mut some: Vec<String> = all.take(MOST_TOLD).collect();
    if more > 0 {
        some.push(format!("{more} more"));
    }
    some.join(", ")
}

/// The texts that name the switches of each set of values, for a note, such as `a=true and b=x`. Made-up addresses (marks) are left out, and so is
/// a set with nothing else.
fn told<'s>(sets: impl Iterator<Item = &'s Vec<Switch>>) -> BTreeSet<String> {
    let told = sets.map(|set| {
        let switches = set.iter().filter(|it| !it.follows()).map(Switch::told);
        switches.collect::<Vec<_>>().join(" and ")
    });
    told.filter(|it| !it.is_empty()).collect()
}

/// The notes on the values and the sets with which no list was tried.
fn of_untried(
    (unvaried, others): (Vec<String>, Vec<Vec<Switch>>),
    uncrossed: &[Pair],
) -> Vec<String> {
    let mut notes = Vec::new();
    if !unvaried.is_empty() {
        notes.push(format!(
            "no list was tried with another {}, so an entry may hold with the present value alone; read the lists",
            first_of(unvaried.into_iter())
        ));
    }
    let others = told(others.iter());
    if !others.is_empty() {
        notes.push(format!(
            "no list was tried with other names and texts beside {}; read the lists",
            first_of(others.into_iter())
        ));
    }
    let together = told(uncrossed.iter().map(|it| &it.1));
    if !together.is_empty() {
        notes.push(format!(
            "no list was tried with {}; read the lists",
            first_of(together.into_iter())
        ));
    }
    notes
}

/// Renders sets of values once more with marks, which are made-up hosts and ports, in the values that may hold an address. Returns the numbers
/// of the new sets that mark all such values at once.
fn follow(tried: &mut TriedSets<'_>, source: &mut ObjectSource) -> Vec<usize> {
    let (followed, many) = tried.followed();
    let sets: Vec<_> = followed.iter().map(|it| it.1.clone()).collect();
    let all = source.render_all(&sets, RenderShare::Followed);
    let mut joined = Vec::new();
    for (at, ((set, switches), objects)) in followed.into_iter().zip(all).enumerate() {
        // No user gives a mark as a value, so a chart that refuses a mark tells nothing.
        if objects.is_some() {
            let number = tried.sets.len();
            tried.take(switches, objects, source.missing(), set);
            joined.extend((number..tried.sets.len()).filter(|_| at < many));
        }
    }
    joined
}

/// Renders the sets in which a container waits for something new once more, with one further switch in each. Returns the sets beyond the limits,
/// which were not rendered.
fn cross(tried: &mut TriedSets<'_>, source: &mut ObjectSource) -> Vec<Pair> {
    let mut crossed = tried.crossed();
    let sets = crossed.iter().take(MOST_CROSSED).map(|it| it.1.clone());
    let sets: Vec<_> = sets.collect();
    let all = source.render_all(&sets, RenderShare::Crossed);
    let uncrossed = crossed.split_off(all.len());
    for ((base, switches), objects) in crossed.into_iter().zip(all) {
        // A set with marks that does not render tells nothing, and one without them was rendered in its turn.
        if objects.is_some() {
            tried.take(switches, objects, source.missing(), base);
        }
    }
    uncrossed
}

/// The note on the sets of values that were not rendered for want of renders; `None` where all were.
fn of_late(late: &[Vec<Switch>]) -> Option<String> {
    let mut pairs: Vec<String> = late.iter().flatten().map(Switch::told).collect();
    pairs.sort();
    pairs.dedup();
    (!late.is_empty()).then(|| {
        format!(
            "it has more switches than are tried, and it was not tried with {}; give values with --set and ask again",
            pairs.join(", ")
        )
    })
}

/// Gives the chart a made-up text for the value without which it renders none of its own workloads, as some charts do until they get a host.
/// Returns that switch; `None` where the chart renders workloads without it, or where no text helps.
fn bring_workloads(source: &mut ObjectSource, switched: &[Vec<Switch>]) -> Option<Switch> {
    let is_own = |it: &ChartObject| !it.source.starts_with("charts") && own_pods(it).is_some();
    let shows = |source: &mut ObjectSource, set: &[Switch]| {
        let found = source.render_all(&[set.to_vec()], RenderShare::Sets);
        found.iter().flatten().any(|it| it.iter().any(is_own))
    };
    if shows(source, &[]) {
        return None;
    }
    let texts = switched
        .iter()
        .filter(|set| matches!(set.as_slice(), [it] if it.is_text()));
    let mut texts = texts.take(MOST_TEXTS);
    let needed = &texts.find(|set| shows(source, set))?[0];
    source.need(needed);
    Some(needed.clone())
}

/// Proposes lists for the workloads of a chart, or of a folder of manifests, and reports the waits that stay. Fails where Helm cannot run, or where
/// the chart does not render with its own values, even with made-up ones added.
pub(super) fn run(
    folder: &Path,
    texts: &Texts,
    mut source: ObjectSource,
    report: &mut Report,
) -> Result<()> {
    let before = report.proposed;
    source.render_first(&texts.values)?;
    let mut tried = TriedSets::of(folder, texts);
    let mut sets = vec![Vec::new()];
    let (mut switched, mut late) = switches::of(texts);
    if let Some(needed) = bring_workloads(&mut source, &switched) {
        switched.retain(|set| set.iter().all(|it| it.path != needed.path));
    }
    sets.extend(switched);
    let switched = sets.iter().chain(&late).flatten();
    let compared = switched.filter(|it| it.is_compared()).cloned();
    tried.compared = compared.collect();
    let all = source.render_all(&sets, RenderShare::Sets);
    late.extend(sets.split_off(all.len()));
    for (switches, objects) in sets.into_iter().zip(all) {
        tried.take(switches, objects, source.missing(), 0);
    }
    for pairs in [TriedSets::pairs, TriedSets::deeper] {
        let (pairs, more) = first_pairs(pairs(&tried));
        let sets: Vec<_> = pairs.iter().map(|it| it.1.clone()).collect();
        let all = source.render_all(&sets, RenderShare::Pairs);
        late.extend(sets.into_iter().skip(all.len()));
        late.extend(more.into_iter().map(|it| it.1));
        for ((base, switches), objects) in pairs.into_iter().zip(all) {
            tried.take(switches, objects, source.missing(), base);
        }
    }
    let joined = follow(&mut tried, &mut source);
    mark_lists(&mut tried, &mut source);
    let uncrossed = cross(&mut tried, &mut source);
    let unvaried = vary(&mut tried, &mut source, texts);
    if let Some(note) = of_late(&late) {
        report.tell(folder.display().to_string(), "", Says::Note(note));
    }
    let untried = tried.sets.len()..tried.sets.len() + late.len();
    tried.rendered.extend(late.iter().map(|_| None));
    tried.sets.extend(late);
    let unrendered = (0..tried.sets.len()).filter(|it| tried.rendered[*it].is_none());
    let without_yaml = unrendered.filter(|it| !untried.contains(it));
    let without_yaml =
        without_yaml.filter_map(|it| Some((it, source.without_yaml(&tried.sets[it])?)));
    let without_yaml = without_yaml.collect();
    let mut known = Known {
        folder,
        texts,
        sets: tried.sets,
        rendered: tried.rendered,
        seen: tried.seen,
        untried: untried.collect(),
        without_yaml,
        idle: tried.idle,
        varied: tried.varied,
        missing: source.missing().to_vec(),
        stubs: source.stubs(),
        given_up: BTreeMap::new(),
    };
    if let Some(names) = known.stubs.names().filter(|_| !known.seen.is_empty()) {
        let note = format!(
            "no chart here has these helpers, so their names were made up to render it (helm dependency build): {names}"
        );
        report.tell(folder.display().to_string(), "", Says::Note(note));
    }
    let mut groups = known.groups();
    let settled = search::lists(&mut known, &mut source, &mut groups, &joined)?;
    let wanted = ways::by_values(&known, &groups, &settled.lists);
    let by_values = values::settle(&known, &mut source, &groups, wanted, report)?;
    let covered = telling::of_groups(&known, &groups, &settled, &by_values, report);
    if report.proposed > before {
        for note in of_untried(unvaried, &uncrossed) {
            report.tell(folder.display().to_string(), "", Says::Note(note));
        }
    }
    let broken: Vec<PathBuf> = source
        .broken()
        .iter()
        .map(|(it, _)| folder.join(it))
        .collect();
    telling::of_the_rest(&known, &covered, &broken, report);
    // A chart without waits needs no note about templates that do not render.
    let waits = !known.seen.is_empty() || texts.files.iter().any(File::looks);
    for (template, why) in source.broken().iter().filter(|_| waits) {
        let place = folder.join(template).display().to_string();
        let note = format!("it does not render without more values, and was read as text: {why}");
        report.tell(place, "", Says::Note(note));
    }
    Ok(())
}
