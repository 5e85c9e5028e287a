//! One line of the answer of `check`: its result, the name of the check, and the message.

use crate::output::printable;
use crate::style::{Style, Tone};
use rules::lookup::Unavailable;
use serde::Serialize;
use std::fmt;

/// One line of the answer of `check`.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Checked {
    pub(super) result: Result,
    /// The name of the check that the line is about.
    pub(super) check: &'static str,
    /// The finding and, where something is wrong, the way out.
    pub(super) message: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Result {
    Ok,
    /// The checked part works now, and may stop working.
    Warning,
    /// The checked part makes pods wait, lets them be refused, or lets them start without a gate.
    Problem,
}

impl Checked {
    pub(super) fn ok(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(Result::Ok, check, message)
    }

    pub(super) fn warning(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(Result::Warning, check, message)
    }

    pub(super) fn problem(check: &'static str, message: impl Into<String>) -> Self {
        Self::new(Result::Problem, check, message)
    }

    /// A warning that `what` could not be looked at, and why: a check that cannot be made is no problem of the cluster.
    pub(super) fn unseen(check: &'static str, what: &str, why: Unavailable) -> Self {
        let why = match why {
            Unavailable::Forbidden | Unavailable::Hidden => {
                "you may not read it; ask with the rights of an administrator"
            }
            Unavailable::TooLarge => "it is longer than 8 MiB as JSON",
            Unavailable::NotServed => "the API server does not serve it",
            Unavailable::Syncing
            | Unavailable::Stale
            | Unavailable::Undiscovered
            | Unavailable::AwaitsTurn { .. }
            | Unavailable::OverBudget { .. } => "the API server did not answer; try again",
        };
        Self::warning(check, format!("{what} could not be looked at: {why}"))
    }

    fn new(result: Result, check: &'static str, message: impl Into<String>) -> Self {
        Self {
            result,
            check,
            message: message.into(),
        }
    }
}

impl Checked {
    /// The line of a check, with its result in colour where there are colours: `ok       webhook: …`
    pub(super) fn line(&self, style: Style) -> String {
        let Self {
            result,
            check,
            message,
        } = self;
        let (word, tone) = match result {
            Result::Ok => ("ok     ", Tone::Good),
            Result::Warning => ("warning", Tone::Waiting),
            Result::Problem => ("problem", Tone::Bad),
        };
        let word = style.painted(tone, word);
        format!("{word}  {check}: {}", printable(message))
    }
}

impl fmt::Display for Checked {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.line(Style::PLAIN))
    }
}
