//! Finds the lists that mean the same as the loops: each list is written into the folder's copy, and rendered with every set of
//! values.

use super::diff::{self, Edit};
use super::known::{Group, Known};
use super::list::Listed;
use super::object::{ChartObject, text};
use super::render::IN_ALL;
use super::source::ObjectSource;
use super::tried;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The lists by the number of their group, and the groups for whose lists no time was left.
pub(super) struct Settled {
    pub(super) lists: BTreeMap<usize, Vec<Listed>>,
    pub(super) late: BTreeSet<usize>,
}

/// Takes for each group the first candidate that means the same as the group's loops.
pub(super) fn settle(
    known: &Known<'_>,
    source: &mut ObjectSource,
    groups: &[Group],
    mut open: Vec<(usize, Vec<Vec<Listed>>)>,
) -> Result<Settled> {
    let mut settled: BTreeMap<usize, Vec<Listed>> = BTreeMap::new();
    while !open.is_empty() {
        let mut now = settled.clone();
        now.extend(
            open.iter()
                .filter_map(|(at, candidates)| Some((*at, candidates.first()?.clone()))),
        );
        let Some(patched) = rendered_with(known, source, groups, &now)? else {
            break;
        };
        let broke = patched
            .iter()
            .zip(&known.rendered)
            .any(|(new, old)| new.is_none() && old.is_some());
        let mut next = Vec::new();
        for (at, mut candidates) in open {
            let fits = if broke {
                let alone = BTreeMap::from([(at, candidates[0].clone())]);
                let Some(patched) = rendered_with(known, source, groups, &alone)? else {
                    next.push((at, candidates));
                    continue;
                };
                holds(known, &groups[at], &patched)
            } else {
                holds(known, &groups[at], &patched)
            };
            if fits {
                settled.insert(at, candidates.swap_remove(0));
                continue;
            }
            candidates.remove(0);
            if !candidates.is_empty() {
                next.push((at, candidates));
            }
        }
        open = next;
    }
    let late = open.into_iter().map(|(at, _)| at).collect();
    Ok(Settled {
        lists: settled,
        late,
    })
}

/// Renders the folder with these lists.
fn rendered_with(
    known: &Known<'_>,
    source: &mut ObjectSource,
    groups: &[Group],
    lists: &BTreeMap<usize, Vec<Listed>>,
) -> Result<Option<Vec<Option<Vec<ChartObject>>>>> {
    let mut by_file: BTreeMap<&Path, Vec<Edit>> = BTreeMap::new();
    for (at, list) in lists {
        let group = &groups[*at];
        let edit = known.edit(group, list);
        by_file.entry(&group.source).or_default().extend(edit);
    }
    let files: Vec<(PathBuf, String, String)> = by_file
        .iter()
        .filter_map(|(path, edits)| {
            let text = known.file(path)?.text.clone();
            Some(((*path).to_owned(), diff::applied(&text, edits), text))
        })
        .collect();
    for (path, new, _) in &files {
        source.put(path, new)?;
    }
    let rendered = source.render_all(&known.sets, IN_ALL);
    for (path, _, old) in &files {
        source.put(path, old)?;
    }
    Ok((rendered.len() == known.sets.len()).then_some(rendered))
}

/// Whether the lists of a group's objects say what their loops say, with every set of values.
fn holds(known: &Known<'_>, group: &Group, patched: &[Option<Vec<ChartObject>>]) -> bool {
    let expected = known.expected(group);
    let none = Vec::new();
    patched.iter().enumerate().all(|(set, new)| {
        let (Some(new), Some(_)) = (new, &known.rendered[set]) else {
            return !known.is_doubtful(group, set);
        };
        let own = new.iter().filter(|it| known.is_of(group, it));
        own.into_iter().all(|object| {
            let name = text(&object.value, "/metadata/name").to_owned();
            tried::says(object, expected.get(&(set, name)).unwrap_or(&none))
        })
    })
}
