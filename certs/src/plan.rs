//! What to do next, and why: pure functions of the clock, of what is stored and of what this process holds.
//!
//! Two questions, because they have different owners. [`authority`] is about the CA, which all replicas share and which
//! is written under a guard. [`leaf`] is about this process alone.
//!
//! A CA is replaced in two steps, each of which any replica may take. The next one is made early and stands in every bundle;
//! it signs once it has stood there for the overlap. Both steps follow from what is stored and from the certificates' own
//! times, so whoever comes next goes on where another one stopped.

use std::fmt;

use jiff::Timestamp;

use crate::{ca::Ca, leaf::Leaf, lifetimes::Lifetimes};

/// The CA as it was found in its store.
#[derive(Debug, Clone, Copy)]
pub enum Stored<'a> {
    /// There is no store yet, or no longer.
    Missing,
    /// There is one, and what it holds cannot be used.
    Unusable,
    /// There is one that works.
    Usable(Line<'a>),
}

/// A CA, and the one that is to follow it.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// It signs.
    pub ca: &'a Ca,
    /// It stands in the bundle beside it.
    pub next: Option<&'a Ca>,
}

/// What a process knows beside what is stored.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// What it signs with itself.
    pub held: Option<Line<'a>>,
    /// Another replica may hold the CA that is trusted, so a process that holds none leaves it the time to write that one
    /// back.
    pub elsewhere: bool,
    /// The next one has been trusted for long enough by everybody who verifies.
    pub settled: bool,
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
    /// Write the stored one as the one that follows what this process holds: somebody put it there by hand, and gates that
    /// wait trust ours.
    Join,
    /// Make the one that is to follow, and write it beside the stored one.
    Prepare,
    /// Sign with the one that was to follow.
    Promote(CaReason),
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
    /// It lacks what this process holds: the next one, or some that came before.
    Incomplete,
    /// It is another one, which nobody vouches for.
    Foreign,
    /// It is time for the next one to stand beside it.
    Due,
    /// The next one has stood beside it for long enough.
    Overlapped,
}

impl CaReason {
    /// The reason as a word, for a metric or a log field.
    pub fn label(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::Unusable => "unusable",
            Self::Ending => "ending",
            Self::NotYetValid => "not_yet_valid",
            Self::Incomplete => "incomplete",
            Self::Foreign => "foreign",
            Self::Due => "due",
            Self::Overlapped => "overlapped",
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
            Self::Incomplete => "the stored CA lacks those before it or the one after it",
            Self::Foreign => "the stored CA is another one, which no CA before it vouches for",
            Self::Due => "the CA is due to be followed by another one",
            Self::Overlapped => "the next CA has stood beside it for long enough",
        })
    }
}

/// What to do about the CA, given what is stored and what this process knows.
pub fn authority(
    now: Timestamp,
    stored: Stored<'_>,
    known: Known<'_>,
    lifetimes: &Lifetimes,
) -> CaPlan {
    let sound = |ca: &Ca| flaw(now, ca, lifetimes).is_none();
    let (reason, next) = match stored {
        Stored::Missing => (CaReason::Missing, None),
        Stored::Unusable => (CaReason::Unusable, None),
        Stored::Usable(line) => match flaw(now, line.ca, lifetimes) {
            Some(reason) => (reason, line.next.filter(|next| sound(next))),
            None => return succession(now, line, known, lifetimes),
        },
    };
    match known.held {
        Some(held) if sound(held.ca) => CaPlan::Restore(reason),
        None if known.elsewhere => CaPlan::Await(reason),
        _ if next.is_some() => CaPlan::Promote(reason),
        _ => CaPlan::Create(reason),
    }
}

/// Why a CA cannot sign now.
fn flaw(now: Timestamp, ca: &Ca, lifetimes: &Lifetimes) -> Option<CaReason> {
    if ca.not_after().duration_since(now) < lifetimes.leaf {
        Some(CaReason::Ending)
    } else if ca.has_begun(now) {
        None
    } else {
        Some(CaReason::NotYetValid)
    }
}

/// What to do where the stored CA can sign: first come to hold it, then see to the one after it.
fn succession(now: Timestamp, stored: Line<'_>, known: Known<'_>, lifetimes: &Lifetimes) -> CaPlan {
    let Some(held) = known.held else {
        return CaPlan::Adopt;
    };
    if stored.ca.certificate() != held.ca.certificate() {
        return if stored.ca.follows(held.ca) {
            CaPlan::Adopt
        } else {
            CaPlan::Join
        };
    }
    let lacks_next = stored.next.is_none() && held.next.is_some();
    if lacks_next || stored.ca.formers() < held.ca.formers() {
        return CaPlan::Restore(CaReason::Incomplete);
    }
    let sound = |ca: &&Ca| flaw(now, ca, lifetimes).is_none();
    match stored.next.filter(sound) {
        Some(next) if known.settled && now.duration_since(next.made()) >= lifetimes.overlap => {
            CaPlan::Promote(CaReason::Overlapped)
        }
        None if is_due(now, stored.ca, lifetimes) => CaPlan::Prepare,
        _ => CaPlan::Keep,
    }
}

/// Whether it is time for the next one. It stands beside this one for the overlap, and then this one is valid for as long
/// again. A life that was made shorter counts for what was made before.
fn is_due(now: Timestamp, ca: &Ca, lifetimes: &Lifetimes) -> bool {
    let age = now.duration_since(ca.made());
    let left = ca.not_after().duration_since(now);
    left.min(lifetimes.ca.saturating_sub(age)) <= lifetimes.overlap.saturating_mul(2)
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
    /// The CA is another one, or others vouch for it, and it is trusted.
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
    if !leaf.is_of(ca) {
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
    use jiff::SignedDuration;

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

    fn lifetimes() -> Lifetimes {
        Lifetimes::new(DAY * 365, DAY * 30, DAY * 7).unwrap()
    }

    fn line<'a>(ca: &'a Ca, next: Option<&'a Ca>) -> Line<'a> {
        Line { ca, next }
    }

    fn usable(ca: &Ca) -> Stored<'_> {
        Stored::Usable(line(ca, None))
    }

    fn plan(now: Timestamp, stored: Stored<'_>, held: Option<&Ca>, elsewhere: bool) -> CaPlan {
        let known = Known {
            held: held.map(|held| line(held, None)),
            elsewhere,
            settled: true,
        };
        authority(now, stored, known, &lifetimes())
    }

    #[test]
    fn a_ca_is_made_only_when_nobody_has_one() {
        let (ours, theirs) = (ca(), ca());
        let same = Ca::restore(ours.parts()).unwrap();
        let after = theirs.after(&ours).unwrap();
        for (stored, held, expected) in [
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
            (usable(&same), Some(&ours), CaPlan::Keep),
            (usable(&after), Some(&ours), CaPlan::Adopt),
            (usable(&theirs), Some(&ours), CaPlan::Join),
            (usable(&theirs), None, CaPlan::Adopt),
        ] {
            let next = plan(day(1), stored, held, false);
            assert_eq!(next, expected, "{stored:?}, {held:?}");
        }
    }

    #[test]
    fn a_ca_that_ends_before_its_leaf_is_replaced_and_never_restored() {
        let ours = ca();
        for (stored, expected) in [
            (usable(&ours), CaPlan::Create(CaReason::Ending)),
            (Stored::Missing, CaPlan::Create(CaReason::Missing)),
        ] {
            assert_eq!(plan(day(359), stored, Some(&ours), true), expected);
        }
    }

    #[test]
    fn the_next_ca_stands_beside_this_one_before_it_signs() {
        let ours = ca();
        let next = Ca::generate(day(305), DAY * 365).unwrap();
        let plan = |now, next, settled| {
            let ours = line(&ours, next);
            let known = Known {
                held: Some(ours),
                elsewhere: false,
                settled,
            };
            authority(now, Stored::Usable(ours), known, &lifetimes())
        };
        let promoted = CaPlan::Promote(CaReason::Overlapped);
        for (now, made, settled, expected) in [
            (day(304), None, false, CaPlan::Keep),
            (day(305), None, false, CaPlan::Prepare),
            (day(305), Some(&next), true, CaPlan::Keep),
            (day(334), Some(&next), true, CaPlan::Keep),
            (day(335), Some(&next), false, CaPlan::Keep),
            (day(335), Some(&next), true, promoted),
            (
                day(359),
                Some(&next),
                false,
                CaPlan::Promote(CaReason::Ending),
            ),
        ] {
            assert_eq!(plan(now, made, settled), expected, "{now}, {settled}");
        }
        let over = Ca::generate(day(-400), DAY * 365).unwrap();
        assert_eq!(plan(day(335), Some(&over), true), CaPlan::Prepare);
    }

    #[test]
    fn a_life_that_was_made_shorter_counts_for_what_was_made_before() {
        let ours = Ca::generate(day(0), DAY * 3_650).unwrap();
        assert_eq!(
            [304, 305].map(|today| plan(day(today), usable(&ours), Some(&ours), false)),
            [CaPlan::Keep, CaPlan::Prepare]
        );
    }

    #[test]
    fn what_a_process_holds_of_those_before_and_after_is_written_back() {
        let (oldest, next) = (ca(), ca());
        let ours = ca().after(&oldest).unwrap();
        let alone = Ca::restore(crate::CaParts {
            formers: String::new(),
            ..ours.parts()
        })
        .unwrap();
        let lacks = CaPlan::Restore(CaReason::Incomplete);
        for (stored, held, expected) in [
            (line(&alone, Some(&next)), line(&ours, Some(&next)), lacks),
            (line(&ours, None), line(&ours, Some(&next)), lacks),
            (line(&ours, Some(&next)), line(&alone, None), CaPlan::Keep),
        ] {
            let known = Known {
                held: Some(held),
                elsewhere: false,
                settled: false,
            };
            let plan = authority(day(1), Stored::Usable(stored), known, &lifetimes());
            assert_eq!(plan, expected);
        }
    }

    #[test]
    fn one_that_holds_a_good_ca_puts_it_in_the_place_of_one_that_ends() {
        let (ours, over) = (ca(), Ca::generate(day(-40), DAY * 10).unwrap());
        let next = plan(day(1), usable(&over), Some(&ours), false);
        assert_eq!(next, CaPlan::Restore(CaReason::Ending));
    }

    #[test]
    fn one_that_holds_none_waits_for_who_may_hold_the_trusted_one() {
        let (ours, over) = (ca(), Ca::generate(day(-40), DAY * 10).unwrap());
        for (stored, reason) in [
            (Stored::Missing, CaReason::Missing),
            (Stored::Unusable, CaReason::Unusable),
            (usable(&over), CaReason::Ending),
        ] {
            let plan = |held, elsewhere| plan(day(1), stored, held, elsewhere);
            assert_eq!(plan(None, true), CaPlan::Await(reason));
            assert_eq!(plan(None, false), CaPlan::Create(reason));
            assert_eq!(plan(Some(&ours), true), CaPlan::Restore(reason));
        }
    }

    #[test]
    fn a_ca_from_the_future_is_replaced_and_never_restored() {
        let (ours, theirs) = (ca(), Ca::generate(day(2), DAY * 365).unwrap());
        let reason = CaReason::NotYetValid;
        for (now, held, expected) in [
            (day(1), Some(&ours), CaPlan::Join),
            (day(0), Some(&ours), CaPlan::Restore(reason)),
            (day(0), Some(&theirs), CaPlan::Create(reason)),
            (day(0), None, CaPlan::Create(reason)),
        ] {
            assert_eq!(plan(now, usable(&theirs), held, false), expected);
        }
        assert_eq!(
            plan(day(0), Stored::Missing, Some(&theirs), false),
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
