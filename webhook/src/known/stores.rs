//! The stores, by the kind as references name it. Two spellings of one custom kind share a store once the API server has told that
//! they are the same.
//!
//! Anybody may name custom kinds that there are not. So one that cannot be read is forgotten when nobody names it any more, and there
//! is room for so many. Whoever still waits for one names it again when he is judged anew. And one counts for nobody but those who name
//! it until it can be read: then those who look over all kinds are woken. To wake them as it is named would let those who name
//! more than there is room for wake one another for ever.

mod absent;

use super::lookers::Lookers;
use super::store::{Freshness, Store};
use absent::Absent;
use dashmap::DashMap;
use rules::kinds::Kind;
use rules::scope;
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// What nobody has named for so long is forgotten; who waits is judged anew within half of it.
const KEPT: Duration = Duration::from_mins(2);
/// So many custom kinds are there that cannot be read. How many can be, definitions limit.
const AT_MOST: usize = 256;

/// Resolves once a kind is forgotten, so whoever follows it ends.
pub(crate) type Forgotten = oneshot::Receiver<()>;

/// All of them.
#[derive(Debug)]
pub(super) struct Stores {
    by_kind: DashMap<Kind, Spelled>,
    began: Instant,
    /// Who looks over all kinds.
    lookers: Lookers,
    /// The custom kinds that are not served.
    pub(super) absent: Absent,
    /// What [`Stores::together`] has told last.
    together: Mutex<Arc<[Arc<Store>]>>,
}

#[derive(Debug)]
struct Spelled {
    store: Arc<Store>,
    /// Goes with the entry, which its follower hears; `None` while nobody follows it, and of another spelling.
    follower: Option<oneshot::Sender<()>>,
    /// Whether it is another spelling of a kind that is there.
    alias: bool,
    /// When somebody last named it, in milliseconds since the beginning.
    named: AtomicU64,
}

/// A custom kind that cannot be read, under all its spellings.
struct NotRead {
    store: Arc<Store>,
    named: u64,
    syncing: bool,
}

impl NotRead {
    fn new(store: &Arc<Store>) -> Self {
        Self {
            store: Arc::clone(store),
            named: 0,
            syncing: false,
        }
    }
}

impl Spelled {
    fn named(&self) -> u64 {
        self.named.load(Ordering::Relaxed)
    }
}

impl Stores {
    /// The store of a kind, if there is one.
    pub(super) fn get(&self, kind: &Kind) -> Option<Arc<Store>> {
        self.by_kind.get(kind).map(|it| Arc::clone(&it.store))
    }

    /// The same for somebody who names the kind.
    pub(super) fn named(&self, kind: &Kind) -> Option<Arc<Store>> {
        let entry = self.by_kind.get(kind)?;
        entry.named.store(self.now(), Ordering::Relaxed);
        Some(Arc::clone(&entry.store))
    }

    /// The store of a kind that somebody names, and whether somebody has to begin to follow it. The kinds that are `granted` are never forgotten.
    pub(super) fn add(&self, kind: &Kind, granted: &[Kind]) -> (Arc<Store>, bool) {
        if is_custom(kind) {
            self.make_room(granted);
        }
        let mut new = false;
        let entry = self.by_kind.entry(kind.clone()).or_insert_with(|| {
            let store = self.made(kind);
            new = !self.absent.has(kind);
            if !new {
                store.clear(Freshness::NotServed);
            }
            self.entry(store.into(), false)
        });
        (Arc::clone(&entry.store), new)
    }

    fn made(&self, kind: &Kind) -> Store {
        match kind {
            Kind::Custom { .. } => Store::of_scopes(self.lookers.clone(), false),
            // Of pods only those with a gate are looked at, which have a store of their own.
            Kind::Builtin(_) if !kind.is_pod() && makes_scopes(kind) => self.of_scopes(),
            Kind::Builtin(_) => Store::default(),
        }
    }

    /// A store of objects that make scopes, of a kind that is built in.
    pub(super) fn of_scopes(&self) -> Store {
        Store::of_scopes(self.lookers.clone(), true)
    }

    /// The store of a kind for who follows it from now on; `None` where somebody does, or nobody wants it any more.
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

    /// The custom kinds that are not served and that nobody seeks at this moment.
    pub(super) fn not_served(&self) -> Vec<Kind> {
        let entries = self.by_kind.iter();
        let absent = entries.filter(|it| {
            let follower = it.follower.as_ref();
            is_custom(it.key())
                && !it.alias
                && follower.is_none_or(oneshot::Sender::is_closed)
                && it.store.condition() == Freshness::NotServed
        });
        absent.map(|it| it.key().clone()).collect()
    }

    /// Lets `spelling` share the store of `canonical`; returns the spelling's own where the canonical one had another already.
    /// Where the spelling was there first both share its store, and who follows it goes on.
    pub(super) fn alias(&self, spelling: &Kind, canonical: &Kind) -> Option<Arc<Store>> {
        let own = self.by_kind.get_mut(spelling).map(|mut entry| {
            let follower = entry.follower.take();
            (Arc::clone(&entry.store), follower)
        });
        let shared = self.get(canonical);
        match (own, shared) {
            (Some((own, _)), Some(shared)) => {
                let alias = self.entry(Arc::clone(&shared), true);
                self.by_kind.insert(spelling.clone(), alias);
                (!Arc::ptr_eq(&own, &shared)).then_some(own)
            }
            (Some((own, follower)), None) => {
                let entry = Spelled {
                    follower,
                    ..self.entry(Arc::clone(&own), false)
                };
                self.by_kind.insert(canonical.clone(), entry);
                let alias = self.entry(own, true);
                self.by_kind.insert(spelling.clone(), alias);
                None
            }
            // It was forgotten in between.
            (None, _) => None,
        }
    }

    /// All kinds, in each spelling, and their stores.
    pub(super) fn all(&self) -> Vec<(Kind, Arc<Store>)> {
        let entries = self.by_kind.iter();
        let each = entries.map(|it| (it.key().clone(), Arc::clone(&it.store)));
        each.collect()
    }

    /// The stores of what counts for everybody: all but the custom kinds that cannot be read and are not `granted`.
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

    /// The stores of those among these that waves and parts look at.
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

    /// The custom kinds among those, each once.
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

    /// Who looks over all kinds.
    pub(super) fn lookers(&self) -> &Lookers {
        &self.lookers
    }

    /// These stores as a list that all share who look over the same ones: most do.
    pub(super) fn together(&self, mut stores: Vec<Arc<Store>>) -> Arc<[Arc<Store>]> {
        stores.sort_unstable_by_key(Arc::as_ptr);
        stores.dedup_by(|one, other| Arc::ptr_eq(one, other));
        // The assignment is all that changes it.
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

    /// The stores of the kinds that are granted, whichever their spelling.
    fn granted(&self, kinds: &[Kind]) -> HashSet<*const Store> {
        let entries = kinds.iter().filter_map(|it| self.by_kind.get(it));
        entries.map(|it| Arc::as_ptr(&it.store)).collect()
    }

    /// Forgets the spellings that nobody has named for a while, and the custom kinds that cannot be read either.
    pub(super) fn forget_unnamed(&self, granted: &[Kind]) {
        let kept = u64::try_from(KEPT.as_millis()).unwrap_or(u64::MAX);
        let Some(since) = self.now().checked_sub(kept) else {
            return;
        };
        for unread in self.unread(granted) {
            if unread.named < since {
                self.forget(&unread.store);
                // Whoever came to it in the meantime names it again.
                unread.store.wake_all();
            }
        }
        let is_kept = |kind: &Kind, entry: &Spelled| {
            !entry.alias || entry.named() >= since || granted.contains(kind)
        };
        self.by_kind.retain(|kind, entry| is_kept(kind, entry));
    }

    /// Who is forgotten for another is not woken: he would come back at once. What was never read may be read in a moment.
    fn make_room(&self, granted: &[Kind]) {
        let mut unread = self.unread(granted);
        unread.sort_by_key(|it| (it.syncing, it.named));
        let surplus = (unread.len() + 1).saturating_sub(AT_MOST);
        for it in unread.into_iter().take(surplus) {
            self.forget(&it.store);
        }
    }

    fn forget(&self, store: &Arc<Store>) {
        self.by_kind
            .retain(|_, entry| !Arc::ptr_eq(&entry.store, store));
    }

    /// The custom kinds that cannot be read, but for those that are granted under one of their spellings.
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
        found.retain_mut(|it| {
            it.syncing = it.store.condition() == Freshness::Syncing;
            !counts(&it.store, &granted)
        });
        found
    }

    fn entry(&self, store: Arc<Store>, alias: bool) -> Spelled {
        Spelled {
            store,
            follower: None,
            alias,
            named: AtomicU64::new(self.now()),
        }
    }

    fn now(&self) -> u64 {
        u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX)
    }
}

/// Whether waves or parts look at objects of a built-in kind.
fn makes_scopes(kind: &Kind) -> bool {
    let mut kinds = scope::workloads().chain(scope::outspoken());
    kinds.any(|it| it == *kind)
}

fn is_custom(kind: &Kind) -> bool {
    matches!(kind, Kind::Custom { .. })
}

/// Whether a custom kind counts for everybody, and is never forgotten.
fn counts(store: &Arc<Store>, granted: &HashSet<*const Store>) -> bool {
    granted.contains(&Arc::as_ptr(store)) || store.condition() == Freshness::Live
}

impl Default for Stores {
    fn default() -> Self {
        Self {
            by_kind: DashMap::new(),
            began: Instant::now(),
            lookers: Lookers::default(),
            absent: Absent::default(),
            together: Mutex::new([].into()),
        }
    }
}

#[cfg(test)]
mod tests;
