//! Who waits for what.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// What wakes somebody, and remembers that it has.
#[derive(Debug, Default)]
pub(crate) struct Bell {
    rung: AtomicBool,
    notify: Notify,
}

impl Bell {
    pub(super) fn ring(&self) {
        self.rung.store(true, Ordering::Release);
        self.notify.notify_one();
    }

    /// Returns when it has rung since it was last heard. One hears it each time.
    pub(super) async fn heard(&self) {
        self.notify.notified().await;
    }

    /// Whether it has ever rung.
    pub(super) fn has_rung(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }
}

/// Everybody who waits, by what they wait for. `D` narrows that down: who is woken is asked of it.
#[derive(Debug)]
pub(super) struct Waiters<I, D = ()>(Arc<Mutex<Registry<I, D>>>);

#[derive(Debug)]
struct Registry<I, D> {
    waiting: HashMap<I, HashMap<u64, (D, Arc<Bell>)>>,
    /// The number of the next subscription.
    next: u64,
}

impl<I, D> Clone for Waiters<I, D> {
    /// The same ones.
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// Who is to be woken, once every lock is given back: ten thousand may wait for one object.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Woken(Vec<Arc<Bell>>);

impl Woken {
    pub(super) fn wake(self) {
        self.0.iter().for_each(|waiter| waiter.ring());
    }
}

/// Somebody is woken as long as this lives.
pub(crate) struct Subscription(Box<dyn Fn() + Send>);

impl Subscription {
    /// Has this happen at its end.
    pub(super) fn new(end: impl Fn() + Send + 'static) -> Self {
        Self(Box::new(end))
    }
}

impl Drop for Subscription {
    fn drop(&mut self) {
        (self.0)();
    }
}

impl<I: Clone + Eq + Hash + Send + 'static, D: Send + 'static> Waiters<I, D> {
    /// From now on `waiter` is woken by changes of what it is interested in.
    pub(super) fn subscribe(&self, interest: I, detail: D, waiter: &Arc<Bell>) -> Subscription {
        let mut registry = self.lock();
        let number = registry.next;
        registry.next += 1;
        let waiting = registry.waiting.entry(interest.clone()).or_default();
        waiting.insert(number, (detail, Arc::clone(waiter)));
        drop(registry);
        let registry = self.clone();
        Subscription::new(move || registry.remove(&interest, number))
    }

    fn remove(&self, interest: &I, number: u64) {
        let waiting = &mut self.lock().waiting;
        if let Some(waiters) = waiting.get_mut(interest) {
            waiters.remove(&number);
            if waiters.is_empty() {
                waiting.remove(interest);
            }
        }
    }

    /// How many subscriptions there have been; `None` while there is one.
    pub(super) fn asked(&self) -> Option<u64> {
        let registry = self.lock();
        registry.waiting.is_empty().then_some(registry.next)
    }

    /// Whether nobody waits for anything.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().waiting.is_empty()
    }

    /// Whether somebody waits for this.
    pub(super) fn is_awaited(&self, interest: &I) -> bool {
        self.lock().waiting.contains_key(interest)
    }

    /// What somebody waits for.
    pub(super) fn interests(&self) -> Vec<I> {
        self.lock().waiting.keys().cloned().collect()
    }

    /// Wakes who waits for this, where the detail says so.
    pub(super) fn wake(&self, interest: &I, concerns: impl Fn(&D) -> bool) {
        let mut woken = Woken::default();
        self.find(interest, concerns, &mut woken);
        woken.wake();
    }

    /// Adds who waits for this, where the detail says so.
    pub(super) fn find(&self, interest: &I, concerns: impl Fn(&D) -> bool, woken: &mut Woken) {
        let registry = self.lock();
        let waiting = registry.waiting.get(interest);
        let waiters = waiting.into_iter().flat_map(HashMap::values);
        let concerned = waiters.filter(|(detail, _)| concerns(detail));
        woken
            .0
            .extend(concerned.map(|(_, waiter)| Arc::clone(waiter)));
    }

    /// Wakes everybody.
    pub(super) fn wake_all(&self) {
        let mut woken = Woken::default();
        self.find_all(&mut woken);
        woken.wake();
    }

    /// Adds everybody.
    pub(super) fn find_all(&self, woken: &mut Woken) {
        let registry = self.lock();
        let waiters = registry.waiting.values().flat_map(HashMap::values);
        woken
            .0
            .extend(waiters.map(|(_, waiter)| Arc::clone(waiter)));
    }

    fn lock(&self) -> MutexGuard<'_, Registry<I, D>> {
        // Every change is one call, so a panic cannot leave a half-made registry behind.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<I, D> Default for Waiters<I, D> {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(Registry {
            waiting: HashMap::new(),
            next: 0,
        })))
    }
}

impl fmt::Debug for Subscription {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Subscription")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[test]
    fn a_subscription_takes_itself_back() {
        let (waiters, waiter) = (Waiters::<&str, u8>::default(), Arc::<Bell>::default());
        let woken = |interest, number| {
            waiters.wake(&interest, |detail| *detail == number);
            waiter.heard().now_or_never().is_some()
        };
        let first = waiters.subscribe("a", 1, &waiter);
        let second = waiters.subscribe("a", 2, &waiter);
        assert_eq!(
            [woken("a", 1), woken("a", 2), woken("a", 3), woken("b", 1)],
            [true, true, false, false]
        );
        drop(first);
        assert_eq!([woken("a", 1), woken("a", 2)], [false, true]);
        assert_eq!(waiters.interests(), ["a"]);
        drop(second);
        assert!(waiters.is_empty());
    }
}
