//! Caps: whether the dependent holds a slot of its wave.

use super::basis::Judge;
use super::lockstep::unknown;
use crate::holder::{Running, Trouble, objects};
use crate::judged::{Judged, Reason, met, unmet};
use crate::kstatus::Status;
use crate::lookup::{Lookup, Unavailable};
use crate::slots::Claim;

/// The most holders that a message names, so that a gate's line stays one line.
const NAMED: usize = 5;

impl Judge<'_> {
    /// Judges whether the dependent holds one of `most` slots of its wave; satisfied where no cap applies. Where `can_start` is false, something else
    /// holds the dependent back and no slot is requested: a slot whose holder cannot start is lost to all other dependents.
    pub(super) fn slot(&self, most: usize, can_start: bool) -> Judged {
        let Some(claim) = Claim::of(self.dependent) else {
            return met("no cap applies");
        };
        // A slot belongs to one revision, so without a name for it none can be requested.
        if let Some(why) = self.dependent.unread_revision() {
            return unknown(why);
        }
        if !can_start {
            let message = "its turn comes once everything else is satisfied".to_owned();
            return unmet(Status::InProgress, Reason::NoSlot, message);
        }
        match self.world.slots(&claim.wave) {
            Lookup::Unavailable(Unavailable::Syncing) => {
                let message = "sluice is reading who runs".to_owned();
                unmet(Status::Unknown, Reason::Syncing, message)
            }
            Lookup::NotFound | Lookup::Unavailable(_) => {
                let message = format!("who holds the {most} slots cannot be seen from here");
                unmet(Status::Unknown, Reason::NoSlot, message)
            }
            Lookup::Found(Running { holders, .. }) if claim.holder.is_among(&holders) => {
                met(format!("holds one of {most} slots"))
            }
            Lookup::Found(running) => {
                unmet(Status::InProgress, Reason::NoSlot, taken(&running, most))
            }
        }
    }
}

/// The message for a dependent without a slot: how many of `most` slots are taken and by which holders, and why no further holder can be written
/// down.
fn taken(Running { holders, trouble }: &Running, most: usize) -> String {
    let objects = objects(holders);
    let running = objects.len();
    let names: Vec<String> = objects.iter().map(ToString::to_string).collect();
    let now = match (running, trouble) {
        (0, None) => return format!("0 of {most} run; its turn comes in a moment"),
        (0, Some(_)) => format!("0 of {most} run"),
        _ => format!("{running} of {most} run: {}", listed(&names)),
    };
    match trouble {
        None => now,
        Some(Trouble::Full) => format!(
            "{now}; sluice has no room to write down more of this namespace: let fewer run at once"
        ),
        Some(Trouble::Refused) => format!(
            "{now}; the API server refuses to have more written down: the log of sluice says why"
        ),
    }
}

/// The first [`NAMED`] names, and how many more there are: `Job/a, Job/b, Job/c, Job/d, Job/e and 3 more`.
pub(in crate::verdict) fn listed(names: &[String]) -> String {
    let shown = &names[..names.len().min(NAMED)];
    let text = shown.join(", ");
    match names.len() - shown.len() {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}
