//! `stable` on an entry: the entry counts once it has been satisfied for that duration without a break.
//!
//! A condition of an object says since when the object is satisfied, and outlives every replica. For an object without such a condition
//! a replica counts from its first look, so a restart may make the wait longer, and never shorter.

use super::basis::Judge;
use super::judgement::Turn;
use super::settle::SECOND;
use crate::dependency::{Dependency, Reference};
use crate::judged::{Judged, Reason, unmet};
use crate::lookup::Lookup;
use crate::profile;
use crate::terms::Go;
use jiff::{RoundMode, Timestamp, TimestampRound, Unit};
use std::time::Duration;
use wire::turn;

/// Whether a finding is held back only because it may change in a moment; then the object may be satisfied already.
pub(super) fn may_be_met(judged: &Judged) -> bool {
    matches!(
        judged.reason,
        Reason::Settling | Reason::NotStable | Reason::BeforeBoot
    )
}

impl Judge<'_> {
    /// Holds back the finding about an entry that has been satisfied for less than the duration `takes`; also returns the time at which
    /// that duration ends. `lasts`: the entry is satisfied, or held back only because it may change in a moment.
    pub(super) fn stable(
        &self,
        judged: Judged,
        entry: &Dependency,
        takes: Duration,
        lasts: bool,
    ) -> (Judged, Option<Turn>) {
        // Noted also where a condition tells the time: the condition may go, and then the replica knows since when from its own looks.
        let seen = self
            .world
            .satisfied_since(&self.key(entry), lasts, self.now);
        if !judged.satisfied {
            return (judged, None);
        }
        let told = self.told_since(entry).map(|since| since + SECOND);
        let Some(since) = told.or_else(|| seen.map(whole)) else {
            let message = format!(
                "{}, which has to last {}; since when it does cannot be seen from here",
                judged.message,
                Go(takes)
            );
            return (unmet(judged.status, Reason::NotStable, message), None);
        };
        let Ok(at) = since.checked_add(takes) else {
            let message = format!(
                "it would have to last {}, beyond the end of time",
                Go(takes)
            );
            return (unmet(judged.status, Reason::NotStable, message), None);
        };
        if self.reached(at) {
            return (judged, None);
        }
        let message = format!(
            "{}, since {since}, which has to last {}",
            judged.message,
            Go(takes)
        );
        let what = turn::STABLE;
        let judged = unmet(judged.status, Reason::NotStable, message);
        (judged, Some(Turn { what, at, takes }))
    }

    /// The time since when the conditions of the object that the entry names say that it is satisfied. `None` for an entry that does not
    /// name one object: the conditions of several objects do not tell which objects there were before.
    fn told_since(&self, entry: &Dependency) -> Option<Timestamp> {
        let Reference::Object(it) = &entry.reference else {
            return None;
        };
        if entry.same_node {
            return None;
        }
        let home = self.home(&it.kind, it.namespace.as_deref()).ok()?;
        let found = self.world.object(&it.kind, home.namespace, &it.name);
        let Lookup::Found(object) = found else {
            return None;
        };
        let asked = (entry.state, entry.health.as_slice());
        profile::since(&it.kind, &object, asked, self.world)
    }

    /// The key under which the world notes since when this entry of this dependent is satisfied. Pods of one owner and revision share it, unless
    /// the entry rests on the pod's node or network.
    fn key(&self, entry: &Dependency) -> String {
        let dependent = self.dependent;
        let owner = dependent.owners.last().map(|owner| owner.uid.as_str());
        let node = dependent.node.as_deref().filter(|_| entry.is_per_pod());
        let parts = [
            dependent.namespace.as_str(),
            // An address that one pod reaches may be out of reach for another.
            owner
                .filter(|_| !entry.is_probed())
                .unwrap_or(&dependent.uid),
            &dependent.revision().unwrap_or_default(),
            node.unwrap_or_default(),
        ];
        format!("{}\0{entry:?}", parts.join("\0"))
    }
}

/// Rounds up to a whole second: gates are told times in whole seconds.
fn whole(at: Timestamp) -> Timestamp {
    let up = TimestampRound::new()
        .smallest(Unit::Second)
        .mode(RoundMode::Ceil);
    at.round(up).unwrap_or(at)
}
