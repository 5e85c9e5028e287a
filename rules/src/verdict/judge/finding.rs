//! What was found of one entry, and the fact that more words may be made of.

use crate::dependency::ObjectRef;
use crate::judged::Judged;
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
