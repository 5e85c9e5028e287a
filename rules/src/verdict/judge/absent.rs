//! An entry whose objects are not there, or of a kind that cannot be read.

use super::basis::Judge;
use super::finding::{EntryFinding, Lead};
use crate::judged::{Judged, Reason, not_found, unavailable, unmet};
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::lookup::Unavailable;

impl Judge<'_> {
    /// Judges an entry without any object; `what` is the message. Where the entry is optional, the edge is satisfied, unless the object may
    /// yet be on its way.
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

    /// Judges an optional object that does not exist: unmet while more of the dependent's release may be on its way, else `None`.
    pub(super) fn may_yet_come(&self, what: &str) -> Option<Judged> {
        let scope = self.dependent.scope.as_ref().filter(|_| !self.at_once)?;
        let quiet = match self.returned() {
            Ok(began) => self.quiet_at(began, Some(scope)),
            Err(unknown) => return Some(unknown),
        };
        let message = || format!("{what}; it may be until {quiet}");
        (!self.reached(quiet)).then(|| unmet(Status::NotFound, Reason::Settling, message()))
    }

    /// Judges an entry whose kind cannot be read. A kind that the API server does not serve has no objects, so an optional entry of such a
    /// kind counts as absent.
    pub(super) fn unread(&self, why: Unavailable, kind: &Kind, optional: bool) -> Judged {
        if optional && why == Unavailable::NotServed {
            let what = format!("the API server serves no kind {kind} yet");
            return self.absent(true, &what).judged;
        }
        unavailable(why, kind, false)
    }
}
