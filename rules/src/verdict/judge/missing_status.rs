//! Judges objects that have no status, or no summary in it, although the definition of their kind declares one. For most objects the controller
//! writes it in a moment; for some kinds no controller ever does, which looks like a controller that does not run.

use super::basis::Judge;
use super::lockstep::Mark;
use crate::dependency::{Dependency, Need};
use crate::judged::{Judged, Reason, met};
use jiff::SignedDuration;

/// The time that a controller may take to write a status after the object's last write.
const LONG: SignedDuration = SignedDuration::from_secs(30);

impl Judge<'_> {
    /// Changes the finding `judged` about an object without a status, once its controller has had its time ([`LONG`]): an entry whose
    /// status is optional is satisfied; for any other entry the message names the way out.
    pub(super) fn missing_status(
        &self,
        judged: Judged,
        mark: &Mark<'_>,
        entry: &Dependency,
    ) -> Judged {
        let waited = || {
            mark.written
                .is_some_and(|written| self.reached(written + LONG))
        };
        if judged.reason != Reason::NoStatusYet || !waited() {
            return judged;
        }
        if entry.status == Need::Optional {
            return met("it exists, and its status is optional");
        }
        let found = if judged.message == Reason::NoStatusYet.sentence() {
            "no status has been written"
        } else {
            &judged.message
        };
        let message = format!(
            "{found} for 30 s; if its controller runs, its kind never has one: write \"optional: status\" in this entry, or a health \
             rule for the kind"
        );
        Judged { message, ..judged }
    }
}
