//! Judges objects that completed and were removed: Jobs, and objects of other kinds that complete, by the memory of their completion.

use super::basis::Judge;
use super::home::Home;
use super::lockstep::Mark;
use super::several::Member;
use crate::dependency::{Dependency, ObjectRef, Selection, State};
use crate::judged::{Judged, Reason, met, unavailable, unmet};
use crate::kinds::{self, Kind};
use crate::kstatus::Status;
use crate::lookup::{Lookup, Unavailable};
use crate::memory::{CompletedJob, Completing};
use crate::object::created;
use jiff::Timestamp;
use std::collections::{BTreeMap, BTreeSet};

impl Judge<'_> {
    /// Judges a named Job, or object of another kind that completes, that was removed after it completed, such as by its TTL. `None` where it is not
    /// remembered, where it does not count for the dependent, and where the entry asks for a state or an expression that ends with the object. While
    /// the memory cannot be read, the finding is `Unknown`.
    pub(super) fn remembered(
        &self,
        object: &ObjectRef,
        home: Home<'_>,
        entry: &Dependency,
    ) -> Option<Judged> {
        let ObjectRef { kind, name, .. } = object;
        let what = outlives(kind, entry)?;
        match self.world.completed_job(what, home.namespace?, name) {
            Lookup::Found(job) => self.gone(&job, home, entry),
            Lookup::NotFound => None,
            Lookup::Unavailable(why) => Some(forgotten(why)),
        }
    }

    /// The findings about the remembered Jobs, or objects of another kind that completes, that a selector selects and that count for the dependent.
    /// One whose name is in `there` is left out: the object of that name exists and is judged in its place.
    ///
    /// # Errors
    ///
    /// The finding about the edge while the memory cannot be read; for a caller that finds no existing object.
    pub(super) fn remembered_by(
        &self,
        selection: &Selection,
        there: &BTreeSet<String>,
        home: Home<'_>,
        entry: &Dependency,
    ) -> Result<Vec<Member>, Judged> {
        let Selection { kind, selector, .. } = selection;
        let (Some(namespace), Some(what)) = (home.namespace, outlives(kind, entry)) else {
            return Ok(Vec::new());
        };
        let mut jobs = match self.world.completed_jobs(what, namespace, selector) {
            Lookup::Found(jobs) => jobs,
            Lookup::NotFound => BTreeMap::new(),
            Lookup::Unavailable(why) => return Err(forgotten(why)),
        };
        jobs.retain(|name, _| !there.contains(name));
        let part = |(name, job)| {
            let judged = self.gone(&job, home, entry)?;
            Some(Member::of(name, judged))
        };
        Ok(jobs.into_iter().filter_map(part).collect())
    }

    /// Judges a remembered Job or other completed object; `None` where it does not count, because it is of another revision, too old for `fresh`, or
    /// from an earlier namespace of the same name.
    fn gone(&self, job: &CompletedJob, home: Home<'_>, entry: &Dependency) -> Option<Judged> {
        let when = Timestamp::from_second(job.completed).ok()?;
        match self.namespace_began(home.namespace?) {
            // The Job was in an earlier namespace of the same name.
            Ok(began) if job.created < began.as_second() => return None,
            Ok(_) => {}
            Err(unknown) => return Some(unknown),
        }
        let mark = Mark::remembered(job);
        match self.does_not_count(&mark, home, entry) {
            // A remembered Job of another revision does not count.
            Some(old) if matches!(old.reason, Reason::OtherRevision | Reason::NotFresh) => None,
            Some(unknown) => Some(unknown),
            None => {
                let remembered = Judged {
                    reason: Reason::Remembered,
                    ..met(format!("completed at {when} and was removed since"))
                };
                Some(self.settled(remembered, &mark, home, entry))
            }
        }
    }

    /// The time at which the Namespace of this name was created.
    ///
    /// # Errors
    ///
    /// The finding about the edge while the Namespace cannot be read.
    fn namespace_began(&self, name: &str) -> Result<Timestamp, Judged> {
        let reading = || unmet(Status::Unknown, Reason::Syncing, String::new());
        let kind = Kind::Builtin(kinds::NAMESPACE);
        match self.world.object(&kind, None, name) {
            Lookup::Found(namespace) => created(&namespace).ok_or_else(reading),
            Lookup::NotFound => Err(unavailable(Unavailable::Syncing, &kind, false)),
            Lookup::Unavailable(why) => Err(unavailable(why, &kind, false)),
        }
    }
}

/// The kind as the memory has it; `None` where objects of the kind are not remembered, and where the state or an expression that the entry asks
/// for ends with the object.
fn outlives(kind: &Kind, entry: &Dependency) -> Option<Completing> {
    let lasting = matches!(
        entry.state,
        State::Ready | State::Available | State::Complete
    );
    let what = Completing::of(kind)?;
    (lasting && entry.health.is_empty()).then_some(what)
}

/// The finding, always `Unknown`, about a Job, or an object of another kind that completes, that does not exist, while the memory of completed
/// objects cannot be read.
fn forgotten(why: Unavailable) -> Judged {
    let (reason, message) = match why {
        Unavailable::Syncing => (
            Reason::Syncing,
            "sluice is reading what it remembers of what has completed",
        ),
        Unavailable::Stale => (
            Reason::Stale,
            "it is not there; what sluice remembers of what has completed may be stale",
        ),
        Unavailable::NotServed
        | Unavailable::Forbidden
        | Unavailable::Undiscovered
        | Unavailable::AwaitsTurn { .. }
        | Unavailable::OverBudget { .. }
        | Unavailable::TooLarge
        | Unavailable::Hidden => (
            Reason::NotFound,
            "it is not there; whether sluice remembers that it completed cannot be seen from here",
        ),
    };
    unmet(Status::Unknown, reason, message.to_owned())
}
