//! Judges the wave edge: every object of the dependent's scope that weighs less must be ready first.

use super::basis::Judge;
use super::lockstep::Mark;
use super::settle::{QUIET, SECOND};
use crate::dependency::{Part, State};
use crate::judged::{Judged, Reason, met, unavailable, unmet};
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::lookup::Lookup;
use crate::object;
use crate::profile;
use crate::scope::{self, Position, Scope};
use serde_json::Value;

impl Judge<'_> {
    /// Judges the wave edge of a dependent: every object of its scope that weighs less than `below` has to be ready, and, where the dependent
    /// has a weight, the scope has to be quiet. A dependent without a scope is satisfied.
    pub(super) fn below(&self, below: i64) -> Judged {
        let Some(scope) = &self.dependent.scope else {
            return met("the dependent is in no scope, so nothing comes before it");
        };
        match self.first_below(scope, below) {
            Err(judged) => judged,
            Ok(Some(first)) => self.unready(first),
            Ok(None) => match self.quiet(scope) {
                quiet if quiet.satisfied => self.doubted_below(scope, below).unwrap_or(quiet),
                busy => busy,
            },
        }
    }

    /// The first object of the scope, in the order of [`Position`], that weighs less than `below` and is not ready; `None` where all are ready.
    ///
    /// # Errors
    ///
    /// The finding about the wave where a kind cannot be read.
    pub(in crate::verdict) fn first_below(
        &self,
        scope: &Scope,
        below: i64,
    ) -> Result<Option<(Position, Kind, Value)>, Judged> {
        let kinds: Vec<Kind> = self
            .kinds()?
            .into_iter()
            .chain(scope::outspoken())
            .collect();
        // `doubted_below` asks whether an object has been ready for long enough. That depends on the time, and a world may keep the
        // readiness that is found here.
        let is_ready = |kind: &Kind, object: &Value| {
            let found = profile::readiness(kind, object, self.world, self.now);
            self.noted(found.is_ready(), kind, object, (State::Ready, &[]));
            found
        };
        let first = self.world.first_unready(&kinds, scope, below, &is_ready);
        first.map_err(|(kind, why)| unavailable(why, &kind, false))
    }

    fn unready(&self, (position, kind, object): (Position, Kind, Value)) -> Judged {
        let judged = self.is_ready(&kind, &object);
        self.noted(judged.satisfied, &kind, &object, (State::Ready, &[]));
        let Position { weight, name, .. } = position;
        let message = format!("{kind}/{name} of weight {weight}: {}", judged.message);
        let reason = match judged.reason {
            failed if failed.is_final_failure() => failed,
            _ => Reason::LowerWeight,
        };
        unmet(judged.status, reason, message)
    }

    /// The finding about an object that weighs less than `below` and only seems ready: it was written a moment ago, or has only
    /// just become ready, or is ready by a status from before the boot of the dependent's node. `None` where there is no such object.
    /// An object of a built-in kind is in doubt only after a write or that boot, so built-in kinds are skipped otherwise.
    fn doubted_below(&self, scope: &Scope, below: i64) -> Option<Judged> {
        let active = self.world.active(scope).ok().flatten();
        let written = active.is_some_and(|active| self.now < active + SECOND + QUIET)
            || self.dependent.rebooted.is_some();
        let whole = Part::Release(scope.name.clone());
        let lower = |object: &Value| {
            let lower = Position::of(object).is_some_and(|it| it.weight < below);
            lower && Scope::of(object).as_ref() == Some(scope)
        };
        let kinds = self.kinds().ok()?.into_iter().chain(scope::outspoken());
        let kinds = kinds.filter(|kind| {
            (written || matches!(kind, Kind::Custom { .. }))
                && self.world.may_have_lower(kind, scope, below)
        });
        for kind in kinds {
            let name = Some(scope.name.as_str());
            let members = self.world.members(&kind, &scope.namespace, name, &whole);
            // `first_below` has already refused a kind that cannot be read.
            let Lookup::Found(members) = members else {
                continue;
            };
            for object in members.iter().filter(|object| lower(object)) {
                let judged = self.is_ready(&kind, object);
                let judged = self.recovered(judged, &kind, object, (State::Ready, &[]));
                let judged = self.observed(judged, &kind, object, &Mark::of(object));
                let judged = self.since_boot(judged, &kind, object, State::Ready);
                if !judged.satisfied {
                    let name = object::name(object);
                    let message = format!("{kind}/{name} of a lower weight: {}", judged.message);
                    return Some(Judged { message, ..judged });
                }
            }
        }
        None
    }

    fn is_ready(&self, kind: &Kind, object: &Value) -> Judged {
        profile::judge(kind, object, State::Ready, self.world, self.now)
    }

    /// Judges whether the scope has been quiet for long enough, once all objects of a lower weight are ready: more of them may be on their way.
    /// A dependent without a weight need not wait for that.
    fn quiet(&self, scope: &Scope) -> Judged {
        let ready = "everything of a lower weight is ready";
        // A dependent without a weight does not wait for the scope to become quiet.
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
