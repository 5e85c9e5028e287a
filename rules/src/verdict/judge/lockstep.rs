//! Whether an object counts for the dependent's revision: by its `sluice.dev/revision`, and for an entry with `fresh` by its creation.

use super::basis::Judge;
use super::home::Home;
use crate::dependency::{Dependency, Revision};
use crate::judged::{Judged, Reason, unavailable, unmet};
use crate::kinds::{self, Kind};
use crate::kstatus::Status;
use crate::lookup::Unavailable;
use crate::memory::CompletedJob;
use crate::object::{carried, created, written};
use crate::scope::Scope;
use jiff::Timestamp;
use serde_json::Value;

/// The facts that tell the revision of an object, which exists or is remembered.
pub(super) struct Mark<'a> {
    pub(super) carried: Option<&'a str>,
    pub(super) made: Option<Timestamp>,
    /// The time of the object's last write, except for its status; `None` for a remembered Job.
    pub(super) written: Option<Timestamp>,
    /// The object's scope; `None` where it has none, or where the memory does not hold it.
    pub(super) scope: Option<Scope>,
}

impl<'a> Mark<'a> {
    pub(super) fn of(object: &'a Value) -> Self {
        Self {
            carried: carried(object),
            made: created(object),
            written: written(object),
            scope: Scope::of(object),
        }
    }

    pub(super) fn remembered(job: &'a CompletedJob) -> Self {
        Self {
            carried: job.revision.as_deref(),
            made: Timestamp::from_second(job.created).ok(),
            written: None,
            scope: job.scope.clone(),
        }
    }
}

impl Judge<'_> {
    /// The finding about an object that does not count, because it carries another revision or is too old for `fresh`; `None` where the object
    /// counts.
    pub(super) fn does_not_count(
        &self,
        mark: &Mark<'_>,
        home: Home<'_>,
        entry: &Dependency,
    ) -> Option<Judged> {
        let in_scope = self.shares_scope(mark, home);
        let lockstep = entry.revision == Revision::Lockstep && in_scope;
        let other = lockstep.then(|| self.of_other_revision(mark)).flatten();
        other.or_else(|| entry.fresh.then(|| self.stale(mark)).flatten())
    }

    /// Whether an object is in the dependent's namespace and its scope is not a different one. An object or a dependent without a scope shares
    /// it.
    pub(super) fn shares_scope(&self, mark: &Mark<'_>, home: Home<'_>) -> bool {
        if home.foreign {
            return false;
        }
        match (&self.dependent.scope, &mark.scope) {
            (Some(own), Some(other)) => own == other,
            _ => true,
        }
    }

    fn of_other_revision(&self, mark: &Mark<'_>) -> Option<Judged> {
        let wanted = self.dependent.lockstep()?;
        let carried = mark.carried.filter(|carried| *carried != wanted)?;
        let message = format!(
            "it is of revision {carried:?}, and the dependent of {wanted:?}; update it too, or write \"revision: any\" in the entry"
        );
        Some(unmet(Status::InProgress, Reason::OtherRevision, message))
    }

    /// The time at which the dependent's revision appeared or, by a rollback, came back; the error is the finding about the edge while that time
    /// is unknown.
    pub(super) fn returned(&self) -> Result<Timestamp, Judged> {
        self.dependent.revision_returned().map_err(unknown)
    }

    fn stale(&self, mark: &Mark<'_>) -> Option<Judged> {
        let began = match self.dependent.revision_began() {
            Ok(began) => began,
            Err(why) => return Some(unknown(why)),
        };
        let message = match mark.made {
            Some(made) if made >= began => return None,
            Some(made) => format!("made at {made}, before the dependent's revision, of {began}"),
            None => "made at no known time".to_owned(),
        };
        let message = format!("{message}; create it again, or take \"fresh\" out of the entry");
        Some(unmet(Status::InProgress, Reason::NotFresh, message))
    }
}

/// The finding about an edge while the dependent's own revision cannot be read.
pub(super) fn unknown(why: Unavailable) -> Judged {
    unavailable(why, &Kind::Builtin(kinds::CONTROLLER_REVISION), false)
}
