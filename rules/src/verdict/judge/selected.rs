//! The objects that the selector of an entry selects.

use super::basis::Judge;
use super::finding::EntryFinding;
use super::home::Home;
use super::several::{self, Member};
use crate::dependency::{Dependency, Selection};
use crate::judged::{Reason, not_found};
use crate::kinds::Kind;
use crate::lookup::Lookup;
use crate::object::name;
use serde_json::Value;

impl Judge<'_> {
    pub(super) fn selected(
        &self,
        selection: &Selection,
        home: Home<'_>,
        entry: &Dependency,
    ) -> EntryFinding {
        let Selection { kind, selector, .. } = selection;
        let mut objects = match self.world.list(kind, home.namespace, selector) {
            Lookup::Found(objects) => objects,
            Lookup::NotFound => Vec::new(),
            Lookup::Unavailable(why) => return self.unread(why, kind, entry.optional).into(),
        };
        let there = objects.iter().map(name).map(str::to_owned).collect();
        let counting = self.leave_counting(&mut objects, kind, home, entry);
        let gone = match self.remembered_by(selection, &there, home, entry) {
            Ok(gone) => gone,
            Err(unknown) if objects.is_empty() => return unknown.into(),
            // The objects that are there must be satisfied by themselves.
            Err(_) => Vec::new(),
        };
        if objects.is_empty() && gone.is_empty() {
            return match counting {
                Ok(()) => {
                    let what = format!("no {kind} with these labels has been created yet");
                    self.absent(entry.optional, &what)
                }
                Err(what) if entry.optional => self.absent(true, &what),
                Err(what) => not_found(false, &what).into(),
            };
        }
        let parts = objects.into_iter().map(|object| {
            let judged = self.object(kind, &object, home, entry);
            Member::of(
                name(&object).to_owned(),
                EntryFinding::of(kind, object, judged),
            )
        });
        // A Job that is too old for `fresh` stays so, and holds the dependent back only where no other object is selected.
        let (old, mut parts): (Vec<Member>, Vec<Member>) =
            parts.partition(|part| part.judged.reason == Reason::NotFresh);
        parts.extend(gone);
        if parts.is_empty() {
            parts = old;
        }
        let needed = selection.min.map_or(parts.len(), |min| min.of(parts.len()));
        several::all(parts, needed, entry.state)
    }

    /// Keeps only the selected objects that count: not the dependent itself or a pod of its workload, and with `sameNode` only pods on its node.
    ///
    /// # Errors
    ///
    /// A message that says why none of the selected objects counts, although there are some.
    fn leave_counting(
        &self,
        objects: &mut Vec<Value>,
        kind: &Kind,
        home: Home<'_>,
        entry: &Dependency,
    ) -> Result<(), String> {
        if objects.is_empty() {
            return Ok(());
        }
        objects.retain(|object| home.foreign || !self.dependent.includes(kind, object));
        if objects.is_empty() {
            return Err(format!(
                "only the dependent itself has these labels so far; take the entry out, unless another {kind} is to come"
            ));
        }
        if entry.same_node {
            objects.retain(|pod| self.is_on_same_node(pod));
        }
        if objects.is_empty() {
            return Err(format!("no {kind} with these labels is on this node yet"));
        }
        Ok(())
    }
}
