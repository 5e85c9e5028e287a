//! The knowledge about a folder: its texts, the objects that each set of values renders, and the waits of their containers.

mod changing;
mod messages;
mod written;

use super::candidates;
use super::diff::Edit;
use super::document::Document;
use super::edits;
use super::found::Found;
use super::list::{self, Listed};
use super::object::{ChartObject, ObjectList, own_pods, text};
use super::places;
use super::reason::Reason;
use super::release::{RELEASE, RELEASE_NAME};
use super::render::Stubs;
use super::survey::SeenContainer;
use super::switches::Switch;
use super::target::Form;
use super::tested;
use super::texts::{File, Texts, value_at};
use super::traces;
use super::tried;
use rules::keys;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The most conditions around a list that only keep out sets of values with which nothing renders.
const MOST_GUARDS: usize = 3;

/// A workload in a template (one document of the file), with all containers that the sets of values render from the document. A group gets
/// one list.
pub(super) struct Group {
    /// The path of the template, below the folder.
    pub(super) source: PathBuf,
    pub(super) kind: String,
    /// The first line of the workload's document; `None` where no document of the template shows the workload.
    pub(super) document: Option<usize>,
    /// The numbers of the group's containers in [`Known::seen`].
    pub(super) seen: Vec<usize>,
    /// The numbers of the group's containers in the variations of the sets. They tell what a list has to say there.
    pub(super) varied: Vec<usize>,
    /// The numbers of the sets of values that do not count for the group's list.
    pub(super) forgotten: Vec<usize>,
}

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
    /// The number of the set that each variation of a set has further switches beside, by the number of the variation.
    pub(super) varied: BTreeMap<usize, usize>,
    /// The declared sub-charts that no folder holds.
    pub(super) missing: Vec<String>,
    /// The made-up helpers, in place of helpers that no chart at hand defines.
    pub(super) stubs: Stubs,
}

impl Known<'_> {
    pub(super) fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (at, seen) in self.seen.iter().enumerate() {
            let is_varied = self.varied.contains_key(&seen.set);
            match self.group_of(seen, &groups) {
                Some(group) if is_varied => groups[group].varied.push(at),
                Some(group) => groups[group].seen.push(at),
                // The variation of a set shows no waiting workload that the set does not show, but for a name that misleads.
                None if is_varied => {}
                None => groups.push(Group {
                    source: seen.source.clone(),
                    kind: seen.workload.0.clone(),
                    document: self.document_of(seen),
                    seen: vec![at],
                    varied: Vec::new(),
                    forgotten: Vec::new(),
                }),
            }
        }
        groups
    }

    /// The text that the waiting containers of a group read, with the helpers in it and the conditions around the containers.
    pub(super) fn read_by(&self, group: &Group) -> String {
        let all = group.seen.iter().map(|it| &self.seen[*it]);
        let names: BTreeSet<&str> = all.map(|it| it.container.name.as_str()).collect();
        let texts = names.iter().map(|it| tested::read_by(self.texts, it));
        texts.collect()
    }

    /// The first line of the document that renders the workload of a container.
    fn document_of(&self, seen: &SeenContainer) -> Option<usize> {
        let (kind, name) = &seen.workload;
        let document = candidates::document_of(self.file(&seen.source)?, kind, name);
        document.map(|it| it.first)
    }

    /// The number of the group that has the workload of a container.
    fn group_of(&self, seen: &SeenContainer, groups: &[Group]) -> Option<usize> {
        let document = self.document_of(seen);
        groups.iter().position(|it| {
            // A template may choose the kind.
            let is_kind = it.document.is_some() || it.kind == seen.workload.0;
            it.source == seen.source && it.document == document && is_kind
        })
    }

    /// Takes the containers of the last set, as far as a group has their workload. Returns how many they are.
    pub(super) fn take(&mut self, seen: Vec<SeenContainer>, groups: &mut [Group]) -> usize {
        let before = self.seen.len();
        for seen in seen {
            if let Some(group) = self.group_of(&seen, groups) {
                let group = &mut groups[group];
                let own = if self.varied.contains_key(&seen.set) {
                    &mut group.varied
                } else {
                    &mut group.seen
                };
                own.push(self.seen.len());
                self.seen.push(seen);
            }
        }
        self.seen.len() - before
    }

    /// Takes back the last set and its `count` containers.
    pub(super) fn give_back(&mut self, count: usize, groups: &mut [Group]) {
        self.sets.pop();
        self.rendered.pop();
        self.varied.remove(&self.sets.len());
        let left = self.seen.len() - count;
        self.seen.truncate(left);
        for group in groups {
            group.seen.retain(|it| *it < left);
            group.varied.retain(|it| *it < left);
        }
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

    /// Whether the container has waits that no list can say now, while a list can say all of them once the values of its addresses are set.
    pub(super) fn is_said_with_values(&self, seen: &SeenContainer) -> bool {
        let mut followed = self
            .with_other_marks(seen)
            .filter(|it| traces::follow(&self.sets[it.set]));
        !seen.is_listed() && (followed.any(SeenContainer::is_listed) || self.lacks_values(seen))
    }

    /// Whether some waits of the container only lack the user's address, a list can say the others, and a set with such an address, and with no
    /// switch that the container's own set lacks, has a list for all.
    fn lacks_values(&self, seen: &SeenContainer) -> bool {
        let may_be_said = |it: &Found| matches!(it.target, Ok(Some(_)) | Err(Reason::NoValue(_)));
        let has_address = |it: &&SeenContainer| {
            let own = &self.sets[seen.set];
            let mut plain = traces::without(&self.sets[it.set]).peekable();
            let is_marked = traces::follow(&self.sets[it.set]) && plain.peek().is_some();
            is_marked && it.is_the_same(seen) && plain.all(|it| own.contains(it))
        };
        seen.found.iter().all(may_be_said)
            && self
                .seen
                .iter()
                .filter(has_address)
                .any(SeenContainer::is_listed)
    }

    /// Whether a set without marks, and otherwise with the values of the container's own set, shows the container as well.
    pub(super) fn is_in_plain_set(&self, seen: &SeenContainer) -> bool {
        let mut plain = self
            .with_other_marks(seen)
            .filter(|it| !traces::follow(&self.sets[it.set]));
        plain.next().is_some()
    }

    /// The container as it is in the sets of values that differ from its own set only in marks.
    fn with_other_marks<'k>(
        &'k self,
        seen: &'k SeenContainer,
    ) -> impl Iterator<Item = &'k SeenContainer> {
        let plain = |set: usize| traces::without(&self.sets[set]);
        let differs_in_marks = move |it: &&SeenContainer| {
            it.set != seen.set && it.is_the_same(seen) && plain(it.set).eq(plain(seen.set))
        };
        self.seen.iter().filter(differs_in_marks)
    }

    /// The numbers of the sets of values that render a workload of the group and that count for its list, without the variations.
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

    /// Gives up the waits of these groups whose address comes from values that no list can name, so that the workload gets a list for its
    /// other waits. Returns whether there is such a wait.
    pub(super) fn leave_unwritable(&mut self, groups: &[&Group]) -> bool {
        let mut left = Vec::new();
        for number in groups.iter().flat_map(|it| &it.seen) {
            let seen = &self.seen[*number];
            for (at, found) in seen.found.iter().enumerate() {
                let Ok(Some(target)) = &found.target else {
                    continue;
                };
                let is_of_values = target.form == (Form::Address { of_values: true });
                // A list with the port as the container's text computes it was tried before, and did not mean the same as the loop.
                let followed = || self.followed(seen, at, "");
                let is_unwritten =
                    || followed().is_none_or(|it| self.is_port_open(seen, at, &it.text));
                if is_of_values && is_unwritten() && self.as_address(seen, at, true).is_none() {
                    left.push((*number, at, Reason::Address(target.name.clone())));
                }
            }
        }
        let is_any = !left.is_empty();
        let varied: Vec<usize> = groups.iter().flat_map(|it| it.varied.clone()).collect();
        for (number, at, reason) in left {
            let (set, container) = (
                self.seen[number].set,
                self.seen[number].container.name.clone(),
            );
            let is_variation = |it: &&usize| {
                let seen = &self.seen[**it];
                self.varied.get(&seen.set) == Some(&set) && seen.container.name == container
            };
            let all: Vec<usize> = varied.iter().filter(is_variation).copied().collect();
            for found in all.into_iter().chain([number]) {
                if let Some(found) = self.seen[found].found.get_mut(at) {
                    found.target = Err(reason.clone());
                }
            }
        }
        is_any
    }

    /// Forgets the containers of the groups in `open` that these sets of values show, so that such a group may get a list from the other
    /// sets. Returns whether there was such a container.
    pub(super) fn forget(&mut self, sets: &[usize], groups: &mut [Group], open: &[usize]) -> bool {
        let mut is_any = false;
        let varied = self.varied.iter().filter(|it| sets.contains(it.1));
        let sets: Vec<usize> = varied.map(|it| *it.0).chain(sets.to_vec()).collect();
        for at in open {
            let seen = &mut self.seen;
            groups[*at]
                .varied
                .retain(|it| !sets.contains(&seen[*it].set));
            groups[*at].seen.retain(|number| {
                let is_kept = !sets.contains(&seen[*number].set);
                if !is_kept {
                    seen[*number].found.clear();
                    is_any = true;
                }
                is_kept
            });
            groups[*at].forgotten.clone_from(&sets);
        }
        is_any
    }

    /// The switches that leave the waits of a group unknown: with such a switch the chart does not render, or was not rendered, and the
    /// group's text or a helper of it reads the value.
    pub(super) fn doubts(&self, group: &Group) -> Vec<&Switch> {
        let unrendered = (0..self.sets.len()).filter(|it| self.rendered[*it].is_none());
        // No user has the workload with a set with which its template is no YAML.
        let unrendered = unrendered.filter(|it| self.without_yaml.get(it) != Some(&group.source));
        let unrendered: Vec<usize> = unrendered.collect();
        if unrendered.is_empty() {
            return Vec::new();
        }
        let tried = self.tried(group);
        let waiting = group.seen.iter().map(|it| self.seen[*it].set).collect();
        let text = self.with_document(group, |_, it| Some(it.lines.join("\n")));
        let whole = || self.file(&group.source).map(|it| it.text.clone());
        let read = self.texts.reach(&text.or_else(whole).unwrap_or_default());
        let mut doubts: Vec<&Switch> = Vec::new();
        for switch in unrendered
            .into_iter()
            .filter_map(|set| self.doubt(set, &tried, &waiting))
        {
            if !doubts.contains(&switch) && read.contains(&switch.path) {
                doubts.push(switch);
            }
        }
        doubts
    }

    /// The conditions under which all waits of the group are known: none of the switches in [`Self::doubts`] holds. `None` where there are
    /// more conditions than [`MOST_GUARDS`], or where a condition cannot be written.
    pub(super) fn guards(&self, group: &Group, root: &str) -> Option<Vec<String>> {
        let doubts = self.doubts(group);
        let guards: Option<Vec<String>> = doubts.iter().map(|it| it.holds_not(root)).collect();
        guards.filter(|it| it.len() <= MOST_GUARDS)
    }

    /// The switch that leaves the waits of a workload unknown, because the set of values with this switch was not rendered. `tried` are the
    /// sets that show the workload, and `waiting` those that show it with a wait.
    fn doubt(&self, set: usize, tried: &[usize], waiting: &BTreeSet<usize>) -> Option<&Switch> {
        // The chart renders with the values of this set once marks give it a host, so the set leaves nothing unknown.
        let plain = |it: usize| traces::without(&self.sets[it]);
        let is_followed = |it: usize| traces::follow(&self.sets[it]) && plain(it).eq(plain(set));
        if (0..self.sets.len()).any(is_followed) {
            return None;
        }
        let switch = match self.sets[set].as_slice() {
            [switch] => switch,
            // The first switch alone brings the workload in sight, so the second one is in doubt.
            [base, switch] if self.is_there_with(base, tried) => switch,
            _ => return None,
        };
        // Another set with this switch tells the waits.
        if waiting.iter().any(|it| self.sets[*it].contains(switch)) {
            return None;
        }
        // The chart does not have this value, so nothing tells which texts the value may be.
        let own = value_at(&self.texts.values, &switch.path);
        if own.is_none_or(Value::is_null) && !self.untried.contains(&set) {
            return None;
        }
        Some(switch)
    }

    /// Whether a workload is rendered with one switch, and is not rendered with the chart's own values. `tried` are the sets that show the
    /// workload.
    fn is_there_with(&self, switch: &Switch, tried: &[usize]) -> bool {
        let is_it = |set: &usize| self.sets[*set] == std::slice::from_ref(switch);
        !tried.contains(&0) && tried.iter().any(is_it)
    }

    /// Whether an object is a workload of the group: the same document of a template renders it.
    pub(super) fn is_of(&self, group: &Group, object: &ChartObject) -> bool {
        let name = text(&object.value, "/metadata/name");
        let kind = text(&object.value, "/kind");
        let is_kind = group.document.is_some() || kind == group.kind;
        if object.source != group.source || !is_kind || own_pods(object).is_none() {
            return false;
        }
        // A template of a chart in another folder has no text here.
        let Some(file) = self.file(&group.source) else {
            return group.document.is_none();
        };
        candidates::document_of(file, kind, name).map(|it| it.first) == group.document
    }

    /// Whether the workloads of a group carry a list already, from their template or from values.
    pub(super) fn is_listed(&self, group: &Group) -> bool {
        let own = self.objects(self.seen[group.seen[0]].set).iter();
        let mut own = own.filter(|it| self.is_of(group, it));
        let written = |_: &File, it: &Document<'_>| it.has(keys::DEPENDS_ON).then_some(());
        own.any(|it| tried::said(&it.value).is_some())
            || self.with_document(group, written).is_some()
    }

    /// Calls `then` with the document that renders a group, and with its file; `None` where there is no such document.
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

    /// The place of a container for messages, and the place of its text in the folder, as a file and a line.
    pub(super) fn place(&self, seen: &SeenContainer) -> (String, Option<(PathBuf, usize)>) {
        let found = || places::of(self.texts, &self.folder.join(&seen.source), seen);
        seen.place.get_or_init(found).clone()
    }
}
