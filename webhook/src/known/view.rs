//! A view: the reader of the known cluster for one verdict, which notes the objects that it reads.

mod behind;
mod objects;
mod reads;
mod world;

use super::memory::Memory;
use super::scopes::{Limit, ScopeInterest};
use super::store::{Details, Interest, Store};
use super::waiters::Bell;
use super::{Known, LastContact};
use reads::Reads;
use rules::job;
use rules::kept;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::object::created;
use rules::selector::Selector;
use rules::world::Objects;
use serde_json::Value;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The time after which a view without room for its subscriptions is judged again, since no change wakes it.
const ROOM_IN: Duration = Duration::from_secs(30);

/// The reader for one round of judging. A view answers from memory; afterwards it waits for a change of any object that it has read.
///
/// The view subscribes before it reads, so no change between the reading and the waiting is lost.
#[derive(Debug)]
pub struct View {
    known: Arc<Known>,
    /// The namespace whose share pays for the subscriptions of the view; `None` for the few views that no tenant causes.
    namespace: Option<Box<str>>,
    bell: Arc<Bell>,
    reads: Mutex<Reads>,
    believed: Mutex<Believed>,
}

/// The stores and times that decide for how long the answers of a view are believed.
#[derive(Debug, Default)]
struct Believed {
    stores: Vec<Arc<Store>>,
    /// The stores of all scopes that the view reads, in the order of their addresses. Most views share one list.
    together: Arc<[Arc<Store>]>,
    /// Whether the answers of the view depend on the memory and the health rules as well.
    beside: bool,
    /// The moment until which everything else that the view read is believed, or at which the view is judged again because a reading found no
    /// room.
    until: Option<Instant>,
}

impl View {
    /// A view whose subscriptions and kinds are charged to this namespace; for `None` to no namespace.
    pub(super) fn new(known: Arc<Known>, namespace: Option<&str>) -> Self {
        let part = namespace.map(|namespace| known.budgets.waits.part(namespace));
        Self {
            known,
            namespace: namespace.map(Into::into),
            bell: Arc::default(),
            reads: Mutex::new(Reads::of(part)),
            believed: Mutex::default(),
        }
    }

    /// Returns when something that the view has read has changed: an object, a list, or whether a kind can be read. Returns at once if that has
    /// happened since the last call returned.
    pub async fn changed(&self) {
        self.bell.heard().await;
    }

    /// Returns when something that the view has read has changed, for several tasks that wait with one view: each task that wakes lets the
    /// next one wake, so that a crowd does not wake at a stroke.
    pub async fn changed_for_each(&self) {
        self.bell.heard().await;
        self.bell.ring();
    }

    /// Whether something that the view has read has changed since the view was made.
    pub fn has_changed(&self) -> bool {
        self.bell.has_rung()
    }

    /// Returns when data that the view has read is no longer believed; never if it depends on none. A sign of the API server extends the time
    /// without another judgement.
    pub async fn doubted(&self) {
        while let Some(until) = self.believed_until() {
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
        std::future::pending::<()>().await;
    }

    /// The moment until which all data of the view is believed if nothing more is heard of the API server; `None` if the view
    /// depends on no such data.
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

    /// Notes that the view depends on a store. An error, and no note, if the objects of the store are not believed.
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

    /// Notes that the view depends on the stores of all scopes that are believed. One shared list holds these stores, so the view needs
    /// no entry for each.
    fn believe_together(&self) {
        let mut stores = self.known.stores_of_scopes();
        stores.retain(|store| store.believed_until().is_ok());
        let together = self.known.stores.together(stores);
        let mut believed = self.believed();
        believed.together = together;
    }

    /// The memory and the health rules, in the words that an answer has for them, with the last sign of the API server about each.
    fn beside(&self) -> [(&'static str, LastContact); 2] {
        [
            ("what it remembers", self.known.memory().last_contact()),
            ("the health rules", self.known.health_rules().last_contact()),
        ]
    }

    /// The memory or the health rules, in the words that an answer has for them, if one of them is no longer believed. `None` if both are
    /// believed, or have not been read yet; the view then notes that it depends on them.
    pub fn silent(&self) -> Option<&'static str> {
        let stale = self.beside().into_iter().find(|(_, it)| it.is_stale());
        self.believed().beside = stale.is_none();
        stale.map(|(what, _)| what)
    }

    /// One of the gated pods, by its namespace and its name.
    pub fn gated_pod(&self, namespace: &str, name: &str) -> Lookup<Value> {
        let store = Arc::clone(self.known.gated());
        self.object_of(&store, namespace, name)
    }

    /// The UID of one of the gated pods.
    pub fn gated_uid(&self, namespace: &str, name: &str) -> Lookup<String> {
        let store = Arc::clone(self.known.gated());
        self.read_of(&store, namespace, name, |store| store.uid(namespace, name))
    }

    /// The gated pods of a namespace, or for `None` of all namespaces.
    pub fn gated_pods(&self, namespace: Option<&str>) -> Lookup<Vec<Value>> {
        let store = Arc::clone(self.known.gated());
        self.list_of(&store, namespace, &Selector::default())
    }

    /// The Jobs of a namespace that admission has created suspended and that are suspended still. A Job that cannot be read is left out.
    pub fn suspended_jobs(&self, namespace: &str) -> Vec<Value> {
        let names = self.known.suspended_jobs().of(namespace);
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

    /// The namespaces and names of all plans, without their data, which may be too long together.
    pub fn all_plans(&self) -> Lookup<Vec<(String, String)>> {
        let store = Arc::clone(self.known.plans());
        self.listed(&store, None, &Selector::default(), Store::keys)
    }

    /// One of the plans, by its namespace and its name.
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
        // Many selectors ask for one label only.
        let beyond = Some(selector).filter(|it| it.0.len() > usize::from(label.is_some()));
        self.listed_by(store, Interest::List { namespace, label }, beyond, list)
    }

    fn listed_by<T>(
        &self,
        store: &Arc<Store>,
        interest: Interest<'_>,
        beyond: Option<&Selector>,
        list: impl FnOnce(&Store) -> T,
    ) -> Lookup<T> {
        let read = self.reads().of_store(store, &self.bell, interest, beyond);
        match self.heeded(read).and_then(|()| self.usable(store)) {
            Ok(()) => Lookup::Found(list(store)),
            Err(why) => Lookup::Unavailable(why),
        }
    }

    /// Whether a namespace was made after this moment, in seconds since 1970. `false` if that is unknown, or there is no such namespace.
    pub fn is_younger(&self, namespace: &str, at: i64) -> bool {
        let found = self.object(&Kind::Builtin(kinds::NAMESPACE), None, namespace);
        let made = found.map(|found| created(&found));
        matches!(made, Lookup::Found(Some(made)) if made.as_second() > at)
    }

    /// The completed Jobs and the passed revisions that outlive their objects.
    pub fn memory(&self) -> &Memory {
        self.known.memory()
    }

    fn read(&self, store: &Arc<Store>, interest: Interest<'_>) -> Result<(), Unavailable> {
        let read = self.reads().of_store(store, &self.bell, interest, None);
        self.heeded(read)
    }

    /// Subscribes to an interest in a scope, which `limit` narrows down. Returns whether the interest is new to this view; an error if the share
    /// of the namespace has no room for it.
    fn look(&self, look: ScopeInterest<'_>, limit: Option<Limit>) -> Result<bool, Unavailable> {
        let scope_waiters = self.known.stores.scope_waiters();
        let looked = self
            .reads()
            .of_all_kinds(scope_waiters, &self.bell, look, limit);
        self.heeded(looked)
    }

    /// Keeps a subscription other than those to stores and scopes for as long as the view lives. Without room for it, the view is judged again
    /// after [`ROOM_IN`].
    fn hold(&self, other: impl Send + 'static) {
        let held = self.reads().keep(Box::new(other));
        // A view without the subscription is judged again after a while.
        let _ = self.heeded(held);
    }

    /// Passes on the result of a reading. If the reading was refused for want of room for its subscription, the view is judged again
    /// after [`ROOM_IN`].
    fn heeded<T>(&self, read: Result<T, Unavailable>) -> Result<T, Unavailable> {
        if let Err(Unavailable::OverBudget { .. }) = read {
            self.judge_anew();
        }
        read
    }

    /// Has the view judged again after [`ROOM_IN`]: a reading was refused for want of room, so no change of its objects wakes the view.
    fn judge_anew(&self) {
        let until = &mut self.believed().until;
        until.get_or_insert_with(|| Instant::now() + ROOM_IN);
    }

    /// The store of a kind that a list names. The first call for a kind asks for its watch. An error if the kind is custom, cannot be read, and
    /// finds no room in the share of the view's namespace.
    fn want(&self, kind: &Kind) -> Result<Arc<Store>, Unavailable> {
        let Some(namespace) = &self.namespace else {
            return Ok(self.known.want(kind));
        };
        let found = self.known.want_for(kind, namespace);
        self.heeded(found.map_err(|share| Unavailable::OverBudget { share }))
    }

    /// The store of a kind that a walk over all kinds visits. The visit does not count as a list that names the kind, unless the kind has no
    /// store yet.
    fn want_unnamed(&self, kind: &Kind) -> Result<Arc<Store>, Unavailable> {
        self.known.watched(kind).map_or_else(|| self.want(kind), Ok)
    }

    fn reads(&self) -> MutexGuard<'_, Reads> {
        // A panic leaves at worst a subscription too many.
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
        let store = self.want(kind)?;
        self.read(&store, Interest::Kind)?;
        let details = store.details();
        Ok((store, details))
    }
}

#[cfg(test)]
mod tests;
