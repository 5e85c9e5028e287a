//! Objects that are read whole, each by itself, because an expression looks at more than is kept of their kind.

use super::store::Store;
use super::stores::Forgotten;
use dashmap::{DashMap, Entry};
use rules::kinds::Kind;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tokio::sync::oneshot;
use tracing::warn;

/// Of how many objects every field is kept at once. One may hold more than a megabyte. Then one of the namespace with the most makes room
/// for one of another.
const AT_MOST: usize = 100;
/// Of how many of one namespace: its gates could take every place for as long as they wait.
const OF_A_NAMESPACE: usize = 20;

/// One object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Named {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; empty for a cluster-scoped object.
    pub namespace: Box<str>,
    /// `metadata.name`
    pub name: Box<str>,
}

/// `ConfigMap shop/phase`
impl fmt::Display for Named {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// A store for each of them, which holds that object alone.
#[derive(Debug, Default)]
pub(super) struct Whole {
    places: DashMap<Named, Place>,
    /// Whether it was told that there are too many, since one was forgotten.
    told: AtomicBool,
}

#[derive(Debug, Default)]
struct Place {
    store: Arc<Store>,
    /// Goes with the place, which its follower hears; `None` while nobody follows it.
    follower: Option<oneshot::Sender<()>>,
}

impl Whole {
    /// The store of an object, and whether it is a new one; `None` where there is no room for it now.
    pub(super) fn store(&self, named: &Named) -> Option<(Arc<Store>, bool)> {
        if let Some(place) = self.places.get(named) {
            return Some((Arc::clone(&place.store), false));
        }
        // Asked before the entry is locked, so a few more may slip in at the same moment.
        if !self.has_room(&named.namespace) {
            if !self.told.swap(true, Ordering::Relaxed) {
                warn!(
                    object = %named,
                    in_all = AT_MOST,
                    of_a_namespace = OF_A_NAMESPACE,
                    "Too many objects are read whole, so some edges stay Syncing: let fewer lists at a time ask for health of fields that are not kept"
                );
            }
            return None;
        }
        match self.places.entry(named.clone()) {
            Entry::Occupied(there) => Some((Arc::clone(&there.get().store), false)),
            Entry::Vacant(empty) => {
                let place = empty.insert(Place::default());
                Some((Arc::clone(&place.store), true))
            }
        }
    }

    /// The store of an object for who follows it from now on, until it is forgotten; `None` where somebody does, or it has made room
    /// for another.
    pub(super) fn begin(&self, named: &Named) -> Option<(Arc<Store>, Forgotten)> {
        let mut place = self.places.get_mut(named)?;
        if place.follower.is_some() {
            return None;
        }
        let (follower, forgotten) = oneshot::channel();
        place.follower = Some(follower);
        Some((Arc::clone(&place.store), forgotten))
    }

    /// Whether there is room for one more of a namespace, if need be in the place of another one's.
    fn has_room(&self, namespace: &str) -> bool {
        let mut of: HashMap<Box<str>, Vec<Named>> = HashMap::new();
        for it in &self.places {
            let there = of.entry(it.key().namespace.clone()).or_default();
            there.push(it.key().clone());
        }
        let beside = of.get(namespace).map_or(0, Vec::len);
        let full = of.values().map(Vec::len).sum::<usize>() >= AT_MOST;
        beside < OF_A_NAMESPACE && (!full || self.make_room(of.into_values(), beside + 1))
    }

    /// Forgets an object of a namespace that has more than so many, one that nobody waits for if there is one. So two namespaces do not
    /// take a place from each other for ever.
    fn make_room(&self, of: impl Iterator<Item = Vec<Named>>, than: usize) -> bool {
        let most = of.max_by_key(Vec::len).filter(|it| it.len() > than);
        let last = most.and_then(|most| most.into_iter().max_by_key(|it| self.asked(it).is_some()));
        last.is_some_and(|last| self.places.remove(&last).is_some())
    }

    /// How often the object was asked for; `None` while somebody waits for it, or where it is not kept.
    pub(super) fn asked(&self, named: &Named) -> Option<u64> {
        self.places.get(named)?.store.asked()
    }

    /// Forgets an object that nobody has asked for since [`Whole::asked`] said so.
    pub(super) fn forget(&self, named: &Named, asked: u64) -> bool {
        let idle = |_: &Named, place: &Place| place.store.asked() == Some(asked);
        let forgotten = self.places.remove_if(named, idle).is_some();
        if forgotten {
            self.told.store(false, Ordering::Relaxed);
        }
        forgotten
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::store::Interest;
    use rules::kinds::by_word;

    fn of(namespace: &str, name: &str) -> Named {
        Named {
            kind: by_word("configmap").map(Kind::Builtin).unwrap(),
            namespace: namespace.into(),
            name: name.into(),
        }
    }

    #[test]
    fn there_is_room_for_so_many_and_an_object_is_forgotten_that_nobody_asks_for() {
        let whole = Whole::default();
        for number in 0..AT_MOST {
            let (_, new) = whole.store(&of(&number.to_string(), "x")).unwrap();
            assert!(new);
        }
        let (first, more) = (of("0", "x"), of("shop", "more"));
        assert!(whole.store(&more).is_none());
        let (store, new) = whole.store(&first).unwrap();
        assert!(!new);

        let waiter = Arc::default();
        let before = whole.asked(&first).unwrap();
        let subscription = store.subscribe(Interest::Kind, &waiter);
        assert_eq!(whole.asked(&first), None);
        assert!(!whole.forget(&first, before));
        drop(subscription);
        assert!(!whole.forget(&first, before), "it was asked for since");
        let after = whole.asked(&first).unwrap();
        assert!(whole.forget(&first, after));
        assert!(whole.store(&more).is_some());
    }

    #[test]
    fn a_namespace_takes_only_its_share() {
        let whole = Whole::default();
        let taken =
            (0..AT_MOST).filter(|number| whole.store(&of("shop", &number.to_string())).is_some());
        assert_eq!(taken.count(), OF_A_NAMESPACE);
        assert!(whole.store(&of("shop", "0")).is_some(), "it is there");
        assert!(whole.store(&of("data", "0")).is_some());
    }

    #[test]
    fn those_who_take_the_most_make_room() {
        let whole = Whole::default();
        let awaited = of("shop-0", "0");
        let waiter = Arc::default();
        let store = whole.store(&awaited).unwrap().0;
        let _subscription = store.subscribe(Interest::Kind, &waiter);
        let mut followed = Vec::new();
        for number in 0..AT_MOST {
            let named = of(
                &format!("shop-{}", number / OF_A_NAMESPACE),
                &number.to_string(),
            );
            whole.store(&named).unwrap();
            let (_, forgotten) = whole.begin(&named).unwrap();
            assert!(whole.begin(&named).is_none(), "once");
            followed.push((named, forgotten));
        }
        let taken = (0..AT_MOST).filter(|it| whole.store(&of("data", &it.to_string())).is_some());
        assert_eq!(
            taken.count(),
            16,
            "as many as each of the others is left with, or one less"
        );
        assert_eq!(whole.places.len(), AT_MOST);
        let over = |forgotten: &mut Forgotten| {
            forgotten
                .try_recv()
                .is_err_and(|it| it == oneshot::error::TryRecvError::Closed)
        };
        for (named, forgotten) in &mut followed {
            assert_eq!(
                over(forgotten),
                whole.places.get(named).is_none(),
                "its watch ends"
            );
        }
        assert!(whole.places.contains_key(&awaited));
        for number in 0..AT_MOST {
            let _ = whole.store(&of("shop-0", &number.to_string()));
        }
        let left =
            (0..AT_MOST).filter(|it| whole.places.contains_key(&of("data", &it.to_string())));
        assert_eq!(left.count(), 16, "nobody takes them back");
    }
}
