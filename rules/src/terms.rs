//! The terms of a wait: the annotations that a dependent has beside its lists.

use jiff::fmt::friendly::{Spacing, SpanPrinter};
use jiff::{SignedDuration, Timestamp};
use std::fmt;
use std::time::Duration;
use strum::{EnumString, VariantNames};

/// The terms of a dependent's wait; `None` for a key that its annotations do not name, and then the default counts.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Terms {
    /// The value of [`crate::keys::TIMEOUT`]: the longest wait from the pod's start; for ever by default, never zero.
    pub timeout: Option<Duration>,
    /// The value of [`crate::keys::ON_TIMEOUT`].
    pub on_timeout: Option<OnTimeout>,
    /// The value of [`crate::keys::ON_FAILURE`].
    pub on_failure: Option<OnFailure>,
    /// The value of [`crate::keys::REGATE`].
    pub regate: Option<Regate>,
    /// The value of [`crate::keys::SKIP`]; `false` by default.
    pub skip: Option<bool>,
}

/// The effect of a timeout that has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum OnTimeout {
    /// The gate reports the timeout and waits on.
    #[default]
    Wait,
    /// The gate exits non-zero, so the pod does not start.
    Fail,
    /// The gate opens, and the application starts with a Warning event.
    Proceed,
}

/// The effect of a dependency that has failed for good.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum OnFailure {
    /// The gate waits on, since the dependency may be created again.
    #[default]
    Wait,
    /// The gate exits non-zero, so the pod does not start.
    Fail,
}

/// Whether a pod waits although it or another pod of its revision has passed its gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, EnumString, VariantNames)]
#[strum(serialize_all = "lowercase")]
pub enum Regate {
    /// Later pods of the revision start without waiting, and so does a pod whose node was booted.
    #[default]
    Once,
    /// Later pods of the revision start without waiting, but after each boot of a node its pods of the revision wait once more.
    Boot,
    /// Later pods of the revision wait too.
    Always,
}

impl Terms {
    /// The end of the timeout of a pod that started at this time; `None` without a timeout, or before the pod has started.
    pub fn deadline(&self, started: Option<Timestamp>) -> Option<Timestamp> {
        deadline(self.timeout?, started)
    }
}

/// The end of a timeout that counts from `started`; `None` without a start, or for an end beyond the last time that can be told.
pub(crate) fn deadline(timeout: Duration, started: Option<Timestamp>) -> Option<Timestamp> {
    let timeout = SignedDuration::try_from(timeout).ok()?;
    started?.checked_add(timeout).ok()
}

/// A duration, written in Go's spelling: `1h30m`.
pub(crate) struct Go(pub(crate) Duration);

impl fmt::Display for Go {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let printer = SpanPrinter::new().spacing(Spacing::None);
        out.write_str(&printer.unsigned_duration_to_string(&self.0))
    }
}
