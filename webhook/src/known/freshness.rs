//! The time for which followed data is believed.

use rules::lookup::Unavailable;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// Data is believed for this long after the last sign of the API server, even if its follower fails: a follower that hangs or has
/// ended cannot pass old data off as new.
pub(super) const BELIEVED_FOR: Duration = Duration::from_secs(30);

/// The moment of the last sign that the API server gave of followed data: an answer, an event or a bookmark. There is none at
/// first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct LastContact(Option<Moment>);

/// A moment by two clocks. The clock that has gone further counts: the steady clock stands still while a node is suspended, so old
/// data would look new afterwards; and the wall clock may be set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    steady: Instant,
    wall: SystemTime,
}

impl Moment {
    fn now() -> Self {
        Self {
            steady: Instant::now(),
            wall: wall(),
        }
    }

    /// The time that has passed from this moment to `now`.
    fn ago(self, now: Self) -> Duration {
        let wall = now.wall.duration_since(self.wall).unwrap_or_default();
        now.steady.duration_since(self.steady).max(wall)
    }
}

/// The wall clock. Tests pause the steady clock; the wall clock would go on meanwhile, and on a busy machine make old what is new.
fn wall() -> SystemTime {
    if cfg!(test) {
        SystemTime::UNIX_EPOCH
    } else {
        SystemTime::now()
    }
}

impl LastContact {
    /// Notes a sign of life of the API server. Returns whether the last sign was too old to be believed, so that the
    /// waiting views have to be judged again.
    pub(crate) fn note(&mut self) -> bool {
        let before = *self;
        self.0 = Some(Moment::now());
        before.is_stale()
    }

    /// Whether the API server has given a sign of life, and the last one is too old for the followed data to be
    /// believed.
    pub(crate) fn is_stale(&self) -> bool {
        self.0.is_some() && self.believed_until().is_none()
    }

    /// The moment until which the last sign is believed; `None` if the sign is too old, or if there was none.
    pub(crate) fn believed_until(&self) -> Option<Instant> {
        self.believed_at(Moment::now())
    }

    fn believed_at(&self, now: Moment) -> Option<Instant> {
        self.0
            .filter(|heard| heard.ago(now) < BELIEVED_FOR)
            .map(|heard| heard.steady + BELIEVED_FOR)
    }
}

/// The freshness of the store of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Freshness {
    /// The first list of the kind has not arrived.
    #[default]
    Syncing,
    /// The kind is listed and followed. [`super::store::Store::believed_until`] tells for how long.
    Live,
    /// The API server has forbidden the kind for a while.
    Forbidden,
    /// The API server has not served the kind for a while.
    NotServed,
    /// The API server cannot tell whether it serves the kind.
    Undiscovered,
}

impl Freshness {
    /// The reason for which a store of this freshness is not believed. A live store is stale then.
    pub(super) fn unavailable(self) -> Unavailable {
        match self {
            Self::Live => Unavailable::Stale,
            Self::Syncing => Unavailable::Syncing,
            Self::Forbidden => Unavailable::Forbidden,
            Self::NotServed => Unavailable::NotServed,
            Self::Undiscovered => Unavailable::Undiscovered,
        }
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
            LastContact(Some(heard)).believed_at(now).is_some()
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
