//! Judges one existing object: whether it counts for the dependent, whether it is in the state that is asked for, and whether a doubt holds it
//! back.

use super::basis::Judge;
use super::home::Home;
use super::lockstep::Mark;
use crate::dependency::{Dependency, State};
use crate::expression::Expression;
use crate::judged::{Judged, Reason, unmet};
use crate::kept;
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::profile;
use crate::text::Quoted;
use serde_json::Value;
use std::time::Duration;

impl Judge<'_> {
    /// Judges an existing object of the entry: first its revision and age, then the state that the entry asks for, then each doubt that may hold
    /// it back. The entry's `stable` is not applied, except that zero turns off the wait for a second.
    pub(super) fn object(
        &self,
        kind: &Kind,
        object: &Value,
        home: Home<'_>,
        entry: &Dependency,
    ) -> Judged {
        let mark = Mark::of(object);
        let asked = (entry.state, entry.health.as_slice());
        if let Some(judged) = self.does_not_count(&mark, home, entry) {
            return judged;
        }
        let by_node = entry.same_node && kind.word() == "DaemonSet";
        let judged = if by_node {
            self.on_same_node(object, home, entry)
        } else {
            self.in_state(kind, object, home, entry)
        };
        let judged = match entry.stable {
            Some(Duration::ZERO) => judged,
            _ => self.recovered(judged, kind, object, asked),
        };
        let judged = self.missing_status(judged, &mark, entry);
        let judged = self.observed(judged, kind, object, &mark);
        // For a DaemonSet on one node, `on_same_node` has done that for each pod.
        let judged = if by_node {
            judged
        } else {
            self.since_boot(judged, kind, object, entry.state)
        };
        self.settled(judged, &mark, home, entry)
    }

    /// Judges whether an object is in the state that the entry asks for, without doubts about its age. For `connects` the report of the dependent's
    /// gate decides.
    ///
    /// An expression in a list may look only at the status of an object outside of the dependent's namespace: the author of the list chooses the
    /// field, and could read any field by asking often enough.
    fn in_state(&self, kind: &Kind, object: &Value, home: Home<'_>, entry: &Dependency) -> Judged {
        let beyond = |expression: &&Expression| home.foreign && !kept::in_status(expression);
        if let Some(expression) = entry.health.iter().find(beyond) {
            let message = format!(
                "health: {} looks beyond /status, which is all that may be asked of an object outside the \
                 dependent's namespace",
                Quoted(&expression.to_string())
            );
            return unmet(Status::Unknown, Reason::Unjudgeable, message);
        }
        if entry.state == State::Connects {
            let there = (State::Present, [].as_slice());
            let judged = profile::judge_by(kind, object, there, self.world, self.now);
            return if judged.satisfied {
                self.connects(object, home)
            } else {
                judged
            };
        }
        let asked = (entry.state, entry.health.as_slice());
        profile::judge_by(kind, object, asked, self.world, self.now)
    }
}
