//! Jobs that completed and are gone.

use super::edge::{Home, Judge};
use super::revision::Mark;
use crate::dependency::{Dependency, ObjectRef, State};
use crate::judged::{Judged, Reason, unavailable, unmet};
use crate::kinds::{self, Kind};
use crate::kstatus::Status;
use crate::lookup::{Lookup, Unavailable};
use crate::object::created;
use jiff::Timestamp;

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
        let is_job = kind.group() == "batch" && kind.word() == "Job";
        let lasting = matches!(
            dependency.state,
            State::Ready | State::Available | State::Complete
        );
        if !is_job || !lasting || !dependency.health.is_empty() {
            return None;
        }
        let job = match self.world.completed_job(home.namespace?, name) {
            Lookup::Found(job) => job,
            Lookup::NotFound => return None,
            Lookup::Unavailable(why) => return Some(forgotten(why)),
        };
        let when = Timestamp::from_second(job.completed).ok()?;
        match self.namespace_began(home.namespace?) {
            // That was in another namespace, which had the same name.
            Ok(began) if job.created < began.as_second() => return None,
            Ok(_) => {}
            Err(unknown) => return Some(unknown),
        }
        let mark = Mark::remembered(&job);
        match self.does_not_count(&mark, home, dependency) {
            // The memory of an old one says nothing of the one that is to come, which is not there.
            Some(old) if matches!(old.reason, Reason::OtherRevision | Reason::NotFresh) => None,
            Some(unknown) => Some(unknown),
            None => {
                let remembered = Judged {
                    satisfied: true,
                    status: Status::Current,
                    reason: Reason::Remembered,
                    message: format!("completed at {when} and was removed since"),
                };
                Some(self.settled(remembered, &mark, home, dependency))
            }
        }
    }

    /// When a namespace was made.
    fn namespace_began(&self, name: &str) -> Result<Timestamp, Judged> {
        let reading = || unmet(Status::Unknown, Reason::Syncing, String::new());
        let kind = kinds::builtin("", "Namespace").map(Kind::Builtin);
        let kind = kind.ok_or_else(reading)?;
        match self.world.object(&kind, None, name) {
            Lookup::Found(namespace) => created(&namespace).ok_or_else(reading),
            Lookup::NotFound => Err(unavailable(Unavailable::Syncing, &kind, false)),
            Lookup::Unavailable(why) => Err(unavailable(why, &kind, false)),
        }
    }
}

/// What a Job is that is not there, while nobody can say whether it is remembered.
fn forgotten(why: Unavailable) -> Judged {
    let (reason, message) = match why {
        Unavailable::Syncing => (
            Reason::Syncing,
            "sluice is reading what it remembers of Jobs",
        ),
        Unavailable::Stale => (
            Reason::Stale,
            "it is not there; what sluice remembers of Jobs may be stale",
        ),
        Unavailable::NotServed
        | Unavailable::Forbidden
        | Unavailable::Undiscovered
        | Unavailable::Hidden => (
            Reason::NotFound,
            "it is not there; whether sluice remembers that it completed cannot be seen from here",
        ),
    };
    unmet(Status::Unknown, reason, message.to_owned())
}
