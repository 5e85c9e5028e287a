//! The cluster as this replica knows it: one trimmed store for each kind that a list names, read from memory.
//!
//! Nothing here talks to the API server. A [`View`] answers the questions of the rules for one verdict, and notes which objects it has
//! read. The first reading of a kind asks for the watch of the kind through the channel of [`Known::new`]. The view then waits for a
//! change of exactly the objects that it read, so a changed object wakes only the gates whose verdict it can alter.

mod budgets;
mod byte_budget;
mod creations;
mod freshness;
mod granted;
pub(crate) mod health_rules;
mod kept_whole;
mod large_objects;
pub(crate) mod memory;
mod metrics;
mod pod_causes;
mod rate_limited;
mod read_whole;
mod satisfied_since;
mod scope_waiters;
mod scopes;
mod settings;
pub(crate) mod slots;
mod store;
mod stores;
mod suspended_jobs;
mod view;
mod waiters;

pub(crate) use budgets::Budgets;
pub(crate) use byte_budget::{Allotment, ByteBudget};
pub(crate) use creations::{Creations, HeldCreation, NoCreationRoom};
pub(crate) use freshness::{Freshness, LastContact, WallClock};
pub(crate) use granted::{Granted, GrantedChanges};
pub(crate) use health_rules::HealthSources;
pub(crate) use kept_whole::{Trimmed, WholeBudget};
pub(crate) use large_objects::{FREE, LargeBudget};
pub(crate) use metrics::FreshnessMetrics;
pub(crate) use pod_causes::PodCauses;
pub(crate) use read_whole::ObjectName;
pub(crate) use settings::MEMORY;
pub use settings::Settings;
#[cfg(test)]
pub(crate) use store::READ;
pub(crate) use store::{Details, Entry, Store};
pub(crate) use stores::Forgotten;
pub(crate) use suspended_jobs::SuspendedJobs;
pub use view::View;

use health_rules::HealthRules;
use memory::Memory;
use rate_limited::RateLimited;
use read_whole::{ReadWhole, WholeReading};
use rules::edges::Link;
use rules::kinds::Kind;
use rules::room::Lack;
use satisfied_since::SatisfiedSince;
use serde_json::Value;
use slots::Slots;
use std::sync::Arc;
use stores::{BYTES_OF_A_KIND, Stores, is_custom};
use tokio::sync::{Notify, mpsc};

/// The objects of the cluster as this replica knows them, and the facts about them that verdicts need.
#[derive(Debug)]
pub struct Known {
    stores: Stores,
    /// The budgets of memory that namespaces share.
    budgets: Budgets,
    /// The pods that carry the label of a gate. They have a store beside that of the [`Kind`] Pod, because gates need only these pods,
    /// and a cluster has many others.
    gated: Arc<Store>,
    /// The pending pods without a node, gated or not.
    unscheduled: Arc<Store>,
    unscheduled_wanted: Notify,
    /// The plans (ConfigMaps that order the parts of a release), with their data. Of other ConfigMaps only the metadata is read.
    plans: Arc<Store>,
    memory: Arc<Memory>,
    slots: Arc<Slots>,
    /// The Jobs that admission has created suspended.
    suspended_jobs: SuspendedJobs,
    creations: Creations,
    health_rules: HealthRules,
    granted: Granted,
    whole: ReadWhole,
    /// The results of recent searches for workloads whose pods fit on no node, with the resources that the nodes lack.
    lacks: RateLimited<Option<Arc<Lack>>>,
    /// The results of recent searches for the workloads behind the Services that dependency lists name.
    behind: RateLimited<Vec<Link<(Kind, Value)>>>,
    /// The causes for which the pods of a dependency are not ready.
    pod_causes: PodCauses,
    /// The times since which `stable` edges have been satisfied.
    satisfied_since: SatisfiedSince,
    wanted: mpsc::UnboundedSender<WatchRequest>,
    settings: Settings,
}

/// The request for a watch: of a kind, or of one object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WatchRequest {
    /// The watch of every object of a kind, each one trimmed.
    Kind(Kind),
    /// The watch of one object, with every field of it.
    Whole(ObjectName),
}

impl Known {
    /// Makes the knowledge of a replica that has read nothing yet. The second value receives the requests for watches.
    pub fn new(settings: Settings) -> (Arc<Self>, mpsc::UnboundedReceiver<WatchRequest>) {
        let (wanted, requests) = mpsc::unbounded_channel();
        let (wall, stores) = (settings.wall, Stores::new(settings.wall));
        let budgets = Budgets::new(settings.memory, &settings.memory_alarm);
        let known = Self {
            gated: stores.of_scopes().into(),
            stores,
            unscheduled: Store::new(wall).into(),
            unscheduled_wanted: Notify::new(),
            plans: Store::new(wall).into(),
            memory: Memory::new(wall).into(),
            slots: Slots::new(wall).into(),
            suspended_jobs: SuspendedJobs::default(),
            creations: Creations::within(Arc::clone(&budgets.creations)),
            health_rules: HealthRules::new(settings.health_rules, wall),
            granted: Granted::new(settings.reads_by_role),
            whole: ReadWhole::new(wall, budgets.readings.budget().of_one() / 2),
            budgets,
            lacks: RateLimited::default(),
            behind: RateLimited::default(),
            pod_causes: PodCauses::default(),
            satisfied_since: SatisfiedSince::default(),
            wanted,
            settings,
        };
        (Arc::new(known), requests)
    }

    /// The store of the gated pods, those with the label of a gate, of all namespaces.
    pub fn gated(&self) -> &Arc<Store> {
        &self.gated
    }

    /// The store of the pending pods that have no node yet, gated or not. Nothing fills it until a view has asked for such pods.
    pub fn unscheduled(&self) -> &Arc<Store> {
        &self.unscheduled
    }

    /// Asks for the watch of the pods that have no node yet; [`Known::unscheduled_wanted`] returns then.
    fn want_unscheduled(&self) {
        self.unscheduled_wanted.notify_one();
    }

    /// Returns when the watch of the pods without a node is to start: when a first dependency is not ready, since the scheduler's reason
    /// may then explain the wait.
    pub async fn unscheduled_wanted(&self) {
        self.unscheduled_wanted.notified().await;
    }

    /// The causes for which the pods of a dependency are not ready.
    pub(crate) fn pod_causes(&self) -> &PodCauses {
        &self.pod_causes
    }

    /// The settings of the administrator that decide verdicts.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The store of the plans (ConfigMaps that order the parts of a release) of all namespaces.
    pub fn plans(&self) -> &Arc<Store> {
        &self.plans
    }

    /// The completed Jobs and the passed revisions that outlive their objects.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// The slots of the waves with a cap.
    pub fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// The Jobs that admission has created suspended. A user or sluice may have resumed a Job since.
    pub(crate) fn suspended_jobs(&self) -> &SuspendedJobs {
        &self.suspended_jobs
    }

    /// The budgets of memory that namespaces share, one for each sort of data.
    pub(crate) fn budgets(&self) -> &Budgets {
        &self.budgets
    }

    /// The creations of objects that admission holds back until their lists are satisfied.
    pub(crate) fn creations(&self) -> &Creations {
        &self.creations
    }

    /// The health rules by which objects are judged: those of the administrator and those of the library.
    pub fn health_rules(&self) -> &HealthRules {
        &self.health_rules
    }

    /// The custom kinds that sluice may read.
    pub(crate) fn granted(&self) -> &Granted {
        &self.granted
    }

    /// Replaces the custom kinds that sluice may read. If they have changed, wakes every view that depends on a wave, a group, a sub-chart or a
    /// release.
    pub(crate) fn grant(&self, kinds: Vec<Kind>) {
        if self.granted.replace(kinds) {
            self.stores.scope_waiters().wake_all();
        }
    }

    /// Wakes every view, and forgets which objects were judged to be ready: something has changed on which every verdict may depend.
    pub fn wake_all(&self) {
        for (_, store) in self.stores() {
            store.wake_all();
        }
        // Every gate reads its own pod, even if it reads nothing else.
        self.gated.wake_all();
    }

    /// The store of a kind that is watched, or is about to be watched; `None` if no view has asked for the kind, or the kind was forgotten since.
    pub fn watched(&self, kind: &Kind) -> Option<Arc<Store>> {
        self.stores.get(kind)
    }

    /// The store of a kind, which counts as named by a list from now on. The first call for a kind asks for its watch; the store is empty until
    /// the first list. No namespace is charged.
    pub fn want(&self, kind: &Kind) -> Arc<Store> {
        let store = self.stores.named(kind);
        store.unwrap_or_else(|| self.begin_to_want(kind, None))
    }

    /// The store of a kind that a list of a namespace names. The first call for a kind asks for its watch. A new custom kind that is not granted
    /// is charged to the namespace until it proves readable.
    ///
    /// # Errors
    ///
    /// The unread custom kinds that the lists of the namespace name fill the share of the namespace. The error is that share, in bytes.
    fn want_for(&self, kind: &Kind, namespace: &str) -> Result<Arc<Store>, usize> {
        if let Some(store) = self.stores.named(kind) {
            return Ok(store);
        }
        let is_granted = || self.granted.kinds().is_some_and(|it| it.contains(kind));
        if !is_custom(kind) || is_granted() {
            return Ok(self.begin_to_want(kind, None));
        }
        let mut room = self.budgets.unread_kinds.part(namespace);
        if room.take(BYTES_OF_A_KIND) {
            Ok(self.begin_to_want(kind, Some(room)))
        } else {
            Err(room.share())
        }
    }

    fn begin_to_want(&self, kind: &Kind, room: Option<Allotment>) -> Arc<Store> {
        let (store, new) = self.stores.add(kind, room);
        if new {
            // The receiver lives as long as the process. Without a receiver, as in a test, no store is ever synced.
            let _ = self.wanted.send(WatchRequest::Kind(kind.clone()));
        }
        store
    }

    /// The store of a kind for the task that follows the kind from now on; `None` if a task follows it already, if no list names the kind any
    /// more, or if the kind is a second spelling. The receiver resolves when the kind is forgotten.
    pub(crate) fn begin(&self, kind: &Kind) -> Option<(Arc<Store>, Forgotten)> {
        self.stores.begin(kind)
    }

    /// Notes that the API server does not serve the custom kind of a store. Unless that was known, the store is emptied and its views are woken.
    /// The search for such kinds goes on.
    pub(crate) fn note_absent(&self, store: &Store) {
        self.stores.found_absent.notify_one();
        if store.freshness() != Freshness::NotServed {
            store.clear(Freshness::NotServed);
        }
    }

    /// Returns when the API server was found not to serve a custom kind; at once if that has happened since the last call returned.
    pub(crate) async fn absent_noted(&self) {
        self.stores.found_absent.notified().await;
    }

    /// Asks again for the watch of each custom kind that the API server does not serve and that no task looks for. Returns the number of these
    /// kinds.
    pub(crate) fn seek_absent(&self) -> usize {
        let kinds = self.stores.not_served();
        let count = kinds.len();
        for kind in kinds {
            let _ = self.wanted.send(WatchRequest::Kind(kind));
        }
        count
    }

    /// Forgets second spellings, and custom kinds that cannot be read, that no list has named for two minutes. Granted kinds stay.
    pub(crate) fn forget_unnamed(&self) {
        let granted = self.granted.kinds().unwrap_or_default();
        self.stores.forget_unnamed(&granted);
    }

    /// The reading of one object with all of its fields, for a view that needs it. Few objects are read so at a time, by turns
    /// ([`read_whole`]), so the watch of the object is asked for only when its turn begins. `None` if too many objects of the namespace wait
    /// for a turn.
    fn whole(&self, named: &ObjectName) -> Option<WholeReading> {
        let reading = self.whole.of(named)?;
        if reading.begins {
            let _ = self.wanted.send(WatchRequest::Whole(named.clone()));
        }
        Some(reading)
    }

    /// Ends the turns of objects to be read with all of their fields that are over, and begins the next ones. The caller calls this about once a
    /// second.
    pub(crate) fn take_turns(&self) {
        for named in self.whole.take_turns() {
            let _ = self.wanted.send(WatchRequest::Whole(named));
        }
    }

    /// The store of an object that is read with all of its fields, for the task that follows the object from now on; `None` if a task
    /// follows it already, or if its turn is over. The receiver resolves when the turn is over.
    pub(crate) fn begin_whole(&self, named: &ObjectName) -> Option<(Arc<Store>, Forgotten)> {
        self.whole.begin(named)
    }

    /// Lets `spelling`, another name of a custom kind, share one store with `canonical`. Returns `true` if each had a store of its own: the
    /// canonical one stays, and the task that follows the spelling has to end.
    ///
    /// A view that waits on the former store of the spelling is woken and finds the shared store.
    pub fn alias(&self, spelling: &Kind, canonical: &Kind) -> bool {
        let own = self.stores.alias(spelling, canonical);
        if let Some(own) = &own {
            own.wake_all();
        }
        own.is_some()
    }

    /// A reader of the known objects, for one verdict, that notes each of its reads. Its subscriptions are charged to no namespace.
    pub fn view(self: &Arc<Self>) -> View {
        View::new(Arc::clone(self), None)
    }

    /// A reader of the known objects for a dependent of a namespace. Its subscriptions, and the unread custom kinds that it names, are charged to
    /// the namespace.
    pub fn view_of(self: &Arc<Self>, namespace: &str) -> View {
        View::new(Arc::clone(self), Some(namespace))
    }

    /// The stores with the objects of waves, groups, sub-charts and releases, that of the gated pods among them. A custom kind that neither can
    /// be read nor is granted is left out.
    fn stores_of_scopes(&self) -> Vec<Arc<Store>> {
        let granted = self.granted.kinds().unwrap_or_default();
        let mut stores = self.stores.of_all_kinds(&granted);
        stores.push(Arc::clone(&self.gated));
        stores
    }

    /// The stores of the kinds that count for a scope. A custom kind that cannot be read counts only if sluice may read it: a list may
    /// name a kind that does not exist. Until the granted kinds are known, every kind counts.
    fn counted(&self) -> Vec<Arc<Store>> {
        match self.granted.kinds() {
            Some(granted) => self.stores.counted(&granted),
            None => self.stores().into_iter().map(|(_, store)| store).collect(),
        }
    }

    /// The kinds that views have asked for, in each of their spellings, with their stores. The stores of gated pods, of pods without a node and
    /// of plans are not among them.
    pub fn stores(&self) -> Vec<(Kind, Arc<Store>)> {
        self.stores.all()
    }
}
