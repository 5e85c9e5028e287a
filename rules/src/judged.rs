//! The result of one edge: whether it is satisfied, with status, reason and message. A verdict consists of such results.

mod reason;

pub use reason::Reason;

use crate::kinds::Kind;
use crate::kstatus::Status;
use crate::lookup::Unavailable;

/// The verdict on one edge of a dependent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judged {
    /// Whether the edge lets its dependent start.
    pub satisfied: bool,
    /// The status in the words of kstatus, by the rules of the asked state: a running Job is `InProgress` for `ready` and
    /// `Current` for `started`. Except under `present`, it is `Current` exactly where `satisfied` is true.
    pub status: Status,
    /// The reason why the edge is satisfied or not.
    pub reason: Reason,
    /// One line for people, empty where there is nothing to say. The line may quote the object, so only the object's namespace may see it.
    pub message: String,
}

impl Judged {
    /// The message, if the dependent's namespace may see it. `foreign`: the object may be in another namespace, and then only a message that
    /// quotes nothing is returned. `None` also for an empty message.
    pub fn told(&self, foreign: bool) -> Option<&str> {
        let quotes_nothing = self.reason == Reason::NotPermitted || self.hidden().is_some();
        let told = (!foreign || quotes_nothing) && !self.message.is_empty();
        told.then_some(self.message.as_str())
    }

    /// The beginning of the message, `you may not read Secret objects`, where the edge cannot be judged because the user of the command line may
    /// not read the kind, although sluice may. `None` for any other result.
    pub fn hidden(&self) -> Option<&str> {
        let hidden = self.message.strip_suffix(NOT_FROM_HERE);
        hidden.filter(|_| self.reason == Reason::Unjudgeable)
    }
}

/// The end of the message about objects that the caller of a command may not read.
const NOT_FROM_HERE: &str = ", so it cannot be judged from here";

/// The result of an edge whose object cannot be read: unsatisfied, with the reason of `why`. Only an `optional` edge whose kind is not served is
/// satisfied.
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
            "the API server serves no kind {kind} yet; its CustomResourceDefinition is missing: install it"
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
            "this {kind} is longer than 8 MiB as JSON, more than sluice reads of one object, or the large objects of its namespace fill \
             their share of sluice's memory; make it smaller"
        ),
        Unavailable::Hidden => {
            format!("you may not read {kind} objects{NOT_FROM_HERE}")
        }
    };
    unmet(status, Reason::from(why), message)
}

/// The result of an edge whose object does not exist: satisfied if the edge is `optional`, else not, with `what` as its message.
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

/// The result of a satisfied edge, with status `Current`.
pub(crate) fn met(message: impl Into<String>) -> Judged {
    Judged {
        satisfied: true,
        status: Status::Current,
        reason: Reason::Satisfied,
        message: message.into(),
    }
}

/// The result of an unsatisfied edge.
pub(crate) fn unmet(status: Status, reason: Reason, message: String) -> Judged {
    Judged {
        satisfied: false,
        status,
        reason,
        message,
    }
}
