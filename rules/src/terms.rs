//! On which terms a dependent waits: what its annotations say of the waiting itself.

use jiff::fmt::friendly::{Spacing, SpanPrinter};
use jiff::{SignedDuration, Timestamp};
use std::fmt;
use std::time::Duration;

/// What the annotations of a dependent say of its waiting; `None` where they do not name the key, and then the default
/// counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// [`crate::keys::TIMEOUT`], from the pod's start; for ever by default, never zero.
    pub timeout: Option<Duration>,
    /// [`crate::keys::ON_TIMEOUT`]
    pub on_timeout: Option<OnTimeout>,
    /// [`crate::keys::ON_FAILURE`]
    pub on_failure: Option<OnFailure>,
    /// [`crate::keys::REGATE`]
    pub regate: Option<Regate>,
    /// [`crate::keys::SKIP`]; `false` by default.
    pub skip: Option<bool>,
}

/// What happens when the timeout has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum OnTimeout {
    /// It is said loudly, and the gate waits on.
    #[default]
    Wait,
    /// The gate exits non-zero.
    Fail,
    /// The application starts anyway, with a Warning event.
    Proceed,
}

/// What a dependency that has failed for good does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OnFailure {
    /// It is waited for, since it may be created again.
    #[default]
    Wait,
    /// The gate exits non-zero.
    Fail,
}

/// Whether a pod waits although another of the same revision has passed its gate before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Regate {
    /// No.
    #[default]
    Once,
    /// Yes.
    Always,
}

impl Terms {
    /// When the timeout of a pod that was started then has passed; `None` for never.
    pub fn deadline(&self, started: Option<Timestamp>) -> Option<Timestamp> {
        deadline(self.timeout?, started)
    }
}

/// When a timeout has passed that counts from `started`; `None` for never.
pub(crate) fn deadline(timeout: Duration, started: Option<Timestamp>) -> Option<Timestamp> {
    let timeout = SignedDuration::try_from(timeout).ok()?;
    started?.checked_add(timeout).ok()
}

/// A duration in a spelling of Go's, as whoever wrote it has it: `1h30m`.
pub(crate) struct Go(pub(crate) Duration);

impl fmt::Display for Go {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = SpanPrinter::new().spacing(Spacing::None);
        out.write_str(&printer.unsigned_duration_to_string(&self.0))
    }
}
