//! The few shapes that a rule's answer has.

pub(super) use crate::judged::met as satisfied;
use crate::judged::{Judged, Reason};
use crate::kinds::Kind;
use crate::kstatus::{Evaluation, NOT_OBSERVED, Status};
use crate::lookup::Unavailable;

pub(super) fn waiting(reason: Reason, message: impl Into<String>) -> Judged {
    Judged {
        satisfied: false,
        status: Status::InProgress,
        reason,
        message: message.into(),
    }
}

pub(super) fn failed(reason: Reason, message: impl Into<String>) -> Judged {
    Judged {
        status: Status::Failed,
        ..waiting(reason, message)
    }
}

/// Takes over the result of kstatus as it is: satisfied only where it is `Current`. The message is never empty: a condition without one gives its
/// reason.
pub(super) fn from_kstatus(evaluation: Evaluation) -> Judged {
    let Evaluation {
        status,
        reason,
        message,
        detail,
    } = evaluation;
    let known = match status {
        Status::Current => Reason::Satisfied,
        Status::InProgress if reason == NOT_OBSERVED => Reason::NotObserved,
        Status::InProgress => Reason::InProgress,
        Status::Failed => Reason::Failed,
        Status::Terminating => Reason::Terminating,
        Status::NotFound => Reason::NotFound,
        Status::Unknown => Reason::Unjudgeable,
    };
    let message = match detail.filter(|detail| !detail.is_empty()) {
        Some(detail) => format!("{message}: {detail}"),
        None if !message.is_empty() => message,
        None if !reason.is_empty() => reason,
        None => known.sentence().to_owned(),
    };
    Judged {
        satisfied: status == Status::Current,
        status,
        reason: known,
        message,
    }
}

/// The result of a rule that needs another object, which cannot be known.
pub(super) fn unavailable(kind: &Kind, why: Unavailable) -> Judged {
    let reason = Reason::from(why);
    Judged {
        status: Status::Unknown,
        ..waiting(reason, format!("{kind}: {}", reason.sentence()))
    }
}
