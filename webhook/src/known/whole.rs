//! Objects that are read whole, each by itself, because an expression looks at more than is kept of their kind.

use super::store::Store;
use dashmap::{DashMap, Entry};
use rules::kinds::Kind;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tracing::warn;

/// Of how many objects every field is kept at once. One may hold more than a megabyte.
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
    stores: DashMap<Named, Arc<Store>>,
    /// Whether it was told that there are too many, since one was forgotten.
    told: AtomicBool,
}

impl Whole {
    /// The store of an object, and whether it is a new one; `None` where there is no room for it now.
    pub(super) fn store(&self, named: &Named) -> Option<(Arc<Store>, bool)> {
        if let Some(store) = self.stores.get(named) {
            return Some((Arc::clone(&store), false));
        }
        // Asked before the entry is locked, so a few more may slip in at the same moment.
        if self.is_full(&named.namespace) {
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
        match self.stores.entry(named.clone()) {
            Entry::Occupied(there) => Some((Arc::clone(there.get()), false)),
            Entry::Vacant(empty) => Some((Arc::clone(&empty.insert(Arc::default())), true)),
        }
    }

    fn is_full(&self, namespace: &str) -> bool {
        let there = self.stores.iter();
        let beside = there.filter(|it| *it.key().namespace == *namespace);
        self.stores.len() >= AT_MOST || beside.count() >= OF_A_NAMESPACE
    }

    /// How often the object was asked for; `None` while somebody waits for it, or where it is not kept.
    pub(super) fn asked(&self, named: &Named) -> Option<u64> {
        self.stores.get(named)?.asked()
    }

    /// Forgets an object that nobody has asked for since [`Whole::asked`] said so.
    pub(super) fn forget(&self, named: &Named, asked: u64) -> bool {
        let idle = |_: &Named, store: &mut Arc<Store>| store.asked() == Some(asked);
        let forgotten = self.stores.remove_if_mut(named, idle).is_some();
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
            let namespace = format!("shop-{}", number / OF_A_NAMESPACE);
            let (_, new) = whole.store(&of(&namespace, &number.to_string())).unwrap();
            assert!(new);
        }
        let (first, more) = (of("shop-0", "0"), of("shop", "more"));
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
}
