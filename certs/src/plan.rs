//! Decides the next step of the CA and of the leaf, and why. Pure functions of the clock, the store and the memory of
//! this process.
//!
//! There are two functions. [`authority`] decides about the CA, which all replicas share and write under a guard.
//! [`leaf`] decides about this process alone.
//!
//! A CA is replaced in two steps, each of which any replica may take. The next CA is made early and stands in every
//! bundle; after the overlap, it signs. Both steps follow from the store and from the certificates' own times, so a
//! new replica goes on where another stopped.

use std::fmt;

use jiff::Timestamp;

use crate::{ca::Ca, checked_lifetimes::Lifetimes, leaf::Leaf};
use strum::IntoStaticStr;

/// The CA as it was found in its store.
#[derive(Debug, Clone, Copy)]
pub enum Stored<'a> {
    /// There is no store.
    Missing,
    /// The contents of the store cannot be used.
    Unusable,
    /// The store holds a CA that works.
    Usable(Line<'a>),
}

/// A CA, and the CA that will follow it.
#[derive(Debug, Clone, Copy)]
pub struct Line<'a> {
    /// The CA that signs.
    pub ca: &'a Ca,
    /// The next CA, which already stands in the bundle.
    pub next: Option<&'a Ca>,
}

/// The facts that a process knows beside the store.
#[derive(Debug, Clone, Copy)]
pub struct Known<'a> {
    /// The CA that this process signs with, and its next CA; `None` before the process has taken over a CA.
    pub held: Option<Line<'a>>,
    /// Another replica may hold the trusted CA. A process without a CA then waits until that replica writes the CA
    /// back.
    pub elsewhere: bool,
    /// Every verifier has trusted the next CA for long enough, so that this CA may sign.
    pub settled: bool,
}

/// The next step for the CA.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CaPlan {
    /// Change nothing: the store holds the CA of this process.
    Keep,
    /// Sign with the stored CA from now on: this process held none, or another replica wrote a new one.
    Adopt,
    /// Write back the CA of this process. This has no side effect, while a new CA would break the trust of every
    /// waiting gate.
    Restore(CaReason),
    /// Write the stored CA as the successor of this process's CA: an administrator stored it by hand, and waiting
    /// gates trust ours.
    Join,
    /// Make the next CA, and write it beside the stored one.
    Prepare,
    /// Write the next CA as the CA that signs, and sign with it from now on.
    Promote(CaReason),
    /// Make a new CA and write it.
    Create(CaReason),
    /// Do nothing yet: another replica may hold the CA that gates and API servers trust, and write it back.
    Await(CaReason),
}

/// The reason for writing a CA.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
pub enum CaReason {
    /// The store is empty.
    Missing,
    /// The contents of the store cannot be used.
    Unusable,
    /// The CA ends before a leaf that it signs now would.
    Ending,
    /// The CA begins in the future: it was made by a replica whose clock was far ahead.
    NotYetValid,
    /// The store lacks CAs that this process holds: the next one, or former ones.
    Incomplete,
    /// The stored CA is another one, for which no known CA vouches.
    Foreign,
    /// The next CA is due.
    Due,
    /// The next CA has stood in the bundle for the overlap.
    Overlapped,
}

impl CaReason {
    /// The reason as a word, for a metric or a log field.
    pub fn label(self) -> &'static str {
        self.into()
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

/// Decides the next step for the CA at `now`. A stored CA that can sign is kept, or followed by its next CA when that is due; or it is taken over or
/// joined where this process has another CA or none. Without one, this process writes back its own CA if that can sign, else, if it has none, waits
/// for a replica that may hold one, else promotes the stored next CA, else makes a new CA.
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

/// Returns why a CA cannot sign now: it ends before a new leaf would, or it has not begun yet. `None` where it can sign.
fn flaw(now: Timestamp, ca: &Ca, lifetimes: &Lifetimes) -> Option<CaReason> {
    if ca.not_after().duration_since(now) < lifetimes.leaf {
        Some(CaReason::Ending)
    } else if ca.has_begun(now) {
        None
    } else {
        Some(CaReason::NotYetValid)
    }
}

/// Decides about a stored CA that can sign. A process without a CA, or with a former one, takes it over; a CA that does not follow this process's CA
/// is written as its successor; CAs that the store has lost are written back. Else decides whether to make the next CA, or to sign with it.
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

/// Returns whether the next CA is due: it has to stand beside this CA for the overlap, and this CA has to stay valid
/// for another overlap after that. A lifetime that was shortened also applies to CAs that were made before.
fn is_due(now: Timestamp, ca: &Ca, lifetimes: &Lifetimes) -> bool {
    let age = now.duration_since(ca.made());
    let left = ca.not_after().duration_since(now);
    left.min(lifetimes.ca.saturating_sub(age)) <= lifetimes.overlap.saturating_mul(2)
}

/// The next step for the leaf of this process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LeafPlan {
    /// Go on serving the leaf.
    Keep,
    /// Go on serving the leaf of the former CA, until the API server trusts the new CA.
    AwaitTrust,
    /// Sign a new leaf.
    Issue(LeafReason),
}

/// The reason for signing a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum LeafReason {
    /// The process has no leaf.
    First,
    /// Two thirds of the leaf's life are over.
    Due,
    /// The leaf has expired: the process slept, or the clock was put forward.
    Expired,
    /// The leaf begins in the future: the clock was put back.
    NotYetValid,
    /// The CA has changed, or other CAs vouch for it now, and API servers trust it.
    AnotherCa,
}

impl LeafReason {
    /// The reason as a word, for a metric or a log field.
    pub fn label(self) -> &'static str {
        self.into()
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

/// Decides the next step for the leaf of this process at `now`. A leaf that another CA signed is kept until `trusted`: the live `caBundle` holds the
/// present `ca`. A leaf that ends with its CA is not renewed before its end.
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
    // A leaf that ends with its CA would not live longer when renewed.
    if now >= leaf.renew_at() && leaf.not_after() < ca.not_after() {
        return LeafPlan::Issue(LeafReason::Due);
    }
    LeafPlan::Keep
}

#[cfg(test)]
mod tests;
