//! The time for which data of the API server is believed after the API server was last heard of.

use rules::lookup::Unavailable;
use std::time::{Duration, SystemTime};
use tokio::time::Instant;

/// The time for which data is believed after the last sign of the API server, even if the task that follows the data fails: a task that
/// hangs or has ended cannot pass old data off as new.
pub(super) const BELIEVED_FOR: Duration = Duration::from_secs(30);

/// The wall clock of the node: it goes on while the node is suspended, and may be set back.
#[derive(Debug, Clone, Copy)]
pub struct WallClock(fn() -> SystemTime);

impl WallClock {
    /// A wall clock that stands still, for tests that pause the steady clock: the node's clock would go on meanwhile, and on a busy machine
    /// the data of the test would count as stale.
    pub(crate) const STILL: Self = Self(|| SystemTime::UNIX_EPOCH);

    /// A wall clock whose time `now` returns.
    pub(crate) fn new(now: fn() -> SystemTime) -> Self {
        Self(now)
    }
}

/// The moment of the last sign that the API server gave of followed data: an answer, an event or a bookmark. There is none at
/// first.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LastContact {
    wall: WallClock,
    at: Option<Moment>,
}

/// A moment by two clocks. The clock that has gone further counts: the steady clock stands still while a node is suspended, so old
/// data would look new afterwards; and the wall clock may be set back.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Moment {
    steady: Instant,
    wall: SystemTime,
}

impl Moment {
    fn now(wall: WallClock) -> Self {
        Self {
            steady: Instant::now(),
            wall: (wall.0)(),
        }
    }

    /// The time that has passed from this moment to `now`, by the clock that has gone further.
    fn ago(self, now: Self) -> Duration {
        let wall = now.wall.duration_since(self.wall).unwrap_or_default();
        now.steady.duration_since(self.steady).max(wall)
    }
}

impl LastContact {
    /// The state before the first sign. `wall`: the clock by which a later sign grows old.
    pub(crate) fn none(wall: WallClock) -> Self {
        Self { wall, at: None }
    }

    /// Notes a sign of life of the API server at this moment. Returns whether the sign before was too old to be believed, so that the
    /// waiting views have to be judged again; `false` for the first sign.
    pub(crate) fn note(&mut self) -> bool {
        let before = *self;
        self.at = Some(Moment::now(self.wall));
        before.is_stale()
    }

    /// The earlier one of two last signs. A side without any sign counts as the earlier one.
    pub(crate) fn or_earlier(self, other: Self) -> Self {
        if other.at < self.at { other } else { self }
    }

    /// Whether the API server has given a sign of life, and the last one is too old for the followed data to be
    /// believed.
    pub(crate) fn is_stale(&self) -> bool {
        self.at.is_some() && self.believed_until().is_none()
    }

    /// The moment until which the last sign is believed; `None` if the sign is too old, or if there was none.
    pub(crate) fn believed_until(&self) -> Option<Instant> {
        let now = Moment::now(self.wall);
        self.at
            .filter(|heard| heard.ago(now) < BELIEVED_FOR)
            .map(|heard| heard.steady + BELIEVED_FOR)
    }
}

/// Whether the objects of a kind's store can be believed, and if not, why.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Freshness {
    /// The first list of the kind has not arrived, so nothing is known of its objects.
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
    /// The reason for which the objects of a store are not believed. A live store that is not believed is stale.
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
    use std::sync::atomic::{AtomicU64, Ordering};
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn what_was_heard_before_a_node_was_suspended_is_not_believed_after() {
        const START: u64 = 1_000_000;
        static WALL: AtomicU64 = AtomicU64::new(START);
        let wall = || SystemTime::UNIX_EPOCH + Duration::from_secs(WALL.load(Ordering::Relaxed));
        let believed = async |steady, wall_at| {
            WALL.store(START, Ordering::Relaxed);
            let mut heard = LastContact::none(WallClock::new(wall));
            heard.note();
            advance(Duration::from_secs(steady)).await;
            WALL.store(wall_at, Ordering::Relaxed);
            heard.believed_until().is_some()
        };
        assert!(believed(29, START + 29).await);
        assert!(!believed(30, START + 30).await);
        assert!(!believed(1, START + 3600).await, "it was suspended");
        assert!(believed(29, START - 3600).await, "it was set back");
        assert!(!believed(30, START - 3600).await);
    }
}
