//! The knowledge about a folder: its texts, the objects that each set of values renders, and the waits of their containers.

mod given_up;
mod groups;
mod guards;
mod marked;
mod messages;
mod written;

use super::diff::Edit;
use super::document::Document;
use super::edits;
use super::list::{self, Listed};
use super::object::{ChartObject, ObjectList};
use super::places;
use super::reason::Reason;
use super::release::{RELEASE, RELEASE_NAME};
use super::render::Stubs;
use super::survey::SeenContainer;
use super::switches::Switch;
use super::tested;
use super::texts::{File, Texts};
use super::tried;
use rules::keys;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// A workload in a template (one document of the file), with all containers that the sets of values render from the document. A group gets
/// one list.
pub(super) struct Group {
    /// The path of the template, below the folder.
    pub(super) source: PathBuf,
    pub(super) kind: String,
    /// The first line of the workload's document, from 0 in the file; `None` where no document of the template shows the workload.
    pub(super) document: Option<usize>,
    /// The numbers of the group's containers in [`Known::seen`].
    pub(super) seen: Vec<usize>,
    /// The numbers, in [`Known::seen`], of the group's containers in the variations of the sets, which have other names and texts. They tell which
    /// entries a list has to have there.
    pub(super) varied: Vec<usize>,
    /// The numbers of the sets of values that do not count for the group's list, because the search has given them up.
    pub(super) forgotten: Vec<usize>,
    /// The mixtures of switches with which audits rendered the group.
    pub(super) hints: Vec<Hint>,
}

/// A mixture of switches with which an audit rendered the chart, and the things for which the loops of a group wait then. It teaches
/// conditions; no list is tried with it.
#[derive(Debug)]
pub(super) struct Hint {
    pub(super) set: Vec<Switch>,
    /// The rendered entries of these things.
    pub(super) entries: BTreeSet<String>,
}

/// A wait in whichever set of values: the template, the name of the container, and the rendered entry of the wait.
type WaitPlace = (PathBuf, String, String);

/// A folder with its texts and its rendered objects.
pub(super) struct Known<'f> {
    pub(super) folder: &'f Path,
    pub(super) texts: &'f Texts,
    pub(super) sets: Vec<Vec<Switch>>,
    pub(super) rendered: Vec<Option<ObjectList>>,
    pub(super) seen: Vec<SeenContainer>,
    /// The switches that alone change neither workloads nor waits.
    pub(super) idle: Vec<Switch>,
    /// The numbers of the sets of values that were not rendered, because the chart has more sets than are tried.
    pub(super) untried: Vec<usize>,
    /// The template that is no YAML with a set of values, by the number of the set.
    pub(super) without_yaml: BTreeMap<usize, PathBuf>,
    /// The number of the set of values that each variation varies, by the number of the variation. A variation has other names and texts.
    pub(super) varied: BTreeMap<usize, usize>,
    /// The declared sub-charts that no folder holds.
    pub(super) missing: Vec<String>,
    /// The made-up helpers, in place of helpers that no chart at hand defines.
    pub(super) stubs: Stubs,
    /// The reasons of the waits that were given up.
    pub(super) given_up: BTreeMap<WaitPlace, Reason>,
}

impl Known<'_> {
    /// The text that the waiting containers of a group read, with the helpers in it and the conditions around the containers.
    pub(super) fn read_by(&self, group: &Group) -> String {
        let all = group.seen.iter().map(|it| &self.seen[*it]);
        let names: BTreeSet<&str> = all.map(|it| it.container.name.as_str()).collect();
        let texts = names.iter().map(|it| tested::read_by(self.texts, it));
        texts.collect()
    }

    pub(super) fn file(&self, source: &Path) -> Option<&File> {
        self.texts.file(&self.folder.join(source))
    }

    pub(super) fn objects(&self, set: usize) -> &[ChartObject] {
        self.rendered[set].as_deref().unwrap_or_default()
    }

    /// The name of the release with which a set of values was rendered.
    pub(super) fn release(&self, set: usize) -> &str {
        let mut switches = self.sets[set].iter();
        let named = switches.find(|it| it.path == RELEASE_NAME);
        named.map_or(RELEASE, |it| it.value.as_str())
    }

    /// The numbers of the sets of values that render a workload of the group and that count for its list, without the variations, which have other
    /// names and texts.
    pub(super) fn tried(&self, group: &Group) -> Vec<usize> {
        let mut shown = self.shown_in(group);
        shown.retain(|it| !self.varied.contains_key(it));
        shown
    }

    /// The numbers of the sets of values, and of their variations, that render a workload of the group and that count for its list.
    pub(super) fn shown_in(&self, group: &Group) -> Vec<usize> {
        let is_one = |object: &ChartObject| self.is_of(group, object);
        (0..self.sets.len())
            .filter(|set| !group.forgotten.contains(set))
            .filter(|set| self.objects(*set).iter().any(is_one))
            .collect()
    }

    /// Whether the workloads of a group carry a list already, from their template or from values.
    pub(super) fn is_listed(&self, group: &Group) -> bool {
        let own = self.objects(self.seen[group.seen[0]].set).iter();
        let mut own = own.filter(|it| self.is_of(group, it));
        let written = |_: &File, it: &Document<'_>| it.has(keys::DEPENDS_ON).then_some(());
        own.any(|it| tried::said(&it.value).is_some())
            || self.with_document(group, written).is_some()
    }

    /// The result of `then` for the document that renders a group, and for its file; `None` where there is no such document.
    pub(super) fn with_document<T>(
        &self,
        group: &Group,
        then: impl FnOnce(&File, &Document<'_>) -> Option<T>,
    ) -> Option<T> {
        let file = self.file(&group.source)?;
        let mut documents = file.documents();
        let document = documents.find(|it| Some(it.first) == group.document)?;
        then(file, &document)
    }

    /// The change that writes a group's list into its template; `None` where the template has no place for a list.
    pub(super) fn edit(&self, group: &Group, list: &[Listed]) -> Option<Edit> {
        self.with_document(group, |_, document| {
            edits::annotate(self.texts, document, &list::lines(list))
        })
    }

    /// The place of a container for messages, and the place of its text in the folder, as a file and the number of a line, from 0. `None` in place of
    /// the latter where no text is like the container.
    pub(super) fn place(&self, seen: &SeenContainer) -> (String, Option<(PathBuf, usize)>) {
        let found = || places::of(self.texts, &self.folder.join(&seen.source), seen);
        seen.place.get_or_init(found).clone()
    }
}
