//! Finds the lists that a group (a workload in a template) may get, the best first.

use super::candidates;
use super::conditions;
use super::document::Document;
use super::edits;
use super::examples::{self, Examples, FoundEntry};
use super::expected;
use super::forms::{ChosenForms, EntryForms, Names, Way};
use super::found::Found;
use super::in_text;
use super::known::{Group, Known};
use super::learned_condition;
use super::list::Listed;
use super::operands;
use super::render::Stubs;
use super::survey::SeenContainer;
use super::switches::{self, Switch};
use super::target::Form;
use super::template::word;
use super::tested;
use super::traces::{self, NamedValues};
use super::values::{self, Wanted};
use std::collections::{BTreeMap, BTreeSet};

/// The lists to try for a group in its template, the best first. `chosen` has the form of each entry as far as forms were tried. A list with a
/// made-up name is left out. Empty where the template cannot carry a list, or where no short condition keeps out the sets of values whose waits are
/// unknown.
pub(super) fn of(known: &Known<'_>, group: &Group, chosen: &ChosenForms) -> Vec<Vec<Listed>> {
    if !is_writable(known, group) {
        return Vec::new();
    }
    let in_text = known.with_document(group, |file, document| {
        let at = line_of_list(known, document)?;
        let by = |address| candidates::of_text(known.texts, file, document, at, address).0;
        Some([by(false), by(true)])
    });
    let Some((lists, root)) = in_text.zip(root_of(known, group)) else {
        return Vec::new();
    };
    let mut all = Vec::from(lists);
    // A name that the container's text has follows every value that the loop follows.
    let ways = [
        Way::AsWritten,
        Way::ByTemplate,
        Way::ByHelper,
        Way::ByRelease,
    ];
    let by = |naming, told| by_names(known, group, (naming, told), root);
    for told in [ToldBy::Switches, ToldBy::AllSets] {
        all.extend(ways.into_iter().filter_map(|it| by(Naming::Way(it), told)));
    }
    all.extend(by(Naming::Chosen(chosen), ToldBy::AllSets));
    all.retain(|it| !it.is_empty() && !it.iter().any(|it| is_made_up(&it.entry.text)));
    let mut once: Vec<Vec<Listed>> = Vec::new();
    for way in all {
        if !once.contains(&way) {
            once.push(way);
        }
    }
    let mut all = once;
    let Some(guards) = known.guards(group, root) else {
        return Vec::new();
    };
    for listed in all.iter_mut().flatten() {
        let guard = conditions::unsaid(&guards, &listed.within);
        let inner = std::mem::take(&mut listed.within);
        listed.within = guard.into_iter().chain(inner).collect();
    }
    all
}

/// Whether an entry has a made-up name, which tells nothing about the real name, or an action whose result is another each time.
pub(super) fn is_made_up(text: &str) -> bool {
    let mut actions = in_text::actions(text).into_iter();
    let is_unsteady = actions.any(|it| operands::is_unsteady(&it));
    is_unsteady || Stubs::are_in(text) || switches::is_made_up(text)
}

/// Whether a list may be written into the template of a group: the template is no sub-chart's, the group has no list, and a wait has an entry.
pub(super) fn is_writable(known: &Known<'_>, group: &Group) -> bool {
    // A template of a sub-chart has another author, so it is not changed.
    let is_own = !group.source.starts_with("charts");
    let is_told = || expected::of(known, group).values().any(|it| !it.is_empty());
    is_own && !known.is_listed(group) && is_told()
}

/// The number of the line above a document's list, from 0 and in the file; `None` where the document has no place for a list.
fn line_of_list(known: &Known<'_>, document: &Document<'_>) -> Option<usize> {
    let edit = edits::annotate(known.texts, document, &[String::new()])?;
    Some(edit.at.saturating_sub(1))
}

/// The root of the values where a group's list stands: `$` where an action has set the dot, else nothing. `None` where the template has no
/// place for a list.
pub(super) fn root_of(known: &Known<'_>, group: &Group) -> Option<&'static str> {
    known.with_document(group, |file, document| {
        let around = file.template.around(line_of_list(known, document)?);
        let mut around = around.iter().flatten();
        let is_rebound = around.any(|it| matches!(word(it), "with" | "range"));
        Some(if is_rebound { "$" } else { "" })
    })
}

/// The way in which the entries of a list name their targets.
#[derive(Debug, Clone, Copy)]
enum Naming<'c> {
    /// Each entry has the form from the values of its address, else the form of this way, else the target's next best form.
    Way(Way),
    /// Each entry has the form that was chosen for its wait.
    Chosen(&'c ChosenForms),
}

/// The way in which the rendered sets of values tell the condition around an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ToldBy {
    /// The condition tests each switch that makes the entry appear or disappear. Where that tells no condition, all sets tell it.
    Switches,
    /// The condition is learned from all sets: it holds in those with the entry, and fails in those without it.
    AllSets,
}

/// The list whose entries have the form from their address's values, else that of `way`, else the target's next best; or the chosen form. Each entry
/// stands under the condition under which its target is rendered. `None` where a target has no such form, or where the sets of values tell no
/// condition.
fn by_names(
    known: &Known<'_>,
    group: &Group,
    (way, told): (Naming<'_>, ToldBy),
    root: &str,
) -> Option<Vec<Listed>> {
    let tried = known.tried(group);
    let mut names = Names::new();
    let mut found: Vec<FoundEntry<'_>> = Vec::new();
    for (seen, number) in group.seen.iter().map(|it| (&known.seen[*it], *it)) {
        for at in 0..seen.found.len() {
            if let Ok(Some(target)) = &seen.found[at].target {
                let listed = match way {
                    Naming::Way(way) => {
                        let forms = EntryForms::of(known, seen, at, target, root, &mut names);
                        forms.in_way(known, way)
                    }
                    Naming::Chosen(chosen) => chosen.get(&(number, at)).cloned(),
                };
                found.push(FoundEntry {
                    set: seen.set,
                    container: &seen.container.name,
                    target,
                    listed: listed?,
                });
            }
        }
    }
    let mut list: Vec<Listed> = Vec::new();
    let mut once: Vec<&Listed> = Vec::new();
    for FoundEntry { target, listed, .. } in &found {
        let is_same =
            |it: &Listed| it.entry.text == listed.entry.text && it.within == listed.within;
        if once.iter().any(|it| is_same(it)) {
            continue;
        }
        once.push(listed);
        // Targets of several names are one where the chart names them by one expression.
        let same = found.iter().filter(|it| is_same(&it.listed));
        let same: Vec<_> = same.collect();
        let is_there = |set: &&usize| same.iter().any(|it| it.set == **set);
        let seen: Vec<usize> = tried.iter().filter(is_there).copied().collect();
        // Only the sets with marks show which marks an address has.
        let marks = same.iter().map(|it| it.target);
        let marks = marks.into_iter().find(|it| traces::is_marked(&it.name));
        let mut within = if listed.within.is_empty() {
            let target = marks.unwrap_or(target);
            let sets = examples::decisive(known, &found, target);
            let by_switches = || conditions::of_sets(&sets, (&tried, &seen), &known.idle, root);
            let by_all_sets = || {
                let containers: BTreeSet<&str> = same.iter().map(|it| it.container).collect();
                let read = containers.iter().map(|it| tested::read_by(known.texts, it));
                let read: String = read.collect();
                let texts = same.iter().map(|it| it.target.plain().text).collect();
                let sets = (sets.as_slice(), tried.as_slice(), seen.as_slice());
                let examples = Examples::of(known, group, &found, sets, (target, &texts));
                learned_condition::of_examples(&examples, &known.texts.values, &read, root)
            };
            let condition = match told {
                ToldBy::Switches => by_switches().or_else(by_all_sets),
                ToldBy::AllSets => by_all_sets(),
            };
            condition?
        } else {
            of_list(known, group, &tried, &seen, root)?
        };
        if marks.is_some() {
            for more in instead(known, group, listed, root) {
                within.extend(conditions::unsaid(&[more], &within));
            }
        }
        within.extend(listed.within.iter().cloned());
        let entry = listed.entry.clone();
        list.push(Listed { entry, within });
    }
    Some(list)
}

/// The condition on which the entry of a list's elements is rendered, but for the elements themselves: where the list is empty the `range`
/// renders none. `seen` are those of the sets `tried` that show an element. Another set tells something only where the container waits for
/// something else in it. `None` where the sets tell no condition.
fn of_list(
    known: &Known<'_>,
    group: &Group,
    tried: &[usize],
    seen: &[usize],
    root: &str,
) -> Option<Vec<Vec<String>>> {
    let plain = |set: usize| traces::without(&known.sets[set]);
    let is_empty = |set: &usize| seen.iter().any(|it| plain(*it).eq(plain(*set)));
    let all = || group.seen.iter().map(|at| &known.seen[*at]);
    let is_marked = |it: &Found| matches!(&it.target, Ok(Some(it)) if traces::is_marked(&it.name));
    let walks = |it: &SeenContainer| seen.contains(&it.set) && it.found.iter().any(is_marked);
    let is_other = |set: usize| {
        let own = all().filter(|it| it.set == set && it.is_listed());
        let mut own = own.filter(|it| all().any(|other| walks(other) && other.is_the_same(it)));
        own.next().is_some()
    };
    let tells = |set: &usize| !is_empty(set) && is_other(*set);
    // A set that has one switch more than a set with an element shows what that switch does to the elements.
    let is_beyond = |set: usize| {
        let mut seen = seen.iter().map(|it| &known.sets[*it]);
        seen.any(|it| it.iter().all(|it| known.sets[set].contains(it)))
    };
    let tried = tried.iter();
    let tried = tried.filter(|it| seen.contains(it) || tells(it) || is_beyond(**it));
    let tried: Vec<usize> = tried.copied().collect();
    let sets = (0..known.sets.len()).map(|it| plain(it).cloned().collect());
    let sets: Vec<Vec<Switch>> = sets.collect();
    conditions::of_sets(&sets, (&tried, seen), &known.idle, root)
}

/// The template's conditions under which to write an entry with the address of `listed`. Each holds while one chart value is unchanged:
/// with another setting of that value the container waits for an object, not for the address.
fn instead(known: &Known<'_>, group: &Group, listed: &Listed, root: &str) -> Vec<String> {
    let is_it = |it: NamedValues| it.text == listed.entry.text && it.within == listed.within;
    let name = |found: &Found| Some(found.target.as_ref().ok()?.as_ref()?.plain().text);
    let is_object = |found: &Found| matches!(&found.target, Ok(Some(it)) if !it.is_address());
    let all = || group.seen.iter().map(|it| &known.seen[*it]);
    let mut conditions: Vec<String> = Vec::new();
    for seen in all().filter(|it| traces::follow(&known.sets[it.set])) {
        let plain: Vec<&Switch> = traces::without(&known.sets[seen.set]).collect();
        let is_like = |it: &&SeenContainer| {
            let is_plain = !traces::follow(&known.sets[it.set]);
            is_plain && it.is_the_same(seen) && it.found.len() == seen.found.len()
        };
        let is_base = |it: &&SeenContainer| known.sets[it.set].iter().eq(plain.iter().copied());
        let Some(base) = all().filter(is_like).find(is_base) else {
            continue;
        };
        let numbers = 0..seen.found.len();
        for at in numbers.filter(|at| known.written(seen, *at, root).is_some_and(is_it)) {
            for other in all().filter(is_like) {
                let set = &known.sets[other.set];
                let is_more =
                    set.len() == plain.len() + 1 && plain.iter().all(|it| set.contains(it));
                let found = &other.found[at];
                if !is_more || !is_object(found) || name(found) == name(&base.found[at]) {
                    continue;
                }
                let more = set.iter().filter(|it| !plain.contains(it));
                for condition in more.filter_map(|it| it.holds_not(root)) {
                    if !conditions.contains(&condition) {
                        conditions.push(condition);
                    }
                }
            }
        }
    }
    conditions
}

/// The lists to try in the values, one for each workload without a list: only values can carry those for sub-charts and for containers in the
/// values. Left out is a list with a made-up name, and one with an address from a value that the container's text in the values does not write.
pub(super) fn by_values(
    known: &Known<'_>,
    groups: &[Group],
    settled: &BTreeMap<usize, Vec<Listed>>,
) -> Vec<Wanted> {
    let mut all = Vec::new();
    let open = groups.iter().enumerate();
    let open = open.filter(|(at, it)| !settled.contains_key(at) && !known.is_listed(it));
    let firsts = open.flat_map(|(at, group)| {
        let all = first_of_each(known, group).into_iter();
        all.map(move |it| (at, group, it))
    });
    for (at, group, first) in firsts {
        let same = group.seen.iter().map(|it| &known.seen[*it]);
        let same = same.filter(|it| it.set == first.set && it.workload == first.workload);
        let same: Vec<_> = same.collect();
        let expected = values::expected(known, group);
        let entries = &expected[&(first.set, first.workload.1.clone())];
        // A value cannot refer to another value, so an entry with the present host would not follow a change of the value that holds the
        // host.
        let is_of_values = |it: &Found| matches!(&it.target, Ok(Some(it)) if it.form == (Form::Address { of_values: true }));
        let mut found = same.iter().flat_map(|it| &it.found);
        let written = found.clone().any(is_of_values).then(|| {
            let of = |it: &&SeenContainer| -> Option<Vec<String>> {
                let numbers = 0..it.found.len();
                numbers.map(|at| known.as_address(it, at, true)).collect()
            };
            let all: Option<Vec<Vec<String>>> = same.iter().map(of).collect();
            all.map(|it| it.concat())
        });
        let written = written.flatten();
        let is_bound = written.is_none() && found.any(is_of_values);
        if entries.iter().any(|it| Stubs::are_in(it)) || is_bound {
            continue;
        }
        all.push(Wanted {
            group: at,
            source: group.source.clone(),
            workload: first.workload.clone(),
            set: first.set,
            expected,
            written,
            block: known.place(first).1,
        });
    }
    all
}

/// The first container of each workload of the group that has, without marks, a wait which a list can say.
fn first_of_each<'k>(known: &'k Known<'_>, group: &Group) -> Vec<&'k SeenContainer> {
    let waits = |it: &Found| matches!(it.target, Ok(Some(_)));
    let mut firsts: Vec<&SeenContainer> = Vec::new();
    for seen in group.seen.iter().map(|it| &known.seen[*it]) {
        let is_open = !traces::follow(&known.sets[seen.set]) && seen.found.iter().any(waits);
        if is_open && firsts.iter().all(|it| it.workload != seen.workload) {
            firsts.push(seen);
        }
    }
    firsts
}
