//! Holds back an object whose status may be older than its last write: an object that was written a moment ago keeps its old status until its
//! controller has looked at the object.
//!
//! A kind whose status names a generation needs no doubt: the generation tells. For any other kind two times in `metadata.managedFields`
//! tell: the last write of the object, and the last write of its status.

use super::basis::Judge;
use super::lockstep::Mark;
use super::settle::{LONGEST, QUIET, SECOND, TOGETHER, is_final};
use crate::judged::{Judged, Reason, unmet};
use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::object::{self, created, status_written, written};
use crate::profile;
use crate::world::World;
use jiff::Timestamp;
use serde_json::Value;

/// The doubt about the status of an object that was written: until when, and why, the status is not believed.
struct Doubt {
    until: Timestamp,
    status: Status,
    reason: Reason,
    why: &'static str,
}

impl Doubt {
    /// The doubt about an object that was written at `written`. `before`: its status is known to be older than that write; the doubt then ends
    /// [`LONGEST`] after the write, else [`QUIET`] and a second after it.
    fn of(judged: &Judged, written: Timestamp, before: bool) -> Self {
        if before {
            return Self {
                until: written + LONGEST,
                status: Status::InProgress,
                reason: Reason::NotObserved,
                why: "its status is older",
            };
        }
        Self {
            until: written + SECOND + QUIET,
            status: judged.status,
            reason: Reason::Settling,
            why: "its status may be older",
        }
    }

    fn told(&self, judged: &Judged, written: Timestamp) -> Judged {
        let Self { until, why, .. } = self;
        let message = format!(
            "{}, but it was written at {written}, and {why}; it is believed from {until} on",
            judged.message
        );
        unmet(self.status, self.reason, message)
    }
}

impl Judge<'_> {
    /// Holds back the finding that an object is satisfied or has failed for good, where the object is older than the dependent's revision and was
    /// written since: for 3 seconds after the write, or, where its status is known to be older than the write, until the status is newer. Writes that
    /// never end hold it back for [`LONGEST`] in all.
    pub(super) fn observed(
        &self,
        judged: Judged,
        kind: &Kind,
        object: &Value,
        mark: &Mark<'_>,
    ) -> Judged {
        let written = mark.written.filter(|_| is_final(&judged) && !self.at_once);
        let Some(written) = written.filter(|written| self.is_of_the_upgrade(mark, *written)) else {
            return judged;
        };
        let doubt = Doubt::of(
            &judged,
            written,
            is_before(kind, object, written, self.world),
        );
        let doubted = format!("written\0{}", object::identity(object));
        let since = self
            .world
            .satisfied_since(&doubted, self.now < doubt.until, self.now);
        let until = since.map_or(doubt.until, |since| doubt.until.min(since + LONGEST));
        if self.reached(until) {
            return judged;
        }
        doubt.told(&judged, written)
    }

    /// Whether an object that was created before the dependent's revision was written with that revision or after it, in the last [`LONGEST`].
    /// `true` where the time of the revision is unknown.
    fn is_of_the_upgrade(&self, mark: &Mark<'_>, written: Timestamp) -> bool {
        let made = mark.made.filter(|made| *made < written);
        let Some(made) = made.filter(|_| self.now < written + LONGEST + SECOND) else {
            return false;
        };
        let is_other = |began: Timestamp| made + TOGETHER >= began || written + TOGETHER < began;
        !self.returned().is_ok_and(is_other)
    }
}

/// Holds back the finding about a satisfied object whose status is known to be older than its last write, for at most 30 s after that
/// write. For a caller without a dependent: the command line, when it judges objects from files.
pub fn unobserved(
    judged: Judged,
    (kind, object): (&Kind, &Value),
    world: &dyn World,
    now: Timestamp,
) -> Judged {
    let changed = written(object).filter(|written| created(object).is_none_or(|it| it < *written));
    let Some(written) = changed.filter(|_| judged.satisfied) else {
        return judged;
    };
    if now >= written + LONGEST || !is_before(kind, object, written, world) {
        return judged;
    }
    Doubt::of(&judged, written, true).told(&judged, written)
}

/// Whether the status of an object is known to be older than the write at `written`; `false` for a built-in kind, and for a kind whose
/// status names a generation.
fn is_before(kind: &Kind, object: &Value, written: Timestamp, world: &dyn World) -> bool {
    matches!(kind, Kind::Custom { .. })
        && status_written(object).is_some_and(|status| status < written)
        && !profile::says_a_generation(object, world)
}
