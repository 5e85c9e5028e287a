//! Since when this replica has seen edges satisfied that have to be so for a while, and objects after they were not: for as long as
//! somebody waits for them.

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

/// What was seen of edges and of objects.
///
/// Whoever waits hears of each change of what he waits for, and it is looked at anew then, so a break is seen. Nothing is kept for
/// longer than somebody waits, so what is kept grows with what waits.
#[derive(Debug, Default)]
pub(super) struct Sights(Mutex<HashMap<Edge, Sight>>);

/// One edge, satisfied without a break; or one object, which was seen not to be.
#[derive(Debug)]
struct Sight {
    /// `None` while it is not satisfied.
    since: Option<Timestamp>,
    /// When somebody who waited turned away last. Whoever waits holds it.
    left: Arc<Mutex<Instant>>,
}

impl Sights {
    /// An edge is satisfied; since when it has been seen to be. It is watched over for as long as what is returned lives.
    pub(super) fn satisfied(&self, edge: &str, now: Timestamp) -> (Timestamp, Watched) {
        let mut seen = self.lock();
        let sight = look(&mut seen, digest(edge));
        (*sight.since.get_or_insert(now), sight.watch())
    }

    /// It is not satisfied, or nobody can say.
    pub(super) fn broken(&self, edge: &str) {
        self.lock().remove(&digest(edge));
    }

    /// An object is satisfied or not; since when it has been after it was seen not to be, and what watches over that. One that was
    /// never seen otherwise is not kept.
    pub(super) fn recovered(
        &self,
        object: &str,
        satisfied: bool,
        now: Timestamp,
    ) -> (Option<Timestamp>, Option<Watched>) {
        let (object, mut seen) = (digest(object), self.lock());
        if satisfied && !seen.get(&object).is_some_and(Sight::goes_on) {
            return (None, None);
        }
        let sight = look(&mut seen, object);
        let since = satisfied.then(|| *sight.since.get_or_insert(now));
        sight.since = since;
        (since, Some(sight.watch()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Edge, Sight>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What was seen of it, if nothing can have happened unseen; else a sight that is new.
fn look(seen: &mut HashMap<Edge, Sight>, edge: Edge) -> &mut Sight {
    // Before it grows, what nobody waits for any more goes.
    if seen.len() == seen.capacity() {
        seen.retain(|_, sight| sight.goes_on());
    }
    let sight = seen.entry(edge).or_insert_with(Sight::new);
    if !sight.goes_on() {
        *sight = Sight::new();
    }
    sight
}

impl Sight {
    fn new() -> Self {
        let left = Arc::new(Mutex::new(Instant::now()));
        Self { since: None, left }
    }

    /// Whether nothing can have happened unseen: somebody waits, or has done so a moment ago.
    fn goes_on(&self) -> bool {
        Arc::strong_count(&self.left) > 1 || Instant::now() < *lock(&self.left) + ASKS_AGAIN
    }

    fn watch(&self) -> Watched {
        Watched(Arc::clone(&self.left))
    }
}

/// Somebody waits for as long as this lives.
#[derive(Debug)]
pub(super) struct Watched(Arc<Mutex<Instant>>);

impl Drop for Watched {
    fn drop(&mut self) {
        *lock(&self.0) = Instant::now();
    }
}

fn lock(left: &Mutex<Instant>) -> MutexGuard<'_, Instant> {
    left.lock().unwrap_or_else(PoisonError::into_inner)
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

    #[tokio::test(start_paused = true)]
    async fn an_object_recovers_only_from_what_was_seen() {
        let sights = Sights::default();
        let look = |satisfied, second| sights.recovered("a", satisfied, at(second));
        assert!(
            matches!(look(true, 0), (None, None)),
            "never seen otherwise"
        );
        let (since, waits) = look(false, 1);
        assert_eq!(since, None);
        pass(60).await;
        let (since, second) = look(true, 61);
        assert_eq!(since, Some(at(61)));
        drop(waits);
        pass(60).await;
        assert_eq!(look(true, 121).0, Some(at(61)), "it goes on");
        let (_, waits) = look(false, 122);
        assert_eq!(look(true, 123).0, Some(at(123)), "it broke");
        drop((waits, second));
        pass(5).await;
        assert_eq!(
            look(true, 130).0,
            None,
            "nobody has seen what was meanwhile"
        );
    }
}
