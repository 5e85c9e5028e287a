//! The views (the readers of verdicts) that wait, by the objects or changes that they are interested in.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The bell of one view. Ringing wakes the view, and the bell remembers that it has rung.
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

    /// Waits until the bell rings, or returns at once if it has rung since a call last returned. Each ring is heard by one caller.
    pub(super) async fn heard(&self) {
        self.notify.notified().await;
    }

    /// Whether the bell of a view has ever rung.
    pub(super) fn has_rung(&self) -> bool {
        self.rung.load(Ordering::Acquire)
    }
}

/// The digest of an interest, in eight bytes. Two interests with the same fingerprint wake each other's views, which is seldom and
/// harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fingerprint(u64);

/// The bells of all views that wait, by their interests `I`. An interest may have a detail `D`, such as a selector, that decides which of its
/// changes concern the view; without a detail, each does.
#[derive(Debug)]
pub(crate) struct Waiters<I, D = ()>(Arc<WaitersInner<I, D>>);

#[derive(Debug)]
struct WaitersInner<I, D> {
    hasher: RandomState,
    registry: Mutex<Registry<I, D>>,
}

/// The key of a view's interest: the interest, the address of the view's bell, and a digest of the detail (zero without a detail).
type Ticket<I> = (I, usize, u64);

#[derive(Debug)]
struct Registry<I, D> {
    waiting: BTreeMap<Ticket<I>, Subscriber<D>>,
    /// The number of interests that views have registered so far.
    asked: u64,
}

#[derive(Debug)]
struct Subscriber<D> {
    bell: Arc<Bell>,
    /// The detail that narrows the interest down; `None` where nothing does.
    detail: Option<Box<D>>,
}

impl<I, D> Clone for Waiters<I, D> {
    /// Makes another handle to the registry of the same waiting views.
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

/// The bells to ring once every lock is given back. Ten thousand views may wait for one object, so none is rung under a lock.
#[derive(Debug, Default)]
#[must_use]
pub(super) struct Woken(Vec<Arc<Bell>>);

impl Woken {
    pub(super) fn wake(self) {
        self.0.iter().for_each(|waiter| waiter.ring());
    }
}

/// The interests `I` of one view in one registry. A detail `D` is optional and narrows an interest. A change that concerns one of the interests
/// wakes the view, until the subscription is dropped.
#[derive(Debug)]
pub(crate) struct Subscription<I: Clone + Ord, D = ()> {
    waiters: Waiters<I, D>,
    bell: Arc<Bell>,
    interests: Vec<I>,
}

impl<I: Clone + Ord, D: Hash> Subscription<I, D> {
    /// The bytes that one interest takes in the registry, whose tree is two thirds full, and in its subscription; without the heap of the
    /// interest and of its detail.
    pub(super) const EACH: usize =
        (size_of::<Ticket<I>>() + size_of::<Subscriber<D>>()) * 3 / 2 + size_of::<I>();

    /// Adds an interest, which `detail` narrows down. Returns whether this subscription had no such interest with such a detail yet.
    pub(super) fn add(&mut self, interest: I, detail: Option<D>) -> bool {
        let entry = self.entry(interest.clone(), detail.as_ref());
        let mut registry = self.waiters.lock();
        registry.asked += 1;
        let is_new = !registry.waiting.contains_key(&entry);
        if is_new {
            let waiter = Subscriber {
                bell: Arc::clone(&self.bell),
                detail: detail.map(Box::new),
            };
            registry.waiting.insert(entry, waiter);
        }
        drop(registry);
        if is_new {
            self.interests.push(interest);
        }
        is_new
    }

    /// Removes an interest with this detail: its changes wake the view no more.
    pub(super) fn remove(&mut self, interest: &I, detail: Option<&D>) {
        let entry = self.entry(interest.clone(), detail);
        self.waiters.lock().waiting.remove(&entry);
        if let Some(place) = self.interests.iter().rposition(|it| it == interest) {
            self.interests.swap_remove(place);
        }
    }

    fn entry(&self, interest: I, detail: Option<&D>) -> Ticket<I> {
        let detail = detail.map_or(0, |it| self.waiters.0.hasher.hash_one(it));
        (interest, Arc::as_ptr(&self.bell).addr(), detail)
    }
}

impl<I: Clone + Ord, D> Drop for Subscription<I, D> {
    fn drop(&mut self) {
        let bell = Arc::as_ptr(&self.bell).addr();
        let mut registry = self.waiters.lock();
        for interest in self.interests.drain(..) {
            let all = (interest.clone(), bell, 0)..=(interest, bell, u64::MAX);
            let own = registry.waiting.range(all).map(|(entry, _)| entry.clone());
            for entry in own.collect::<Vec<_>>() {
                registry.waiting.remove(&entry);
            }
        }
    }
}

impl<D> Waiters<Fingerprint, D> {
    /// The fingerprint of an interest in this registry.
    pub(super) fn fingerprint(&self, of: impl Hash) -> Fingerprint {
        Fingerprint(self.0.hasher.hash_one(of))
    }
}

impl<I: Clone + Ord, D: Hash> Waiters<I, D> {
    /// A subscription of a view that rings `waiter`, without interests yet.
    pub(super) fn subscription(&self, waiter: &Arc<Bell>) -> Subscription<I, D> {
        Subscription {
            waiters: self.clone(),
            bell: Arc::clone(waiter),
            interests: Vec::new(),
        }
    }

    /// A subscription with this one interest and no detail: each change of the interest rings `waiter`.
    pub(super) fn subscribe(&self, interest: I, waiter: &Arc<Bell>) -> Subscription<I, D> {
        let mut subscription = self.subscription(waiter);
        subscription.add(interest, None);
        subscription
    }

    /// The number of interests that were added to this registry so far, repeated ones too; `None` while a view waits. The number of an unused
    /// registry stays the same.
    pub(super) fn asked(&self) -> Option<u64> {
        let registry = self.lock();
        registry.waiting.is_empty().then_some(registry.asked)
    }

    /// Whether no view waits in this registry.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().waiting.is_empty()
    }

    /// Whether a view waits for this interest.
    pub(super) fn is_awaited(&self, interest: &I) -> bool {
        let registry = self.lock();
        registry.of(interest).next().is_some()
    }

    /// The interests of all waiting views, each once.
    pub(super) fn interests(&self) -> Vec<I> {
        let registry = self.lock();
        let mut interests: Vec<I> = registry.waiting.keys().map(|it| it.0.clone()).collect();
        interests.dedup();
        interests
    }

    /// Wakes the views that have registered this interest without a detail, or with one that `concerns` accepts.
    pub(super) fn wake(&self, interest: &I, concerns: impl Fn(&D) -> bool) {
        let mut woken = Woken::default();
        self.find(interest, concerns, &mut woken);
        woken.wake();
    }

    /// Adds to `woken` the bells of the views that have registered this interest without a detail, or with one that `concerns` accepts.
    pub(super) fn find(&self, interest: &I, concerns: impl Fn(&D) -> bool, woken: &mut Woken) {
        let registry = self.lock();
        let concerned = registry.of(interest).filter(|waiter| {
            let detail = waiter.detail.as_deref();
            detail.is_none_or(&concerns)
        });
        woken
            .0
            .extend(concerned.map(|waiter| Arc::clone(&waiter.bell)));
    }

    /// Wakes every waiting view.
    pub(super) fn wake_all(&self) {
        let mut woken = Woken::default();
        self.find_all(&mut woken);
        woken.wake();
    }

    /// Adds the bells of every waiting view to `woken`.
    pub(super) fn find_all(&self, woken: &mut Woken) {
        let registry = self.lock();
        let waiters = registry.waiting.values();
        woken
            .0
            .extend(waiters.map(|waiter| Arc::clone(&waiter.bell)));
    }
}

impl<I, D> Waiters<I, D> {
    fn lock(&self) -> MutexGuard<'_, Registry<I, D>> {
        // Every change is one call, so a panic cannot leave a half-made registry behind.
        let registry = self.0.registry.lock();
        registry.unwrap_or_else(PoisonError::into_inner)
    }
}

impl<I: Clone + Ord, D> Registry<I, D> {
    /// The views that have subscribed to an interest.
    fn of(&self, interest: &I) -> impl Iterator<Item = &Subscriber<D>> {
        let all = (interest.clone(), 0, 0)..=(interest.clone(), usize::MAX, u64::MAX);
        self.waiting.range(all).map(|(_, waiter)| waiter)
    }
}

impl<I, D> Default for Waiters<I, D> {
    fn default() -> Self {
        Self(Arc::new(WaitersInner {
            hasher: RandomState::new(),
            registry: Mutex::new(Registry {
                waiting: BTreeMap::new(),
                asked: 0,
            }),
        }))
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
        let mut first = waiters.subscription(&waiter);
        assert!(first.add("a", Some(1)) && first.add("a", Some(2)));
        assert!(!first.add("a", Some(1)), "once is enough");
        assert_eq!(
            [woken("a", 1), woken("a", 2), woken("a", 3), woken("b", 1)],
            [true, true, false, false]
        );
        first.remove(&"a", Some(&1));
        assert_eq!([woken("a", 1), woken("a", 2)], [false, true]);
        let other = Arc::default();
        let second = waiters.subscribe("a", &other);
        assert_eq!(waiters.interests(), ["a"]);
        drop(first);
        assert!(!woken("a", 2) && waiters.is_awaited(&"a"));
        assert!(
            other.heard().now_or_never().is_some(),
            "it has no detail, so every change concerns it"
        );
        drop(second);
        assert!(waiters.is_empty());
    }
}
