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
use super::texts::Texts;
use super::told::{Report, Says};
use super::values;
use super::ways;
use anyhow::Result;
use std::path::{Path, PathBuf};

/// Whether two sets of values show the same workloads with the same waits.
fn is_the_same(a: SetSeen<'_>, b: SetSeen<'_>) -> bool {
    let waits = |it: &SeenContainer| {
        let found = it.found.iter().map(|it| {
            let target = it.target.clone();
            (it.what.clone(), target.map(|it| it.map(|it| it.plain())))
        });
        let container = it.container.name.clone();
        (it.workload.clone(), container, found.collect::<Vec<_>>())
    };
    let workloads = |it: SetSeen<'_>| {
        let all = it.objects.iter().filter(|it| own_pods(it).is_some());
        let named = all.map(|it| {
            let name = text(&it.value, "/metadata/name").to_owned();
            (it.source.clone(), name)
        });
        named.collect::<Vec<_>>()
    };
    workloads(a) == workloads(b) && a.seen.iter().map(waits).eq(b.seen.iter().map(waits))
}

/// The objects and containers that one set of values renders.
#[derive(Clone, Copy)]
struct SetSeen<'s> {
    objects: &'s [ChartObject],
    seen: &'s [SeenContainer],
}

/// Proposes what a folder's rendered objects say.
pub(super) fn run(
    folder: &Path,
    texts: &Texts,
    mut source: ObjectSource,
    report: &mut Report,
) -> Result<()> {
    source.render_first(&texts.values)?;
    let mut sets = vec![Vec::new()];
    sets.extend(switches::of(texts));
    let all = source.render_all(&sets, render::FOR_SETS);
    let late = sets.split_off(all.len());
    let mut tried = Vec::new();
    let mut rendered: Vec<Option<Vec<ChartObject>>> = Vec::new();
    let mut seen: Vec<SeenContainer> = Vec::new();
    let mut of_first = 0;
    for (switches, objects) in sets.into_iter().zip(all) {
        let set = tried.len();
        let own = objects.as_deref().unwrap_or_default();
        let mut of_set = survey::of(set, own, source.missing(), &texts.values);
        // A container of another folder is not the chart's own to change.
        of_set.retain(|it| texts.file(&folder.join(&it.source)).is_some());
        let first = SetSeen {
            objects: rendered
                .first()
                .and_then(Option::as_deref)
                .unwrap_or_default(),
            seen: &seen[..of_first],
        };
        let this = SetSeen {
            objects: own,
            seen: &of_set,
        };
        // A set that shows the same as the chart's own values need not be rendered again.
        if set > 0 && objects.is_some() && is_the_same(first, this) {
            continue;
        }
        if set == 0 {
            of_first = of_set.len();
        }
        seen.extend(of_set);
        tried.push(switches);
        rendered.push(objects);
    }
    let untried = tried.len()..tried.len() + late.len();
    if !late.is_empty() {
        let pairs: Vec<String> = late.iter().flatten().map(Switch::pair).collect();
        let note = format!(
            "it takes long to render, so that it was not tried with {}; give values with --set and ask again",
            pairs.join(", ")
        );
        report.tell(folder.display().to_string(), "", Says::Note(note));
    }
    rendered.extend(late.iter().map(|_| None));
    tried.extend(late);
    let sets = tried;
    let known = Known {
        folder,
        texts,
        sets,
        rendered,
        seen,
        untried: untried.collect(),
        missing: source.missing().to_vec(),
    };
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
    for (template, why) in source.broken() {
        let place = folder.join(template).display().to_string();
        let note = format!("it does not render without more values, and was read as text: {why}");
        report.tell(place, "", Says::Note(note));
    }
    Ok(())
}
