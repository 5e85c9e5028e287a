//! `timeout` on an entry: how long this entry alone may hold the gate back.
//!
//! The timeout counts from the start of each pod, and so by time alone: every replica finds the same, also after a restart, and
//! an entry that was given up stays so.

use super::judgement::{JudgedEdge, Turn};
use crate::dependency::Patience;
use crate::judged::{Judged, Reason};
use crate::terms::{Go, OnTimeout};
use jiff::Timestamp;
use std::fmt;
use std::time::Duration;
use wire::turn;

/// An entry that holds a gate back although its own timeout has passed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overdue {
    /// The dependency that the entry names, such as `Service/cache`.
    pub dependency: String,
    /// The timeout of the entry, and what it does once it has passed.
    pub patience: Patience,
    /// Why the entry is not satisfied.
    pub reason: Reason,
}

/// Applies the timeouts of entries: gives up each unsatisfied entry whose timeout has passed and says `proceed`, and notes on each other
/// unsatisfied entry the effect that its timeout will have. Returns the unsatisfied entries whose timeout has passed.
pub(in crate::verdict) fn expire(
    edges: &mut [JudgedEdge],
    started: Option<Timestamp>,
    now: Timestamp,
) -> Vec<Overdue> {
    let unmet = edges.iter_mut().filter(|edge| !edge.judged.satisfied);
    unmet
        .filter_map(|edge| {
            let patience = edge.edge.entry()?.patience?;
            let at = patience.deadline(started)?;
            if now < at {
                edge.turns.extend(ahead(patience, at));
                return None;
            }
            let overdue = Overdue {
                dependency: edge.edge.to_string(),
                patience,
                reason: edge.judged.reason,
            };
            if patience.then == OnTimeout::Proceed {
                edge.turns.clear();
                give_up(&mut edge.judged, patience.timeout);
            }
            Some(overdue)
        })
        .collect()
}

/// The earliest time after `now` at which the timeout of an unsatisfied entry passes; `None` where there is none.
pub(in crate::verdict) fn next_timeout(
    edges: &[JudgedEdge],
    started: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    let unmet = edges.iter().filter(|edge| !edge.judged.satisfied);
    let deadlines = unmet.filter_map(|edge| edge.edge.entry()?.patience?.deadline(started));
    deadlines.filter(|deadline| now < *deadline).min()
}

/// Whether the entry of this edge has a timeout that has passed and says `proceed`, so that a gate goes on without it. The edge may be
/// satisfied.
pub(super) fn is_given_up(edge: &JudgedEdge, started: Option<Timestamp>, now: Timestamp) -> bool {
    let patience = edge.edge.entry().and_then(|entry| entry.patience);
    patience.is_some_and(|patience| {
        let deadline = patience.deadline(started);
        patience.then == OnTimeout::Proceed && deadline.is_some_and(|deadline| now >= deadline)
    })
}

/// The change that the timeout of an entry will bring at the time `at`; `None` for `on-timeout: wait`, which changes nothing.
fn ahead(patience: Patience, at: Timestamp) -> Option<Turn> {
    let what = match patience.then {
        OnTimeout::Wait => return None,
        OnTimeout::Fail => turn::REFUSED,
        OnTimeout::Proceed => turn::GIVEN_UP,
    };
    let takes = patience.timeout;
    Some(Turn { what, at, takes })
}

fn give_up(judged: &mut Judged, after: Duration) {
    let why = if judged.message.is_empty() {
        judged.reason.label().to_owned()
    } else {
        format!("{}: {}", judged.reason, judged.message)
    };
    judged.satisfied = true;
    judged.reason = Reason::GivenUp;
    judged.message = format!("given up after {}, {why}", Go(after));
}

impl Overdue {
    /// Whether the gate goes on without the entry, because its `on-timeout` is `proceed`.
    pub(in crate::verdict) fn is_given_up(&self) -> bool {
        self.patience.then == OnTimeout::Proceed
    }
}

/// Writes words that follow "without" where the entry was given up; else a sentence, with the way out where the gate refuses.
impl fmt::Display for Overdue {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            dependency,
            patience: Patience { timeout, then },
            reason,
        } = self;
        let timeout = Go(*timeout);
        match then {
            OnTimeout::Proceed => write!(out, "{dependency}, given up after {timeout} ({reason})"),
            OnTimeout::Wait => write!(
                out,
                "the timeout of {timeout} of {dependency} has passed, and the wait goes on"
            ),
            OnTimeout::Fail => write!(
                out,
                "the timeout of {timeout} of {dependency} has passed, and its on-timeout is \"fail\": mend what it waits \
                 for, raise the timeout, or write \"wait\" or \"proceed\""
            ),
        }
    }
}
