//! Since when this replica has seen edges satisfied that have to be so for a while: for as long as somebody waits for them.

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// A gate that was told something asks again within this time. What happens meanwhile, while nobody else waits, is not seen: so
/// after a longer pause the time counts anew.
const ASKS_AGAIN: Duration = Duration::from_secs(5);

/// A digest of what tells an edge from every other, which alone may be a kilobyte.
type Edge = [u8; 32];

/// The edges that were seen satisfied.
///
/// Whoever waits hears of each change of what he waits for, and it is looked at anew then, so a break is seen. Nothing is kept for
/// longer than somebody waits, so what is kept grows with what waits.
#[derive(Debug, Default)]
pub(super) struct Sights(Mutex<HashMap<Edge, Arc<Sight>>>);

/// One edge, satisfied without a break. Whoever waits holds it.
#[derive(Debug)]
struct Sight {
    since: Timestamp,
    /// When somebody who waited turned away last.
    left: Mutex<Instant>,
}

impl Sights {
    /// It is satisfied; since when it has been seen to be. It is watched over for as long as what is returned lives.
    pub(super) fn satisfied(&self, edge: &str, now: Timestamp) -> (Timestamp, Watched) {
        let (edge, looked) = (digest(edge), Instant::now());
        let mut seen = self.lock();
        // Before it grows, what nobody waits for any more goes.
        if seen.len() == seen.capacity() {
            seen.retain(|_, sight| sight.goes_on(looked));
        }
        let before = seen.get(&edge).filter(|sight| sight.goes_on(looked));
        let sight = before.cloned().unwrap_or_else(|| {
            let left = Mutex::new(looked);
            Arc::new(Sight { since: now, left })
        });
        seen.insert(edge, Arc::clone(&sight));
        (sight.since, Watched(sight))
    }

    /// It is not satisfied, or nobody can say.
    pub(super) fn broken(&self, edge: &str) {
        self.lock().remove(&digest(edge));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Edge, Arc<Sight>>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Somebody waits for as long as this lives.
#[derive(Debug)]
pub(super) struct Watched(Arc<Sight>);

impl Drop for Watched {
    fn drop(&mut self) {
        *self.0.left() = Instant::now();
    }
}

impl Sight {
    /// Whether nothing can have happened unseen: somebody waits, or has done so a moment ago.
    fn goes_on(self: &Arc<Self>, now: Instant) -> bool {
        Arc::strong_count(self) > 1 || now < *self.left() + ASKS_AGAIN
    }

    fn left(&self) -> MutexGuard<'_, Instant> {
        self.left.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn digest(edge: &str) -> Edge {
    Sha256::digest(edge).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    async fn pass(seconds: u64) {
        tokio::time::advance(Duration::from_secs(seconds)).await;
    }

    #[tokio::test(start_paused = true)]
    async fn it_counts_for_as_long_as_somebody_waits() {
        let sights = Sights::default();
        let look = |second| sights.satisfied("a", at(second));
        let (since, waits) = look(0);
        assert_eq!(since, at(0));
        pass(60).await;
        drop(waits);
        let (since, waits) = look(60);
        assert_eq!(since, at(0), "it has waited until now");
        let (_, second) = look(60);
        drop(waits);
        pass(600).await;
        assert_eq!(look(660).0, at(0), "one still waited");
        drop(second);
        pass(4).await;
        let (since, waits) = look(664);
        assert_eq!(since, at(0), "it asks again");
        drop(waits);
        pass(5).await;
        assert_eq!(look(669).0, at(669), "nobody has seen what was meanwhile");
    }

    #[tokio::test(start_paused = true)]
    async fn a_break_has_it_count_anew_for_everybody() {
        let sights = Sights::default();
        let (_, _waits) = sights.satisfied("a", at(0));
        let (_, _other) = sights.satisfied("b", at(1));
        sights.broken("a");
        assert_eq!(sights.satisfied("a", at(2)).0, at(2));
        assert_eq!(sights.satisfied("b", at(2)).0, at(1));
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_waits_for_is_not_kept() {
        let sights = Sights::default();
        let (_, _waits) = sights.satisfied("waits", at(0));
        for number in 0..1000 {
            drop(sights.satisfied(&number.to_string(), at(0)));
            pass(1).await;
        }
        let kept = sights.lock();
        assert!(kept.contains_key(&digest("waits")) && kept.len() < 100);
    }
}
