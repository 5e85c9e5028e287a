//! The finding about one entry, with a lead: a fact about it for which `explain` may find more words.

use crate::dependency::ObjectRef;
use crate::judged::{Judged, Reason};
use crate::kinds::Kind;
use crate::object::name;
use serde_json::Value;

/// The finding about one entry, with the lead to more words about it.
pub(super) struct EntryFinding {
    pub(super) judged: Judged,
    /// A fact for which `explain` may find more words. These words follow the message of `judged`.
    pub(super) lead: Option<Lead>,
}

/// A fact about an entry that is not satisfied, which `explain` finds words for.
pub(in crate::verdict) enum Lead {
    /// The lead that no object has this name, which may be a slip.
    NoSuchName(ObjectRef),
    /// The lead that no object exists that the entry could mean.
    NothingThere,
    /// The lead that only the installer of this object can mend the object.
    OnlyByInstaller {
        /// Kind and name of the object, such as `Job/migrate`.
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
    /// The finding about an object, with the lead [`Lead::OnlyByInstaller`] where it is not satisfied because it failed for good, is too old, or
    /// is of another revision.
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
