//! Holds back an object that has only just become satisfied: some operators report for a moment that all is well, between two looks at the
//! objects that they have made.
//!
//! So an object of a custom kind that was seen unsatisfied has to stay satisfied for a second. An object that was never seen unsatisfied
//! counts at once, so an object that is ready costs nothing, and one that is being made a second in all.

use super::basis::Judge;
use crate::dependency::State;
use crate::expression::Expression;
use crate::judged::{Judged, Reason, unmet};
use crate::kinds::Kind;
use crate::object;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// The time for which an object has to stay satisfied. The longest blink of an operator that was measured took an eighth of this time.
const BLINK: SignedDuration = SignedDuration::from_secs(1);

impl Judge<'_> {
    /// Holds back the finding about an object of a custom kind that was seen unsatisfied and has become satisfied less than [`BLINK`] ago.
    pub(super) fn recovered(
        &self,
        judged: Judged,
        kind: &Kind,
        object: &Value,
        asked: (State, &[Expression]),
    ) -> Judged {
        let since = self.noted(judged.satisfied, kind, object, asked);
        let Some(since) = since.filter(|_| judged.satisfied) else {
            return judged;
        };
        if self.reached(since + BLINK) {
            return judged;
        }
        let message = format!("{}, which it was not a moment ago", judged.message);
        unmet(judged.status, Reason::NotStable, message)
    }

    /// Notes whether an object of a custom kind is satisfied, and returns since when it has been satisfied after it was seen unsatisfied; `None`
    /// for a built-in kind, and where it was never seen unsatisfied. Dependents that ask for one state of one object share the note.
    pub(super) fn noted(
        &self,
        satisfied: bool,
        kind: &Kind,
        object: &Value,
        (state, health): (State, &[Expression]),
    ) -> Option<Timestamp> {
        if self.at_once || !matches!(kind, Kind::Custom { .. }) {
            return None;
        }
        let asked = format!("{}\0{state:?}\0{health:?}", object::identity(object));
        self.world.recovered(&asked, satisfied, self.now)
    }
}
