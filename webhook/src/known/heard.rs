//! For how long what is followed is believed.

use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// What is followed is believed for this long after the last sign of the API server, whatever its follower does: one that
/// hangs or has ended cannot leave old data behind that looks like new.
pub(super) const BELIEVED_FOR: Duration = Duration::from_secs(30);

/// When the API server last gave a sign of what is followed: an answer, an event, a bookmark. At first never.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Heard(Option<Moment>);

/// By two clocks, of which whichever says more counts: the steady one stands still while a node is suspended, so old data would look
/// new when it goes on, and the wall clock may be set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    steady: Instant,
    wall: SystemTime,
}

impl Moment {
    fn now() -> Self {
        Self {
            steady: Instant::now(),
            wall: SystemTime::now(),
        }
    }

    /// How long ago it was at another one.
    fn ago(self, now: Self) -> Duration {
        let wall = now.wall.duration_since(self.wall).unwrap_or_default();
        now.steady.duration_since(self.steady).max(wall)
    }
}

impl Heard {
    /// A sign. Returns whether the last one was too long ago to be believed, so that those who wait have to judge anew.
    pub(crate) fn note(&mut self) -> bool {
        let before = *self;
        self.0 = Some(Moment::now());
        before.is_stale()
    }

    /// Whether it was heard of, but not lately.
    pub(crate) fn is_stale(&self) -> bool {
        self.0.is_some() && self.believed_until().is_none()
    }

    /// Until when what was heard is believed; `None` when it no longer is.
    pub(crate) fn believed_until(&self) -> Option<Instant> {
        self.believed_at(Moment::now())
    }

    fn believed_at(&self, now: Moment) -> Option<Instant> {
        self.0
            .filter(|heard| heard.ago(now) < BELIEVED_FOR)
            .map(|heard| heard.steady + BELIEVED_FOR)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_heard_before_a_node_was_suspended_is_not_believed_after() {
        let heard = Moment::now();
        let believed = |steady, wall| {
            let now = Moment {
                steady: heard.steady + Duration::from_secs(steady),
                wall,
            };
            Heard(Some(heard)).believed_at(now).is_some()
        };
        let later = |seconds| heard.wall + Duration::from_secs(seconds);
        assert!(believed(29, later(29)));
        assert!(!believed(30, later(30)));
        assert!(!believed(1, later(3600)), "it was suspended");
        let set_back = heard.wall - Duration::from_secs(3600);
        assert!(believed(29, set_back));
        assert!(!believed(30, set_back));
    }
}
