//! Weights: everything in the dependent's scope that weighs less comes first.

use super::JudgedEdge;
use super::edge::Judge;
use crate::dependency::{Edge, State};
use crate::judged::{Judged, Reason, met, unavailable, unmet};
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::profile;
use crate::scope::{self, Position, Scope};
use serde_json::Value;

impl Judge<'_> {
    /// Whether an edge is a wave that nobody asked for and that holds nobody back, as with most dependents.
    pub(super) fn is_idle_wave(&self, edge: &JudgedEdge) -> bool {
        matches!(edge.edge, Edge::Wave(_))
            && edge.judged.satisfied
            && self.dependent.weight().is_none()
    }

    /// Whether everything that weighs less is ready.
    pub(super) fn below(&self, below: i64) -> Judged {
        let Some(scope) = &self.dependent.scope else {
            return met("the dependent is in no scope, so nothing comes before it");
        };
        match self.first_below(scope, below) {
            Err(judged) => judged,
            Ok(Some(first)) => self.unready(first),
            Ok(None) => self.quiet(scope),
        }
    }

    /// The first object that weighs less than `below` and is not ready.
    pub(super) fn first_below(
        &self,
        scope: &Scope,
        below: i64,
    ) -> Result<Option<(Position, Kind, Value)>, Judged> {
        let kinds: Vec<Kind> = self
            .kinds()?
            .into_iter()
            .chain(scope::outspoken())
            .collect();
        let is_ready =
            |kind: &Kind, object: &Value| profile::readiness(kind, object, self.world, self.now);
        let first = self.world.first_unready(&kinds, scope, below, &is_ready);
        first.map_err(|(kind, why)| unavailable(why, &kind, false))
    }

    fn unready(&self, (position, kind, object): (Position, Kind, Value)) -> Judged {
        let judged = profile::judge(&kind, &object, State::Ready, self.world, self.now);
        let Position { weight, name, .. } = position;
        let message = format!("{kind}/{name} of weight {weight}: {}", judged.message);
        let reason = match judged.reason {
            failed @ Reason::JobFailed => failed,
            _ => Reason::LowerWeight,
        };
        unmet(judged.status, reason, message)
    }

    /// A wave is not passed because it is empty so far: more of it may be on its way.
    fn quiet(&self, scope: &Scope) -> Judged {
        let ready = "everything of a lower weight is ready";
        // Who says no weight of its own is not part of the order, and is not held up by it.
        if self.dependent.weight().is_none() {
            return met(ready);
        }
        let quiet = match self.returned() {
            Ok(began) => self.quiet_at(began, Some(scope)),
            Err(unknown) => return unknown,
        };
        if self.reached(quiet) {
            return met(ready);
        }
        let message = format!("{ready}; more may be created until {quiet}");
        unmet(Status::InProgress, Reason::Settling, message)
    }
}
