//! The stores, by kind as lists spell it. Two spellings of one custom kind share a store once the API server has told that they are
//! the same.
//!
//! A list may name custom kinds that do not exist. So a kind that cannot be read is forgotten when no list names it any more, and
//! its bytes are charged to the namespace whose list named it first: beyond its share, that namespace names no other kind. Each
//! kind is sought for two minutes at least, so the share bounds the pace of searches too. A kind that cannot be read matters only
//! to the views that name it; when it can be read, the views of all scopes are woken.

use super::byte_budget::Allotment;
use super::freshness::{Freshness, WallClock};
use super::scope_waiters::ScopeWaiters;
use super::store::Store;
use dashmap::DashMap;
use rules::kinds::Kind;
use rules::scope;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{Notify, oneshot};
use tokio::time::Instant;

/// The time after which a kind that no dependency list names is forgotten. A view that waits is judged again within half of this time, and
/// so names its kinds again.
const KEPT: Duration = Duration::from_mins(2);
/// The bytes that are charged for a custom kind that a list names: its store, and the task that seeks it.
pub(super) const BYTES_OF_A_KIND: usize = 4096;

/// Resolves when a kind is forgotten, which ends the task that follows the kind.
pub(crate) type Forgotten = oneshot::Receiver<()>;

/// The stores of the objects of all kinds.
#[derive(Debug)]
pub(super) struct Stores {
    wall: WallClock,
    by_kind: DashMap<Kind, Spelled>,
    began: Instant,
    /// The views that wait for changes of scopes.
    scope_waiters: ScopeWaiters,
    /// Rings when a custom kind was found not to be served.
    pub(super) found_absent: Notify,
    /// The last list that [`Stores::together`] made, which most views share.
    together: Mutex<Arc<[Arc<Store>]>>,
}

#[derive(Debug)]
struct Spelled {
    store: Arc<Store>,
    /// The sender whose drop, with the entry, ends the task that follows the kind; `None` while no task follows the kind, and for a
    /// second spelling.
    follower: Option<oneshot::Sender<()>>,
    /// Whether the entry is a second spelling of another entry's kind.
    alias: bool,
    /// The moment at which a list last named the kind, in milliseconds since the start.
    named: AtomicU64,
    /// The bytes that the namespace whose dependency list first named the kind pays for it. `None` for a built-in kind, for one that the
    /// administrator granted, and for one that proved readable. A second spelling is paid for until it is forgotten.
    room: Option<Allotment>,
}

/// A custom kind that cannot be read. All its spellings share this store.
struct NotRead {
    store: Arc<Store>,
    named: u64,
}

impl NotRead {
    fn new(store: &Arc<Store>) -> Self {
        Self {
            store: Arc::clone(store),
            named: 0,
        }
    }
}

impl Spelled {
    fn named(&self) -> u64 {
        self.named.load(Ordering::Relaxed)
    }
}

impl Stores {
    /// The table before any kind is named. `wall`: the clock by which the objects of its stores grow old.
    pub(super) fn new(wall: WallClock) -> Self {
        Self {
            wall,
            by_kind: DashMap::new(),
            began: Instant::now(),
            scope_waiters: ScopeWaiters::default(),
            found_absent: Notify::new(),
            together: Mutex::new([].into()),
        }
    }

    /// The store of a kind, if there is one.
    pub(super) fn get(&self, kind: &Kind) -> Option<Arc<Store>> {
        self.by_kind.get(kind).map(|it| Arc::clone(&it.store))
    }

    /// The store of a kind that a list names, if there is one. Notes that the kind is still named.
    pub(super) fn named(&self, kind: &Kind) -> Option<Arc<Store>> {
        let entry = self.by_kind.get(kind)?;
        entry.named.store(self.now(), Ordering::Relaxed);
        Some(Arc::clone(&entry.store))
    }

    /// The store of a kind that a list names, and whether the store is new, so that a task has to begin to follow the kind. `room` is the memory
    /// that is charged for a new store; it is given back where the kind has a store already.
    pub(super) fn add(&self, kind: &Kind, room: Option<Allotment>) -> (Arc<Store>, bool) {
        let mut new = false;
        let entry = self.by_kind.entry(kind.clone()).or_insert_with(|| {
            new = true;
            let store = self.made(kind).into();
            Spelled {
                room,
                ..self.entry(store, false)
            }
        });
        (Arc::clone(&entry.store), new)
    }

    fn made(&self, kind: &Kind) -> Store {
        match kind {
            Kind::Custom { .. } => Store::of_scopes(self.wall, self.scope_waiters.clone(), false),
            // Waves and parts read only gated pods, which have a store of their own.
            Kind::Builtin(_) if !kind.is_pod() && makes_scopes(kind) => self.of_scopes(),
            Kind::Builtin(_) => Store::new(self.wall),
        }
    }

    /// The empty store of a built-in kind whose objects belong to scopes.
    pub(super) fn of_scopes(&self) -> Store {
        Store::of_scopes(self.wall, self.scope_waiters.clone(), true)
    }

    /// The store of a kind for the task that follows the kind from now on; `None` if a task follows it already, if no list names the kind any
    /// more, or if the kind is a second spelling.
    pub(super) fn begin(&self, kind: &Kind) -> Option<(Arc<Store>, Forgotten)> {
        let mut entry = self.by_kind.get_mut(kind)?;
        let is_followed = |follower: &oneshot::Sender<()>| !follower.is_closed();
        if entry.alias || entry.follower.as_ref().is_some_and(is_followed) {
            return None;
        }
        let (follower, forgotten) = oneshot::channel();
        entry.follower = Some(follower);
        Some((Arc::clone(&entry.store), forgotten))
    }

    /// The custom kinds that are not served and that no task looks for at this moment.
    pub(super) fn not_served(&self) -> Vec<Kind> {
        let entries = self.by_kind.iter();
        let absent = entries.filter(|it| {
            let follower = it.follower.as_ref();
            is_custom(it.key())
                && !it.alias
                && follower.is_none_or(oneshot::Sender::is_closed)
                && it.store.freshness() == Freshness::NotServed
        });
        absent.map(|it| it.key().clone()).collect()
    }

    /// Lets `spelling` share one store with `canonical`, another name of the same kind. If both had a store, the one of `canonical` stays, and
    /// the other one is returned, so that the caller can wake its views. If only the spelling had a store, both share this store, and the task
    /// that follows it goes on. Does nothing if the spelling has none.
    pub(super) fn alias(&self, spelling: &Kind, canonical: &Kind) -> Option<Arc<Store>> {
        // A kind has any number of spellings, so each is paid for until it is forgotten.
        let own = self.by_kind.get_mut(spelling).map(|mut entry| {
            let (follower, room) = (entry.follower.take(), entry.room.take());
            (Arc::clone(&entry.store), follower, room)
        });
        let shared = self.get(canonical);
        let alias = |store: &Arc<Store>, room| Spelled {
            room,
            ..self.entry(Arc::clone(store), true)
        };
        match (own, shared) {
            (Some((own, _, room)), Some(shared)) => {
                self.by_kind.insert(spelling.clone(), alias(&shared, room));
                (!Arc::ptr_eq(&own, &shared)).then_some(own)
            }
            (Some((own, follower, room)), None) => {
                let entry = Spelled {
                    follower,
                    ..self.entry(Arc::clone(&own), false)
                };
                self.by_kind.insert(canonical.clone(), entry);
                self.by_kind.insert(spelling.clone(), alias(&own, room));
                None
            }
            // The spelling was forgotten meanwhile.
            (None, _) => None,
        }
    }

    /// All kinds, in each of their spellings, with their stores.
    pub(super) fn all(&self) -> Vec<(Kind, Arc<Store>)> {
        let entries = self.by_kind.iter();
        let each = entries.map(|it| (it.key().clone(), Arc::clone(&it.store)));
        each.collect()
    }

    /// The stores that matter to every scope: all but those of the custom kinds that cannot be read and are not `granted`.
    pub(super) fn counted(&self, granted: &[Kind]) -> Vec<Arc<Store>> {
        let granted = self.granted(granted);
        let entries = self.by_kind.iter();
        let each = entries.map(|it| (is_custom(it.key()), Arc::clone(&it.store)));
        let each: Vec<_> = each.collect();
        let counts = each
            .into_iter()
            .filter(|(custom, store)| !custom || counts(store, &granted));
        counts.map(|(_, store)| store).collect()
    }

    /// The stores with the objects of waves and parts: of the built-in kinds that may be in one, and of the custom kinds that can be read or
    /// are `granted`. The store of gated pods is not among them.
    pub(super) fn of_all_kinds(&self, granted: &[Kind]) -> Vec<Arc<Store>> {
        let granted = self.granted(granted);
        let entries = self.by_kind.iter();
        let each: Vec<_> = entries
            .filter(|it| is_custom(it.key()) || makes_scopes(it.key()))
            .map(|it| (is_custom(it.key()), Arc::clone(&it.store)))
            .collect();
        let counted = each
            .into_iter()
            .filter(|(custom, store)| !custom || counts(store, &granted));
        counted.map(|(_, store)| store).collect()
    }

    /// The custom kinds that can be read or are `granted`, each once: these matter to every scope.
    pub(super) fn custom(&self, granted: &[Kind]) -> Vec<Kind> {
        let granted = self.granted(granted);
        let entries = self.by_kind.iter();
        let entries = entries.filter(|it| is_custom(it.key()) && !it.alias);
        let each: Vec<_> = entries
            .map(|it| (it.key().clone(), Arc::clone(&it.store)))
            .collect();
        let counted = each
            .into_iter()
            .filter(|(_, store)| counts(store, &granted));
        counted.map(|(kind, _)| kind).collect()
    }

    /// The views that wait for changes of scopes.
    pub(super) fn scope_waiters(&self) -> &ScopeWaiters {
        &self.scope_waiters
    }

    /// The stores, each once, as a list in the order of their addresses. Returns the last such list if it has these stores, because most views
    /// read the same ones and so share it.
    pub(super) fn together(&self, mut stores: Vec<Arc<Store>>) -> Arc<[Arc<Store>]> {
        stores.sort_unstable_by_key(Arc::as_ptr);
        stores.dedup_by(|one, other| Arc::ptr_eq(one, other));
        // One assignment is the only change.
        let mut last = self.together.lock().unwrap_or_else(PoisonError::into_inner);
        let is_last = last
            .iter()
            .map(Arc::as_ptr)
            .eq(stores.iter().map(Arc::as_ptr));
        if !is_last {
            *last = stores.into();
        }
        Arc::clone(&last)
    }

    /// The stores of the granted kinds, whichever spelling a list uses. A store is told by its address.
    fn granted(&self, kinds: &[Kind]) -> HashSet<*const Store> {
        let entries = kinds.iter().filter_map(|it| self.by_kind.get(it));
        entries.map(|it| Arc::as_ptr(&it.store)).collect()
    }

    /// Forgets second spellings, and custom kinds that cannot be read, that no list has named for [`KEPT`]. From now on charges no namespace for
    /// a kind that is read or granted: the definitions, and the administrator, bound the number of these kinds.
    pub(super) fn forget_unnamed(&self, granted: &[Kind]) {
        let granted_stores = self.granted(granted);
        for mut entry in self.by_kind.iter_mut() {
            if !entry.alias && counts(&entry.store, &granted_stores) {
                entry.room = None;
            }
        }
        let kept = u64::try_from(KEPT.as_millis()).unwrap_or(u64::MAX);
        let Some(since) = self.now().checked_sub(kept) else {
            return;
        };
        for unread in self.unread(granted) {
            if unread.named < since {
                self.forget(&unread.store);
                // A view that has just asked for the kind names it again.
                unread.store.wake_all();
            }
        }
        let is_kept = |kind: &Kind, entry: &Spelled| {
            !entry.alias || entry.named() >= since || granted.contains(kind)
        };
        self.by_kind.retain(|kind, entry| is_kept(kind, entry));
    }

    fn forget(&self, store: &Arc<Store>) {
        self.by_kind
            .retain(|_, entry| !Arc::ptr_eq(&entry.store, store));
    }

    /// The custom kinds that cannot be read and of which no spelling is granted.
    fn unread(&self, granted: &[Kind]) -> Vec<NotRead> {
        let mut found = HashMap::new();
        for it in &self.by_kind {
            if is_custom(it.key()) {
                let entry = found.entry(Arc::as_ptr(&it.store));
                let kind = entry.or_insert_with(|| NotRead::new(&it.store));
                kind.named = kind.named.max(it.named());
            }
        }
        let granted = self.granted(granted);
        let mut found: Vec<NotRead> = found.into_values().collect();
        found.retain(|it| !counts(&it.store, &granted));
        found
    }

    fn entry(&self, store: Arc<Store>, alias: bool) -> Spelled {
        Spelled {
            store,
            follower: None,
            alias,
            named: AtomicU64::new(self.now()),
            room: None,
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Whether objects of a built-in kind may be in a wave or a part of a scope.
fn makes_scopes(kind: &Kind) -> bool {
    let mut kinds = scope::workloads().chain(scope::outspoken());
    kinds.any(|it| it == *kind)
}

/// Whether a kind is custom: lists may name any number of those.
pub(super) fn is_custom(kind: &Kind) -> bool {
    matches!(kind, Kind::Custom { .. })
}

/// Whether a custom kind can be read or is granted: it then matters to every scope, and is not forgotten.
fn counts(store: &Arc<Store>, granted: &HashSet<*const Store>) -> bool {
    granted.contains(&Arc::as_ptr(store)) || store.freshness() == Freshness::Live
}

#[cfg(test)]
mod tests;
