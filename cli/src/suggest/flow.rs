//! The way from a chart, or a folder of manifests, to the proposed lists: the folder is rendered and surveyed, the lists are
//! written and tried.

use super::known::Known;
use super::object::{ChartObject, own_pods, text};
use super::render;
use super::settle;
use super::source::ObjectSource;
use super::survey::{self, SeenContainer};
use super::switches::{self, Switch};
use super::telling;
use super::texts::{File, Texts};
use super::told::{Report, Says};
use super::traces;
use super::values;
use super::ways;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// The most sets of values that are rendered once more with the values of their addresses followed.
const MOST_FOLLOWED: usize = 16;

/// The sets of values that were tried, and the things that each renders.
struct TriedSets<'f> {
    folder: &'f Path,
    texts: &'f Texts,
    sets: Vec<Vec<Switch>>,
    rendered: Vec<Option<Vec<ChartObject>>>,
    seen: Vec<SeenContainer>,
}

impl TriedSets<'_> {
    /// Takes what a set renders. A set that shows the same as the set `other` need not be rendered again, so it is left out.
    fn take(
        &mut self,
        switches: Vec<Switch>,
        objects: Option<Vec<ChartObject>>,
        missing: &[String],
        other: usize,
    ) {
        let set = self.sets.len();
        let own = objects.as_deref().unwrap_or_default();
        let mut seen = survey::of(set, own, missing, &self.texts.values, &switches);
        // A container of another folder is not the chart's own to change.
        seen.retain(|it| self.texts.file(&self.folder.join(&it.source)).is_some());
        if set > 0 && objects.is_some() && self.shows(other, own, &seen) {
            return;
        }
        self.seen.extend(seen);
        self.sets.push(switches);
        self.rendered.push(objects);
    }

    /// Whether a set shows the same workloads with the same waits as these.
    fn shows(&self, set: usize, objects: &[ChartObject], seen: &[SeenContainer]) -> bool {
        let waits = |it: &SeenContainer| {
            let found = it.found.iter().map(|it| {
                let target = it.target.clone();
                (it.what.clone(), target.map(|it| it.map(|it| it.plain())))
            });
            let container = it.container.name.clone();
            (it.workload.clone(), container, found.collect::<Vec<_>>())
        };
        let workloads = |objects: &[ChartObject]| {
            let all = objects.iter().filter(|it| own_pods(it).is_some());
            let named = all.map(|it| {
                let name = text(&it.value, "/metadata/name").to_owned();
                (it.source.clone(), name)
            });
            named.collect::<Vec<_>>()
        };
        let own = self.rendered[set].as_deref().unwrap_or_default();
        let own_seen = self.seen.iter().filter(|it| it.set == set);
        workloads(own) == workloads(objects) && own_seen.map(waits).eq(seen.iter().map(waits))
    }

    /// The sets in which the user may have to give an address, each with the values of addresses that the waits read.
    fn followed(&self) -> Vec<(usize, Vec<Switch>)> {
        let is_open = |set: &usize| self.seen.iter().any(|it| it.set == *set && it.is_open());
        let open: Vec<usize> = (0..self.sets.len()).filter(is_open).collect();
        if open.is_empty() {
            return Vec::new();
        }
        let groups = traces::groups(self.texts);
        let pairs = open.iter().flat_map(|set| {
            let with = |group: &Vec<Switch>| [self.sets[*set].clone(), group.clone()].concat();
            groups.iter().map(move |group| (*set, with(group)))
        });
        pairs.take(MOST_FOLLOWED).collect()
    }
}

/// Proposes what a folder's rendered objects say.
pub(super) fn run(
    folder: &Path,
    texts: &Texts,
    mut source: ObjectSource,
    report: &mut Report,
) -> Result<()> {
    source.render_first(&texts.values)?;
    let mut tried = TriedSets {
        folder,
        texts,
        sets: Vec::new(),
        rendered: Vec::new(),
        seen: Vec::new(),
    };
    let mut sets = vec![Vec::new()];
    sets.extend(switches::of(texts));
    let all = source.render_all(&sets, render::FOR_SETS);
    let late = sets.split_off(all.len());
    for (switches, objects) in sets.into_iter().zip(all) {
        tried.take(switches, objects, source.missing(), 0);
    }
    let followed = tried.followed();
    let sets: Vec<_> = followed.iter().map(|it| it.1.clone()).collect();
    let all = source.render_all(&sets, render::FOR_FOLLOWED);
    for ((set, switches), objects) in followed.into_iter().zip(all) {
        // A mark is no value that a user gives: a chart that refuses it tells nothing.
        if objects.is_some() {
            tried.take(switches, objects, source.missing(), set);
        }
    }
    if !late.is_empty() {
        let pairs: Vec<String> = late.iter().flatten().map(Switch::pair).collect();
        let note = format!(
            "it takes long to render, so that it was not tried with {}; give values with --set and ask again",
            pairs.join(", ")
        );
        report.tell(folder.display().to_string(), "", Says::Note(note));
    }
    let untried = tried.sets.len()..tried.sets.len() + late.len();
    tried.rendered.extend(late.iter().map(|_| None));
    tried.sets.extend(late);
    let known = Known {
        folder,
        texts,
        sets: tried.sets,
        rendered: tried.rendered,
        seen: tried.seen,
        untried: untried.collect(),
        missing: source.missing().to_vec(),
        stubs: source.stubs(),
    };
    if let Some(names) = known.stubs.names() {
        let note = format!(
            "no chart here has these helpers, so their names were made up to render it (helm dependency build): {names}"
        );
        report.tell(folder.display().to_string(), "", Says::Note(note));
    }
    let groups = known.groups();
    let ways = groups
        .iter()
        .map(|group| ways::of(&known, group))
        .enumerate();
    let ways = ways.filter(|(_, ways)| !ways.is_empty()).collect();
    let settled = settle::settle(&known, &mut source, &groups, ways)?;
    let wanted = ways::by_values(&known, &groups, &settled.lists);
    let by_values = values::settle(folder, texts, &mut source, wanted, report)?;
    let covered = telling::of_groups(&known, &groups, &settled, &by_values, report);
    let broken: Vec<PathBuf> = source
        .broken()
        .iter()
        .map(|(it, _)| folder.join(it))
        .collect();
    telling::of_the_rest(&known, &covered, &broken, report);
    // A chart that waits for nothing lacks nothing.
    let waits = !known.seen.is_empty() || texts.files.iter().any(File::looks);
    for (template, why) in source.broken().iter().filter(|_| waits) {
        let place = folder.join(template).display().to_string();
        let note = format!("it does not render without more values, and was read as text: {why}");
        report.tell(place, "", Says::Note(note));
    }
    Ok(())
}
