//! Judges the object that an entry names.

use super::basis::Judge;
use super::finding::{EntryFinding, Lead};
use super::home::Home;
use crate::dependency::{Dependency, ObjectRef, State};
use crate::judged::{Judged, Reason, met, unmet};
use crate::kept;
use crate::kstatus::Status;
use crate::lookup::Lookup;

impl Judge<'_> {
    pub(super) fn named(
        &self,
        object: &ObjectRef,
        home: Home<'_>,
        entry: &Dependency,
    ) -> EntryFinding {
        let ObjectRef { kind, name, .. } = object;
        let is_of_own_set = !home.foreign && self.dependent.has_ordinal(kind, name);
        if is_of_own_set && self.dependent.pod == *name {
            let told =
                "the other pods of its StatefulSet wait for it, and it waits for none of them";
            return met(told).into();
        }
        if !home.foreign && self.dependent.is(kind, name) {
            return itself().into();
        }
        match self.world.object(kind, home.namespace, name) {
            Lookup::Found(found) if !home.foreign && self.dependent.is_itself(kind, &found) => {
                itself().into()
            }
            Lookup::Found(found) => {
                let judged = self.object(kind, &found, home, entry);
                let waits = !home.foreign
                    && !judged.satisfied
                    && !is_of_own_set
                    && self.is_of_same_workload(kind, &found);
                if waits {
                    return itself().into();
                }
                EntryFinding::of(kind, found, judged)
            }
            Lookup::NotFound
                if !home.foreign
                    && !entry.optional
                    && entry.state != State::Present
                    && !is_of_own_set
                    && self.would_be_of_same_set(kind, name) =>
            {
                itself().into()
            }
            Lookup::NotFound => match self.remembered(object, home, entry) {
                Some(judged) => judged.into(),
                None => self.missing(object, home, entry.optional),
            },
            Lookup::Unavailable(why) => self.unread(why, kind, entry.optional).into(),
        }
    }

    fn missing(&self, object: &ObjectRef, home: Home<'_>, optional: bool) -> EntryFinding {
        let absent = self.absent(optional, "not created yet, or misspelt");
        // The name of a Secret is told only to a list that names it.
        let may_tell = !optional && !home.foreign && !kept::is_secret(&object.kind);
        let lead = may_tell.then(|| Lead::NoSuchName(object.clone()));
        EntryFinding {
            lead: lead.or(absent.lead),
            ..absent
        }
    }
}

fn itself() -> Judged {
    let message = "the dependent waits for itself; remove this entry from its list";
    unmet(
        Status::InProgress,
        Reason::SelfReference,
        message.to_owned(),
    )
}
