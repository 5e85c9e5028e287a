//! What was found of one edge, and why: what rules answer, and verdicts are made of.

mod reason;

pub use reason::Reason;

use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::lookup::Unavailable;

/// What was found of one edge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Whether the edge holds nobody back.
    pub satisfied: bool,
    /// The word of kstatus for it, by the rules of the state that was asked for: a running Job is `InProgress` to
    /// `ready` and `Current` to `started`. Except under `present`, `Current` says the same as `satisfied`.
    pub status: Status,
    /// Why.
    pub reason: Reason,
    /// One line for people; may quote the object, so it stays within the object's namespace.
    pub message: String,
}

/// What an edge is when nothing can be known of its object.
pub(crate) fn unavailable(why: Unavailable, kind: &Kind, optional: bool) -> Judged {
    let (status, reason, message) = match why {
        Unavailable::NotServed if optional => return not_found(true, ""),
        Unavailable::NotServed => {
            let message = format!(
                "the API server serves no kind {kind} yet; its CustomResourceDefinition is missing"
            );
            (Status::NotFound, Reason::KindNotServed, message)
        }
        Unavailable::Forbidden => {
            let message = format!(
                "sluice may not watch {kind}; the chart's value {} allows it",
                kind.chart_value()
            );
            (Status::Unknown, Reason::KindForbidden, message)
        }
        Unavailable::Syncing => (
            Status::Unknown,
            Reason::Syncing,
            format!("sluice is reading {kind} objects"),
        ),
        Unavailable::Stale => {
            let message =
                "sluice has lost its connection to the API server; what it knows may be stale"
                    .to_owned();
            (Status::Unknown, Reason::Stale, message)
        }
    };
    unmet(status, reason, message)
}

/// Nothing of it is there; `what` says so of an edge that is not content with that.
pub(crate) fn not_found(optional: bool, what: &str) -> Judged {
    if !optional {
        return unmet(Status::NotFound, Reason::NotFound, what.to_owned());
    }
    Judged {
        satisfied: true,
        status: Status::NotFound,
        reason: Reason::OptionalNotFound,
        message: "not found, and optional".to_owned(),
    }
}

/// An edge that holds its dependent back.
pub(crate) fn unmet(status: Status, reason: Reason, message: String) -> Judged {
    Judged {
        satisfied: false,
        status,
        reason,
        message,
    }
}
