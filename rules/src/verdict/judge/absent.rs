//! An entry whose objects are not there, or of a kind that cannot be read.

use super::basis::Judge;
use super::finding::{EntryFinding, Lead};
use crate::judged::{Judged, Reason, not_found, unavailable, unmet};
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::lookup::Unavailable;

impl Judge<'_> {
    /// What was found of an entry without any object; `what` says so.
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

    /// What was found of an object that is not there and need not be, while more of the dependent's release may be on its way.
    pub(super) fn may_yet_come(&self, what: &str) -> Option<Judged> {
        let scope = self.dependent.scope.as_ref().filter(|_| !self.at_once)?;
        let quiet = match self.returned() {
            Ok(began) => self.quiet_at(began, Some(scope)),
            Err(unknown) => return Some(unknown),
        };
        let message = || format!("{what}; it may be until {quiet}");
        (!self.reached(quiet)).then(|| unmet(Status::NotFound, Reason::Settling, message()))
    }

    /// What was found of a kind that cannot be read. A kind that is not served has no objects.
    pub(super) fn unread(&self, why: Unavailable, kind: &Kind, optional: bool) -> Judged {
        if optional && why == Unavailable::NotServed {
            let what = format!("the API server serves no kind {kind} yet");
            return self.absent(true, &what).judged;
        }
        unavailable(why, kind, false)
    }
}
