//! The objects of one kind, and the views (the readers of waiting verdicts) that wait for a change of them.

mod contents;
mod nodes;
mod packed;
mod reading;
mod snapshot;

pub(crate) use snapshot::Entry;
#[cfg(test)]
pub(crate) use snapshot::READ;

use super::freshness::{BELIEVED_FOR, Freshness, WallClock};
use super::scope_waiters::ScopeWaiters;
use super::waiters::{Bell, Fingerprint, Subscription, Waiters, Woken};
use contents::Contents;
pub(super) use contents::Interest;
use rules::definition::Declared;
use rules::lookup::Unavailable;
use rules::selector::Selector;
use serde_json::Value;
pub(super) use snapshot::{Key, NODE};
use snapshot::{Snapshot, key};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The time of refusals after which a kind counts as forbidden or not served: an API server that starts refuses every kind until its own
/// watches have synced.
const REFUSED_FOR: Duration = BELIEVED_FOR;

/// The time of refusals after which a kind that was never read counts as forbidden or not served. No data of such a kind is believed, so
/// the time decides only about the word that a dependent is told.
const REFUSED_AT_FIRST: Duration = Duration::from_secs(10);

/// The objects of one kind. No lock guard leaves this module, so none can be held across an await.
#[derive(Debug)]
pub struct Store {
    inner: Mutex<Contents>,
    details: Mutex<Details>,
}

/// The interests of one view, the reader of one verdict, in the objects of a store.
pub(super) type Interests = Subscription<Fingerprint, Selector>;

/// The details of a kind that the catalog of followed kinds has found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Details {
    /// Whether the objects of the kind live in a namespace; `None` until the API server has said so.
    pub namespaced: Option<bool>,
    /// The part of the definition that declares the status of the objects; `None` without a definition.
    pub declared: Option<Arc<Declared>>,
}

impl Store {
    /// An empty store. `wall`: the clock by which its objects grow old.
    pub(crate) fn new(wall: WallClock) -> Self {
        Self {
            inner: Contents::new(wall).into(),
            details: Mutex::default(),
        }
    }

    /// The empty store of a kind whose objects belong to scopes. `counts`: the kind matters to scopes even while it cannot be read.
    pub(super) fn of_scopes(wall: WallClock, scope_waiters: ScopeWaiters, counts: bool) -> Self {
        let store = Self::new(wall);
        let mut inner = store.lock();
        inner.scope_waiters = Some(scope_waiters);
        inner.counts = counts;
        drop(inner);
        store
    }

    /// Lets the kind matter to scopes from now on, even while it cannot be read.
    pub(super) fn count(&self) {
        self.lock().counts = true;
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        // A panic while the lock was held cannot leave a half-made map behind: every change is one call.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the contents, and then wakes the views that the change concerns.
    fn change<T>(&self, change: impl FnOnce(&mut Contents, &mut Woken) -> T) -> T {
        let mut woken = Woken::default();
        let outcome = change(&mut self.lock(), &mut woken);
        woken.wake();
        outcome
    }

    /// The details of the store's kind.
    pub fn details(&self) -> Details {
        let details = self.details.lock();
        details.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Replaces the details of the kind. Wakes all views if the details have changed.
    pub fn describe(&self, details: Details) {
        let changed = {
            let mut known = self.details.lock().unwrap_or_else(PoisonError::into_inner);
            let changed = *known != details;
            *known = details;
            changed
        };
        if changed {
            self.wake_all();
        }
    }

    /// The number of objects in the store.
    pub fn len(&self) -> usize {
        self.lock().objects.len()
    }

    /// The number of objects that are too large to be read: only their metadata is kept.
    pub fn too_large(&self) -> usize {
        self.lock().too_large
    }

    /// Whether there is an object of which the store keeps only the metadata, because the object found no room in its namespace's share.
    pub(crate) fn lacks_room(&self) -> bool {
        let objects = &self.lock().objects;
        objects.values().any(|it| it.cut && it.too_large)
    }

    /// Whether there is an object of which the store keeps less than was asked for, because the object found no room in its namespace's share.
    pub(super) fn has_cut(&self) -> bool {
        self.lock().objects.values().any(|it| it.cut)
    }

    /// Whether the store keeps no object.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Replaces all objects by those of a list, which counts as a sign of life. The store is live from now on. Wakes the views of objects
    /// that have changed, and all views if the store was not believed before.
    pub fn replace<T: Into<Entry>>(&self, objects: impl IntoIterator<Item = T>) {
        let entries = objects.into_iter().map(Into::<Entry>::into);
        let fresh: BTreeMap<Key, Snapshot> =
            entries.map(|entry| (entry.key, entry.snapshot)).collect();
        self.change(|inner, woken| {
            let known = inner.objects.keys();
            let gone = known.filter(|key| !fresh.contains_key(*key));
            for key in gone.cloned().collect::<Vec<Key>>() {
                inner.remove(&key, woken);
            }
            for (key, snapshot) in fresh {
                inner.insert(&key, snapshot, woken);
            }
            // A tree that grew in order is half empty, and one that is built at once is full.
            inner.objects = std::mem::take(&mut inner.objects).into_iter().collect();
            let stale = inner.heard.note();
            let before = std::mem::replace(&mut inner.freshness, Freshness::Live);
            if stale || before != Freshness::Live {
                inner.find_all(woken);
            }
        });
    }

    /// Adds an object to the store as it is, untrimmed, or replaces the object of its name.
    pub fn apply(&self, object: &Value) {
        self.take(object.into());
    }

    /// Adds or replaces an object that was trimmed and packed before, and wakes the views that the change concerns.
    pub(crate) fn take(&self, Entry { key, snapshot }: Entry) {
        self.change(|inner, woken| inner.insert(&key, snapshot, woken));
    }

    /// Removes the object of this namespace and name from the store, and wakes the views that it concerns. Does nothing if the store has none.
    pub fn delete(&self, object: &Value) {
        self.change(|inner, woken| inner.remove(&key(object), woken));
    }

    /// Forgets all objects and wakes all views. `freshness`: the state of the store from now on.
    pub fn clear(&self, freshness: Freshness) {
        self.change(|inner, woken| inner.forget(freshness, woken));
    }

    /// Wakes every view of this store, to judge again, and forgets which objects were judged to be ready.
    pub fn wake_all(&self) {
        self.change(|inner, woken| {
            inner.scopes.forget();
            inner.find_all(woken);
        });
    }

    /// A subscription to changes of this store, which ring `waiter`. It has no interests yet.
    pub(super) fn subscription(&self, waiter: &Arc<Bell>) -> Interests {
        self.waiters().subscription(waiter)
    }

    /// A subscription that rings `waiter` when a change concerns this interest.
    pub(super) fn subscribe(&self, interest: Interest<'_>, waiter: &Arc<Bell>) -> Interests {
        let waiters = self.waiters();
        waiters.subscribe(waiters.fingerprint(interest), waiter)
    }

    /// The fingerprint of an interest in the store, by which the interest is registered.
    pub(super) fn fingerprint(&self, interest: Interest<'_>) -> Fingerprint {
        self.waiters().fingerprint(interest)
    }

    fn waiters(&self) -> Waiters<Fingerprint, Selector> {
        self.lock().waiters.clone()
    }

    /// The number of interests that views have had in the store so far; `None` while a view has one.
    pub(super) fn asked(&self) -> Option<u64> {
        self.lock().waiters.asked()
    }
}

impl Store {
    /// The freshness of the store's objects.
    pub fn freshness(&self) -> Freshness {
        self.lock().freshness
    }

    /// The moment until which the objects are believed if nothing more is heard; or the reason for which they are not believed.
    pub fn believed_until(&self) -> Result<Instant, Unavailable> {
        let inner = self.lock();
        let live = inner.freshness == Freshness::Live;
        if let Some(until) = inner.heard.believed_until().filter(|_| live) {
            return Ok(until);
        }
        // An API server that refuses is there, so the refusal is the reason.
        let refused = inner.refused.filter(|_| live).map(|(_, why)| why);
        Err(refused.unwrap_or(inner.freshness).unavailable())
    }

    /// Returns when the first list of the store's kind has arrived, or the kind has proved unreadable.
    pub async fn synced(&self) {
        let bell = Arc::default();
        let _subscription = self.subscribe(Interest::Kind, &bell);
        while self.freshness() == Freshness::Syncing {
            bell.heard().await;
        }
    }

    /// Notes a sign of life of the watch, and wakes all views if the store was no longer believed. A watch that gives signs is not refused, so
    /// earlier refusals count no more; a list would not tell that.
    pub fn heard(&self) {
        self.change(|inner, woken| {
            inner.refused = None;
            if inner.heard.note() {
                inner.find_all(woken);
            }
        });
    }

    /// Notes a refusal of the kind. After 30 s of refusals (10 s if the kind was never read) the objects are forgotten, and `freshness` is `why`;
    /// until then they are believed as before. Returns whether this call has forgotten them.
    pub fn refuse(&self, why: Freshness) -> bool {
        self.change(|inner, woken| {
            if inner.freshness == why {
                return false;
            }
            let since = inner.refused.map_or_else(Instant::now, |(since, _)| since);
            inner.refused = Some((since, why));
            let lasting = match inner.freshness {
                Freshness::Syncing => REFUSED_AT_FIRST,
                _ => REFUSED_FOR,
            };
            let lasts = since.elapsed() >= lasting;
            if lasts {
                inner.forget(why, woken);
            }
            lasts
        })
    }

    /// Notes that the API server cannot be asked. The objects are still believed for a while. An earlier refusal counts no more, since
    /// the API server might not repeat it: a kind that counted as forbidden or not served is syncing again.
    pub fn lost(&self) {
        self.change(|inner, woken| {
            inner.refused = None;
            if !matches!(inner.freshness, Freshness::Syncing | Freshness::Live) {
                inner.forget(Freshness::Syncing, woken);
            }
        });
    }
}

#[cfg(test)]
mod tests;
