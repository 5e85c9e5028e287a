//! Who waits for what.

use std::collections::BTreeMap;
use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hash};
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

/// What somebody waits for, in eight bytes, whatever it is called. Two that come to the same wake each other's waiters, which is
/// seldom and harmless.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fingerprint(u64);

/// Everybody who waits, by what they wait for. `D` narrows that down: who is woken is asked of it.
#[derive(Debug)]
pub(crate) struct Waiters<I, D = ()>(Arc<Everybody<I, D>>);

#[derive(Debug)]
struct Everybody<I, D> {
    hasher: RandomState,
    registry: Mutex<Registry<I, D>>,
}

/// What somebody waits for, which bell that is by its address, and a digest of the detail.
type Ticket<I> = (I, usize, u64);

#[derive(Debug)]
struct Registry<I, D> {
    waiting: BTreeMap<Ticket<I>, Waiter<D>>,
    /// How many interests there have been.
    asked: u64,
}

#[derive(Debug)]
struct Waiter<D> {
    bell: Arc<Bell>,
    /// `None` where nothing narrows it down.
    detail: Option<Box<D>>,
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

/// All that one waiter is interested in at one place. Somebody is woken as long as this lives.
#[derive(Debug)]
pub(crate) struct Subscription<I: Clone + Ord, D = ()> {
    waiters: Waiters<I, D>,
    bell: Arc<Bell>,
    interests: Vec<I>,
}

impl<I: Clone + Ord, D: Hash> Subscription<I, D> {
    /// Bytes that one interest takes, what it and its detail point to apart: a tree is two thirds full.
    pub(super) const EACH: usize =
        (size_of::<Ticket<I>>() + size_of::<Waiter<D>>()) * 3 / 2 + size_of::<I>();

    /// From now on the waiter is woken by changes of this too. Returns whether it was not before.
    pub(super) fn add(&mut self, interest: I, detail: Option<D>) -> bool {
        let entry = self.entry(interest.clone(), detail.as_ref());
        let mut registry = self.waiters.lock();
        registry.asked += 1;
        let is_new = !registry.waiting.contains_key(&entry);
        if is_new {
            let waiter = Waiter {
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

    /// The waiter is no longer woken by this.
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
    /// What stands for something that somebody may wait for here.
    pub(super) fn fingerprint(&self, of: impl Hash) -> Fingerprint {
        Fingerprint(self.0.hasher.hash_one(of))
    }
}

impl<I: Clone + Ord, D: Hash> Waiters<I, D> {
    /// To wake `waiter`, who is interested in nothing yet.
    pub(super) fn subscription(&self, waiter: &Arc<Bell>) -> Subscription<I, D> {
        Subscription {
            waiters: self.clone(),
            bell: Arc::clone(waiter),
            interests: Vec::new(),
        }
    }

    /// From now on `waiter` is woken by changes of what it is interested in.
    pub(super) fn subscribe(&self, interest: I, waiter: &Arc<Bell>) -> Subscription<I, D> {
        let mut subscription = self.subscription(waiter);
        subscription.add(interest, None);
        subscription
    }

    /// How often somebody has asked for something; `None` while somebody waits.
    pub(super) fn asked(&self) -> Option<u64> {
        let registry = self.lock();
        registry.waiting.is_empty().then_some(registry.asked)
    }

    /// Whether nobody waits for anything.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().waiting.is_empty()
    }

    /// Whether somebody waits for this.
    pub(super) fn is_awaited(&self, interest: &I) -> bool {
        let registry = self.lock();
        registry.of(interest).next().is_some()
    }

    /// What somebody waits for, each once.
    pub(super) fn interests(&self) -> Vec<I> {
        let registry = self.lock();
        let mut interests: Vec<I> = registry.waiting.keys().map(|it| it.0.clone()).collect();
        interests.dedup();
        interests
    }

    /// Wakes who waits for this, where the detail says so.
    pub(super) fn wake(&self, interest: &I, concerns: impl Fn(&D) -> bool) {
        let mut woken = Woken::default();
        self.find(interest, concerns, &mut woken);
        woken.wake();
    }

    /// Adds who waits for this, where no detail denies it.
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

    /// Wakes everybody.
    pub(super) fn wake_all(&self) {
        let mut woken = Woken::default();
        self.find_all(&mut woken);
        woken.wake();
    }

    /// Adds everybody.
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
    /// Who waits for this.
    fn of(&self, interest: &I) -> impl Iterator<Item = &Waiter<D>> {
        let all = (interest.clone(), 0, 0)..=(interest.clone(), usize::MAX, u64::MAX);
        self.waiting.range(all).map(|(_, waiter)| waiter)
    }
}

impl<I, D> Default for Waiters<I, D> {
    fn default() -> Self {
        Self(Arc::new(Everybody {
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
