//! The lists that a group may get, the best first.

use super::candidates;
use super::edits;
use super::known::{Group, Known};
use super::list::Listed;
use super::target::Form;
use super::template::word;
use super::values::{self, Wanted};
use std::collections::BTreeMap;

/// The ways to write a group's list in its template.
pub(super) fn of(known: &Known<'_>, group: &Group) -> Vec<Vec<Listed>> {
    // A template of a sub-chart has another author.
    let is_own = !group.source.starts_with("charts");
    if !is_own || known.is_listed(group) || known.expected(group).values().all(Vec::is_empty) {
        return Vec::new();
    }
    let in_text = known.with_document(group, |file, document| {
        let at = edits::annotate(document, &[String::new()])?
            .at
            .saturating_sub(1);
        let around = file.template.open.get(at).map_or(&[][..], Vec::as_slice);
        let rebound = around
            .iter()
            .flatten()
            .any(|it| matches!(word(it), "with" | "range"));
        let by = |address| candidates::of_text(known.texts, file, document, at, address).0;
        Some(([by(false), by(true)], if rebound { "$" } else { "" }))
    });
    let Some((lists, root)) = in_text else {
        return Vec::new();
    };
    let mut all = Vec::from(lists);
    all.extend((0..2).filter_map(|way| by_names(known, group, way, root)));
    all.retain(|it| !it.is_empty());
    all.dedup();
    all
}

/// The list by the names of the targets that were found, each entry in the condition under which its target is rendered.
fn by_names(known: &Known<'_>, group: &Group, way: usize, root: &str) -> Option<Vec<Listed>> {
    let tried = known.tried(group);
    let mut texts: Vec<String> = Vec::new();
    let mut list = Vec::new();
    for at in &group.seen {
        for found in &known.seen[*at].found {
            let Ok(Some(target)) = &found.target else {
                continue;
            };
            // A host that a value says stays a value.
            if target.form == (Form::Address { of_values: true }) {
                return None;
            }
            let plain = target.plain().text;
            if texts.contains(&plain) {
                continue;
            }
            let is_there = |set: &&usize| {
                group
                    .seen
                    .iter()
                    .map(|it| &known.seen[*it])
                    .filter(|it| it.set == **set)
                    .any(|it| {
                        it.found.iter().any(
                            |it| matches!(&it.target, Ok(Some(it)) if it.plain().text == plain),
                        )
                    })
            };
            let seen: Vec<usize> = tried.iter().filter(is_there).copied().collect();
            let within = candidates::condition(&known.sets, &tried, &seen, root)?;
            let names = candidates::names(
                known.texts,
                known.folder,
                known.objects(known.seen[*at].set),
                target,
            );
            let entry = names.get(way).or(names.first())?.clone();
            texts.push(plain);
            list.push(Listed { entry, within });
        }
    }
    Some(list)
}

/// The lists that only values can say: those of sub-charts, and of containers that stand in values.
pub(super) fn by_values(
    known: &Known<'_>,
    groups: &[Group],
    settled: &BTreeMap<usize, Vec<Listed>>,
) -> Vec<Wanted> {
    let mut all = Vec::new();
    for (at, group) in groups.iter().enumerate() {
        let first = group
            .seen
            .iter()
            .map(|it| &known.seen[*it])
            .find(|it| it.found.iter().any(|it| matches!(it.target, Ok(Some(_)))));
        let Some(first) = first.filter(|_| !settled.contains_key(&at) && !known.is_listed(group))
        else {
            continue;
        };
        let objects = known.objects(first.set);
        let same = group.seen.iter().map(|it| &known.seen[*it]);
        let same = same.filter(|it| it.set == first.set && it.workload == first.workload);
        let mut entries: Vec<String> = Vec::new();
        for target in same
            .flat_map(|it| &it.found)
            .filter_map(|it| it.target.as_ref().ok()?.as_ref())
        {
            let entry = values::entry(target, objects, &known.missing, &group.source);
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        all.push(Wanted {
            group: at,
            source: group.source.clone(),
            workload: first.workload.clone(),
            switches: known.sets[first.set].clone(),
            entries,
            block: known.place(first).1,
        });
    }
    all
}
