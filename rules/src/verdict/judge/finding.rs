//! What was found of one entry, and the fact that more words may be made of.

use crate::dependency::ObjectRef;
use crate::judged::{Judged, Reason};
use crate::kinds::Kind;
use crate::object::name;
use serde_json::Value;

/// What was found of one entry.
pub(super) struct EntryFinding {
    pub(super) judged: Judged,
    /// What may be explained in more words. They follow the message of `judged`.
    pub(super) lead: Option<Lead>,
}

/// A fact about an entry that is not satisfied, which `explain` finds words for.
pub(in crate::verdict) enum Lead {
    /// There is no object of this name, which may be a slip.
    NoSuchName(ObjectRef),
    /// There is no object at all.
    NothingThere,
    /// Only the installer of this object can mend it.
    OnlyByInstaller {
        /// `Job/migrate`
        name: String,
        object: Value,
    },
}

impl From<Judged> for EntryFinding {
    fn from(judged: Judged) -> Self {
        Self { judged, lead: None }
    }
}

impl EntryFinding {
    /// What was found of an object, with the lead to its installer where nothing else can mend it.
    pub(super) fn of(kind: &Kind, object: Value, judged: Judged) -> Self {
        let only_by_installer = matches!(
            judged.reason,
            Reason::NotFresh | Reason::OtherRevision | Reason::JobFailed | Reason::FailedForGood
        );
        let lead = (!judged.satisfied && only_by_installer).then(|| Lead::OnlyByInstaller {
            name: format!("{kind}/{}", name(&object)),
            object,
        });
        Self { judged, lead }
    }
}
