//! Finds the text of a rendered container among the texts of a folder.

use super::candidates;
use super::container::Container;
use super::document;
use super::survey::SeenContainer;
use super::texts::{File, Texts};
use super::waits::Reading;
use std::cmp::Reverse;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The place of a rendered container for messages, and the place of its text: the file, and the number of its first line, from 0. `None` in
/// place of the latter where no text is like the container. `own` is the file from which the container was rendered.
pub(super) fn of(
    texts: &Texts,
    own: &Path,
    seen: &SeenContainer,
) -> (String, Option<(PathBuf, usize)>) {
    let mut files: Vec<&File> = texts.files.iter().collect();
    files.sort_by_key(|it| (it.path != own, it.is_values()));
    let document = texts.file(own).and_then(|it| document_of(it, seen));
    let mut best: Option<(TextPlace, &File, usize)> = None;
    for file in files {
        for block in &file.blocks {
            let branches = block.branches.iter();
            let likeness = branches.map(|it| likeness(file, it, &seen.container));
            let likeness = likeness.max().unwrap_or(0);
            if likeness == 0 {
                continue;
            }
            let is_within = document
                .as_ref()
                .is_some_and(|it| it.contains(&block.first));
            let named = || {
                let keys = document::keys_above(&file.lines, block.first);
                named_after(&keys, &seen.workload.1)
            };
            let place = TextPlace {
                likeness,
                is_own: is_within && file.path == own,
                named: if file.is_values() { named() } else { 0 },
            };
            if best.as_ref().is_none_or(|it| place > it.0) {
                best = Some((place, file, block.first));
            }
        }
    }
    match best {
        Some((_, file, line)) => (
            format!("{}:{}", file.name(), line + 1),
            Some((file.path.clone(), line)),
        ),
        None => (own.display().to_string(), None),
    }
}

/// Whether the text of a container stands in the values of the chart. Then a sub-chart of another folder may have rendered the container.
pub(super) fn is_in_values(texts: &Texts, container: &Container) -> bool {
    let mut values = texts.files.iter().filter(|it| it.is_values());
    values.any(|file| {
        let mut branches = file.blocks.iter().flat_map(|it| &it.branches);
        let is_it = |it: &Container| {
            let same = 1 + 4 * it.words.len().min(container.words.len());
            likeness(file, it, container) >= same
        };
        branches.any(is_it)
    })
}

/// Measures how well a place in the texts fits a rendered container. The fields are compared in their order.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct TextPlace {
    likeness: usize,
    /// Whether the place is in the document of the container's workload.
    is_own: bool,
    /// The length of the longest key above the place that the workload's name contains; 0 outside of a file of values.
    named: usize,
}

/// The length of the longest of these keys that the workload's name contains.
fn named_after(keys: &[String], workload: &str) -> usize {
    let named = keys.iter().filter(|it| workload.contains(it.as_str()));
    named.map(String::len).max().unwrap_or(0)
}

/// The number of points by which a container in a text is like a rendered container; 0 where they are different containers.
fn likeness(file: &File, written: &Container, rendered: &Container) -> usize {
    let seen = |text: &str| file.template.masked.seen(text);
    if !candidates::fits(&seen(&written.name), &rendered.name) {
        return 0;
    }
    let literal = usize::from(written.name == rendered.name);
    let same = written
        .words
        .iter()
        .zip(&rendered.words)
        .filter(|(a, b)| candidates::fits(&seen(a), b));
    1 + 2 * literal + 4 * same.count()
}

/// The variants of the container in the text that begins on `line`, from 0, with the waits of each; the variant that is most like the rendered
/// container comes first. Empty where no container begins there.
pub(super) fn variants<'f>(
    file: &'f File,
    line: usize,
    rendered: &Container,
) -> Vec<(&'f Container, &'f Reading)> {
    let block = file.blocks.iter().find(|it| it.first == line);
    let mut all: Vec<_> = block.iter().flat_map(|it| it.read()).collect();
    let literal = |written: &Container| {
        let seen = |text: &str| file.template.masked.seen(text);
        let words = written.words.iter().zip(&rendered.words);
        let values = written.env.iter();
        let values = values.filter_map(|(name, it)| Some((it, rendered.env.get(name)?)));
        let both = words
            .chain(values)
            .map(|(it, rendered)| (seen(it), rendered));
        let same = both.filter(|(it, rendered)| candidates::fits(it, rendered));
        same.map(|it| candidates::literal(&it.0)).sum::<usize>()
    };
    all.sort_by_cached_key(|it| Reverse((likeness(file, it.0, rendered), literal(it.0))));
    all
}

/// The numbers of the lines of the document in `file` that renders the container's workload; `None` where no document does.
fn document_of(file: &File, seen: &SeenContainer) -> Option<Range<usize>> {
    let (kind, name) = &seen.workload;
    let own = candidates::document_of(file, kind, name)?;
    let lines = own.first..own.first + own.lines.len();
    (!lines.is_empty()).then_some(lines)
}
