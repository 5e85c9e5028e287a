//! Looks whose outcome is only told: one serves all who ask, and all of them together take no more than a hundredth of a core,
//! however many wait.

use rules::room::Lack;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// So long a look serves at least.
const SERVES: Duration = Duration::from_secs(1);
/// So many times as long as a look took, nothing is looked at.
const PAUSE: u32 = 100;
/// So much of that pause may lie ahead before it counts: a tenth of a second of looking at once.
const AHEAD: Duration = Duration::from_secs(10);
/// What so many looks found is kept.
const MOST: usize = 1000;
/// Beyond that, what was found longer ago goes first.
const OLD: Duration = Duration::from_mins(1);

/// What was found, by the namespace and the workload that was looked for.
#[derive(Debug, Default)]
pub(super) struct Looks(Mutex<State>);

type Of = (String, String);

#[derive(Debug, Default)]
struct State {
    found: HashMap<Of, Found>,
    /// When the pauses after all looks are over.
    rested: Option<Instant>,
}

#[derive(Debug, Clone)]
struct Found {
    lack: Option<Arc<Lack>>,
    at: Instant,
}

impl Looks {
    /// What `look` finds, or has found a while ago. Nothing, where there was none yet and there is no time for it now; whoever
    /// asks again is told.
    ///
    /// No lock is held during the look.
    pub(super) fn lack(&self, of: Of, look: impl FnOnce() -> Option<Lack>) -> Option<Arc<Lack>> {
        let at = Instant::now();
        let state = self.lock();
        let found = state.found.get(&of);
        if state.is_tired(at) || found.is_some_and(|found| at < found.at + SERVES) {
            return found?.lack.clone();
        }
        drop(state);
        let lack = look().map(Arc::new);
        let mut state = self.lock();
        state.looked(at, at.elapsed());
        state.remember(
            of,
            Found {
                lack: lack.clone(),
                at,
            },
        );
        lack
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Every change is one call, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Whether so much was looked at that it has to be left for a while.
    fn is_tired(&self, now: Instant) -> bool {
        self.rested.is_some_and(|rested| rested > now + AHEAD)
    }

    fn looked(&mut self, at: Instant, took: Duration) {
        let begins = self.rested.map_or(at, |rested| rested.max(at));
        self.rested = Some(begins + took * PAUSE);
    }

    fn remember(&mut self, of: Of, found: Found) {
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
        let ask = |workload| {
            looks.lack(of(workload), || {
                count.set(count.get() + 1);
                Some(Lack {
                    pod: format!("{}", count.get()),
                    says: String::new(),
                    lacking: Vec::new(),
                })
            })
        };
        let told = |workload| ask(workload).map(|lack| lack.pod.clone());
        for _ in 0..1000 {
            assert_eq!(told(1).as_deref(), Some("1"));
        }
        assert_eq!(told(2).as_deref(), Some("2"), "of another workload");
        tokio::time::advance(SERVES).await;
        assert_eq!(told(1).as_deref(), Some("3"));
        for workload in 0..10 * MOST {
            assert!(told(workload).is_some());
            assert!(looks.lock().found.len() <= MOST);
        }
    }

    #[test]
    fn looks_take_no_more_than_a_hundredth_of_a_core() {
        let (mut state, begun) = (State::default(), Instant::now());
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
        assert!(all <= Some(at_once + Duration::from_secs(10)), "{all:?}");
    }
}
