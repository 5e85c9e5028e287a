//! The lists that a group may get, the best first.

use super::candidates;
use super::edits;
use super::known::{Group, Known};
use super::list::Listed;
use super::outcome::ListEntry;
use super::render::Stubs;
use super::survey::Found;
use super::switches::Switch;
use super::target::{Form, Target};
use super::template::word;
use super::traces;
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
    all.extend((0..=AS_WRITTEN).filter_map(|way| by_names(known, group, way, root)));
    // A made-up name tells nothing about the real one.
    let is_made_up = |it: &Listed| Stubs::are_in(&it.entry.text);
    all.retain(|it| !it.is_empty() && !it.iter().any(is_made_up));
    all.dedup();
    all
}

/// The way to name a target as its wait does; the ways before it are those of [`candidates::names`].
const AS_WRITTEN: usize = 2;

/// The list by the names of the targets that were found, each entry in the condition under which its target is rendered.
fn by_names(known: &Known<'_>, group: &Group, way: usize, root: &str) -> Option<Vec<Listed>> {
    let tried = known.tried(group);
    // A workload that several switches together bring in sight tells nothing about the sets between.
    let is_plain = |set: &usize| traces::without(&known.sets[*set]).count() <= 1;
    if !tried.iter().any(is_plain) {
        return None;
    }
    let mut found = Vec::new();
    for seen in group.seen.iter().map(|at| &known.seen[*at]) {
        for at in 0..seen.found.len() {
            if let Ok(Some(target)) = &seen.found[at].target {
                let written = known.written(seen, at, root);
                let of_text = || known.as_written(seen, at).filter(|_| way == AS_WRITTEN);
                let is_named = target.object.is_some();
                let written = written.or_else(|| of_text().filter(|_| is_named));
                // A host that a value says stays a value.
                if written.is_none() && target.form == (Form::Address { of_values: true }) {
                    return None;
                }
                found.push((seen.set, target, written));
            }
        }
    }
    // A mark that no address of the set has decides nothing, and an address is there without the marks of others.
    let marked = |target: &Target| -> Vec<Vec<Switch>> {
        let is_seen = |set: usize, it: &Switch| {
            let mut names = found.iter().filter(|it| it.0 == set).map(|it| &it.1.name);
            names.any(|name| traces::marks(it, name))
        };
        let is_part = |set: usize, it: &Switch| {
            let is_address = matches!(target.form, Form::Address { .. });
            let is_own = !is_address || traces::marks(it, &target.name);
            !it.follows() || is_own && is_seen(set, it)
        };
        let sets = known.sets.iter().enumerate();
        sets.map(|(set, all)| all.iter().filter(|it| is_part(set, it)).cloned().collect())
            .collect()
    };
    let key = |(_, target, written): &(usize, &Target, Option<String>)| {
        written.clone().unwrap_or_else(|| target.plain().text)
    };
    let mut keys: Vec<String> = Vec::new();
    let mut list = Vec::new();
    for one in &found {
        let own = key(one);
        if keys.contains(&own) {
            continue;
        }
        let is_there = |set: &&usize| found.iter().any(|it| it.0 == **set && key(it) == own);
        let seen: Vec<usize> = tried.iter().filter(is_there).copied().collect();
        let (set, target, written) = one;
        // The marks of a value are in the sets that follow it alone.
        let of_key = found.iter().filter(|it| key(it) == own);
        let marks = of_key.map(|it| it.1).find(|it| traces::is_marked(&it.name));
        let within = candidates::condition(&marked(marks.unwrap_or(target)), &tried, &seen, root)?;
        let entry = if let Some(text) = written {
            ListEntry::new(text.clone())
        } else {
            let objects = known.objects(*set);
            let names = candidates::names(known.texts, known.folder, objects, target);
            names.get(way).or(names.first())?.clone()
        };
        keys.push(own);
        list.push(Listed { entry, within });
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
            .filter(|it| !traces::follow(&known.sets[it.set]))
            .find(|it| it.found.iter().any(|it| matches!(it.target, Ok(Some(_)))));
        let Some(first) = first.filter(|_| !settled.contains_key(&at) && !known.is_listed(group))
        else {
            continue;
        };
        let objects = known.objects(first.set);
        let same = group.seen.iter().map(|it| &known.seen[*it]);
        let same = same.filter(|it| it.set == first.set && it.workload == first.workload);
        let same: Vec<_> = same.collect();
        let mut entries: Vec<String> = Vec::new();
        for target in same
            .iter()
            .flat_map(|it| &it.found)
            .filter_map(|it| it.target.as_ref().ok()?.as_ref())
        {
            let entry = values::entry(target, objects, &known.missing, &group.source);
            if !entries.contains(&entry) {
                entries.push(entry);
            }
        }
        // Values cannot name each other, so a host that another value says would not follow that value.
        let is_of_values = |it: &Found| matches!(&it.target, Ok(Some(it)) if it.form == (Form::Address { of_values: true }));
        let mut found = same.iter().flat_map(|it| &it.found);
        if entries.iter().any(|it| Stubs::are_in(it)) || found.any(is_of_values) {
            continue;
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
