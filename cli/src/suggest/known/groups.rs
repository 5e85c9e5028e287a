//! Sorts the containers of all sets of values into groups: one group for each workload in a template.

use super::{Group, Known};
use crate::suggest::candidates;
use crate::suggest::object::{ChartObject, ObjectList, own_pods, text};
use crate::suggest::survey::SeenContainer;
use crate::suggest::switches::Switch;

impl Known<'_> {
    pub(in crate::suggest) fn groups(&self) -> Vec<Group> {
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
                    hints: Vec::new(),
                }),
            }
        }
        groups
    }

    /// The number of the first line, from 0 in the file, of the document that renders the workload of a container; `None` where no document does.
    fn document_of(&self, seen: &SeenContainer) -> Option<usize> {
        let (kind, name) = &seen.workload;
        let document = candidates::document_of(self.file(&seen.source)?, kind, name);
        document.map(|it| it.first)
    }

    /// The number of the group that has the workload of a container; `None` where no group has it.
    fn group_of(&self, seen: &SeenContainer, groups: &[Group]) -> Option<usize> {
        let document = self.document_of(seen);
        groups.iter().position(|it| {
            // A template may choose the kind.
            let is_kind = it.document.is_some() || it.kind == seen.workload.0;
            it.source == seen.source && it.document == document && is_kind
        })
    }

    /// Whether an object is a workload of the group: the same document of a template renders it.
    pub(in crate::suggest) fn is_of(&self, group: &Group, object: &ChartObject) -> bool {
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

    /// Adds containers of the last set of values to the groups that have their workloads; drops a container without such a group. Returns the
    /// number of those that were added.
    pub(in crate::suggest) fn take(
        &mut self,
        seen: Vec<SeenContainer>,
        groups: &mut [Group],
    ) -> usize {
        let before = self.seen.len();
        for seen in seen {
            let seen = self.without_given_up(seen);
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

    /// Removes the last set of values and its `count` containers, also from the groups. Returns the set with its objects; `None` where it did
    /// not render.
    pub(in crate::suggest) fn give_back(
        &mut self,
        count: usize,
        groups: &mut [Group],
    ) -> Option<(Vec<Switch>, ObjectList)> {
        let set = self.sets.pop();
        let objects = self.rendered.pop().flatten();
        self.varied.remove(&self.sets.len());
        let left = self.seen.len() - count;
        self.seen.truncate(left);
        for group in groups {
            group.seen.retain(|it| *it < left);
            group.varied.retain(|it| *it < left);
        }
        set.zip(objects)
    }

    /// Forgets the containers of the groups with the numbers `open` that these sets of values or their variations show, so that such a group may
    /// get a list from the other sets. Returns whether there was such a container.
    pub(in crate::suggest) fn forget(
        &mut self,
        sets: &[usize],
        groups: &mut [Group],
        open: &[usize],
    ) -> bool {
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
}
