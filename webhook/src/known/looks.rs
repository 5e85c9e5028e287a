//! Looks whose outcome is only told: one serves all who ask, and all of them together take no more than a hundredth of a core,
//! however many wait.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// So long a look serves at least.
const SERVES: Duration = Duration::from_secs(1);
/// So many times as long as a look took, nothing is looked at: there are two sorts of them.
const PAUSE: u32 = 200;
/// So much of that pause may lie ahead before it counts: a twentieth of a second of looking at once.
const AHEAD: Duration = Duration::from_secs(10);
/// What so many looks found is kept.
const MOST: usize = 1000;
/// Beyond that, what was found longer ago goes first.
const OLD: Duration = Duration::from_mins(1);

/// What was found by looks of one sort, by the namespace and what was looked for there.
#[derive(Debug)]
pub(super) struct Looks<T>(Mutex<State<T>>);

type Of = (String, String);

#[derive(Debug)]
struct State<T> {
    found: HashMap<Of, Found<T>>,
    /// When the pauses after all looks are over.
    rested: Option<Instant>,
}

#[derive(Debug)]
struct Found<T> {
    what: T,
    at: Instant,
}

impl<T: Clone + Default> Looks<T> {
    /// What `look` finds, or has found a while ago. Nothing, where there was none yet and there is no time for it now; whoever
    /// asks again is told.
    ///
    /// No lock is held during the look.
    pub(super) fn find(&self, of: Of, look: impl FnOnce() -> T) -> T {
        let at = Instant::now();
        let state = self.lock();
        let found = state.found.get(&of);
        if state.is_tired(at) || found.is_some_and(|found| at < found.at + SERVES) {
            return found.map(|found| found.what.clone()).unwrap_or_default();
        }
        drop(state);
        let what = look();
        let mut state = self.lock();
        state.looked(at, at.elapsed());
        let copy = what.clone();
        state.remember(of, Found { what: copy, at });
        what
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> Default for Looks<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T> Default for State<T> {
    fn default() -> Self {
        Self {
            found: HashMap::new(),
            rested: None,
        }
    }
}

impl<T> State<T> {
    /// Whether so much was looked at that it has to be left for a while.
    fn is_tired(&self, now: Instant) -> bool {
        self.rested.is_some_and(|rested| rested > now + AHEAD)
    }

    fn looked(&mut self, at: Instant, took: Duration) {
        let begins = self.rested.map_or(at, |rested| rested.max(at));
        self.rested = Some(begins + took * PAUSE);
    }

    fn remember(&mut self, of: Of, found: Found<T>) {
        if self.found.len() >= MOST {
            self.found.retain(|_, before| found.at < before.at + OLD);
        }
        if self.found.len() < MOST {
            self.found.insert(of, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(workload: usize) -> Of {
        ("shop".to_owned(), format!("Deployment/{workload}"))
    }

    #[tokio::test(start_paused = true)]
    async fn one_look_serves_all_who_ask_for_a_while() {
        let looks = Looks::default();
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
        let (mut state, begun) = (State::<()>::default(), Instant::now());
        let took = Duration::from_millis(10);
        let mut looked = Duration::ZERO;
        let mut after = |second: u64| {
            for step in 0..1000 {
                let now = begun + Duration::from_secs(second) + took * step / 10;
                if !state.is_tired(now) {
                    state.looked(now, took);
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
}
