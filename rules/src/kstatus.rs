//! kstatus, exactly: the rules of kubernetes-sigs/cli-utils `pkg/kstatus` for one object, as its main branch has them since May 2025.
//! Release v0.37.2 lacks one step of them, by which a suspended Job is current.
//!
//! The order of the checks is the library's: deletion, generation, the standard conditions, the rule of a built-in
//! kind, the condition `Ready`, and else `Current`. Only group and kind choose the rule; the version is ignored.
//! Fields are read as Go reads them (see the `field` and `conditions` modules): that, more than the rules, is where
//! another implementation can differ.

mod builtin;
mod conditions;
mod field;
mod generic;
mod go;
mod instant;
mod pod;
mod simple;
mod workload;

pub(crate) use conditions::{Condition, Conditions};
pub(crate) use field::{flag, group_and_kind, int, text};
pub(crate) use generic::NOT_OBSERVED;
pub(crate) use go::Printed;
pub(crate) use instant::instant;

use jiff::Timestamp;
use serde_json::Value;
use strum::{Display, EnumString, IntoStaticStr, VariantArray};

/// The words by which kstatus tells the status of an object.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, Display, EnumString, IntoStaticStr, VariantArray,
)]
pub enum Status {
    /// The object is being reconciled.
    InProgress,
    /// The object reports a failure, so kstatus calls it `Failed`.
    Failed,
    /// The object has the state that its spec asks for.
    Current,
    /// The object is being deleted.
    Terminating,
    /// The object does not exist.
    NotFound,
    /// The object's status cannot be judged.
    Unknown,
}

impl Status {
    /// Every status of kstatus, in the library's order.
    pub const ALL: &'static [Self] = Self::VARIANTS;

    /// The word for the status, as kstatus writes it.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

/// The result of kstatus for one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Evaluation {
    /// The status of the object in kstatus' words.
    pub status: Status,
    /// The reason of the condition `Reconciling` or `Stalled` that kstatus would put on the object; empty where there is none.
    pub reason: String,
    /// The message of kstatus about the object.
    pub message: String,
    /// The message of the condition that kstatus would put on the object, where it is not `message`: about a Deployment over its progress
    /// deadline kstatus says one thing, and quotes the controller in the condition.
    pub detail: Option<String>,
}

/// The condition that kstatus would put on the object; its status is always `True`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Synthetic<'a> {
    /// The type of the condition: `Reconciling` or `Stalled`.
    pub kind: &'static str,
    /// The condition's reason; empty where the object's own condition has none.
    pub reason: &'a str,
    /// The message of the condition.
    pub message: &'a str,
}

impl Evaluation {
    /// The synthetic condition: `Reconciling` with `InProgress`, `Stalled` with `Failed`, else none.
    pub fn condition(&self) -> Option<Synthetic<'_>> {
        let kind = match self.status {
            Status::InProgress => generic::RECONCILING,
            Status::Failed => generic::STALLED,
            _ => return None,
        };
        Some(Synthetic {
            kind,
            reason: &self.reason,
            message: self.detail.as_deref().unwrap_or(&self.message),
        })
    }

    fn new(status: Status, reason: &str, message: impl Into<String>) -> Self {
        Self {
            status,
            reason: reason.to_owned(),
            message: message.into(),
            detail: None,
        }
    }

    fn current(message: impl Into<String>) -> Self {
        Self::new(Status::Current, "", message)
    }

    fn in_progress(reason: &str, message: impl Into<String>) -> Self {
        Self::new(Status::InProgress, reason, message)
    }

    fn failed(reason: &str, message: impl Into<String>) -> Self {
        Self::new(Status::Failed, reason, message)
    }
}

/// Why an object cannot be judged: kstatus answers such an object with `Unknown`. The text is the library's own.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct KstatusError(pub String);

/// The inputs of the rule of a built-in kind.
#[derive(Clone, Copy)]
struct Observed<'a> {
    object: &'a Value,
    conditions: Conditions<'a>,
    now: &'a dyn Fn() -> Timestamp,
}

/// Judges one object at the time `now`, which only the age of an unschedulable Pod is measured against.
///
/// An error is a field of the wrong type where the library insists (`metadata.deletionTimestamp`,
/// `metadata.generation`, `status.observedGeneration`, the conditions, a Pod's `status.containerStatuses`), or a Pod
/// in a phase without a rule.
pub fn compute(object: &Value, now: Timestamp) -> Result<Evaluation, KstatusError> {
    compute_at(object, &|| now)
}

/// Judges one object; calls `now` only if the rule needs the time, so that a caller can tell whether it did.
pub(crate) fn compute_at(
    object: &Value,
    now: &dyn Fn() -> Timestamp,
) -> Result<Evaluation, KstatusError> {
    if !object.is_object() {
        let kind = go::type_name(object);
        return Err(KstatusError(format!(
            "an object is a map, this is of the type {kind}"
        )));
    }
    if let Some(evaluation) = generic::deleted(object)? {
        return Ok(evaluation);
    }
    if let Some(evaluation) = generic::generation(object)? {
        return Ok(evaluation);
    }
    let conditions = Conditions::read(object)?;
    if let Some(evaluation) = generic::standard(conditions) {
        return Ok(evaluation);
    }
    let subject = Observed {
        object,
        conditions,
        now,
    };
    if let Some(result) = builtin::judge(&subject) {
        return result;
    }
    Ok(generic::ready(conditions).unwrap_or_else(|| Evaluation::current("Resource is current")))
}

#[cfg(test)]
pub(crate) mod arbitrary;
#[cfg(test)]
mod tests;
