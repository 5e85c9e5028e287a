//! What is read: objects by their name, by a selector, by their place in a scope.

use super::contents::Contents;
use super::snapshot::{Snapshot, Text};
use super::{Key, Store};
use crate::known::scopes::First;
use crate::known::waiters::{Bell, Subscription};
use jiff::Timestamp;
use rules::dependency::Part;
use rules::scope::{Position, Scope};
use rules::selector::Selector;
use serde_json::Value;
use std::sync::Arc;
use tokio::time::Instant;

/// The names of so many objects are looked through, at most.
const NAMES: usize = 1_000;

impl Store {
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
    pub(in crate::known) fn names(&self, namespace: &str) -> Vec<String> {
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

    /// The objects that a list names.
    pub fn list(&self, namespace: Option<&str>, selector: &Selector) -> Vec<Value> {
        self.chosen(namespace, |snapshot| {
            selector.matches(|key| snapshot.labels.get(key))
        })
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
    pub(in crate::known) fn first_unready(
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

    /// When an object of the scope was last seen to change without a trace.
    pub fn changed(&self, scope: &Scope) -> Option<Instant> {
        self.lock().scopes.changed(scope)
    }

    /// The namespaces in which a release has objects.
    pub fn namespaces_of(&self, release: &Scope) -> Vec<String> {
        self.lock().scopes.namespaces_of(release)
    }
}
