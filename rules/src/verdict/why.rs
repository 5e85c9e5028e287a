//! The reasons for a gate to wait, to open or to refuse, and the choice among them by the terms of the wait: timeouts, `on-timeout` and
//! `on-failure`.

use super::judge::{JudgedEdge, Overdue};
use crate::keys;
use crate::terms::{Go, OnFailure, OnTimeout, Terms};
use jiff::Timestamp;
use std::fmt;
use std::time::Duration;
use wire::{Answer, Decision};

/// The reason for a gate's verdict. Events, conditions, metrics, the log and the command line name it by its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Why {
    /// The gate waits: a dependency is not satisfied.
    Unmet,
    /// The gate waits: its pod, its owner or its list cannot be read.
    Unread,
    /// The gate waits on although its timeout, of this length, has passed.
    Late(Duration),
    /// The gate waits on although the timeout of an entry has passed: for this entry, or for other entries.
    EntryLate,
    /// The gate opens: its dependencies are satisfied.
    Satisfied,
    /// The gate opens: its dependencies are satisfied, one of them because it is absent and optional.
    Absent,
    /// The gate opens: a pod of the same revision has passed its gate before.
    Passed,
    /// The gate opens: its pod is marked for a gate, and no list, plan, weight or cap is found for it.
    Unlisted,
    /// The gate opens: [`keys::SKIP`] is "true" on the pod or its owner.
    Skipped,
    /// The gate opens: every entry that still held it back was given up.
    GivenUp,
    /// The gate opens although a dependency is not satisfied: its timeout, of this length, has passed, and `on-timeout` is `proceed`.
    Proceeded(Duration),
    /// The gate refuses: the timeout of an entry whose `on-timeout` is `fail` has passed.
    EntryTimedOut,
    /// The gate refuses: its timeout, of this length, has passed, and `on-timeout` is `fail`.
    TimedOut(Duration),
    /// The gate refuses: this dependency has failed for good, and `on-failure` is `fail`.
    DependencyFailed(String),
}

impl Why {
    /// The reason for the verdict on a dependent that `edges` hold back: at least one edge is not satisfied, or there is no edge because
    /// the list cannot be read. `overdue` are the entries whose own timeout has passed. [`Why::Unmet`] where the terms change nothing.
    ///
    /// A final failure wins over a timeout: a dependency that has failed for good ends the wait, whether or not a timeout has passed since. Of a
    /// whole timeout that says `proceed` and the timeout of an entry that says `fail` the shorter one decides.
    pub fn of_a_wait(
        terms: &Terms,
        started: Option<Timestamp>,
        edges: &[JudgedEdge],
        overdue: &[Overdue],
        now: Timestamp,
    ) -> Self {
        let lost =
            |edge: &&JudgedEdge| !edge.judged.satisfied && edge.judged.reason.is_final_failure();
        if terms.on_failure == Some(OnFailure::Fail)
            && let Some(edge) = edges.iter().find(lost)
        {
            return Self::DependencyFailed(edge.edge.to_string());
        }
        let timeout = terms.timeout.unwrap_or_default();
        let failed = overdue.iter().map(|it| it.patience);
        let failed = failed.filter(|it| it.then == OnTimeout::Fail);
        let failed = failed.map(|it| it.timeout).min();
        let passed = terms.deadline(started).filter(|deadline| now >= *deadline);
        match passed.map(|_| terms.on_timeout.unwrap_or_default()) {
            Some(OnTimeout::Proceed) if failed.is_none_or(|failed| timeout < failed) => {
                Self::Proceeded(timeout)
            }
            _ if failed.is_some() => Self::EntryTimedOut,
            Some(OnTimeout::Proceed) => Self::Proceeded(timeout),
            Some(OnTimeout::Fail) => Self::TimedOut(timeout),
            Some(OnTimeout::Wait) => Self::Late(timeout),
            None if !overdue.is_empty() => Self::EntryLate,
            None => Self::Unmet,
        }
    }

    /// The decision of the verdict: the gate waits, opens or refuses.
    pub fn decision(&self) -> Decision {
        match self {
            Self::Unmet | Self::Unread | Self::Late(_) | Self::EntryLate => Decision::Wait,
            Self::Satisfied
            | Self::Absent
            | Self::Passed
            | Self::Unlisted
            | Self::Skipped
            | Self::GivenUp
            | Self::Proceeded(_) => Decision::Open,
            Self::EntryTimedOut | Self::TimedOut(_) | Self::DependencyFailed(_) => Decision::Refuse,
        }
    }

    /// How a wait ended, for conditions, metrics and the log; `Waiting` while it goes on.
    pub fn label(&self) -> &'static str {
        match self {
            Self::Unmet | Self::Unread | Self::Late(_) | Self::EntryLate => "Waiting",
            Self::Satisfied | Self::Absent | Self::Unlisted => "Satisfied",
            Self::Passed => "Passed",
            Self::Skipped => "Skipped",
            Self::GivenUp | Self::Proceeded(_) => "Proceeded",
            Self::EntryTimedOut | Self::TimedOut(_) => "TimedOut",
            Self::DependencyFailed(_) => "DependencyFailed",
        }
    }

    /// The cause that ended a wait which the dependencies alone would not have ended, for metrics: `skip`, `timeout` or `failure`. `None` for
    /// any other verdict.
    pub fn cut(&self) -> Option<&'static str> {
        match self {
            Self::Skipped => Some("skip"),
            Self::DependencyFailed(_) => Some("failure"),
            _ => self.is_a_timeout().then_some("timeout"),
        }
    }

    /// Whether a timeout ended the wait, of the whole wait or of an entry.
    pub fn is_a_timeout(&self) -> bool {
        matches!(
            self,
            Self::GivenUp | Self::Proceeded(_) | Self::EntryTimedOut | Self::TimedOut(_)
        )
    }

    /// Whether a timeout has passed, of the whole wait or of an entry, and the gate waits on.
    pub fn is_late(&self) -> bool {
        matches!(self, Self::Late(_) | Self::EntryLate)
    }

    /// Changes the answer to this decision, and adds to its note the sentence on why, with the way out. Where the reason has no sentence the
    /// note stays.
    #[must_use]
    pub fn over(&self, mut answer: Answer) -> Answer {
        answer.verdict = self.decision();
        let sentence = self.to_string();
        if !sentence.is_empty() {
            // The note says until here what the gate waits for.
            let note = answer.note.take();
            answer.note = Some(match note {
                Some(note) => format!("{note}; {sentence}"),
                None => sentence,
            });
        }
        answer
    }
}

/// Writes a sentence that names the annotation, its value and the way out, for a timeout and a failed dependency; writes nothing for any other
/// reason.
impl fmt::Display for Why {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (timeout, on_timeout) = (keys::TIMEOUT, keys::ON_TIMEOUT);
        match self {
            Self::Late(after) => write!(
                out,
                "the timeout of {} ({timeout}) has passed, and the wait goes on",
                Go(*after)
            ),
            Self::Proceeded(after) => write!(
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
            Self::Unmet
            | Self::Unread
            | Self::EntryLate
            | Self::Satisfied
            | Self::Absent
            | Self::Passed
            | Self::Unlisted
            | Self::Skipped
            | Self::GivenUp
            | Self::EntryTimedOut => Ok(()),
        }
    }
}
