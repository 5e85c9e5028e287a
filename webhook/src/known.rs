//! What sluice knows of the cluster: one trimmed store for each kind that somebody depends on, read from memory.
//!
//! Nothing here talks to the API server. A [`View`] answers the rules and notes what they looked at; reading a kind for
//! the first time asks for its watch through [`Known::new`]'s channel. The view then waits for a change of exactly what
//! was read, so one changed object wakes only the gates whose verdict it can alter.

mod granted;
pub(crate) mod health_rules;
mod heard;
mod held_jobs;
mod lookers;
mod looks;
pub(crate) mod memory;
mod metrics;
mod scopes;
mod settings;
mod shares;
mod sights;
pub(crate) mod slots;
mod store;
mod stores;
mod stuck;
mod view;
mod waiters;
mod whole;
mod wishes;

pub(crate) use granted::{Changes, Granted};
pub(crate) use health_rules::HealthSources;
pub(crate) use heard::Heard;
pub(crate) use held_jobs::HeldJobs;
pub(crate) use metrics::Condition;
pub(crate) use settings::MEMORY;
pub use settings::Settings;
#[cfg(test)]
pub(crate) use store::READ;
pub(crate) use store::{Details, Entry, Freshness, Store};
pub(crate) use stores::Forgotten;
pub(crate) use stuck::Glances;
pub use view::View;
pub(crate) use whole::Named;
pub(crate) use wishes::{Kept, Wishes};

use health_rules::HealthRules;
use looks::Looks;
use memory::Memory;
use rules::edges::Link;
use rules::kinds::Kind;
use rules::room::Lack;
use serde_json::Value;
use shares::Shares;
use sights::Sights;
use slots::Slots;
use std::sync::Arc;
use stores::Stores;
use tokio::sync::{Notify, mpsc};
use whole::{Reading, Whole};

/// What wakes those who wait may take this part of the memory, in all,
const WAITS_IN_ALL: usize = 8;
/// and what wakes the dependents of one namespace this one. An ordinary dependent takes one KiB or two.
const WAITS_OF_A_NAMESPACE: usize = 16;

/// Objects that are kept whole by their own wish may take this part of the memory, in all,
const WISHES_IN_ALL: usize = 16;
/// and those of one namespace this one.
const WISHES_OF_A_NAMESPACE: usize = 32;

/// All of it.
#[derive(Debug)]
pub struct Known {
    stores: Stores,
    /// What wakes those who wait, by their namespaces.
    waits: Arc<Shares>,
    /// The pods that carry our label, apart from [`Kind`] Pod: gates need only these, and a cluster has many others.
    gated: Arc<Store>,
    /// The pods that have no node yet, of all that there are.
    unscheduled: Arc<Store>,
    unscheduled_wanted: Notify,
    /// The plans, with what they say; of other ConfigMaps only the metadata is read.
    plans: Arc<Store>,
    memory: Arc<Memory>,
    slots: Arc<Slots>,
    /// The Jobs that are held before they have a pod.
    held_jobs: HeldJobs,
    health_rules: HealthRules,
    granted: Granted,
    whole: Whole,
    wishes: Arc<Wishes>,
    /// Whose pods find no room.
    lacks: Looks<Option<Arc<Lack>>>,
    /// What is behind the Services that are waited for.
    behind: Looks<Vec<Link<(Kind, Value)>>>,
    /// Why what is waited for is not ready.
    glances: Glances,
    /// Since when what has to stand for a while is satisfied.
    sights: Sights,
    wanted: mpsc::UnboundedSender<Wanted>,
    settings: Settings,
}

/// What somebody has asked for first, and nobody follows yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Wanted {
    /// Every object of a kind, trimmed.
    Kind(Kind),
    /// One object, with every field.
    Whole(Named),
}

impl Known {
    /// Nothing is known yet, and what somebody asks for first, for whoever starts the watches.
    pub fn new(settings: Settings) -> (Arc<Self>, mpsc::UnboundedReceiver<Wanted>) {
        let (wanted, requests) = mpsc::unbounded_channel();
        let stores = Stores::default();
        let memory = settings.memory;
        let wishes = Shares::new(memory / WISHES_IN_ALL, memory / WISHES_OF_A_NAMESPACE);
        let known = Self {
            gated: stores.of_scopes().into(),
            stores,
            waits: Shares::new(memory / WAITS_IN_ALL, memory / WAITS_OF_A_NAMESPACE),
            unscheduled: Arc::default(),
            unscheduled_wanted: Notify::new(),
            plans: Arc::default(),
            memory: Arc::default(),
            slots: Arc::default(),
            held_jobs: HeldJobs::default(),
            health_rules: HealthRules::new(settings.health_rules),
            granted: Granted::new(settings.reads_by_role),
            whole: Whole::default(),
            wishes: Wishes::new(wishes).into(),
            lacks: Looks::default(),
            behind: Looks::default(),
            glances: Glances::default(),
            sights: Sights::default(),
            wanted,
            settings,
        };
        (Arc::new(known), requests)
    }

    /// The store of the gated pods.
    pub fn gated(&self) -> &Arc<Store> {
        &self.gated
    }

    /// The store of the pods that have no node yet.
    pub fn unscheduled(&self) -> &Arc<Store> {
        &self.unscheduled
    }

    /// Has the pods without a node watched from now on.
    fn want_unscheduled(&self) {
        self.unscheduled_wanted.notify_one();
    }

    /// Returns when somebody wants them: when something that is waited for is not ready.
    pub async fn unscheduled_wanted(&self) {
        self.unscheduled_wanted.notified().await;
    }

    /// What looks at pods have found.
    pub(crate) fn glances(&self) -> &Glances {
        &self.glances
    }

    /// What the administrator has chosen.
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The store of the plans.
    pub fn plans(&self) -> &Arc<Store> {
        &self.plans
    }

    /// What is remembered of objects that are gone.
    pub fn memory(&self) -> &Arc<Memory> {
        &self.memory
    }

    /// Who may run where there is a cap.
    pub fn slots(&self) -> &Arc<Slots> {
        &self.slots
    }

    /// The Jobs that may be held before they have a pod.
    pub(crate) fn held_jobs(&self) -> &HeldJobs {
        &self.held_jobs
    }

    /// What objects that wish to be kept whole may fill.
    pub(crate) fn wishes(&self) -> &Arc<Wishes> {
        &self.wishes
    }

    /// The health rules of the administrator.
    pub fn health_rules(&self) -> &HealthRules {
        &self.health_rules
    }

    /// The custom kinds that sluice is meant to read.
    pub(crate) fn granted(&self) -> &Granted {
        &self.granted
    }

    /// Takes over which custom kinds sluice is meant to read, and wakes whoever looked at which there are.
    pub(crate) fn grant(&self, kinds: Vec<Kind>) {
        if self.granted.replace(kinds) {
            self.stores.lookers().wake_all();
        }
    }

    /// Wakes everybody who waits for anything: something changed that every verdict may rest on.
    pub fn wake_all(&self) {
        for (_, store) in self.stores() {
            store.wake_all();
        }
        // Every gate reads its own pod, whatever else it then does not come to read.
        self.gated.wake_all();
    }

    /// The store of a kind that is watched, or is about to be.
    pub fn watched(&self, kind: &Kind) -> Option<Arc<Store>> {
        self.stores.get(kind)
    }

    /// The store of a kind that somebody names; it is watched from now on.
    pub fn want(&self, kind: &Kind) -> Arc<Store> {
        if let Some(store) = self.stores.named(kind) {
            return store;
        }
        let granted = self.granted.kinds().unwrap_or_default();
        let (store, new) = self.stores.add(kind, &granted);
        if new {
            // The receiver lives as long as the process; without it (in a test) nothing is ever synced, which is true.
            let _ = self.wanted.send(Wanted::Kind(kind.clone()));
        }
        store
    }

    /// The same for who walks over all that there are, which names none of them.
    fn come_to(&self, kind: &Kind) -> Arc<Store> {
        self.watched(kind).unwrap_or_else(|| self.want(kind))
    }

    /// The store of a kind for who follows it from now on, until it is forgotten; `None` where somebody does already, or nobody wants
    /// it any more.
    pub(crate) fn begin(&self, kind: &Kind) -> Option<(Arc<Store>, Forgotten)> {
        self.stores.begin(kind)
    }

    /// A custom kind was found not to be served. Who waits for it hears that, unless so many such kinds are named that nobody could
    /// remember it: they would wake one another for ever.
    pub(crate) fn note_absent(&self, kind: &Kind, store: &Store) {
        let remembered = self.stores.absent.note(kind);
        match (store.condition(), remembered) {
            (Freshness::NotServed, _) => {}
            (_, true) => store.clear(Freshness::NotServed),
            (_, false) => store.clear_quietly(Freshness::NotServed),
        }
    }

    /// Returns when a custom kind was found not to be served.
    pub(crate) async fn absent_noted(&self) {
        self.stores.absent.noted.notified().await;
    }

    /// Forgets which custom kinds were found not to be served: a definition has changed.
    pub(crate) fn forget_absent(&self) {
        self.stores.absent.forget();
    }

    /// Has all custom kinds sought again that somebody names and that are not served. Returns how many.
    pub(crate) fn seek_absent(&self) -> usize {
        self.stores.absent.make_room();
        let kinds = self.stores.not_served();
        let count = kinds.len();
        for kind in kinds {
            let _ = self.wanted.send(Wanted::Kind(kind));
        }
        count
    }

    /// Forgets the custom kinds that cannot be read and that nobody names any more.
    pub(crate) fn forget_unnamed(&self) {
        let granted = self.granted.kinds().unwrap_or_default();
        self.stores.forget_unnamed(&granted);
    }

    /// What is known of one object that is read whole; its watch is asked for as its turn begins. `None` where so many of the namespace
    /// wait for a turn that this one cannot even do that.
    fn whole(&self, named: &Named) -> Option<Reading> {
        let reading = self.whole.of(named)?;
        if reading.begins {
            let _ = self.wanted.send(Wanted::Whole(named.clone()));
        }
        Some(reading)
    }

    /// Lets the next ones of the objects that are read whole have their turn: to be called every second or so.
    pub(crate) fn take_turns(&self) {
        for named in self.whole.take_turns() {
            let _ = self.wanted.send(Wanted::Whole(named));
        }
    }

    /// The store of one object for who follows it from now on, until its turn is over; `None` where somebody does already, or it is over.
    pub(crate) fn begin_whole(&self, named: &Named) -> Option<(Arc<Store>, Forgotten)> {
        self.whole.begin(named)
    }

    /// Lets `spelling` share the store of `canonical`: `true` if that store already had a watch of its own.
    ///
    /// Whoever waits on the spelling's first store is woken and finds the shared one.
    pub fn alias(&self, spelling: &Kind, canonical: &Kind) -> bool {
        let own = self.stores.alias(spelling, canonical);
        if let Some(own) = &own {
            own.wake_all();
        }
        own.is_some()
    }

    /// A way to read that remembers what was read.
    pub fn view(self: &Arc<Self>) -> View {
        View::new(Arc::clone(self), None)
    }

    /// The same for a dependent of a namespace: what it is woken by takes of the share of that.
    pub fn view_of(self: &Arc<Self>, namespace: &str) -> View {
        View::new(Arc::clone(self), Some(self.waits.part(namespace)))
    }

    /// The stores of the objects that waves and parts look at.
    fn stores_of_scopes(&self) -> Vec<Arc<Store>> {
        let granted = self.granted.kinds().unwrap_or_default();
        let mut stores = self.stores.of_all_kinds(&granted);
        stores.push(Arc::clone(&self.gated));
        stores
    }

    /// The stores of the kinds that say something of scopes: a custom one that cannot be read and that sluice is not meant to read
    /// does not, once it is known which it is meant to.
    fn counted(&self) -> Vec<Arc<Store>> {
        match self.granted.kinds() {
            Some(granted) => self.stores.counted(&granted),
            None => self.stores().into_iter().map(|(_, store)| store).collect(),
        }
    }

    /// The kinds that are watched, and their stores, for metrics and logs.
    pub fn stores(&self) -> Vec<(Kind, Arc<Store>)> {
        self.stores.all()
    }
}
