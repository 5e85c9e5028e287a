//! The objects of one kind, and who waits for a change of which.

mod contents;
mod freshness;
mod packed;
mod reading;
mod snapshot;

pub(crate) use freshness::Freshness;
pub(crate) use snapshot::Entry;
#[cfg(test)]
pub(crate) use snapshot::READ;

use super::lookers::Lookers;
use super::waiters::{Bell, Fingerprint, Subscription, Waiters, Woken};
use contents::Contents;
use rules::definition::Declared;
use rules::selector::Selector;
use serde_json::Value;
use snapshot::{Key, Snapshot, key};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The objects of one kind. No guard leaves this module, so none can be held across an await.
#[derive(Debug, Default)]
pub struct Store {
    inner: Mutex<Contents>,
    details: Mutex<Details>,
}

/// What somebody waits for: one object, or every object with a label in a namespace (either may be left open).
///
/// A list by a selector is found by one label that the selector requires, and without such a label by its namespace; whether
/// the rest of the selector takes the object is asked then.
#[derive(Debug, Clone, Copy, Hash)]
pub(super) enum Interest<'a> {
    /// One object, by its namespace and its name.
    Object(&'a str, &'a str),
    /// A list.
    List {
        /// `None` for every namespace.
        namespace: Option<&'a str>,
        /// `None` for every object.
        label: Option<(&'a str, &'a str)>,
    },
    /// What is said of the kind as a whole. Of a change of that everybody hears.
    Kind,
}

/// What one waiter is interested in of a store.
pub(super) type Interests = Subscription<Fingerprint, Selector>;

/// What the catalog knows of the kind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Details {
    /// Whether its objects live in a namespace; `None` until the API server said so.
    pub namespaced: Option<bool>,
    /// What its definition says of the status of its objects; `None` where nobody can say.
    pub declared: Option<Arc<Declared>>,
}

impl Store {
    /// Nothing is known yet of a kind whose objects make scopes; whether it `counts` even while it cannot be read.
    pub(super) fn of_scopes(lookers: Lookers, counts: bool) -> Self {
        let store = Self::default();
        let mut inner = store.lock();
        inner.lookers = Some(lookers);
        inner.counts = counts;
        drop(inner);
        store
    }

    /// From now on it concerns those who look over all kinds even while it cannot be read.
    pub(super) fn count(&self) {
        self.lock().counts = true;
    }

    fn lock(&self) -> MutexGuard<'_, Contents> {
        // A panic while the lock was held cannot leave a half-made map behind: every change is one call.
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the contents, and then wakes those whom that concerns.
    fn change<T>(&self, change: impl FnOnce(&mut Contents, &mut Woken) -> T) -> T {
        let mut woken = Woken::default();
        let outcome = change(&mut self.lock(), &mut woken);
        woken.wake();
        outcome
    }

    /// What the catalog knows of the kind.
    pub fn details(&self) -> Details {
        let details = self.details.lock();
        details.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Writes what the catalog knows, and wakes everybody if it changed.
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

    /// How many objects are kept.
    pub fn len(&self) -> usize {
        self.lock().objects.len()
    }

    /// How many of them are too large to be read: only their metadata is kept.
    pub fn too_large(&self) -> usize {
        self.lock().too_large
    }

    /// Whether no object is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The first list or a new one: replaces everything and is live from now on.
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
            let stale = inner.heard.note();
            let before = std::mem::replace(&mut inner.condition, Freshness::Live);
            if stale || before != Freshness::Live {
                inner.find_all(woken);
            }
        });
    }

    /// An object was added or changed.
    pub fn apply(&self, object: &Value) {
        self.take(object.into());
    }

    /// The same of one that is ready to be kept.
    pub(crate) fn take(&self, Entry { key, snapshot }: Entry) {
        self.change(|inner, woken| inner.insert(&key, snapshot, woken));
    }

    /// An object was deleted.
    pub fn delete(&self, object: &Value) {
        self.change(|inner, woken| inner.remove(&key(object), woken));
    }

    /// Forgets everything, under the condition that says why.
    pub fn clear(&self, condition: Freshness) {
        self.change(|inner, woken| inner.forget(condition, woken));
    }

    /// The same, and those who wait hear of it when they are judged anew for another reason.
    pub(super) fn clear_quietly(&self, condition: Freshness) {
        let mut nobody = Woken::default();
        self.lock().forget(condition, &mut nobody);
        drop(nobody);
    }

    /// Wakes everybody who waits on anything here, to judge it anew.
    pub fn wake_all(&self) {
        self.change(|inner, woken| {
            inner.scopes.forget();
            inner.find_all(woken);
        });
    }

    /// To wake `waiter` by changes here, who is interested in nothing yet.
    pub(super) fn subscription(&self, waiter: &Arc<Bell>) -> Interests {
        self.waiters().subscription(waiter)
    }

    /// The same, who is interested in this.
    pub(super) fn subscribe(&self, interest: Interest<'_>, waiter: &Arc<Bell>) -> Interests {
        let waiters = self.waiters();
        waiters.subscribe(waiters.fingerprint(interest), waiter)
    }

    /// What stands for an interest here.
    pub(super) fn fingerprint(&self, interest: Interest<'_>) -> Fingerprint {
        self.waiters().fingerprint(interest)
    }

    fn waiters(&self) -> Waiters<Fingerprint, Selector> {
        self.lock().waiters.clone()
    }

    /// How often somebody has waited for something here; `None` while somebody does.
    pub(super) fn asked(&self) -> Option<u64> {
        self.lock().waiters.asked()
    }
}

#[cfg(test)]
mod tests;
