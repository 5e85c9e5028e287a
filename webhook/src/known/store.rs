//! The objects of one kind, and who waits for a change of which.

mod contents;
mod packed;
mod snapshot;

pub(crate) use snapshot::Entry;
#[cfg(test)]
pub(crate) use snapshot::READ;

use super::heard::BELIEVED_FOR;
use super::scopes::First;
use super::waiters::{Bell, Subscription, Woken};
use contents::Contents;
pub(super) use contents::{Interest, Key};
use jiff::Timestamp;
use rules::dependency::Part;
use rules::lookup::Unavailable;
use rules::scope::{Position, Scope};
use rules::selector::Selector;
use serde_json::Value;
use snapshot::{Snapshot, Text, key};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// For how long a kind has to be refused until it counts as forbidden or not served: an API server that starts refuses
/// every kind until its own watches have synced.
const REFUSED_FOR: Duration = BELIEVED_FOR;
/// The same for a kind that was never read. Nothing is believed of it in any case, so this is about the word alone.
const REFUSED_AT_FIRST: Duration = Duration::from_secs(10);

/// The names of so many objects are looked through, at most.
const NAMES: usize = 1_000;

/// What can be said of a store's contents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Freshness {
    /// The first list has not arrived.
    #[default]
    Syncing,
    /// It was listed, and is followed. For how long it is believed says [`Store::believed_until`].
    Live,
    /// The API server forbids it, and has for a while.
    Forbidden,
    /// The API server does not serve the kind, and has not for a while.
    NotServed,
    /// The API server cannot tell whether it serves the kind.
    Undiscovered,
}

/// The objects of one kind. No guard leaves this module, so none can be held across an await.
#[derive(Debug, Default)]
pub struct Store {
    inner: Mutex<Contents>,
    details: Mutex<Details>,
}

/// What the catalog knows of the kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Details {
    /// Whether its objects live in a namespace; `None` until the API server said so.
    pub namespaced: Option<bool>,
    /// Whether its definition declares the status subresource; `None` where nobody can say.
    pub declares_status: Option<bool>,
}

impl Store {
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

    /// What can be said of the contents.
    pub fn condition(&self) -> Freshness {
        self.lock().condition
    }

    /// What the catalog knows of the kind.
    pub fn details(&self) -> Details {
        *self.details.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Writes what the catalog knows, and wakes everybody if it changed.
    pub fn describe(&self, details: Details) {
        let before = std::mem::replace(
            &mut *self.details.lock().unwrap_or_else(PoisonError::into_inner),
            details,
        );
        if before != details {
            self.wake_all();
        }
    }

    /// Returns when the first list has arrived.
    pub async fn synced(&self) {
        let bell = Arc::default();
        let _subscription = self.subscribe(Interest::Kind, &bell);
        while self.condition() == Freshness::Syncing {
            bell.heard().await;
        }
    }

    /// How many objects are kept.
    pub fn len(&self) -> usize {
        self.lock().objects.len()
    }

    /// Whether no object is kept.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Until when the contents are believed if nothing more is heard, or why they are not.
    pub fn believed_until(&self) -> Result<Instant, Unavailable> {
        let inner = self.lock();
        match inner.condition {
            Freshness::Live => inner.heard.believed_until().ok_or(Unavailable::Stale),
            Freshness::Syncing => Err(Unavailable::Syncing),
            Freshness::Forbidden => Err(Unavailable::Forbidden),
            Freshness::NotServed => Err(Unavailable::NotServed),
            Freshness::Undiscovered => Err(Unavailable::Undiscovered),
        }
    }

    /// The API server gave a sign of this watch.
    pub fn heard(&self) {
        self.change(|inner, woken| {
            if inner.heard.note() {
                inner.find_all(woken);
            }
        });
    }

    /// The API server refuses the kind: `why` is what it then comes to, and the contents are forgotten, once it has been
    /// refused for a while. Until then they are believed as long as ever. Returns whether it comes to that now.
    pub fn refuse(&self, why: Freshness) -> bool {
        self.change(|inner, woken| {
            if inner.condition == why {
                return false;
            }
            let refused = *inner.refused.get_or_insert_with(Instant::now);
            let lasting = match inner.condition {
                Freshness::Syncing => REFUSED_AT_FIRST,
                _ => REFUSED_FOR,
            };
            let lasts = refused.elapsed() >= lasting;
            if lasts {
                inner.forget(why, woken);
            }
            lasts
        })
    }

    /// The API server cannot be asked. What was known is believed for a while; whether it would still be refused, nobody
    /// knows.
    pub fn lost(&self) {
        self.change(|inner, woken| {
            inner.refused = None;
            if !matches!(inner.condition, Freshness::Syncing | Freshness::Live) {
                inner.forget(Freshness::Syncing, woken);
            }
        });
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
            inner.refused = None;
            let stale = inner.heard.note();
            if stale || inner.condition != Freshness::Live {
                inner.condition = Freshness::Live;
                inner.find_all(woken);
            }
        });
    }

    /// An object was added or changed.
    pub fn apply(&self, object: &Value) {
        let snapshot = Snapshot::new(object);
        self.change(|inner, woken| inner.insert(&key(object), snapshot, woken));
    }

    /// An object was deleted.
    pub fn delete(&self, object: &Value) {
        self.change(|inner, woken| inner.remove(&key(object), woken));
    }

    /// Forgets everything, under the condition that says why.
    pub fn clear(&self, condition: Freshness) {
        self.change(|inner, woken| inner.forget(condition, woken));
    }

    /// Wakes everybody who waits on anything here, to judge it anew.
    pub fn wake_all(&self) {
        self.change(|inner, woken| {
            inner.scopes.forget();
            inner.find_all(woken);
        });
    }

    /// From now on `waiter` is woken by changes of what it is interested in.
    pub(super) fn subscribe(&self, interest: Interest, waiter: &Arc<Bell>) -> Subscription {
        let everything = Selector::default();
        self.lock().waiters.subscribe(interest, everything, waiter)
    }

    /// The same by changes of what a selector selects.
    pub(super) fn subscribe_to_list(
        &self,
        namespace: Option<&str>,
        selector: &Selector,
        waiter: &Arc<Bell>,
    ) -> Subscription {
        let label = selector.indexable();
        let interest = Interest::List {
            namespace: namespace.map(Into::into),
            label: label.map(|(key, value)| (key.into(), value.into())),
        };
        let selector = selector.clone();
        self.lock().waiters.subscribe(interest, selector, waiter)
    }

    /// How often somebody has waited for something here; `None` while somebody does.
    pub(super) fn asked(&self) -> Option<u64> {
        self.lock().waiters.asked()
    }

    /// One object.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Value> {
        self.text(namespace, name).as_ref().map(Text::read)
    }

    /// The UID of one object.
    pub fn uid(&self, namespace: &str, name: &str) -> Option<String> {
        self.text(namespace, name)?.uid()
    }

    /// Nobody reads it under the lock.
    fn text(&self, namespace: &str, name: &str) -> Option<Text> {
        // The key type owns its text, so a look-up needs one; two short strings are cheaper than a second index.
        let key: Key = (namespace.into(), name.into());
        self.lock().objects.get(&key).map(Snapshot::text)
    }

    /// The names of the objects of a namespace: of so many that a look at them is a glance.
    pub(super) fn names(&self, namespace: &str) -> Vec<String> {
        let first: Key = (namespace.into(), "".into());
        let objects = &self.lock().objects;
        let there = objects.range(first..).take(NAMES);
        let there = there.take_while(|(key, _)| *key.0 == *namespace);
        there.map(|(key, _)| key.1.to_string()).collect()
    }

    /// The objects of a namespace, or of all, that are chosen.
    fn chosen(&self, namespace: Option<&str>, choose: impl Fn(&Snapshot) -> bool) -> Vec<Value> {
        let first: Key = (namespace.unwrap_or_default().into(), "".into());
        let in_namespace = |key: &Key| namespace.is_none_or(|namespace| *key.0 == *namespace);
        let texts: Vec<Text> = {
            let objects = &self.lock().objects;
            let there = objects.range(first..);
            let there = there.take_while(|(key, _)| in_namespace(key));
            let chosen = there.filter(|(_, snapshot)| choose(snapshot));
            chosen.map(|(_, snapshot)| snapshot.text()).collect()
        };
        texts.iter().map(Text::read).collect()
    }

    /// The objects that may be in a part of a scope, or without a scope in that part anywhere in the namespace.
    pub fn members(&self, namespace: &str, scope: Option<&str>, part: &Part) -> Vec<Value> {
        self.chosen(Some(namespace), |snapshot| {
            let place = snapshot.place.as_ref();
            place.is_some_and(|place| place.is_in(scope, part))
        })
    }

    /// The first object of a scope below a weight that is not ready; `waiter` is woken when that may have changed. What
    /// `is_ready` says holds until the object changes, or, where it is not `lasting`, now.
    ///
    /// No lock is held while `is_ready` judges: it may read this store.
    pub(super) fn first_unready(
        &self,
        scope: &Scope,
        below: i64,
        is_ready: &dyn Fn(&Value) -> bool,
        lasting: bool,
        waiter: &Arc<Bell>,
    ) -> (Option<Value>, Subscription) {
        let mut passed = Vec::new();
        // What is looked at in each turn lies within what the next one subscribes to, and that before this is dropped.
        let mut _before = None;
        loop {
            let (first, subscription) = self.first(scope, below, &passed, waiter);
            match first {
                First::Unjudged(text, position, change) => {
                    let object = text.read();
                    match (is_ready(&object), lasting) {
                        (ready, true) => {
                            let scopes = &mut self.lock().scopes;
                            scopes.judged(scope, &position, change, ready);
                        }
                        (true, false) => passed.push(position),
                        (false, false) => return (Some(object), subscription),
                    }
                }
                First::Unready(text) => return (Some(text.read()), subscription),
                First::Nothing => return (None, subscription),
            }
            _before = Some(subscription);
        }
    }

    fn first(
        &self,
        scope: &Scope,
        below: i64,
        passed: &[Position],
        waiter: &Arc<Bell>,
    ) -> (First<Text>, Subscription) {
        let Contents {
            objects, scopes, ..
        } = &*self.lock();
        let text = |name: &str| {
            let key: Key = (scope.namespace.as_str().into(), name.into());
            objects.get(&key).map(Snapshot::text).unwrap_or_default()
        };
        let (first, subscription) = scopes.first(scope, below, passed, waiter);
        let first = match first {
            First::Unjudged(name, position, change) => {
                First::Unjudged(text(&name), position, change)
            }
            First::Unready(name) => First::Unready(text(&name)),
            First::Nothing => First::Nothing,
        };
        (first, subscription)
    }

    /// When an object of the scope was last created or written.
    pub fn active(&self, scope: &Scope) -> Option<Timestamp> {
        self.lock().scopes.active(scope)
    }

    /// The namespaces in which a release has objects.
    pub fn namespaces_of(&self, release: &Scope) -> Vec<String> {
        self.lock().scopes.namespaces_of(release)
    }

    /// The objects that a list names.
    pub fn list(&self, namespace: Option<&str>, selector: &Selector) -> Vec<Value> {
        self.chosen(namespace, |snapshot| {
            selector.matches(|key| snapshot.labels.get(key))
        })
    }
}

#[cfg(test)]
mod tests;
