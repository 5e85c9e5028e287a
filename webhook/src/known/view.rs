//! A reader of what is known that notes what it read.

mod behind;
mod world;

use super::memory::Memory;
use super::store::{Details, Interest, Store};
use super::waiters::{Bell, Subscription};
use super::{Heard, Known, Named};
use rules::job;
use rules::kept;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::object::created;
use rules::selector::Selector;
use rules::world::Objects;
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::time::Instant;

/// One round of judging: answers from memory and, afterwards, waits for a change of anything that was read.
///
/// It registers before it reads, so a change between the reading and the waiting is not lost.
#[derive(Debug)]
pub struct View {
    known: Arc<Known>,
    bell: Arc<Bell>,
    subscriptions: Mutex<Vec<Subscription>>,
    believed: Mutex<Believed>,
}

/// What was believed when it was read.
#[derive(Debug, Default)]
struct Believed {
    stores: Vec<Arc<Store>>,
    /// What is followed beside the objects.
    beside: bool,
    /// Until when whatever else is.
    until: Option<Instant>,
}

impl View {
    pub(super) fn new(known: Arc<Known>) -> Self {
        Self {
            known,
            bell: Arc::default(),
            subscriptions: Mutex::default(),
            believed: Mutex::default(),
        }
    }

    /// Returns when something that was read has changed since it was read.
    pub async fn changed(&self) {
        self.bell.heard().await;
    }

    /// Returns when something that was read has changed since it was read, to one after the other of those who wait: so a
    /// crowd is not woken at a stroke.
    pub async fn changed_for_each(&self) {
        self.bell.heard().await;
        self.bell.ring();
    }

    /// Whether something that was read has changed since it was read.
    pub fn has_changed(&self) -> bool {
        self.bell.has_rung()
    }

    /// Returns when something that was read is no longer believed. It is believed for longer whenever the API server gives a
    /// sign, and nothing has to be judged anew for that.
    pub async fn doubted(&self) {
        while let Some(until) = self.believed_until() {
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
        std::future::pending::<()>().await;
    }

    /// Until when all that was read is believed if nothing more is heard of the API server; `None` where nothing was
    /// believed.
    pub fn believed_until(&self) -> Option<Instant> {
        let now = Instant::now();
        let believed = self.believed();
        let stores = believed.stores.iter();
        let stores = stores.map(|store| store.believed_until().unwrap_or(now));
        let beside = self.beside().into_iter().filter(|_| believed.beside);
        let beside = beside.filter_map(|(_, heard)| {
            let stale = heard.is_stale().then_some(now);
            stale.or_else(|| heard.believed_until())
        });
        stores.chain(beside).chain(believed.until).min()
    }

    fn believed(&self) -> MutexGuard<'_, Believed> {
        let believed = self.believed.lock();
        believed.unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether what the store holds may be used.
    fn usable(&self, store: &Arc<Store>) -> Result<(), Unavailable> {
        store.believed_until()?;
        let stores = &mut self.believed().stores;
        if !stores.iter().any(|it| Arc::ptr_eq(it, store)) {
            stores.push(Arc::clone(store));
        }
        Ok(())
    }

    /// What is followed beside the objects.
    fn beside(&self) -> [(&'static str, Heard); 2] {
        [
            ("what it remembers", self.known.memory().last_heard()),
            ("the health rules", self.known.health_rules().last_heard()),
        ]
    }

    /// What beside the objects is followed and can no longer be believed.
    pub fn silent(&self) -> Option<&'static str> {
        let stale = self.beside().into_iter().find(|(_, it)| it.is_stale());
        self.believed().beside = stale.is_none();
        stale.map(|(what, _)| what)
    }

    /// One of the gated pods.
    pub fn gated_pod(&self, namespace: &str, name: &str) -> Lookup<Value> {
        let store = Arc::clone(self.known.gated());
        self.object_of(&store, namespace, name)
    }

    /// The UID of one of them.
    pub fn gated_uid(&self, namespace: &str, name: &str) -> Lookup<String> {
        let store = Arc::clone(self.known.gated());
        self.read_of(&store, namespace, name, |store| store.uid(namespace, name))
    }

    /// The gated pods of a namespace, or of all.
    pub fn gated_pods(&self, namespace: Option<&str>) -> Lookup<Vec<Value>> {
        let store = Arc::clone(self.known.gated());
        self.list_of(&store, namespace, &Selector::default())
    }

    /// The Jobs of a namespace that are held before they have a pod.
    pub fn held_jobs(&self, namespace: &str) -> Vec<Value> {
        let names = self.known.held_jobs().of(namespace);
        let kind = Kind::Builtin(kinds::JOB);
        let jobs =
            names
                .iter()
                .filter_map(|name| match self.object(&kind, Some(namespace), name) {
                    Lookup::Found(found) => Some(found),
                    Lookup::NotFound | Lookup::Unavailable(_) => None,
                });
        jobs.filter(job::is_held).collect()
    }

    /// The plans of every namespace.
    pub fn all_plans(&self) -> Lookup<Vec<Value>> {
        let store = Arc::clone(self.known.plans());
        self.list_of(&store, None, &Selector::default())
    }

    fn list_of(
        &self,
        store: &Arc<Store>,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        self.hold(store.subscribe_to_list(namespace, selector, &self.bell));
        match self.usable(store) {
            Ok(()) => Lookup::Found(store.list(namespace, selector)),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    /// Whether a namespace was made anew since this moment, in seconds since 1970. In doubt it was not.
    pub fn is_younger(&self, namespace: &str, at: i64) -> bool {
        let found = self.object(&Kind::Builtin(kinds::NAMESPACE), None, namespace);
        let made = found.map(|found| created(&found));
        matches!(made, Lookup::Found(Some(made)) if made.as_second() > at)
    }

    /// What is remembered of objects that are gone.
    pub fn memory(&self) -> &Memory {
        self.known.memory()
    }

    fn read(&self, store: &Store, interest: Interest) {
        self.hold(store.subscribe(interest, &self.bell));
    }

    /// Keeps a subscription until this view is gone.
    fn hold(&self, subscription: Subscription) {
        let held = self.subscriptions.lock();
        held.unwrap_or_else(PoisonError::into_inner)
            .push(subscription);
    }

    fn object_of(&self, store: &Arc<Store>, namespace: &str, name: &str) -> Lookup<Value> {
        self.read_of(store, namespace, name, |store| store.get(namespace, name))
    }

    fn read_of<T>(
        &self,
        store: &Arc<Store>,
        namespace: &str,
        name: &str,
        get: impl FnOnce(&Store) -> Option<T>,
    ) -> Lookup<T> {
        self.read(store, Interest::Object((namespace.into(), name.into())));
        match self.usable(store) {
            Ok(()) => get(store).into(),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn details(&self, kind: &Kind) -> (Arc<Store>, Details) {
        let store = self.known.want(kind);
        self.read(&store, Interest::Kind);
        let details = store.details();
        (store, details)
    }
}

impl Objects for View {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        self.object_of(&self.known.want(kind), namespace.unwrap_or_default(), name)
    }

    fn whole<'o>(&self, kind: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        // Of a custom resource everything is kept, and of a Secret nothing else is ever read.
        if matches!(kind, Kind::Custom { .. }) || kept::is_secret(kind) {
            return Lookup::Found(Cow::Borrowed(object));
        }
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let named = Named {
            kind: kind.clone(),
            namespace: namespace.into(),
            name: name.into(),
        };
        let Some(store) = self.known.whole(&named) else {
            return Lookup::Unavailable(Unavailable::Syncing);
        };
        self.object_of(&store, namespace, name).map(Cow::Owned)
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        self.list_of(&self.known.want(kind), namespace, selector)
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        if let Kind::Builtin(builtin) = kind {
            return Lookup::Found(builtin.namespaced);
        }
        let (store, details) = self.details(kind);
        match (self.usable(&store), details.namespaced) {
            (_, Some(namespaced)) => Lookup::Found(namespaced),
            (Err(why), None) => Lookup::Unavailable(why),
            (Ok(()), None) => Lookup::Unavailable(Unavailable::Syncing),
        }
    }
}

#[cfg(test)]
mod tests;
