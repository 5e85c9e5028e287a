//! Judges an entry whose objects do not exist, or whose kind cannot be read.

use super::basis::Judge;
use super::finding::{EntryFinding, Lead};
use crate::judged::{Judged, Reason, not_found, unavailable, unmet};
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::lookup::Unavailable;

impl Judge<'_> {
    /// Judges an entry without any object. Where the entry is optional it is satisfied, unless more of the dependent's release may be on its
    /// way. Else it is not, and `what` is its message.
    pub(super) fn absent(&self, optional: bool, what: &str) -> EntryFinding {
        if optional {
            let coming = self.may_yet_come(what);
            return coming.unwrap_or_else(|| not_found(true, "")).into();
        }
        EntryFinding {
            judged: not_found(false, what),
            lead: Some(Lead::NothingThere),
        }
    }

    /// Judges an optional object that does not exist: unsatisfied until the dependent's scope has been quiet, since more of the release may be on its
    /// way; then `None`. `None` also for a dependent without a scope, and where a satisfied object counts at once.
    pub(super) fn may_yet_come(&self, what: &str) -> Option<Judged> {
        let scope = self.dependent.scope.as_ref().filter(|_| !self.at_once)?;
        let quiet = match self.returned() {
            Ok(began) => self.quiet_at(began, Some(scope)),
            Err(unknown) => return Some(unknown),
        };
        let message = || format!("{what}; it may be until {quiet}");
        (!self.reached(quiet)).then(|| unmet(Status::NotFound, Reason::Settling, message()))
    }

    /// Judges an entry whose kind or object cannot be read: unsatisfied, with the reason. Only an optional entry of a kind that the API server
    /// does not serve is judged as absent, because such a kind has no objects.
    pub(super) fn unread(&self, why: Unavailable, kind: &Kind, optional: bool) -> Judged {
        if optional && why == Unavailable::NotServed {
            let what = format!("the API server serves no kind {kind} yet");
            return self.absent(true, &what).judged;
        }
        unavailable(why, kind, false)
    }
}
