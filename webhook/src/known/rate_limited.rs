//! Results of costly searches whose outcome only explains a verdict. One search serves all views that ask, and all searches
//! together take at most a hundredth of a core, those of one namespace at most a quarter of that, however many gates wait.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The least time for which the result of a search serves all callers.
const SERVES: Duration = Duration::from_secs(1);
/// The pause after a search, in multiples of its duration. There are two sorts of searches, so each may use half of a hundredth of a
/// core.
const PAUSE: u32 = 200;
/// The pauses that may add up before they delay a search, which lets a twentieth of a second of searching go at once.
const AHEAD: Duration = Duration::from_secs(10);
/// The number of parts into which the searching is divided: one namespace gets one part, so it pauses four times as long.
const PARTS: u32 = 4;
/// The most results that are kept of each of the two sorts of searches, over all namespaces.
const MOST: usize = 1000;
/// The most results that are kept of each of the two sorts of searches for one namespace.
const OF_A_NAMESPACE: usize = MOST / 4;
/// The age from which a result makes room for another one, once as many results are kept as there may be.
const OLD: Duration = Duration::from_mins(1);

/// The results of searches of one of the two sorts, by namespace and name. Each sort has its own limits of time and of kept results.
#[derive(Debug)]
pub(super) struct RateLimited<T>(Mutex<Results<T>>);

type NamespacedName = (String, String);

#[derive(Debug)]
struct Results<T> {
    found: HashMap<NamespacedName, CachedResult<T>>,
    /// The moment until which the pauses after all searches of this sort last; `None` before the first search.
    rested: Option<Instant>,
    /// The moment until which the pauses of each namespace's searches last.
    rested_of: HashMap<String, Instant>,
}

#[derive(Debug)]
struct CachedResult<T> {
    what: T,
    at: Instant,
}

impl<T: Clone + Default> RateLimited<T> {
    /// The result of the search `look`; or the last result, if it is recent or the searches have used up their time. The default where there
    /// is no result yet and no time for a search; the next call may have one.
    ///
    /// No lock is held during the search.
    pub(super) fn find(&self, of: NamespacedName, look: impl FnOnce() -> T) -> T {
        let at = Instant::now();
        let state = self.lock();
        let found = state.found.get(&of);
        if state.is_tired(&of.0, at) || found.is_some_and(|found| at < found.at + SERVES) {
            return found.map(|found| found.what.clone()).unwrap_or_default();
        }
        drop(state);
        let what = look();
        let mut state = self.lock();
        state.looked(&of.0, at, at.elapsed());
        let copy = what.clone();
        state.remember(of, CachedResult { what: copy, at });
        what
    }

    fn lock(&self) -> MutexGuard<'_, Results<T>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for RateLimited<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Default for Results<T> {
    fn default() -> Self {
        Self {
            found: HashMap::new(),
            rested: None,
            rested_of: HashMap::new(),
        }
    }
}

impl<T> Results<T> {
    /// Whether the pauses after past searches, of all namespaces or of this one, last for more than [`AHEAD`] from now, so that no further
    /// search may begin.
    fn is_tired(&self, namespace: &str, now: Instant) -> bool {
        let pauses = [self.rested.as_ref(), self.rested_of.get(namespace)];
        pauses
            .into_iter()
            .flatten()
            .any(|rested| *rested > now + AHEAD)
    }

    fn looked(&mut self, namespace: &str, at: Instant, took: Duration) {
        let begins = self.rested.map_or(at, |rested| rested.max(at));
        self.rested = Some(begins + took * PAUSE);
        self.rested_of.retain(|_, rested| *rested > at);
        let rested = self.rested_of.entry(namespace.to_owned()).or_insert(at);
        *rested += took * PAUSE * PARTS;
    }

    fn remember(&mut self, of: NamespacedName, found: CachedResult<T>) {
        let is_full = |results: &HashMap<NamespacedName, CachedResult<T>>| {
            let same = |(namespace, _): &&NamespacedName| *namespace == of.0;
            results.len() >= MOST || results.keys().filter(same).count() >= OF_A_NAMESPACE
        };
        if is_full(&self.found) {
            self.found.retain(|_, before| found.at < before.at + OLD);
        }
        if self.found.contains_key(&of) || !is_full(&self.found) {
            self.found.insert(of, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(workload: usize) -> NamespacedName {
        ("shop".to_owned(), format!("Deployment/{workload}"))
    }

    #[tokio::test(start_paused = true)]
    async fn one_look_serves_all_who_ask_for_a_while() {
        let looks = RateLimited::default();
        let count = std::cell::Cell::new(0);
        let look = || {
            count.set(count.get() + 1);
            Some(count.get())
        };
        let told = |workload| looks.find(of(workload), look);
        for _ in 0..1000 {
            assert_eq!(told(1), Some(1));
        }
        assert_eq!(told(2), Some(2), "of another workload");
        tokio::time::advance(SERVES).await;
        assert_eq!(told(1), Some(3));
        for workload in 0..10 * MOST {
            assert!(told(workload).is_some());
            assert!(looks.lock().found.len() <= MOST);
        }
    }

    #[test]
    fn looks_take_no_more_than_their_share_of_a_core() {
        let (mut state, begun) = (Results::<()>::default(), Instant::now());
        let took = Duration::from_millis(10);
        let mut looked = Duration::ZERO;
        let mut after = |second: u64| {
            for step in 0..1000 {
                let now = begun + Duration::from_secs(second) + took * step / 10;
                let namespace = format!("shop-{}", step % 8);
                if !state.is_tired(&namespace, now) {
                    state.looked(&namespace, now, took);
                    looked += took;
                }
            }
            looked
        };
        let at_once = after(0);
        assert!(
            at_once > AHEAD / PAUSE && at_once < AHEAD / PAUSE * 2,
            "{at_once:?}"
        );
        let all = (1..1000).map(after).max();
        assert!(all <= Some(at_once + Duration::from_secs(5)), "{all:?}");
    }

    #[test]
    fn the_looks_of_one_namespace_leave_time_for_others() {
        let (mut state, begun) = (Results::<()>::default(), Instant::now());
        let took = Duration::from_millis(10);
        for step in 0..10_000 {
            let now = begun + took * step;
            if !state.is_tired("loud", now) {
                state.looked("loud", now, took);
            }
            assert!(!state.is_tired("quiet", now), "{step}");
        }
        assert!(state.is_tired("loud", begun + took * 10_000));
    }
}
