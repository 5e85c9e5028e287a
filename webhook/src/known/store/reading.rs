//! The reading half of a store: objects by name, by selector, and by their places in scopes.

use super::contents::Contents;
use super::nodes::Nodes;
use super::snapshot::{Named, Snapshot, Text};
use super::{Key, Store};
use crate::known::scopes::First;
use jiff::Timestamp;
use rules::dependency::Part;
use rules::scope::{Position, Scope};
use rules::selector::Selector;
use rules::world::Ready;
use serde_json::Value;
use std::collections::BTreeSet;
use tokio::time::Instant;

/// The most names of objects that a store returns for an explanation.
const NAMES: usize = 1_000;

impl Store {
    /// One object of the store, unpacked; `None` if the store has none of this name. The namespace of a cluster-scoped object is empty.
    pub fn get(&self, namespace: &str, name: &str) -> Option<Value> {
        // The key type owns its text, so a look-up needs one; two short strings are cheaper than a second index.
        let key: Key = (namespace.into(), name.into());
        let text = self.text(&key)?;
        Some(Named(key, text).read())
    }

    /// The UID of one object of the store; `None` if the store has no object of this name.
    pub fn uid(&self, namespace: &str, name: &str) -> Option<String> {
        self.text(&(namespace.into(), name.into()))?.uid()
    }

    /// One object in its packed form. The caller unpacks it after the lock is given back.
    fn text(&self, key: &Key) -> Option<Text> {
        self.lock().objects.get(key).map(Snapshot::text)
    }

    /// The bytes that all objects of the store take in their packed form.
    pub(in crate::known) fn bytes(&self) -> usize {
        let objects = &self.lock().objects;
        objects.values().map(Snapshot::bytes).sum()
    }

    /// The namespaces and names of all objects of the store.
    pub fn keys(&self) -> Vec<(String, String)> {
        let objects = &self.lock().objects;
        let keys = objects.keys();
        keys.map(|key| (key.0.to_string(), key.1.to_string()))
            .collect()
    }

    /// The names of the objects of a namespace, [`NAMES`] at most: the names only explain a verdict.
    pub(in crate::known) fn names(&self, namespace: &str) -> Vec<String> {
        let first: Key = (namespace.into(), "".into());
        let objects = &self.lock().objects;
        let there = objects.range(first..).take(NAMES);
        let there = there.take_while(|(key, _)| *key.0 == *namespace);
        there.map(|(key, _)| key.1.to_string()).collect()
    }

    /// The objects that `choose` accepts, from one namespace, or for `None` from all. They are unpacked after the lock is given back.
    fn chosen(&self, namespace: Option<&str>, choose: impl Fn(&Snapshot) -> bool) -> Vec<Value> {
        let first: Key = (namespace.unwrap_or_default().into(), "".into());
        let in_namespace = |key: &Key| namespace.is_none_or(|namespace| *key.0 == *namespace);
        let chosen: Vec<Named> = {
            let objects = &self.lock().objects;
            let there = objects.range(first..);
            let there = there.take_while(|(key, _)| in_namespace(key));
            let chosen = there.filter(|(_, snapshot)| choose(snapshot));
            let named = chosen.map(|(key, snapshot)| Named(key.clone(), snapshot.text()));
            named.collect()
        };
        chosen.into_iter().map(Named::read).collect()
    }

    /// The objects of the store in a namespace (`None`: in all) that a selector selects.
    pub fn list(&self, namespace: Option<&str>, selector: &Selector) -> Vec<Value> {
        self.chosen(namespace, |snapshot| {
            selector.matches(|key| snapshot.label(key))
        })
    }

    /// The pods of the store in a namespace (`None`: in all) that a selector selects and that may be on a node. A pod that is too large to be
    /// read may be on any node.
    pub(in crate::known) fn pods_on(
        &self,
        node: &str,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Vec<Value> {
        let chosen: Vec<Named> = {
            let Contents { objects, nodes, .. } = &mut *self.lock();
            let nodes = nodes.get_or_insert_with(|| Nodes::of(objects));
            let here = nodes.on(node);
            let here = here.filter(|key| namespace.is_none_or(|namespace| *key.0 == *namespace));
            let pods = here.filter_map(|key| Some((key, objects.get(key)?)));
            let chosen = pods.filter(|(_, pod)| selector.matches(|key| pod.label(key)));
            let named = chosen.map(|(key, pod)| Named(key.clone(), pod.text()));
            named.collect()
        };
        chosen.into_iter().map(Named::read).collect()
    }

    /// The objects of a namespace that may be in a part (a group, a sub-chart or a release) of the scope of this name, or for `None` of any
    /// scope.
    pub fn members(&self, namespace: &str, scope: Option<&str>, part: &Part) -> Vec<Value> {
        self.chosen(Some(namespace), |snapshot| {
            let place = snapshot.place.as_ref();
            place.is_some_and(|place| place.is_in(scope, part))
        })
    }

    /// The first object of a scope below a weight that is not ready, with its position. With `before`, only an object in front of
    /// that position counts. A lasting result of `is_ready` is kept.
    ///
    /// No lock is held while `is_ready` judges: it may read this store.
    pub(in crate::known) fn first_unready(
        &self,
        scope: &Scope,
        below: i64,
        before: Option<&Position>,
        is_ready: &dyn Fn(&Value) -> Ready,
    ) -> Option<(Position, Value)> {
        let mut passed = BTreeSet::new();
        loop {
            let (position, named, change) = self.first(scope, below, before, &passed)?;
            let object = named.read();
            let Some(change) = change else {
                return Some((position, object));
            };
            match is_ready(&object) {
                Ready::Lasting(ready) => {
                    let scopes = &mut self.lock().scopes;
                    scopes.judged(scope, &position, change, ready);
                }
                Ready::Momentary(true) => drop(passed.insert(position)),
                Ready::Momentary(false) => return Some((position, object)),
            }
        }
    }

    /// Whether the scope has an object of a smaller weight than `below`.
    pub(in crate::known) fn has_lower(&self, scope: &Scope, below: i64) -> bool {
        self.lock().scopes.has_lower(scope, below)
    }

    /// The position and the packed form of the first object that may not be ready; and the number of its last change, if the object has
    /// to be judged.
    fn first(
        &self,
        scope: &Scope,
        below: i64,
        before: Option<&Position>,
        passed: &BTreeSet<Position>,
    ) -> Option<(Position, Named, Option<u64>)> {
        let Contents {
            objects, scopes, ..
        } = &*self.lock();
        let (position, change) = match scopes.first(scope, below, before, passed) {
            First::Unjudged(position, change) => (position, Some(change)),
            First::Unready(position) => (position, None),
            First::Nothing => return None,
        };
        let key: Key = (
            scope.namespace.as_str().into(),
            position.name.as_str().into(),
        );
        let text = objects.get(&key).map(Snapshot::text).unwrap_or_default();
        Some((position, Named(key, text), change))
    }

    /// The moment at which an installer last created or wrote an object of the scope, of this store's kind; `None` if no such write is known.
    pub fn active(&self, scope: &Scope) -> Option<Timestamp> {
        self.lock().scopes.active(scope)
    }

    /// The moment at which a watch last saw an object of the scope change without a trace in `metadata.managedFields`; `None` where
    /// it has seen none.
    pub fn changed(&self, scope: &Scope) -> Option<Instant> {
        self.lock().scopes.changed(scope)
    }

    /// The namespaces in which the store has objects of a release.
    pub fn namespaces_of(&self, release: &Scope) -> Vec<String> {
        self.lock().scopes.namespaces_of(release)
    }
}
