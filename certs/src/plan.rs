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
mod tests;
