//! The causes for which the pods of a dependency are not ready. `follow::pod_causes` looks at the pods while a gate waits; one look
//! serves all gates that wait.

use super::waiters::{Bell, Fingerprint, Subscription, Waiters};
use rules::cause::{Behind, Stuck};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::{Instant, sleep_until};

/// The wait of a gate before the first look at the pods of its dependency. A wait that ends sooner is worth no look.
const FIRST: Duration = Duration::from_secs(5);
/// The pause after the first look, and after a look with a new result. Each pause is half as long again as the pause before.
const SOON: Duration = Duration::from_secs(2);
/// The longest pause between two looks at the pods behind a dependency.
const LATEST: Duration = Duration::from_secs(16);
/// The most dependencies whose pods are looked at, over all namespaces.
const MOST: usize = 1000;
/// The most dependencies of one namespace whose pods are looked at.
const OF_A_NAMESPACE: usize = MOST / 4;
/// The time after which a dependency is forgotten that no view has asked for.
const KEPT: Duration = Duration::from_mins(2);

/// The last result for each dependency, and the moment of its next look.
#[derive(Debug, Default)]
pub(crate) struct PodCauses {
    seen: Mutex<HashMap<Behind, KnownCause>>,
    waiters: Waiters<Fingerprint>,
    /// Rings when a view asks about a dependency whose pods are due for a look, or that no view was waiting for.
    asked: Notify,
}

#[derive(Debug)]
struct KnownCause {
    found: Option<Stuck>,
    asked: Instant,
    due: Instant,
    pause: Duration,
}

impl PodCauses {
    /// The cause that the last look at a dependency's pods found, if any, and a subscription that wakes the view behind `bell` when a look
    /// finds another one. The first call for a dependency plans a look. `None` if too many dependencies are looked at already, in the
    /// namespace or in all.
    pub(super) fn find(
        &self,
        behind: &Behind,
        bell: &Arc<Bell>,
    ) -> Option<(Option<Stuck>, Subscription<Fingerprint>)> {
        let now = Instant::now();
        let mut seen = self.lock();
        if !seen.contains_key(behind) {
            let is_full = |seen: &HashMap<Behind, KnownCause>| {
                let same = |it: &&Behind| it.namespace == behind.namespace;
                seen.len() >= MOST || seen.keys().filter(same).count() >= OF_A_NAMESPACE
            };
            if is_full(&seen) {
                seen.retain(|_, it| it.is_kept(now));
            }
            if is_full(&seen) {
                return None;
            }
        }
        // The task that looks may sleep for longer than that, or for ever, because no view was waiting for the dependency.
        let it = self.waiters.fingerprint(behind);
        let is_new = !self.waiters.is_awaited(&it);
        let subscription = self.waiters.subscribe(it, bell);
        let it = seen.entry(behind.clone()).or_insert(KnownCause {
            found: None,
            asked: now,
            due: now + FIRST,
            pause: SOON,
        });
        it.asked = now;
        if is_new || it.due <= now {
            self.asked.notify_one();
        }
        Some((it.found.clone(), subscription))
    }

    /// Waits until a dependency that a view waits for is due for a look at its pods, and returns it.
    pub(crate) async fn due(&self) -> Behind {
        loop {
            let next = self.next(Instant::now());
            match next {
                Some((behind, due)) if due <= Instant::now() => return behind,
                Some((_, due)) => {
                    tokio::select! {
                        () = sleep_until(due) => {}
                        () = self.asked.notified() => {}
                    }
                }
                None => self.asked.notified().await,
            }
        }
    }

    /// The dependency whose pods are due for a look first, and the moment of that look. Only dependencies that a view waits for count; `None`
    /// without any. Forgets those that no view has asked for in [`KEPT`].
    fn next(&self, now: Instant) -> Option<(Behind, Instant)> {
        let mut seen = self.lock();
        seen.retain(|_, it| it.is_kept(now));
        let awaited = seen
            .iter()
            .filter(|(behind, _)| self.waiters.is_awaited(&self.waiters.fingerprint(behind)));
        let (behind, it) = awaited.min_by_key(|(_, it)| it.due)?;
        Some((behind.clone(), it.due))
    }

    /// Notes the result of a look (`None`: no cause was found), plans the next look, and wakes the waiting views if the result is new.
    pub(crate) fn saw(&self, behind: &Behind, found: Option<Stuck>) {
        let is_new = self.note(behind, found);
        self.put_off(behind);
        if is_new {
            self.waiters
                .wake(&self.waiters.fingerprint(behind), |()| true);
        }
    }

    /// Notes the result of a look. Returns whether the result is new; if so, the next pause is the shortest.
    fn note(&self, behind: &Behind, found: Option<Stuck>) -> bool {
        let mut seen = self.lock();
        let Some(it) = seen.get_mut(behind).filter(|it| it.found != found) else {
            return false;
        };
        it.found = found;
        // A wait that has just gone on is likely to go on again soon.
        it.pause = SOON;
        true
    }

    /// Makes the pause of a dependency the longest: there are no pods behind it yet, and each look reads whole lists of a
    /// namespace.
    pub(crate) fn tire(&self, behind: &Behind) {
        if let Some(it) = self.lock().get_mut(behind) {
            it.pause = LATEST;
        }
    }

    /// Plans the next look at a dependency, after its pause, and makes the pause after that one half as long again.
    pub(crate) fn put_off(&self, behind: &Behind) {
        if let Some(it) = self.lock().get_mut(behind) {
            it.due = Instant::now() + it.pause;
            it.pause = (it.pause * 3 / 2).min(LATEST);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<Behind, KnownCause>> {
        // Every change is one call or the assignment of a field, so a panic leaves nothing half done.
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl KnownCause {
    fn is_kept(&self, now: Instant) -> bool {
        now < self.asked + KEPT
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use rules::cause::{By, Cause};
    use rules::selector::Selector;
    use std::collections::BTreeSet;

    fn behind(name: &str) -> Behind {
        Behind {
            namespace: "shop".to_owned(),
            selector: Selector::label("app", name),
            owner: None,
            by: By::Labels,
        }
    }

    fn stuck(pod: &str) -> Stuck {
        Stuck {
            kind: "Pod",
            name: pod.to_owned(),
            cause: Cause::NotMade,
            alike: 1,
            of: 1,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn one_look_serves_all_who_wait_and_wakes_them_where_it_finds_something_else() {
        let (causes, bells) = (PodCauses::default(), [Arc::default(), Arc::default()]);
        let ask = |bell: &Arc<Bell>| causes.find(&behind("db"), bell).unwrap();
        let [(nothing, _first), (_, _second)] = bells.each_ref().map(ask);
        assert_eq!(nothing, None);
        let rings = || {
            bells
                .each_ref()
                .map(|bell| bell.heard().now_or_never().is_some())
        };
        for (found, rung) in [
            (None, false),
            (Some(stuck("a")), true),
            (Some(stuck("a")), false),
            (Some(stuck("b")), true),
        ] {
            let due = causes.due().await;
            assert_eq!(due, behind("db"));
            causes.saw(&due, found.clone());
            assert_eq!(rings(), [rung; 2], "{found:?}");
            assert_eq!(ask(&Arc::default()).0, found);
        }
    }

    #[tokio::test(start_paused = true)]
    async fn the_longer_somebody_waits_the_more_seldom_is_looked() {
        let (causes, bell) = (PodCauses::default(), Arc::default());
        let (mut looks, mut asks) = (Vec::new(), Vec::new());
        let began = Instant::now();
        while looks.len() < 8 {
            // A gate is judged anew each minute.
            asks.push(causes.find(&behind("db"), &bell));
            let due = causes.due().await;
            looks.push(began.elapsed().as_secs());
            causes.put_off(&due);
        }
        assert_eq!(looks, [5, 7, 10, 14, 21, 31, 46, 62]);
    }

    #[tokio::test(start_paused = true)]
    async fn what_has_changed_is_soon_looked_at_again() {
        let (causes, bell) = (PodCauses::default(), Arc::default());
        let mut asks = Vec::new();
        let mut look = async |found| {
            asks.push(causes.find(&behind("db"), &bell));
            let due = causes.due().await;
            causes.saw(&due, found);
            Instant::now()
        };
        for _ in 0..8 {
            look(None).await;
        }
        let changed = look(Some(stuck("a"))).await;
        assert_eq!(look(Some(stuck("a"))).await - changed, SOON);
    }

    #[tokio::test(start_paused = true)]
    async fn a_short_wait_costs_no_look() {
        let (causes, bell) = (PodCauses::default(), Arc::default());
        let asked = causes.find(&behind("db"), &bell);
        tokio::time::advance(FIRST / 2).await;
        assert!(causes.due().now_or_never().is_none());
        drop(asked);
        tokio::time::advance(FIRST).await;
        assert!(causes.due().now_or_never().is_none(), "the wait is over");
    }

    #[tokio::test(start_paused = true)]
    async fn nothing_is_looked_at_for_nobody() {
        let (causes, bell) = (PodCauses::default(), Arc::default());
        let asked = causes.find(&behind("db"), &bell);
        drop(asked);
        tokio::time::advance(FIRST).await;
        assert!(causes.due().now_or_never().is_none());
        let _again = causes.find(&behind("db"), &bell);
        assert_eq!(causes.due().now_or_never(), Some(behind("db")));
    }

    #[tokio::test(start_paused = true)]
    async fn who_asks_again_before_it_is_due_is_heard_by_who_sleeps() {
        let (causes, bell) = (PodCauses::default(), Arc::default());
        let asked = causes.find(&behind("db"), &bell);
        causes.saw(&causes.due().await, None);
        drop(asked);
        let ask = async {
            tokio::time::sleep(SOON / 2).await;
            let _again = causes.find(&behind("db"), &bell);
            tokio::time::sleep(SOON).await;
        };
        let looks = tokio::time::timeout(SOON * 2, causes.due());
        let (due, ()) = tokio::join!(looks, ask);
        assert_eq!(due, Ok(behind("db")));
    }

    #[tokio::test(start_paused = true)]
    async fn each_of_a_crowd_gets_its_look_and_there_is_room_for_so_many() {
        let (causes, bell) = (PodCauses::default(), Arc::default());
        let named = |number: usize| Behind {
            namespace: format!("shop-{}", number % 8),
            ..behind(&format!("app-{number}"))
        };
        let asked: Vec<_> = (0..2 * MOST)
            .map(|number| causes.find(&named(number), &bell))
            .collect();
        assert_eq!(asked.iter().flatten().count(), MOST);
        let mut seen = BTreeSet::new();
        for _ in 0..MOST {
            let due = causes.due().await;
            seen.insert(due.selector.to_string());
            causes.put_off(&due);
        }
        assert_eq!(seen.len(), MOST);
        drop(asked);
        tokio::time::advance(KEPT).await;
        assert!(causes.due().now_or_never().is_none());
        assert!(causes.find(&named(2 * MOST), &bell).is_some());
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_with_many_dependencies_leaves_room_for_others() {
        let (causes, bell) = (PodCauses::default(), Arc::default());
        let asks =
            (0..2 * MOST).map(|number| causes.find(&behind(&format!("app-{number}")), &bell));
        let asked: Vec<_> = asks.flatten().collect();
        assert_eq!(asked.len(), OF_A_NAMESPACE);
        let other = Behind {
            namespace: "other".to_owned(),
            ..behind("db")
        };
        assert!(causes.find(&other, &bell).is_some());
    }
}
