//! The times since which this replica has seen `stable` edges satisfied, and objects recovered, for as long as a gate waits for
//! them.

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The time within which a gate asks again after an answer. In a longer pause a break may go unseen, so the streak begins anew.
const ASKS_AGAIN: Duration = Duration::from_secs(5);

/// The digest of an edge or of an object, by which its streak is found. The edge itself may be a kilobyte.
type Edge = [u8; 32];

/// The streaks: the times for which edges, and objects, have been satisfied without a break.
///
/// A view is woken by each change of its dependencies and judges them again, so a break is seen. A streak is kept only while a gate
/// waits, so the number of streaks grows with the number of gates.
#[derive(Debug, Default)]
pub(super) struct SatisfiedSince(Mutex<HashMap<Edge, Streak>>);

/// The streak of an edge, or of an object that has recovered: the time for which it has been satisfied without a break.
#[derive(Debug)]
struct Streak {
    /// The beginning of the streak; `None` while the edge or the object is not satisfied.
    since: Option<Timestamp>,
    /// The moment at which the last gate stopped waiting. Each gate that waits holds a clone.
    left: Arc<Mutex<Instant>>,
}

impl SatisfiedSince {
    /// Notes that an edge is satisfied. Returns the beginning of its streak, and a guard: the streak goes on for as long as the
    /// guard lives.
    pub(super) fn satisfied(&self, edge: &str, now: Timestamp) -> (Timestamp, Watched) {
        let mut seen = self.lock();
        let streak = look(&mut seen, digest(edge));
        (*streak.since.get_or_insert(now), streak.watch())
    }

    /// Ends the streak of an edge that is not satisfied, or whose state is unknown.
    pub(super) fn broken(&self, edge: &str) {
        self.lock().remove(&digest(edge));
    }

    /// Notes whether an object is satisfied. Returns the beginning of its streak since it was seen unsatisfied (`None` while it is
    /// unsatisfied), and a guard. An object that was not seen unsatisfied has no streak: both are `None`.
    pub(super) fn recovered(
        &self,
        object: &str,
        satisfied: bool,
        now: Timestamp,
    ) -> (Option<Timestamp>, Option<Watched>) {
        let (object, mut seen) = (digest(object), self.lock());
        if satisfied && !seen.get(&object).is_some_and(Streak::goes_on) {
            return (None, None);
        }
        let streak = look(&mut seen, object);
        let since = satisfied.then(|| *streak.since.get_or_insert(now));
        streak.since = since;
        (since, Some(streak.watch()))
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Edge, Streak>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The streak of an edge or an object, if no break can have gone unseen; else a new one.
fn look(seen: &mut HashMap<Edge, Streak>, edge: Edge) -> &mut Streak {
    // Before the map grows, the streaks go that no gate waits for.
    if seen.len() == seen.capacity() {
        seen.retain(|_, streak| streak.goes_on());
    }
    let streak = seen.entry(edge).or_insert_with(Streak::new);
    if !streak.goes_on() {
        *streak = Streak::new();
    }
    streak
}

impl Streak {
    fn new() -> Self {
        let left = Arc::new(Mutex::new(Instant::now()));
        Self { since: None, left }
    }

    /// Whether no break can have gone unseen: a gate waits, or has waited less than [`ASKS_AGAIN`] ago.
    fn goes_on(&self) -> bool {
        Arc::strong_count(&self.left) > 1 || Instant::now() < *lock(&self.left) + ASKS_AGAIN
    }

    fn watch(&self) -> Watched {
        Watched(Arc::clone(&self.left))
    }
}

/// A guard that a waiting gate holds: the streak goes on for as long as a guard of it lives.
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
        let kept = SatisfiedSince::default();
        let look = |second| kept.satisfied("a", at(second));
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
        let kept = SatisfiedSince::default();
        let (_, _waits) = kept.satisfied("a", at(0));
        let (_, _other) = kept.satisfied("b", at(1));
        kept.broken("a");
        assert_eq!(kept.satisfied("a", at(2)).0, at(2));
        assert_eq!(kept.satisfied("b", at(2)).0, at(1));
    }

    #[tokio::test(start_paused = true)]
    async fn what_nobody_waits_for_is_not_kept() {
        let kept = SatisfiedSince::default();
        let (_, _waits) = kept.satisfied("waits", at(0));
        for number in 0..1000 {
            drop(kept.satisfied(&number.to_string(), at(0)));
            pass(1).await;
        }
        let kept = kept.lock();
        assert!(kept.contains_key(&digest("waits")) && kept.len() < 100);
    }

    #[tokio::test(start_paused = true)]
    async fn an_object_recovers_only_from_what_was_seen() {
        let kept = SatisfiedSince::default();
        let look = |satisfied, second| kept.recovered("a", satisfied, at(second));
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
