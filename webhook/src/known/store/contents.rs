//! The contents of a store, and the views that a change of them concerns.

use super::nodes::Nodes;
use super::snapshot::{Key, Snapshot};
use crate::known::freshness::{Freshness, LastContact, WallClock};
use crate::known::scope_waiters::ScopeWaiters;
use crate::known::scopes::Scopes;
use crate::known::waiters::{Fingerprint, Waiters, Woken};
use rules::selector::Selector;
use std::collections::BTreeMap;
use tokio::time::Instant;
use tracing::warn;

/// The interest of a view: one object, or every object with a label in a namespace. Label and namespace may be left open.
///
/// A list by a selector is registered under one label that the selector requires, else under its namespace. A change of such an object is
/// then compared with the rest of the selector.
#[derive(Debug, Clone, Copy, Hash)]
pub(in crate::known) enum Interest<'a> {
    /// The interest in one object, by its namespace and its name.
    Object(&'a str, &'a str),
    /// The interest in a list of objects.
    List {
        /// The namespace of the list; `None` for every namespace.
        namespace: Option<&'a str>,
        /// The label of the listed objects, with its value; `None` for every object.
        label: Option<(&'a str, &'a str)>,
    },
    /// The interest in the details and the freshness of the kind. A change of them wakes every view of the store.
    Kind,
}

#[derive(Debug)]
pub(super) struct Contents {
    pub(super) freshness: Freshness,
    pub(super) heard: LastContact,
    /// The moment since which the API server only refuses the kind, and the freshness that the last refusal leads to.
    pub(super) refused: Option<(Instant, Freshness)>,
    pub(super) objects: BTreeMap<Key, Snapshot>,
    /// The objects by their nodes; `None` until a view asks for the pods of a node.
    pub(super) nodes: Option<Nodes>,
    /// The number of objects that are too large to be read.
    pub(super) too_large: usize,
    pub(super) scopes: Scopes,
    /// The views that wait for the store. A selector narrows their interest in a list down.
    pub(super) waiters: Waiters<Fingerprint, Selector>,
    /// The views that wait for scopes, if objects of this kind make scopes.
    pub(super) scope_waiters: Option<ScopeWaiters>,
    /// Whether the kind matters to scopes even while it cannot be read: the kind is built in, or granted.
    pub(super) counts: bool,
}

impl Contents {
    pub(super) fn new(wall: WallClock) -> Self {
        Self {
            freshness: Freshness::default(),
            heard: LastContact::none(wall),
            refused: None,
            objects: BTreeMap::new(),
            nodes: None,
            too_large: 0,
            scopes: Scopes::default(),
            waiters: Waiters::default(),
            scope_waiters: None,
            counts: false,
        }
    }

    pub(super) fn forget(&mut self, why: Freshness, woken: &mut Woken) {
        self.find_all(woken);
        self.objects.clear();
        self.nodes = None;
        self.too_large = 0;
        self.scopes.clear();
        self.freshness = why;
    }

    pub(super) fn insert(&mut self, key: &Key, snapshot: Snapshot, woken: &mut Woken) {
        if self.objects.get(key) == Some(&snapshot) {
            return; // most writes change nothing that a rule reads
        }
        let before = self.objects.remove(key);
        if let Some(nodes) = &mut self.nodes {
            if let Some(before) = &before {
                nodes.remove(key, before);
            }
            nodes.insert(key, &snapshot);
        }
        self.count(key, before.as_ref(), Some(&snapshot));
        let left = before.as_ref().and_then(|before| before.place.as_deref());
        match (&snapshot.place, left) {
            (Some(place), left) => self.scopes.insert(place, left),
            (None, Some(left)) => self.scopes.remove(left),
            (None, None) => {}
        }
        self.find(key, &snapshot, woken);
        if let Some(before) = before.filter(|before| before.differs_in_place(&snapshot)) {
            self.find(key, &before, woken);
        }
        self.objects.insert(key.clone(), snapshot);
    }

    pub(super) fn remove(&mut self, key: &Key, woken: &mut Woken) {
        if let Some(before) = self.objects.remove(key) {
            self.count(key, Some(&before), None);
            if let Some(nodes) = &mut self.nodes {
                nodes.remove(key, &before);
            }
            if let Some(place) = &before.place {
                self.scopes.remove(place);
            }
            self.find(key, &before, woken);
        }
    }

    /// Keeps the number of objects that are too large to be read right after a change of one object, and logs the object if it has become too
    /// large.
    fn count(&mut self, key: &Key, before: Option<&Snapshot>, now: Option<&Snapshot>) {
        match [before, now].map(|it| it.is_some_and(|it| it.too_large)) {
            [true, false] => self.too_large = self.too_large.saturating_sub(1),
            [false, true] => {
                self.too_large += 1;
                let (namespace, name) = (&*key.0, &*key.1);
                warn!(
                    namespace,
                    name,
                    "An object is longer than 8 MiB as JSON, or the large objects of its namespace fill their share of the memory: sluice keeps its metadata alone, and whatever depends on it waits. Make it smaller"
                );
            }
            _ => {}
        }
    }

    /// Adds every view of this store to `woken`. The views of scopes are left out for a custom kind that is neither granted nor readable: a
    /// list may name a custom kind that does not exist.
    pub(super) fn find_all(&self, woken: &mut Woken) {
        self.waiters.find_all(woken);
        let concerned = self.counts || self.freshness == Freshness::Live;
        if let Some(scope_waiters) = self.scope_waiters.as_ref().filter(|_| concerned) {
            scope_waiters.find_all(woken);
        }
    }

    /// Adds the views to `woken` whose interest an object of this name and with these labels and scope concerns.
    fn find(&self, key: &Key, snapshot: &Snapshot, woken: &mut Woken) {
        if let (Some(scope_waiters), Some(place)) = (&self.scope_waiters, &snapshot.place) {
            scope_waiters.find(&key.0, place, woken);
        }
        if self.waiters.is_empty() {
            return;
        }
        let selects = |selector: &Selector| selector.matches(|key| snapshot.label(key));
        let mut find = |interest: Interest<'_>| {
            let interest = self.waiters.fingerprint(interest);
            self.waiters.find(&interest, selects, woken);
        };
        find(Interest::Object(&key.0, &key.1));
        let labels: Vec<_> = snapshot.labels().collect();
        for namespace in [None, Some(&*key.0)] {
            let labels = labels.iter().map(|(key, value)| (&**key, &**value));
            for label in labels.map(Some).chain([None]) {
                find(Interest::List { namespace, label });
            }
        }
    }
}
