//! From a chart, or a folder of manifests, to what is proposed: rendered, surveyed, written, and tried.

use super::known::Known;
use super::settle;
use super::source::ObjectSource;
use super::survey;
use super::switches;
use super::telling;
use super::texts::Texts;
use super::told::{Report, Says};
use super::values;
use super::ways;
use anyhow::Result;
use std::path::{Path, PathBuf};

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
    let rendered = source.render_all(&sets);
    let mut seen = Vec::new();
    for (set, objects) in rendered.iter().enumerate() {
        let objects = objects.as_deref().unwrap_or_default();
        let of_set = survey::of(set, objects, source.missing(), &texts.values);
        // What a chart takes from elsewhere is not its own to change.
        let is_own = |it: &survey::SeenContainer| texts.file(&folder.join(&it.source)).is_some();
        seen.extend(of_set.into_iter().filter(is_own));
    }
    let known = Known {
        folder,
        texts,
        sets,
        rendered,
        seen,
        missing: source.missing().to_vec(),
    };
    let groups = known.groups();
    let ways = groups
        .iter()
        .map(|group| ways::of(&known, group))
        .enumerate();
    let ways = ways.filter(|(_, ways)| !ways.is_empty()).collect();
    let settled = settle::settle(&known, &mut source, &groups, ways)?;
    let wanted = ways::by_values(&known, &groups, &settled);
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
