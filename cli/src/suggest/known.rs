//! The knowledge about a folder: its texts, the objects that each set of values renders, and the waits of their containers.

use super::candidates;
use super::diff::Edit;
use super::document::Document;
use super::edits;
use super::in_text::{self, Context};
use super::list::{self, Listed};
use super::object::{ChartObject, ObjectList, own_pods, text};
use super::outcome::Outcome;
use super::places;
use super::reason::Reason;
use super::render::Stubs;
use super::survey::SeenContainer;
use super::switches::Switch;
use super::target::Form;
use super::texts::{File, Texts, value_at};
use super::traces::{self, NamedValues};
use super::tried;
use super::wait::Wait;
use rules::keys;
use serde_json::Value;
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
    /// The numbers of the sets of values that were not rendered, because the chart has more sets than are tried.
    pub(super) untried: Vec<usize>,
    /// The declared sub-charts that no folder holds.
    pub(super) missing: Vec<String>,
    /// The made-up helpers, in place of helpers that no chart at hand defines.
    pub(super) stubs: Stubs,
}

impl Known<'_> {
    pub(super) fn groups(&self) -> Vec<Group> {
        let mut groups: Vec<Group> = Vec::new();
        for (at, seen) in self.seen.iter().enumerate() {
            let (kind, name) = &seen.workload;
            let file = self.file(&seen.source);
            let document = file.and_then(|it| candidates::document_of(it, kind, name));
            let document = document.map(|it| it.first);
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

    /// A text for a message. The names of values and helpers take the place of the texts that were made up for them.
    pub(super) fn shown(&self, text: &str, set: usize) -> String {
        self.stubs.shown(&traces::shown(text, &self.sets[set]))
    }

    /// The entry of the wait number `at`, whose address comes from values, with these values in it; `None` where no mark tells the
    /// values.
    pub(super) fn written(
        &self,
        seen: &SeenContainer,
        at: usize,
        root: &str,
    ) -> Option<NamedValues> {
        let found = self.followed(seen, at, root)?;
        if !self.is_port_open(seen, at, &found.text) {
            return Some(found);
        }
        // A `range` sets the dot by which the text may name its values.
        let is_plain = found.within.is_empty();
        let port = self.in_text(seen, at, false, in_text::port_there);
        let text = with_port(&found.text, &port.filter(|_| is_plain)?)?;
        Some(NamedValues { text, ..found })
    }

    /// Whether the text of a wait computes the port that `found`, the entry of the wait, has as a number. Such a number is the port with
    /// the present values alone.
    fn is_port_open(&self, seen: &SeenContainer, at: usize, found: &str) -> bool {
        let is_number = !found.rsplit(':').next().unwrap_or_default().contains("{{");
        let port = || self.in_text(seen, at, false, in_text::port);
        is_number && port().is_some_and(|it| it.contains("{{"))
    }

    /// The entry of an address that values say, with the values that were followed in it.
    fn followed(&self, seen: &SeenContainer, at: usize, root: &str) -> Option<NamedValues> {
        let own = &self.sets[seen.set];
        let text = address_of_values(seen, at)?;
        traces::written(text, own, self.texts, root).or_else(|| {
            // Another set with the same values of the user may follow this one.
            let mut twins = self
                .with_other_marks(seen)
                .filter(|it| it.found.len() == seen.found.len());
            let twin = twins.find_map(|it| {
                let text = address_of_values(it, at)?;
                traces::written(text, &self.sets[it.set], self.texts, root)
            });
            twin.or_else(|| self.in_list(seen, text, root))
        })
    }

    /// The entry of an address that is an element of a list in the chart's own values. Another set has marks in that list, and more of
    /// them.
    fn in_list(&self, seen: &SeenContainer, text: &str, root: &str) -> Option<NamedValues> {
        let mut all = self.with_other_marks(seen).flat_map(|twin| {
            let set = &self.sets[twin.set];
            let numbers = 0..twin.found.len();
            let addresses = numbers.filter_map(move |at| address_of_values(twin, at));
            addresses.map(move |it| (it, set))
        });
        let (marked, set) =
            all.find(|(it, set)| traces::with_own_elements(it, set).as_deref() == Some(text))?;
        traces::written(marked, set, self.texts, root)
    }

    /// The entry of the wait number `at`, with its target written as in the container's own text.
    pub(super) fn as_written(&self, seen: &SeenContainer, at: usize) -> Option<String> {
        self.in_text(seen, at, false, |context, wait| {
            match context.resolve(wait) {
                Outcome::Entry(entry) => Some(entry.text),
                _ => None,
            }
        })
    }

    /// The entry of the wait number `at` as an address that the gate tries, with the host and the port as the container's text in the
    /// values writes them.
    pub(super) fn as_address(&self, seen: &SeenContainer, at: usize) -> Option<String> {
        self.in_text(seen, at, true, in_text::as_address)
    }

    /// The result of `resolve` for the wait number `at` in the text of the container. `in_values`: only a text that stands in the values
    /// counts.
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
        let found = || candidates::resolve_in_text(self.texts, file, line, at, count, resolve);
        fits.then(found).flatten()
    }

    /// Whether the container has waits that no list can say now, while a list can say all of them once the values of its addresses are set.
    pub(super) fn is_said_with_values(&self, seen: &SeenContainer) -> bool {
        let mut followed = self
            .with_other_marks(seen)
            .filter(|it| traces::follow(&self.sets[it.set]));
        !seen.is_listed() && followed.any(SeenContainer::is_listed)
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

    /// The numbers of the sets of values that render a workload of the group and that count for its list.
    pub(super) fn tried(&self, group: &Group) -> Vec<usize> {
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

    /// Forgets the containers of the groups in `open` that these sets of values show, so that such a group may get a list from the other
    /// sets. Returns whether there was such a container.
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

    /// The switches that leave the waits of a group unknown: with such a switch the chart does not render, or was not rendered, and the
    /// group's text or a helper of it reads the value.
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

    /// The conditions under which all waits of the group are known: none of the switches in [`Self::doubts`] holds. `None` where there are
    /// more conditions than [`MOST_GUARDS`], or where a condition cannot be written.
    pub(super) fn guards(&self, group: &Group, root: &str) -> Option<Vec<String>> {
        let doubts = self.doubts(group);
        let guards: Option<Vec<String>> = doubts.iter().map(|it| it.holds_not(root)).collect();
        guards.filter(|it| it.len() <= MOST_GUARDS)
    }

    /// The switch that leaves the waits of a workload unknown, because the set of values with this switch was not rendered. `tried` are the
    /// sets that show the workload.
    fn doubt(&self, set: usize, tried: &[usize]) -> Option<&Switch> {
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
            edits::annotate(document, &list::lines(list))
        })
    }

    /// The place of a container for messages, and the place of its text in the folder, as a file and a line.
    pub(super) fn place(&self, seen: &SeenContainer) -> (String, Option<(PathBuf, usize)>) {
        let found = || places::of(self.texts, &self.folder.join(&seen.source), seen);
        seen.place.get_or_init(found).clone()
    }
}

/// The entry of the wait number `at`, where that is an address that comes from values.
fn address_of_values(seen: &SeenContainer, at: usize) -> Option<&str> {
    let target = seen.found.get(at)?.target.as_ref().ok()?.as_ref()?;
    let is_of_values = target.form == (Form::Address { of_values: true });
    is_of_values.then_some(target.name.as_str())
}

/// An entry with another port in the place of its own, which is a number. `None` where it has none.
fn with_port(entry: &str, port: &str) -> Option<String> {
    let (before, behind) = entry.rsplit_once(':')?;
    let path = behind.trim_start_matches(|it: char| it.is_ascii_digit());
    (path.len() < behind.len()).then(|| format!("{before}:{port}{path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_put_in_the_place_of_a_number() {
        for (entry, expected) in [
            ("tcp://db:5432", Some("tcp://db:{{ .port }}")),
            ("http://api:80/ready", Some("http://api:{{ .port }}/ready")),
            ("dns://db", None),
        ] {
            let found = with_port(entry, "{{ .port }}");
            assert_eq!(found.as_deref(), expected, "{entry}");
        }
    }
}
