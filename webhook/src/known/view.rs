//! A reader of what is known that notes what it read.

mod behind;
mod reads;
mod world;

use super::lookers::{Limit, Look};
use super::memory::Memory;
use super::shares::Allotment;
use super::store::{Details, Interest, Store};
use super::waiters::Bell;
use super::whole::OF_A_NAMESPACE;
use super::{Heard, Known, Named};
use reads::Reads;
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
use std::time::Duration;
use tokio::time::Instant;

/// After this long a view is judged anew for which there was no room to be woken.
const ROOM_IN: Duration = Duration::from_secs(30);

/// One round of judging: answers from memory and, afterwards, waits for a change of anything that was read.
///
/// It registers before it reads, so a change between the reading and the waiting is not lost.
#[derive(Debug)]
pub struct View {
    known: Arc<Known>,
    bell: Arc<Bell>,
    reads: Mutex<Reads>,
    believed: Mutex<Believed>,
}

/// What was believed when it was read.
#[derive(Debug, Default)]
struct Believed {
    stores: Vec<Arc<Store>>,
    /// Those that are looked at over all kinds, in the order of their addresses. Most views share one list.
    together: Arc<[Arc<Store>]>,
    /// What is followed beside the objects.
    beside: bool,
    /// Until when whatever else is.
    until: Option<Instant>,
}

impl View {
    /// What it is woken by is taken out of this part of a share.
    pub(super) fn new(known: Arc<Known>, part: Option<Allotment>) -> Self {
        Self {
            known,
            bell: Arc::default(),
            reads: Mutex::new(Reads::of(part)),
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
        let stores = believed.stores.iter().chain(&*believed.together);
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
        let Believed {
            stores, together, ..
        } = &mut *self.believed();
        let at = Arc::as_ptr(store);
        let is_there = together.binary_search_by_key(&at, Arc::as_ptr).is_ok()
            || stores.iter().any(|it| Arc::ptr_eq(it, store));
        if !is_there {
            stores.push(Arc::clone(store));
        }
        Ok(())
    }

    /// Believes the stores that are looked at over all kinds, as far as they can be: so each is no entry of its own.
    fn believe_together(&self) {
        let mut stores = self.known.stores_of_scopes();
        stores.retain(|store| store.believed_until().is_ok());
        let together = self.known.stores.together(stores);
        let mut believed = self.believed();
        believed.together = together;
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

    /// The plans of every namespace, by namespace and name: all that they say may be too much at a time.
    pub fn all_plans(&self) -> Lookup<Vec<(String, String)>> {
        let store = Arc::clone(self.known.plans());
        self.listed(&store, None, &Selector::default(), Store::keys)
    }

    /// One of the plans.
    pub fn plan(&self, namespace: &str, name: &str) -> Lookup<Value> {
        let store = Arc::clone(self.known.plans());
        self.object_of(&store, namespace, name)
    }

    fn list_of(
        &self,
        store: &Arc<Store>,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        let list = |store: &Store| store.list(namespace, selector);
        self.listed(store, namespace, selector, list)
    }

    fn listed<T>(
        &self,
        store: &Arc<Store>,
        namespace: Option<&str>,
        selector: &Selector,
        list: impl FnOnce(&Store) -> T,
    ) -> Lookup<T> {
        let label = selector.indexable();
        let interest = Interest::List { namespace, label };
        // One label is all that many selectors ask for.
        let beyond = Some(selector).filter(|it| it.0.len() > usize::from(label.is_some()));
        let read = self.reads().of_store(store, &self.bell, interest, beyond);
        match self.heeded(read).and_then(|()| self.usable(store)) {
            Ok(()) => Lookup::Found(list(store)),
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

    fn read(&self, store: &Arc<Store>, interest: Interest<'_>) -> Result<(), Unavailable> {
        let read = self.reads().of_store(store, &self.bell, interest, None);
        self.heeded(read)
    }

    /// Is woken by changes of what is looked at over all kinds; whether that is new.
    fn look(&self, look: Look<'_>, limit: Option<Limit>) -> Result<bool, Unavailable> {
        let lookers = self.known.stores.lookers();
        let looked = self.reads().of_all_kinds(lookers, &self.bell, look, limit);
        self.heeded(looked)
    }

    /// Keeps what it is woken by beside that, until this view is gone.
    fn hold(&self, other: impl Send + 'static) {
        let held = self.reads().keep(Box::new(other));
        // Whoever waits without it is judged anew after a while.
        let _ = self.heeded(held);
    }

    /// Where the share is too small nothing wakes this view, so what it tells is not believed for long.
    fn heeded<T>(&self, read: Result<T, Unavailable>) -> Result<T, Unavailable> {
        if let Err(Unavailable::OverBudget { .. }) = read {
            self.judge_anew();
        }
        read
    }

    /// Nothing wakes this view for what it was not told for want of room, so it is not believed for long.
    fn judge_anew(&self) {
        let until = &mut self.believed().until;
        until.get_or_insert_with(|| Instant::now() + ROOM_IN);
    }

    fn reads(&self) -> MutexGuard<'_, Reads> {
        // What a panic leaves half done is only woken by more.
        self.reads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn object_of(&self, store: &Arc<Store>, namespace: &str, name: &str) -> Lookup<Value> {
        let found = self.read_of(store, namespace, name, |store| store.get(namespace, name));
        match found {
            Lookup::Found(object) if kept::is_too_large(&object) => {
                Lookup::Unavailable(Unavailable::TooLarge)
            }
            found => found,
        }
    }

    fn read_of<T>(
        &self,
        store: &Arc<Store>,
        namespace: &str,
        name: &str,
        get: impl FnOnce(&Store) -> Option<T>,
    ) -> Lookup<T> {
        let read = self.read(store, Interest::Object(namespace, name));
        match read.and_then(|()| self.usable(store)) {
            Ok(()) => get(store).into(),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    fn details(&self, kind: &Kind) -> Result<(Arc<Store>, Details), Unavailable> {
        let store = self.known.want(kind);
        self.read(&store, Interest::Kind)?;
        let details = store.details();
        Ok((store, details))
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
        let places = OF_A_NAMESPACE;
        let Some(reading) = self.known.whole(&named) else {
            self.judge_anew();
            return Lookup::Unavailable(Unavailable::AwaitsTurn { places });
        };
        let found = self.object_of(&reading.store, namespace, name);
        match found {
            // What was read in its last turn is no longer believed, or it had none.
            Lookup::Unavailable(Unavailable::Syncing | Unavailable::Stale)
                if !reading.is_its_turn =>
            {
                Lookup::Unavailable(Unavailable::AwaitsTurn { places })
            }
            found => found.map(Cow::Owned),
        }
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
        let (store, details) = match self.details(kind) {
            Ok(found) => found,
            Err(why) => return Lookup::Unavailable(why),
        };
        match (self.usable(&store), details.namespaced) {
            (_, Some(namespaced)) => Lookup::Found(namespaced),
            (Err(why), None) => Lookup::Unavailable(why),
            (Ok(()), None) => Lookup::Unavailable(Unavailable::Syncing),
        }
    }
}

#[cfg(test)]
mod tests;
