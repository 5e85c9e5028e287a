//! The knowledge about a folder: its texts, the objects rendered with each set of values, and the waits of its containers.

use super::candidates;
use super::container::Container;
use super::diff::Edit;
use super::document::{self, Document};
use super::edits;
use super::list::{self, Listed};
use super::object::{ChartObject, text};
use super::survey::SeenContainer;
use super::switches::Switch;
use super::texts::{File, Texts};
use super::tried;
use rules::keys;
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// A workload's document, with the containers that were rendered from it.
pub(super) struct Group {
    /// The template, below the folder.
    pub(super) source: PathBuf,
    pub(super) kind: String,
    /// The first line of the workload's document; `None` where the template makes the workload in another way.
    pub(super) document: Option<usize>,
    /// The numbers of the workload's containers.
    pub(super) seen: Vec<usize>,
}

/// A folder with its texts and its rendered objects.
pub(super) struct Known<'f> {
    pub(super) folder: &'f Path,
    pub(super) texts: &'f Texts,
    pub(super) sets: Vec<Vec<Switch>>,
    pub(super) rendered: Vec<Option<Vec<ChartObject>>>,
    pub(super) seen: Vec<SeenContainer>,
    /// The sets that there was no time for.
    pub(super) untried: Vec<usize>,
    /// The sub-charts that are not there.
    pub(super) missing: Vec<String>,
}

impl Known<'_> {
    pub(super) fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (at, seen) in self.seen.iter().enumerate() {
            let (kind, name) = &seen.workload;
            let document = self.file(&seen.source).and_then(|file| {
                let lines: Vec<&str> = file.text.lines().collect();
                let documents = document::all(&lines);
                Some(candidates::document_of(&documents, kind, name)?.first)
            });
            let same = groups
                .iter_mut()
                .find(|it| it.source == seen.source && it.kind == *kind && it.document == document);
            match same {
                Some(group) => group.seen.push(at),
                None => groups.push(Group {
                    source: seen.source.clone(),
                    kind: kind.clone(),
                    document,
                    seen: vec![at],
                }),
            }
        }
        groups
    }

    pub(super) fn file(&self, source: &Path) -> Option<&File> {
        self.texts.file(&self.folder.join(source))
    }

    pub(super) fn objects(&self, set: usize) -> &[ChartObject] {
        self.rendered[set].as_deref().unwrap_or_default()
    }

    /// The list that each workload of a group has to have, by the set of values and its name.
    pub(super) fn expected(&self, group: &Group) -> BTreeMap<(usize, String), Vec<String>> {
        let mut expected: BTreeMap<(usize, String), Vec<String>> = BTreeMap::new();
        for at in &group.seen {
            let seen = &self.seen[*at];
            let list = expected
                .entry((seen.set, seen.workload.1.clone()))
                .or_default();
            for found in &seen.found {
                if let Ok(Some(target)) = &found.target {
                    let text = target.plain().text;
                    if !list.contains(&text) {
                        list.push(text);
                    }
                }
            }
        }
        expected
    }

    /// The sets with which a workload of a group was rendered.
    pub(super) fn tried(&self, group: &Group) -> Vec<usize> {
        let is_one = |object: &ChartObject| self.is_of(group, object);
        (0..self.sets.len())
            .filter(|set| self.objects(*set).iter().any(is_one))
            .collect()
    }

    /// Whether a set that does not render is of a value that a group, or a helper, reads: then nothing tells what is waited for.
    pub(super) fn is_doubtful(&self, group: &Group, set: usize) -> bool {
        if self.rendered[set].is_some() {
            return true;
        }
        let [switch] = self.sets[set].as_slice() else {
            return false;
        };
        // Of a value that the chart does not have nothing tells what it may be.
        let mut path = switch.path.split('.');
        let own = path.try_fold(&self.texts.values, |value, key| value.get(key));
        if own.is_none_or(Value::is_null) && !self.untried.contains(&set) {
            return false;
        }
        let text = self.with_document(group, |_, it| Some(it.lines.join("\n")));
        let whole = || self.file(&group.source).map(|it| it.text.clone());
        let text = text.or_else(whole).unwrap_or_default();
        self.texts.reach(&text).contains(&switch.path)
    }

    /// Whether an object is rendered from the document of a group.
    pub(super) fn is_of(&self, group: &Group, object: &ChartObject) -> bool {
        let name = text(&object.value, "/metadata/name");
        if object.source != group.source || object.value["kind"] != group.kind.as_str() {
            return false;
        }
        let Some(file) = self.file(&group.source) else {
            return false;
        };
        let lines: Vec<&str> = file.text.lines().collect();
        let documents = document::all(&lines);
        candidates::document_of(&documents, &group.kind, name).map(|it| it.first) == group.document
    }

    /// Whether the workloads of a group have a list already, be it of a template or of values.
    pub(super) fn is_listed(&self, group: &Group) -> bool {
        let own = self.objects(self.seen[group.seen[0]].set).iter();
        let mut own = own.filter(|it| self.is_of(group, it));
        let written = |_: &File, it: &Document<'_>| it.has(keys::DEPENDS_ON).then_some(());
        own.any(|it| tried::said(&it.value).is_some())
            || self.with_document(group, written).is_some()
    }

    /// Calls `then` with the document of a group.
    pub(super) fn with_document<T>(
        &self,
        group: &Group,
        then: impl FnOnce(&File, &Document<'_>) -> Option<T>,
    ) -> Option<T> {
        let file = self.file(&group.source)?;
        let lines: Vec<&str> = file.text.lines().collect();
        let documents = document::all(&lines);
        let document = documents
            .iter()
            .find(|it| Some(it.first) == group.document)?;
        then(file, document)
    }

    /// The change that writes a group's list.
    pub(super) fn edit(&self, group: &Group, list: &[Listed]) -> Option<Edit> {
        self.with_document(group, |_, document| {
            edits::annotate(document, &list::lines(list))
        })
    }

    /// The lines of the document that a container's workload is of.
    fn document(&self, seen: &SeenContainer) -> Option<std::ops::Range<usize>> {
        let (kind, name) = &seen.workload;
        let text = &self.file(&seen.source)?.text;
        let lines: Vec<&str> = text.lines().collect();
        let documents = document::all(&lines);
        let own = candidates::document_of(&documents, kind, name)?;
        let held = (0..lines.len()).filter(|it| own.holds(*it));
        Some(held.clone().min()?..held.max()? + 1)
    }

    /// The place of a container, and its block among the texts.
    pub(super) fn place(&self, seen: &SeenContainer) -> (String, Option<(PathBuf, usize)>) {
        let own = self.folder.join(&seen.source);
        let mut files: Vec<&File> = self.texts.files.iter().collect();
        files.sort_by_key(|it| (it.path != own, it.is_values()));
        let document = self.document(seen);
        let mut best: Option<(usize, &File, usize)> = None;
        for file in files {
            for block in &file.blocks {
                let score = block
                    .branches
                    .iter()
                    .map(|it| likeness(file, it, &seen.container))
                    .max()
                    .unwrap_or(0);
                let is_within = document
                    .as_ref()
                    .is_some_and(|it| it.contains(&block.first));
                let is_own = score > 0 && is_within && file.path == own;
                let score = score + if is_own { OWN } else { 0 };
                if score > 0 && best.is_none_or(|it| score > it.0) {
                    best = Some((score, file, block.first));
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
}

/// The likeness that a container of the workload's own document has beyond an equal container elsewhere.
const OWN: usize = 1;

/// The likeness of a container in a text and a rendered container; 0 where they are different containers.
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
