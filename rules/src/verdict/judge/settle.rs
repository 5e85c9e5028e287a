//! Holds back an object that is older than the dependent's revision: the upgrade that made the revision may be about to replace the object too,
//! so the object counts only once the scope has been quiet.
//!
//! Installers write one object after the other, and no object says whether its turn is still to come. The exact answer
//! is [`crate::keys::REVISION`]. To wait until the release says that it is done is no way out: under `helm --wait` it says so
//! only once the gated pods are ready.

use super::basis::Judge;
use super::consent::Consent;
use super::home::Home;
use super::lockstep::Mark;
use crate::dependency::{Dependency, Revision};
use crate::judged::{Judged, Reason, unmet};
use crate::scope::Scope;
use crate::world::Pending;
use jiff::{SignedDuration, Timestamp};

/// The time for which nothing may happen in the scope before it counts as quiet.
pub(super) const QUIET: SignedDuration = SignedDuration::from_secs(3);
/// The longest wait for a scope to become quiet, from the time at which the dependent's revision appeared or came back.
pub(super) const LONGEST: SignedDuration = SignedDuration::from_secs(30);
/// An object that was created at most this long before the dependent's revision belongs to the same installation, which makes one kind after the
/// other.
pub(super) const TOGETHER: SignedDuration = SignedDuration::from_secs(5);
/// The precision of the API server's times: it writes whole seconds, and rounds down.
pub(super) const SECOND: SignedDuration = SignedDuration::from_secs(1);

/// Whether a finding ends the wait for its object, which is satisfied or has failed for good.
pub(super) fn is_final(judged: &Judged) -> bool {
    judged.satisfied || judged.reason.is_final_failure()
}

impl Judge<'_> {
    /// Holds back a final finding ([`is_final`]) about an object of the dependent's scope that is older than the dependent's revision, until the
    /// scope has been quiet for [`QUIET`] and Helm is not at work on the release; for [`LONGEST`] at most. Any other finding is returned unchanged,
    /// and so is that for an entry with `fresh` or `revision: any`, or where `sluice.dev/revision` tells both revisions.
    pub(super) fn settled(
        &self,
        judged: Judged,
        mark: &Mark<'_>,
        home: Home<'_>,
        entry: &Dependency,
    ) -> Judged {
        let exact = mark.carried.is_some() && self.dependent.lockstep().is_some();
        // An installer writes the dependencies of an object before the object itself, so its creation has no doubts.
        if !is_final(&judged)
            || self.at_once
            || self.dependent.to_create
            || exact
            || entry.fresh
            || entry.revision == Revision::Any
            || !self.shares_scope(mark, home)
        {
            return judged;
        }
        let began = match self.returned() {
            Ok(began) => began,
            Err(unknown) => return unknown,
        };
        // The upgrade does not replace an object any more that was written since; `observed` has asked whether its status is of that write.
        let new = mark.written.max(mark.made) >= Some(began)
            || mark.made.is_some_and(|made| made + TOGETHER >= began);
        // Nothing holds the finding back for longer, so it needs no look at the scope then.
        if new || self.now >= began + LONGEST {
            return judged;
        }
        let scope = self.dependent.scope.as_ref();
        let pending = scope.map_or(Pending::No, |scope| self.pending(scope));
        let settled = match pending {
            Pending::Yes | Pending::Unknown(_) => began + LONGEST,
            Pending::No | Pending::NotFollowed => self.quiet_at(began, scope),
        };
        if self.reached(settled) {
            return judged;
        }
        let why = match pending {
            Pending::Yes => "Helm is at work on the release, so it may be replaced",
            Pending::Unknown(_) => {
                "whether Helm is at work on the release is not known, so it may be replaced"
            }
            Pending::No | Pending::NotFollowed => "it may be replaced",
        };
        let message = format!(
            "{}, but older than the dependent's revision, of {began}; {why} until {settled}",
            judged.message
        );
        unmet(judged.status, Reason::Settling, message)
    }

    /// Whether Helm is at work on the dependent's release. An annotation names the namespace of Helm's records, and records of another namespace
    /// are looked at only with the consent of that namespace.
    fn pending(&self, scope: &Scope) -> Pending {
        let own = self.dependent.namespace.as_str();
        let consent = scope.kept_in.as_ref().map_or(Consent::Given, |home| {
            Consent::of_namespace(own, home, self.policy, self.world)
        });
        match consent {
            Consent::Given => self.world.pending(scope),
            Consent::Withheld(_) => Pending::NotFollowed,
            Consent::Unknown(why) => Pending::Unknown(why),
        }
    }

    /// The time at which the scope will have been quiet for long enough since `began`, if nothing more happens in it; at most [`LONGEST`] after
    /// `began`, also where the scope cannot be read.
    pub(super) fn quiet_at(&self, began: Timestamp, scope: Option<&Scope>) -> Timestamp {
        match scope.map_or(Ok(None), |scope| self.world.active(scope)) {
            Ok(active) => {
                let seen = scope.and_then(|scope| self.world.seen_to_change(scope, self.now));
                let since = active.into_iter().chain(seen).fold(began, Timestamp::max);
                (since + SECOND + QUIET).min(began + LONGEST)
            }
            // While the scope cannot be read, it may not be quiet.
            Err(_) => began + LONGEST,
        }
    }
}
