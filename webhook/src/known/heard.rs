//! For how long what is followed is believed.

use std::time::Duration;
use tokio::time::Instant;

/// What is followed is believed for this long after the last sign of the API server, whatever its follower does: one that
/// hangs or has ended cannot leave old data behind that looks like new.
pub(super) const BELIEVED_FOR: Duration = Duration::from_secs(30);

/// When the API server last gave a sign of what is followed: an answer, an event, a bookmark. At first never.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Heard(Option<Instant>);

impl Heard {
    /// A sign. Returns whether the last one was too long ago to be believed, so that those who wait have to judge anew.
    pub(crate) fn note(&mut self) -> bool {
        let before = self.0.replace(Instant::now());
        before.is_some_and(|before| before.elapsed() >= BELIEVED_FOR)
    }

    /// Whether it was heard of, but not lately.
    pub(crate) fn is_stale(&self) -> bool {
        self.0.is_some() && self.believed_until().is_none()
    }

    /// Until when what was heard is believed; `None` when it no longer is.
    pub(crate) fn believed_until(&self) -> Option<Instant> {
        self.0
            .filter(|heard| heard.elapsed() < BELIEVED_FOR)
            .map(|heard| heard + BELIEVED_FOR)
    }
}
