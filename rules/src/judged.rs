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

impl Judged {
    /// The message as it is told in the dependent's namespace, of an object that may be outside of it (`foreign`): there only
    /// words that are the same for each object, whether or not it exists.
    pub fn told(&self, foreign: bool) -> Option<&str> {
        let quotes_nothing = self.reason == Reason::NotPermitted;
        let told = (!foreign || quotes_nothing) && !self.message.is_empty();
        told.then_some(self.message.as_str())
    }
}

/// What an edge is when nothing can be known of its object.
pub fn unavailable(why: Unavailable, kind: &Kind, optional: bool) -> Judged {
    if optional && why == Unavailable::NotServed {
        return not_found(true, "");
    }
    let status = match why {
        Unavailable::NotServed => Status::NotFound,
        _ => Status::Unknown,
    };
    let message = match why {
        Unavailable::NotServed => format!(
            "the API server serves no kind {kind} yet; its CustomResourceDefinition is missing"
        ),
        Unavailable::Forbidden => format!(
            "sluice may not watch {kind}; {} allows it",
            kind.allowed_by()
        ),
        Unavailable::Syncing => format!("sluice is reading {kind} objects"),
        Unavailable::Stale => {
            "sluice has lost its connection to the API server; what it knows may be stale"
                .to_owned()
        }
        Unavailable::Undiscovered => format!(
            "the API server cannot tell whether it serves {kind}; check the APIService of group {}",
            kind.group()
        ),
        Unavailable::AwaitsTurn { places } => format!(
            "the health of this {kind} is told by fields that are read object by object; sluice reads {places} of the namespace at a time, \
             and this one waits for its turn"
        ),
        Unavailable::OverBudget { share } => format!(
            "what the dependents of this namespace wait for fills its share of sluice's memory ({} KiB), so {kind} objects are not \
             looked at; let fewer of them wait at a time, or let their lists name less",
            share / 1024
        ),
        Unavailable::TooLarge => format!(
            "this {kind} is longer than 8 MiB as JSON, more than sluice reads of one object; make it smaller"
        ),
        Unavailable::Hidden => {
            format!("you may not read {kind} objects, so it cannot be judged from here")
        }
    };
    unmet(status, Reason::from(why), message)
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

/// An edge that holds nobody back.
pub(crate) fn met(message: impl Into<String>) -> Judged {
    Judged {
        satisfied: true,
        status: Status::Current,
        reason: Reason::Satisfied,
        message: message.into(),
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
