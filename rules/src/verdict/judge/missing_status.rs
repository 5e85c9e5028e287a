//! Objects without a status, or without its summary, of a kind whose definition declares it. Most have one in a moment; for some kinds
//! no controller ever writes one, which cannot be told from a controller that does not run.

use super::basis::Judge;
use super::lockstep::Mark;
use crate::dependency::{Dependency, Need};
use crate::judged::{Judged, Reason, met};
use jiff::SignedDuration;

/// So long after the object was last written its controller may take.
const LONG: SignedDuration = SignedDuration::from_secs(30);

impl Judge<'_> {
    /// What was found of an object. Where it has no status and its controller has had its time, the entry decides whether there has to be
    /// one.
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
