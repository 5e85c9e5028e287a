//! Objects without a status, or without what sums it up, of a kind whose definition declares it. Most will have one in a moment; of some kinds no
//! controller ever writes one, which nobody can tell from a controller that does not run.

use super::edge::Judge;
use super::revision::Mark;
use crate::dependency::{Dependency, Need};
use crate::judged::{Judged, Reason, met};
use jiff::SignedDuration;

/// How long after the object was last written its controller is given.
const LONG: SignedDuration = SignedDuration::from_secs(30);

impl Judge<'_> {
    /// What was found of an object, where that is no status and its controller has had its time: then the entry decides
    /// whether there has to be one.
    pub(super) fn unwritten(
        &self,
        judged: Judged,
        mark: &Mark<'_>,
        dependency: &Dependency,
    ) -> Judged {
        let waited = || {
            mark.written
                .is_some_and(|written| self.reached(written + LONG))
        };
        if judged.reason != Reason::NoStatusYet || !waited() {
            return judged;
        }
        if dependency.status == Need::Optional {
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
