//! What the terms of a dependent make of a wait: whether its time is up, and whether a failure ends it.

use super::JudgedEdge;
use super::patience::Overdue;
use crate::keys;
use crate::terms::{Go, OnFailure, OnTimeout, Terms};
use jiff::Timestamp;
use std::fmt;
use std::time::Duration;
use wire::{Answer, Decision};

/// What becomes of a gate whose dependencies hold it back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ruling {
    /// It waits.
    Wait,
    /// It waits although its time is up, and says so.
    Late(Duration),
    /// It waits although the timeout of an entry has passed: for this one, or for the others.
    Overdue,
    /// It opens: all that still held it back was given up.
    GivenUp,
    /// It refuses: the timeout of an entry has passed.
    EntryTimedOut,
    /// It opens although its dependencies hold it back: its time is up.
    Proceed(Duration),
    /// It refuses: its time is up.
    TimedOut(Duration),
    /// It refuses: this dependency has failed for good.
    DependencyFailed(String),
}

/// Rules on `edges`, of which at least one holds the gate back; there may be none where not even the list can be read. Of the
/// entries with a timeout of their own these are `overdue`.
///
/// A failure comes before a timeout, since it came first: the wait that was to be cut short had ended by then. Of two timeouts the
/// shorter one does.
pub fn rule(
    terms: &Terms,
    started: Option<Timestamp>,
    edges: &[JudgedEdge],
    overdue: &[Overdue],
    now: Timestamp,
) -> Ruling {
    let lost = |edge: &&JudgedEdge| !edge.judged.satisfied && edge.judged.reason.is_final_failure();
    if terms.on_failure == Some(OnFailure::Fail)
        && let Some(edge) = edges.iter().find(lost)
    {
        return Ruling::DependencyFailed(edge.edge.to_string());
    }
    let timeout = terms.timeout.unwrap_or_default();
    let failed = overdue.iter().map(|it| it.patience);
    let failed = failed.filter(|it| it.then == OnTimeout::Fail);
    let failed = failed.map(|it| it.timeout).min();
    let passed = terms.deadline(started).filter(|deadline| now >= *deadline);
    match passed.map(|_| terms.on_timeout.unwrap_or_default()) {
        Some(OnTimeout::Proceed) if failed.is_none_or(|failed| timeout < failed) => {
            Ruling::Proceed(timeout)
        }
        _ if failed.is_some() => Ruling::EntryTimedOut,
        Some(OnTimeout::Proceed) => Ruling::Proceed(timeout),
        Some(OnTimeout::Fail) => Ruling::TimedOut(timeout),
        Some(OnTimeout::Wait) => Ruling::Late(timeout),
        None if !overdue.is_empty() => Ruling::Overdue,
        None => Ruling::Wait,
    }
}

impl Ruling {
    /// The answer with the verdict of this ruling, and a note that says why and shows the way out.
    #[must_use]
    pub fn over(&self, mut answer: Answer) -> Answer {
        answer.verdict = match self {
            Self::Wait | Self::Late(_) | Self::Overdue => Decision::Wait,
            Self::Proceed(_) | Self::GivenUp => Decision::Open,
            Self::TimedOut(_) | Self::EntryTimedOut | Self::DependencyFailed(_) => Decision::Refuse,
        };
        if !self.is_told_by_entries() {
            // What stands in the note before is what the gate waits for.
            let note = answer.note.take();
            answer.note = Some(note.map_or_else(|| self.to_string(), |it| format!("{it}; {self}")));
        }
        answer
    }

    /// Whether there is nothing to tell beside what is told of the entries.
    fn is_told_by_entries(&self) -> bool {
        matches!(
            self,
            Self::Wait | Self::Overdue | Self::GivenUp | Self::EntryTimedOut
        )
    }
}

/// A sentence that names the annotation, its value, and the way out; nothing where that is told of the entries.
impl fmt::Display for Ruling {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (timeout, on_timeout) = (keys::TIMEOUT, keys::ON_TIMEOUT);
        match self {
            Self::Wait | Self::Overdue | Self::GivenUp | Self::EntryTimedOut => Ok(()),
            Self::Late(after) => write!(
                out,
                "the timeout of {} ({timeout}) has passed, and the pod waits on",
                Go(*after)
            ),
            Self::Proceed(after) => write!(
                out,
                "the timeout of {} ({timeout}) has passed, and {on_timeout} is \"proceed\"",
                Go(*after)
            ),
            Self::TimedOut(after) => write!(
                out,
                "the timeout of {} ({timeout}) has passed, and {on_timeout} is \"fail\": mend what it waits for, raise \
                 the timeout, or set {on_timeout} to \"wait\" or \"proceed\"",
                Go(*after)
            ),
            Self::DependencyFailed(dependency) => write!(
                out,
                "{dependency} has failed for good, and {failure} is \"fail\": delete it and create it again, or set \
                 {failure} to \"wait\"",
                failure = keys::ON_FAILURE
            ),
        }
    }
}
