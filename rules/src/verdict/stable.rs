//! `stable` on an entry: what is satisfied counts once it has been so for as long without a break.
//!
//! A condition of an object says since when, and outlives every replica. What none tells, a replica sees; it has not seen what was
//! before it looked, so a restart may make the wait longer, and never shorter.

use super::Turn;
use super::edge::Judge;
use crate::dependency::{Dependency, Reference};
use crate::judged::{Judged, Reason, unmet};
use crate::lookup::Lookup;
use crate::profile;
use crate::terms::Go;
use jiff::{RoundMode, SignedDuration, Timestamp, TimestampRound, Unit};
use wire::turn;

/// The API server writes times in whole seconds, and rounds down.
const SECOND: SignedDuration = SignedDuration::from_secs(1);

impl Judge<'_> {
    /// What was found of an entry, held back while it is satisfied and has not been for long enough; and when it will have been.
    pub(super) fn stable(&self, judged: Judged, entry: &Dependency) -> (Judged, Option<Turn>) {
        let Some(takes) = entry.stable.filter(|takes| !takes.is_zero()) else {
            return (judged, None);
        };
        // Also where a condition tells: that may end, and the replica has seen what was before.
        let lasts = judged.satisfied || self.is_met_at_once(&judged, entry);
        let seen = self
            .world
            .satisfied_since(&self.sight(entry), lasts, self.now);
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

    /// Whether an entry is held back only by what may become of it: that is no break, so the time goes on meanwhile.
    fn is_met_at_once(&self, judged: &Judged, entry: &Dependency) -> bool {
        let at_once = Judge {
            at_once: true,
            ..self.of(self.dependent)
        };
        let may = matches!(judged.reason, Reason::Settling | Reason::NotStable);
        may && at_once.entry(entry).1.satisfied
    }

    /// Since when an object that is named has been satisfied, by its own word. Of several nobody knows which there were.
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

    /// What tells this entry from every other: all that what is found of it rests on, beside the cluster.
    fn sight(&self, entry: &Dependency) -> String {
        let dependent = self.dependent;
        let who = dependent.owners.last().map(|owner| owner.uid.as_str());
        let node = dependent.node.as_deref().filter(|_| entry.is_per_pod());
        let parts = [
            dependent.namespace.as_str(),
            // What one pod reaches another may not.
            who.filter(|_| !entry.is_probed()).unwrap_or(&dependent.uid),
            &dependent.revision().unwrap_or_default(),
            node.unwrap_or_default(),
        ];
        format!("{}\0{entry:?}", parts.join("\0"))
    }
}

/// The first whole second that is not before.
fn whole(at: Timestamp) -> Timestamp {
    let up = TimestampRound::new()
        .smallest(Unit::Second)
        .mode(RoundMode::Ceil);
    at.round(up).unwrap_or(at)
}
