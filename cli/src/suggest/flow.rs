//! The way from a chart, or a folder of manifests, to the proposed lists: it renders with several sets of values, surveys the waits, writes
//! lists, and tries them.

use super::known::{Group, Known};
use super::list::Listed;
use super::render;
use super::settle::{self, Settled};
use super::source::ObjectSource;
use super::switches::{self, Switch};
use super::telling;
use super::texts::{File, Texts};
use super::told::{Report, Says};
use super::tried_sets::TriedSets;
use super::values;
use super::ways;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The most sets of one round that are tried with one switch more than a set before them.
const MOST_PAIRS: usize = 24;

/// A set of values with one switch more than an earlier set, and the number of the earlier set.
type Pair = (usize, Vec<Switch>);

/// Parts the sets that are tried from the sets beyond [`MOST_PAIRS`]. Sets that differ in the order of their switches count once, because
/// Helm renders them once.
fn first_pairs(pairs: Vec<Pair>) -> (Vec<Pair>, Vec<Pair>) {
    let mut questions: BTreeSet<Vec<String>> = BTreeSet::new();
    pairs.into_iter().partition(|(_, set)| {
        let mut question: Vec<String> = set.iter().map(Switch::pair).collect();
        question.sort();
        questions.contains(&question) || questions.len() < MOST_PAIRS && questions.insert(question)
    })
}

/// The ways to write the lists of the groups that have no list yet, each with the number of its group.
fn open(known: &Known<'_>, groups: &[Group], settled: &Settled) -> Vec<(usize, Vec<Vec<Listed>>)> {
    let open = groups.iter().enumerate();
    let open = open.filter(|(at, _)| !settled.has(*at));
    let ways = open.map(|(at, group)| (at, ways::of(known, group)));
    ways.filter(|(_, ways)| !ways.is_empty()).collect()
}

/// Renders the sets in which a container may wait for the elements of a list, with marks in that list. Of several forms that an element may
/// have, the first counts that tells each address.
fn mark_lists(tried: &mut TriedSets<'_>, source: &mut ObjectSource) {
    let mut open = tried.lists();
    while !open.is_empty() {
        let with_marks = |(base, forms): &mut (usize, Vec<Vec<Switch>>)| {
            let set = [tried.sets[*base].as_slice(), &forms.remove(0)].concat();
            (*base, set)
        };
        let sets: Vec<Pair> = open.iter_mut().map(with_marks).collect();
        let switches: Vec<_> = sets.iter().map(|it| it.1.clone()).collect();
        let all = source.render_all(&switches, render::FOR_FOLLOWED);
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

/// Proposes lists for the workloads that a folder renders to.
pub(super) fn run(
    folder: &Path,
    texts: &Texts,
    mut source: ObjectSource,
    report: &mut Report,
) -> Result<()> {
    source.render_first(&texts.values)?;
    let mut tried = TriedSets::of(folder, texts);
    let mut sets = vec![Vec::new()];
    let (switched, mut late) = switches::of(texts);
    sets.extend(switched);
    let all = source.render_all(&sets, render::FOR_SETS);
    late.extend(sets.split_off(all.len()));
    for (switches, objects) in sets.into_iter().zip(all) {
        tried.take(switches, objects, source.missing(), 0);
    }
    for pairs in [TriedSets::pairs, TriedSets::deeper] {
        let (pairs, more) = first_pairs(pairs(&tried));
        let sets: Vec<_> = pairs.iter().map(|it| it.1.clone()).collect();
        let all = source.render_all(&sets, render::FOR_PAIRS);
        late.extend(sets.into_iter().skip(all.len()));
        late.extend(more.into_iter().map(|it| it.1));
        for ((base, switches), objects) in pairs.into_iter().zip(all) {
            tried.take(switches, objects, source.missing(), base);
        }
    }
    let (followed, many) = tried.followed();
    let sets: Vec<_> = followed.iter().map(|it| it.1.clone()).collect();
    let all = source.render_all(&sets, render::FOR_FOLLOWED);
    let mut joined = Vec::new();
    for (at, ((set, switches), objects)) in followed.into_iter().zip(all).enumerate() {
        // No user gives a mark as a value, so a chart that refuses a mark tells nothing.
        if objects.is_some() {
            let number = tried.sets.len();
            tried.take(switches, objects, source.missing(), set);
            joined.extend((number..tried.sets.len()).filter(|_| at < many));
        }
    }
    mark_lists(&mut tried, &mut source);
    if !late.is_empty() {
        let mut pairs: Vec<String> = late.iter().flatten().map(Switch::pair).collect();
        pairs.sort();
        pairs.dedup();
        let note = format!(
            "it has more switches than are tried, and it was not tried with {}; give values with --set and ask again",
            pairs.join(", ")
        );
        report.tell(folder.display().to_string(), "", Says::Note(note));
    }
    let untried = tried.sets.len()..tried.sets.len() + late.len();
    tried.rendered.extend(late.iter().map(|_| None));
    tried.sets.extend(late);
    let mut known = Known {
        folder,
        texts,
        sets: tried.sets,
        rendered: tried.rendered,
        seen: tried.seen,
        untried: untried.collect(),
        missing: source.missing().to_vec(),
        stubs: source.stubs(),
    };
    if let Some(names) = known.stubs.names().filter(|_| !known.seen.is_empty()) {
        let note = format!(
            "no chart here has these helpers, so their names were made up to render it (helm dependency build): {names}"
        );
        report.tell(folder.display().to_string(), "", Says::Note(note));
    }
    let mut groups = known.groups();
    let empty = Settled::default();
    let mut settled = settle::settle(&known, &mut source, &groups, open(&known, &groups, &empty))?;
    let without: Vec<usize> = (0..groups.len()).filter(|at| !settled.has(*at)).collect();
    if known.forget(&joined, &mut groups, &without) {
        let more = open(&known, &groups, &settled);
        settled.join(settle::settle(&known, &mut source, &groups, more)?);
    }
    let unsettled = (0..groups.len()).filter(|at| !settled.has(*at));
    let unsettled: Vec<&Group> = unsettled.map(|at| &groups[at]).collect();
    if known.leave_unwritable(&unsettled) {
        let more = open(&known, &groups, &settled);
        settled.join(settle::settle(&known, &mut source, &groups, more)?);
    }
    let wanted = ways::by_values(&known, &groups, &settled.lists);
    let by_values = values::settle(&known, &mut source, &groups, wanted, report)?;
    let covered = telling::of_groups(&known, &groups, &settled, &by_values, report);
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
