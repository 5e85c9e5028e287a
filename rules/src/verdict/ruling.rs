//! What the terms of a dependent make of a wait: whether its time is up, and whether a failure ends it.

use super::JudgedEdge;
use crate::judged::Reason;
use crate::keys;
use crate::terms::{OnFailure, OnTimeout, Terms};
use jiff::Timestamp;
use jiff::fmt::friendly::{Spacing, SpanPrinter};
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
    /// It opens although its dependencies hold it back: its time is up.
    Proceed(Duration),
    /// It refuses: its time is up.
    TimedOut(Duration),
    /// It refuses: this dependency has failed for good.
    DependencyFailed(String),
}

/// Rules on `edges`, of which at least one holds the gate back; there may be none where not even the list can be read.
///
/// A failure comes before the timeout, since it came first: the wait that was to be cut short had ended by then.
pub fn rule(
    terms: &Terms,
    started: Option<Timestamp>,
    edges: &[JudgedEdge],
    now: Timestamp,
) -> Ruling {
    let lost =
        |edge: &&JudgedEdge| !edge.judged.satisfied && edge.judged.reason == Reason::JobFailed;
    if terms.on_failure == Some(OnFailure::Fail)
        && let Some(edge) = edges.iter().find(lost)
    {
        return Ruling::DependencyFailed(edge.edge.to_string());
    }
    let timeout = terms.timeout.unwrap_or_default();
    match terms.deadline(started) {
        Some(deadline) if now >= deadline => match terms.on_timeout.unwrap_or_default() {
            OnTimeout::Wait => Ruling::Late(timeout),
            OnTimeout::Fail => Ruling::TimedOut(timeout),
            OnTimeout::Proceed => Ruling::Proceed(timeout),
        },
        _ => Ruling::Wait,
    }
}

impl Ruling {
    /// The answer with the verdict of this ruling, and a note that says why and shows the way out.
    #[must_use]
    pub fn over(&self, mut answer: Answer) -> Answer {
        answer.verdict = match self {
            Self::Wait | Self::Late(_) => Decision::Wait,
            Self::Proceed(_) => Decision::Open,
            Self::TimedOut(_) | Self::DependencyFailed(_) => Decision::Refuse,
        };
        if *self != Self::Wait {
            // What stands in the note before is what the gate waits for.
            let note = answer.note.take();
            answer.note = Some(note.map_or_else(|| self.to_string(), |it| format!("{it}; {self}")));
        }
        answer
    }
}

/// A sentence that names the annotation, its value, and the way out; nothing for [`Ruling::Wait`].
impl fmt::Display for Ruling {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (timeout, on_timeout) = (keys::TIMEOUT, keys::ON_TIMEOUT);
        match self {
            Self::Wait => Ok(()),
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

/// A duration in a spelling of Go's, as the annotation has it: `1h30m`.
struct Go(Duration);

impl fmt::Display for Go {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = SpanPrinter::new().spacing(Spacing::None);
        out.write_str(&printer.unsigned_duration_to_string(&self.0))
    }
}
