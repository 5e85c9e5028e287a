//! The knowledge about a folder: its texts, the objects rendered with each set of values, and the waits of its containers.

use super::candidates;
use super::diff::Edit;
use super::document::{self, Document};
use super::edits;
use super::in_text::{self, Context};
use super::list::{self, Listed};
use super::object::{ChartObject, own_pods, text};
use super::outcome::Outcome;
use super::places;
use super::reason::Reason;
use super::render::Stubs;
use super::survey::SeenContainer;
use super::switches::Switch;
use super::target::Form;
use super::texts::{File, Texts};
use super::traces;
use super::tried;
use super::wait::Wait;
use rules::keys;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The most conditions that are put around a list because nothing renders with the other side of them.
const MOST_GUARDS: usize = 3;

/// A workload's document, with the containers that were rendered from it.
pub(super) struct Group {
    /// The template, below the folder.
    pub(super) source: PathBuf,
    pub(super) kind: String,
    /// The first line of the workload's document; `None` where the template makes the workload in another way.
    pub(super) document: Option<usize>,
    /// The numbers of the workload's containers.
    pub(super) seen: Vec<usize>,
    /// The sets that do not count for the workload's list.
    pub(super) forgotten: Vec<usize>,
}

/// A folder with its texts and its rendered objects.
pub(super) struct Known<'f> {
    pub(super) folder: &'f Path,
    pub(super) texts: &'f Texts,
    pub(super) sets: Vec<Vec<Switch>>,
    pub(super) rendered: Vec<Option<Vec<ChartObject>>>,
    pub(super) seen: Vec<SeenContainer>,
    /// The sets that are too many to be tried.
    pub(super) untried: Vec<usize>,
    /// The sub-charts that are not there.
    pub(super) missing: Vec<String>,
    /// The helpers that are not there.
    pub(super) stubs: Stubs,
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
            // A template may choose the kind.
            let is_the_same = |it: &&mut Group| {
                let is_kind = it.document.is_some() || it.kind == *kind;
                it.source == seen.source && it.document == document && is_kind
            };
            let same = groups.iter_mut().find(is_the_same);
            match same {
                Some(group) => group.seen.push(at),
                None => groups.push(Group {
                    source: seen.source.clone(),
                    kind: kind.clone(),
                    document,
                    seen: vec![at],
                    forgotten: Vec::new(),
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

    /// A text for a message: the values and the helpers stand in it, not the texts that are made up for them.
    pub(super) fn shown(&self, text: &str, set: usize) -> String {
        self.stubs.shown(&traces::shown(text, &self.sets[set]))
    }

    /// The entry of an address that values say, with these values in it; `None` where nothing tells which values they are. `at` is the
    /// number of the container's wait.
    pub(super) fn written(&self, seen: &SeenContainer, at: usize, root: &str) -> Option<String> {
        let own = &self.sets[seen.set];
        let entry = |it: &SeenContainer| {
            let target = it.found.get(at)?.target.as_ref().ok()?.as_ref()?;
            let is_of_values = target.form == (Form::Address { of_values: true });
            is_of_values.then(|| target.name.clone())
        };
        let text = entry(seen)?;
        let found = traces::written(&text, own, self.texts, root).or_else(|| {
            // Another set with the same values of the user may follow this one.
            let mut twins = self
                .like(seen)
                .filter(|it| it.found.len() == seen.found.len());
            twins.find_map(|it| traces::written(&entry(it)?, &self.sets[it.set], self.texts, root))
        })?;
        // A port that a value says which is not followed would stay what it is now.
        let is_fixed = !found.rsplit(':').next().unwrap_or_default().contains("{{");
        let port = || self.in_text(seen, at, false, in_text::port);
        (!is_fixed || port().is_none_or(|it| !it.contains("{{"))).then_some(found)
    }

    /// The entry of a wait as the container's own text names its target. `at` is the number of the container's wait.
    pub(super) fn as_written(&self, seen: &SeenContainer, at: usize) -> Option<String> {
        self.in_text(seen, at, false, |context, wait| {
            match context.resolve(wait) {
                Outcome::Entry(entry) => Some(entry.text),
                _ => None,
            }
        })
    }

    /// The entry of a wait as an address, with the host and the port as the container's own text in the values writes these.
    pub(super) fn as_address(&self, seen: &SeenContainer, at: usize) -> Option<String> {
        self.in_text(seen, at, true, in_text::as_address)
    }

    /// What `resolve` makes of a wait in the container's own text, or in its text in the values alone.
    fn in_text(
        &self,
        seen: &SeenContainer,
        at: usize,
        in_values: bool,
        resolve: impl Fn(&Context<'_>, &Wait) -> Option<String>,
    ) -> Option<String> {
        let (path, line) = self.place(seen).1?;
        let file = self.texts.file(&path)?;
        let fits = !in_values || file.is_values();
        let count = seen.found.len();
        let found = || candidates::in_block(self.texts, file, line, at, count, resolve);
        fits.then(found).flatten()
    }

    /// Whether a container that no list says waits for nothing but what a list says once the values of its addresses are set.
    pub(super) fn is_said_with_values(&self, seen: &SeenContainer) -> bool {
        let mut followed = self
            .like(seen)
            .filter(|it| traces::follow(&self.sets[it.set]));
        !seen.is_listed() && followed.any(SeenContainer::is_listed)
    }

    /// Whether a container is in a set without marks too, with the same values of the user.
    pub(super) fn is_in_plain_set(&self, seen: &SeenContainer) -> bool {
        let mut plain = self
            .like(seen)
            .filter(|it| !traces::follow(&self.sets[it.set]));
        plain.next().is_some()
    }

    /// A container in the other sets that differ in marks alone.
    fn like<'k>(&'k self, seen: &'k SeenContainer) -> impl Iterator<Item = &'k SeenContainer> {
        let plain = |set: usize| traces::without(&self.sets[set]);
        let is_like = move |it: &&SeenContainer| {
            it.set != seen.set && it.is_the_same(seen) && plain(it.set).eq(plain(seen.set))
        };
        self.seen.iter().filter(is_like)
    }

    /// The sets with which a workload of a group was rendered.
    pub(super) fn tried(&self, group: &Group) -> Vec<usize> {
        let is_one = |object: &ChartObject| self.is_of(group, object);
        (0..self.sets.len())
            .filter(|set| !group.forgotten.contains(set))
            .filter(|set| self.objects(*set).iter().any(is_one))
            .collect()
    }

    /// Leaves each wait of these groups for an address of values that no list can name, so that the other waits of their workloads get
    /// a list without it. Returns whether there is one.
    pub(super) fn leave_unwritable(&mut self, groups: &[&Group]) -> bool {
        let mut left = Vec::new();
        for number in groups.iter().flat_map(|it| &it.seen) {
            let seen = &self.seen[*number];
            for (at, found) in seen.found.iter().enumerate() {
                let Ok(Some(target)) = &found.target else {
                    continue;
                };
                let is_of_values = target.form == (Form::Address { of_values: true });
                let is_unwritten = || self.written(seen, at, "").is_none();
                if is_of_values && is_unwritten() && self.as_address(seen, at).is_none() {
                    left.push((*number, at, Reason::Address(target.name.clone())));
                }
            }
        }
        let is_any = !left.is_empty();
        for (number, at, reason) in left {
            self.seen[number].found[at].target = Err(reason);
        }
        is_any
    }

    /// Forgets what some sets show of the groups that have no list, so that these get the list of the other sets. Returns whether there
    /// is such a group.
    pub(super) fn forget(&mut self, sets: &[usize], groups: &mut [Group], open: &[usize]) -> bool {
        let mut is_any = false;
        for at in open {
            let seen = &mut self.seen;
            groups[*at].seen.retain(|number| {
                let is_kept = !sets.contains(&seen[*number].set);
                if !is_kept {
                    seen[*number].found.clear();
                    is_any = true;
                }
                is_kept
            });
            groups[*at].forgotten = sets.to_vec();
        }
        is_any
    }

    /// The switches with which the chart does not render, or was not tried, and whose values a group, or a helper, reads: then nothing
    /// tells what is waited for.
    pub(super) fn doubts(&self, group: &Group) -> Vec<&Switch> {
        let unrendered = (0..self.sets.len()).filter(|it| self.rendered[*it].is_none());
        let unrendered: Vec<usize> = unrendered.collect();
        if unrendered.is_empty() {
            return Vec::new();
        }
        let tried = self.tried(group);
        let text = self.with_document(group, |_, it| Some(it.lines.join("\n")));
        let whole = || self.file(&group.source).map(|it| it.text.clone());
        let read = self.texts.reach(&text.or_else(whole).unwrap_or_default());
        let mut doubts: Vec<&Switch> = Vec::new();
        for switch in unrendered
            .into_iter()
            .filter_map(|set| self.doubt(set, &tried))
        {
            if !doubts.contains(&switch) && read.contains(&switch.path) {
                doubts.push(switch);
            }
        }
        doubts
    }

    /// The conditions within which all that a group waits for is known. `None` where these are too many, or are no conditions.
    pub(super) fn guards(&self, group: &Group, root: &str) -> Option<Vec<String>> {
        let doubts = self.doubts(group);
        let guards: Option<Vec<String>> = doubts.iter().map(|it| it.holds_not(root)).collect();
        guards.filter(|it| it.len() <= MOST_GUARDS)
    }

    /// The switch by which a set that was not rendered tells nothing of a workload that is there with the sets `tried`.
    fn doubt(&self, set: usize, tried: &[usize]) -> Option<&Switch> {
        // The same values render once the chart is told a host.
        let plain = |it: usize| traces::without(&self.sets[it]);
        let is_followed = |it: usize| traces::follow(&self.sets[it]) && plain(it).eq(plain(set));
        if (0..self.sets.len()).any(is_followed) {
            return None;
        }
        let switch = match self.sets[set].as_slice() {
            [switch] => switch,
            // With the first switch alone the workload is there.
            [base, switch] if self.is_there_with(base, tried) => switch,
            _ => return None,
        };
        // Of a value that the chart does not have nothing tells what it may be.
        let mut path = switch.path.split('.');
        let own = path.try_fold(&self.texts.values, |value, key| value.get(key));
        if own.is_none_or(Value::is_null) && !self.untried.contains(&set) {
            return None;
        }
        Some(switch)
    }

    /// Whether a workload is rendered with one switch, and not without: `tried` are the sets that show the workload.
    fn is_there_with(&self, switch: &Switch, tried: &[usize]) -> bool {
        let is_it = |set: &usize| self.sets[*set] == std::slice::from_ref(switch);
        !tried.contains(&0) && tried.iter().any(is_it)
    }

    /// Whether an object is rendered from the document of a group.
    pub(super) fn is_of(&self, group: &Group, object: &ChartObject) -> bool {
        let name = text(&object.value, "/metadata/name");
        let kind = text(&object.value, "/kind");
        let is_kind = group.document.is_some() || kind == group.kind;
        if object.source != group.source || !is_kind || own_pods(object).is_none() {
            return false;
        }
        // A template of a chart beside this one has no text here.
        let Some(file) = self.file(&group.source) else {
            return group.document.is_none();
        };
        let lines: Vec<&str> = file.text.lines().collect();
        let documents = document::all(&lines);
        candidates::document_of(&documents, kind, name).map(|it| it.first) == group.document
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

    /// The place of a container, and its block among the texts.
    pub(super) fn place(&self, seen: &SeenContainer) -> (String, Option<(PathBuf, usize)>) {
        places::of(self.texts, &self.folder.join(&seen.source), seen)
    }
}
