//! What to do next, and why: pure functions of the clock, of what is stored and of what this process holds.
//!
//! Two questions, because they have different owners. [`authority`] is about the CA, which all replicas share and which
//! is written under a guard. [`leaf`] is about this process alone. A rotation of the CA in two phases is one more arm of
//! [`CaPlan`]: the bundle already carries a second certificate, and a leaf already waits until its issuer is trusted.

use std::fmt;

use jiff::{SignedDuration, Timestamp};

use crate::{ca::Ca, leaf::Leaf};

/// How long things live.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifetimes {
    /// The CA. Long, because a gate carries the bundle it was injected with for the life of its pod.
    pub ca: SignedDuration,
    /// A leaf. Short, because nothing depends on it.
    pub leaf: SignedDuration,
}

impl Default for Lifetimes {
    fn default() -> Self {
        Self {
            ca: SignedDuration::from_hours(24 * 365 * 10),
            leaf: SignedDuration::from_hours(24 * 7),
        }
    }
}

/// The CA as it was found in its store.
#[derive(Debug, Clone, Copy)]
pub enum Stored<'a> {
    /// There is no store yet, or no longer.
    Missing,
    /// There is one, and what it holds cannot be used.
    Unusable,
    /// There is one that works.
    Usable(&'a Ca),
}

/// What to do about the CA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaPlan {
    /// The stored one is the one this process holds.
    Keep,
    /// Sign with the stored one from now on: this process held none, or another replica wrote a new one.
    Adopt,
    /// Write back the one this process holds. It has no side effect, while a new CA would break the trust of every gate
    /// that waits.
    Restore(CaReason),
    /// Make a new one and write it.
    Create(CaReason),
    /// Do nothing yet: another replica may hold the one that gates and API servers trust, and write it back.
    Await(CaReason),
}

/// Why a CA has to be written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaReason {
    /// Nothing is stored.
    Missing,
    /// What is stored cannot be used.
    Unusable,
    /// It ends before a leaf that it signs now would.
    Ending,
    /// It begins in the future: whoever made it had a clock that was far ahead.
    NotYetValid,
}

impl CaReason {
    /// The reason as a word, for a metric or a log field.
    pub fn label(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unusable => "unusable",
            Self::Ending => "ending",
            Self::NotYetValid => "not_yet_valid",
        }
    }
}

impl fmt::Display for CaReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Missing => "no CA is stored",
            Self::Unusable => "the stored CA cannot be used",
            Self::Ending => "the CA ends before a new leaf would",
            Self::NotYetValid => "the CA begins in the future",
        })
    }
}

/// What to do about the CA, given what is stored and what this process holds. `elsewhere`: another replica may hold the CA
/// that is trusted, so a process that holds none leaves it the time to write that one back.
pub fn authority(
    now: Timestamp,
    stored: Stored<'_>,
    held: Option<&Ca>,
    elsewhere: bool,
    lifetimes: &Lifetimes,
) -> CaPlan {
    let lasts = |ca: &Ca| ca.not_after().duration_since(now) >= lifetimes.leaf;
    let reason = match stored {
        Stored::Usable(ca) if !lasts(ca) => CaReason::Ending,
        Stored::Usable(ca) if !ca.has_begun(now) => CaReason::NotYetValid,
        Stored::Usable(ca) if held.is_some_and(|held| held.certificate() == ca.certificate()) => {
            return CaPlan::Keep;
        }
        Stored::Usable(_) => return CaPlan::Adopt,
        Stored::Missing => CaReason::Missing,
        Stored::Unusable => CaReason::Unusable,
    };
    match held {
        Some(held) if lasts(held) && held.has_begun(now) => CaPlan::Restore(reason),
        None if elsewhere => CaPlan::Await(reason),
        _ => CaPlan::Create(reason),
    }
}

/// What to do about the leaf of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafPlan {
    /// Serve on with the one we have.
    Keep,
    /// The one we have is from another CA, but the API server does not trust the new CA yet: serve on until it does.
    AwaitTrust,
    /// Sign a new one.
    Issue(LeafReason),
}

/// Why a leaf is signed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafReason {
    /// The process has none.
    First,
    /// Two thirds of its life are over.
    Due,
    /// It is over; the process slept, or the clock was put forward.
    Expired,
    /// It begins in the future; the clock was put back.
    NotYetValid,
    /// The CA is another one, and it is trusted.
    AnotherCa,
}

impl LeafReason {
    /// The reason as a word, for a metric or a log field.
    pub fn label(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Due => "due",
            Self::Expired => "expired",
            Self::NotYetValid => "not-yet-valid",
            Self::AnotherCa => "another-ca",
        }
    }
}

impl fmt::Display for LeafReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::First => "this process has no certificate yet",
            Self::Due => "two thirds of the certificate's life are over",
            Self::Expired => "the certificate has expired",
            Self::NotYetValid => "the clock was put back, the certificate begins in the future",
            Self::AnotherCa => "the CA has changed",
        })
    }
}

/// What to do about the leaf, given the CA and whether the API server's bundle was seen to hold it.
pub fn leaf(now: Timestamp, leaf: Option<&Leaf>, ca: &Ca, trusted: bool) -> LeafPlan {
    let Some(leaf) = leaf else {
        return LeafPlan::Issue(LeafReason::First);
    };
    if now >= leaf.not_after() {
        return LeafPlan::Issue(LeafReason::Expired);
    }
    if !leaf.is_valid(now) {
        return LeafPlan::Issue(LeafReason::NotYetValid);
    }
    if leaf.issuer() != ca.certificate() {
        return if trusted {
            LeafPlan::Issue(LeafReason::AnotherCa)
        } else {
            LeafPlan::AwaitTrust
        };
    }
    // A leaf that ends with its CA cannot be renewed into anything longer.
    if now >= leaf.renew_at() && leaf.not_after() < ca.not_after() {
        return LeafPlan::Issue(LeafReason::Due);
    }
    LeafPlan::Keep
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: SignedDuration = SignedDuration::from_hours(24);

    fn day(number: i32) -> Timestamp {
        "2026-11-20T10:00:00Z".parse::<Timestamp>().unwrap() + DAY * number
    }

    fn ca() -> Ca {
        Ca::generate(day(0), DAY * 365).unwrap()
    }

    fn issue(ca: &Ca, at: Timestamp) -> Leaf {
        Leaf::issue(ca, &["sluice.sluice-system.svc".to_owned()], at, DAY * 6).unwrap()
    }

    #[test]
    fn a_ca_is_made_only_when_nobody_has_one() {
        let (ours, theirs) = (ca(), ca());
        let same = Ca::restore(ours.parts()).unwrap();
        let lifetimes = Lifetimes::default();
        for (stored, held, plan) in [
            (Stored::Missing, None, CaPlan::Create(CaReason::Missing)),
            (Stored::Unusable, None, CaPlan::Create(CaReason::Unusable)),
            (
                Stored::Missing,
                Some(&ours),
                CaPlan::Restore(CaReason::Missing),
            ),
            (
                Stored::Unusable,
                Some(&ours),
                CaPlan::Restore(CaReason::Unusable),
            ),
            (Stored::Usable(&same), Some(&ours), CaPlan::Keep),
            (Stored::Usable(&theirs), Some(&ours), CaPlan::Adopt),
            (Stored::Usable(&theirs), None, CaPlan::Adopt),
        ] {
            assert_eq!(
                authority(day(1), stored, held, false, &lifetimes),
                plan,
                "{stored:?}, {held:?}"
            );
        }
    }

    #[test]
    fn a_ca_that_ends_before_its_leaf_is_replaced_and_never_restored() {
        let ours = ca();
        let lifetimes = Lifetimes::default();
        assert_eq!(
            authority(
                day(358),
                Stored::Usable(&ours),
                Some(&ours),
                false,
                &lifetimes
            ),
            CaPlan::Keep
        );
        for (stored, plan) in [
            (Stored::Usable(&ours), CaPlan::Create(CaReason::Ending)),
            (Stored::Missing, CaPlan::Create(CaReason::Missing)),
        ] {
            let next = authority(day(359), stored, Some(&ours), true, &lifetimes);
            assert_eq!(next, plan);
        }
    }

    #[test]
    fn one_that_holds_a_good_ca_puts_it_in_the_place_of_one_that_ends() {
        let (ours, over) = (ca(), Ca::generate(day(-40), DAY * 10).unwrap());
        let next = authority(
            day(1),
            Stored::Usable(&over),
            Some(&ours),
            false,
            &Lifetimes::default(),
        );
        assert_eq!(next, CaPlan::Restore(CaReason::Ending));
    }

    #[test]
    fn one_that_holds_none_waits_for_who_may_hold_the_trusted_one() {
        let (ours, over) = (ca(), Ca::generate(day(-40), DAY * 10).unwrap());
        let plan = |stored, held, elsewhere| {
            authority(day(1), stored, held, elsewhere, &Lifetimes::default())
        };
        for (stored, reason) in [
            (Stored::Missing, CaReason::Missing),
            (Stored::Unusable, CaReason::Unusable),
            (Stored::Usable(&over), CaReason::Ending),
        ] {
            assert_eq!(plan(stored, None, true), CaPlan::Await(reason));
            assert_eq!(plan(stored, None, false), CaPlan::Create(reason));
            assert_eq!(plan(stored, Some(&ours), true), CaPlan::Restore(reason));
        }
    }

    #[test]
    fn a_ca_from_the_future_is_replaced_and_never_restored() {
        let (ours, theirs) = (ca(), Ca::generate(day(2), DAY * 365).unwrap());
        let lifetimes = Lifetimes::default();
        let reason = CaReason::NotYetValid;
        for (now, held, plan) in [
            (day(1), Some(&ours), CaPlan::Adopt),
            (day(0), Some(&ours), CaPlan::Restore(reason)),
            (day(0), Some(&theirs), CaPlan::Create(reason)),
            (day(0), None, CaPlan::Create(reason)),
        ] {
            assert_eq!(
                authority(now, Stored::Usable(&theirs), held, false, &lifetimes),
                plan
            );
        }
        assert_eq!(
            authority(day(0), Stored::Missing, Some(&theirs), false, &lifetimes),
            CaPlan::Create(CaReason::Missing)
        );
    }

    #[test]
    fn a_leaf_is_signed_when_it_has_to_be() {
        let ca = ca();
        let held = issue(&ca, day(10));
        assert_eq!(
            leaf(day(10), None, &ca, false),
            LeafPlan::Issue(LeafReason::First)
        );
        for (now, plan) in [
            (day(13), LeafPlan::Keep),
            (day(14), LeafPlan::Issue(LeafReason::Due)),
            (day(16), LeafPlan::Issue(LeafReason::Expired)),
            (day(9), LeafPlan::Keep),
            (day(8), LeafPlan::Issue(LeafReason::NotYetValid)),
        ] {
            assert_eq!(leaf(now, Some(&held), &ca, true), plan, "{now}");
            assert_eq!(
                leaf(now, Some(&held), &ca, false),
                plan,
                "{now}: trust is about another CA only"
            );
        }
    }

    #[test]
    fn a_leaf_of_the_old_ca_serves_until_the_new_one_is_trusted() {
        let (old, new) = (ca(), ca());
        let held = issue(&old, day(10));
        assert_eq!(
            leaf(day(15), Some(&held), &new, false),
            LeafPlan::AwaitTrust
        );
        assert_eq!(
            leaf(day(15), Some(&held), &new, true),
            LeafPlan::Issue(LeafReason::AnotherCa)
        );
        assert_eq!(
            leaf(day(16), Some(&held), &new, false),
            LeafPlan::Issue(LeafReason::Expired)
        );
    }

    #[test]
    fn a_leaf_that_ends_with_its_ca_is_not_renewed_over_and_over() {
        let ca = ca();
        let held = issue(&ca, day(362));
        assert_eq!(leaf(day(364), Some(&held), &ca, true), LeafPlan::Keep);
    }
}
