//! Jobs, and other objects that come to an end, that completed and are gone.

use super::edge::{Home, Judge};
use super::revision::Mark;
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
    /// A Job that completed before it was removed (by its TTL, by a hook's delete policy) goes on counting, if it counted
    /// while it was there.
    pub(super) fn remembered(
        &self,
        object: &ObjectRef,
        home: Home<'_>,
        dependency: &Dependency,
    ) -> Option<Judged> {
        let ObjectRef { kind, name, .. } = object;
        let what = outlives(kind, dependency)?;
        match self.world.completed_job(what, home.namespace?, name) {
            Lookup::Found(job) => self.gone(&job, home, dependency),
            Lookup::NotFound => None,
            Lookup::Unavailable(why) => Some(forgotten(why)),
        }
    }

    /// The same of the Jobs that a selector would find. One that is there, or another of its name, speaks for itself.
    ///
    /// # Errors
    ///
    /// What the edge is where nothing is there, while nobody can say.
    pub(super) fn remembered_by(
        &self,
        selection: &Selection,
        there: &BTreeSet<String>,
        home: Home<'_>,
        dependency: &Dependency,
    ) -> Result<Vec<Member>, Judged> {
        let Selection { kind, selector, .. } = selection;
        let (Some(namespace), Some(what)) = (home.namespace, outlives(kind, dependency)) else {
            return Ok(Vec::new());
        };
        let mut jobs = match self.world.completed_jobs(what, namespace, selector) {
            Lookup::Found(jobs) => jobs,
            Lookup::NotFound => BTreeMap::new(),
            Lookup::Unavailable(why) => return Err(forgotten(why)),
        };
        jobs.retain(|name, _| !there.contains(name));
        let part = |(name, job)| {
            let judged = self.gone(&job, home, dependency)?;
            Some(Member { name, judged })
        };
        Ok(jobs.into_iter().filter_map(part).collect())
    }

    /// A Job that completed and is gone; `None` where that counts for nothing.
    fn gone(&self, job: &CompletedJob, home: Home<'_>, dependency: &Dependency) -> Option<Judged> {
        let when = Timestamp::from_second(job.completed).ok()?;
        match self.namespace_began(home.namespace?) {
            // That was in another namespace, which had the same name.
            Ok(began) if job.created < began.as_second() => return None,
            Ok(_) => {}
            Err(unknown) => return Some(unknown),
        }
        let mark = Mark::remembered(job);
        match self.does_not_count(&mark, home, dependency) {
            // The memory of an old one says nothing of the one that is to come, which is not there.
            Some(old) if matches!(old.reason, Reason::OtherRevision | Reason::NotFresh) => None,
            Some(unknown) => Some(unknown),
            None => {
                let remembered = Judged {
                    reason: Reason::Remembered,
                    ..met(format!("completed at {when} and was removed since"))
                };
                Some(self.settled(remembered, &mark, home, dependency))
            }
        }
    }

    /// When a namespace was made.
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

/// What is remembered of the kind, where what the edge asks for is still so when the object is gone.
fn outlives(kind: &Kind, dependency: &Dependency) -> Option<Completing> {
    let lasting = matches!(
        dependency.state,
        State::Ready | State::Available | State::Complete
    );
    let what = Completing::of(kind)?;
    (lasting && dependency.health.is_empty()).then_some(what)
}

/// What a Job is that is not there, while nobody can say whether it is remembered.
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
