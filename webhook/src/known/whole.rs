//! Objects that are read whole, each by itself, because an expression looks at more than is kept of their kind.

use super::store::Store;
use dashmap::{DashMap, Entry};
use rules::kinds::Kind;
use std::fmt;
use std::sync::Arc;

/// Of how many objects every field is kept at once. One may hold more than a megabyte.
const AT_MOST: usize = 100;

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
pub(super) struct Whole(DashMap<Named, Arc<Store>>);

impl Whole {
    /// The store of an object, and whether it is a new one; `None` where there is no room for it now.
    pub(super) fn store(&self, named: &Named) -> Option<(Arc<Store>, bool)> {
        if let Some(store) = self.0.get(named) {
            return Some((Arc::clone(&store), false));
        }
        // Asked before the entry is locked, so a few more may slip in at the same moment.
        let full = self.0.len() >= AT_MOST;
        match self.0.entry(named.clone()) {
            Entry::Occupied(there) => Some((Arc::clone(there.get()), false)),
            Entry::Vacant(_) if full => None,
            Entry::Vacant(empty) => Some((Arc::clone(&empty.insert(Arc::default())), true)),
        }
    }

    /// How often the object was asked for; `None` while somebody waits for it, or where it is not kept.
    pub(super) fn asked(&self, named: &Named) -> Option<u64> {
        self.0.get(named)?.asked()
    }

    /// Forgets an object that nobody has asked for since [`Whole::asked`] said so.
    pub(super) fn forget(&self, named: &Named, asked: u64) -> bool {
        let idle = |_: &Named, store: &mut Arc<Store>| store.asked() == Some(asked);
        self.0.remove_if_mut(named, idle).is_some()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::store::Interest;
    use rules::kinds::by_word;

    fn named(name: &str) -> Named {
        Named {
            kind: by_word("configmap").map(Kind::Builtin).unwrap(),
            namespace: "shop".into(),
            name: name.into(),
        }
    }

    #[test]
    fn there_is_room_for_so_many_and_an_object_is_forgotten_that_nobody_asks_for() {
        let whole = Whole::default();
        for number in 0..AT_MOST {
            let (_, new) = whole.store(&named(&number.to_string())).unwrap();
            assert!(new);
        }
        let first = named("0");
        assert!(whole.store(&named("more")).is_none());
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
        assert!(whole.store(&named("more")).is_some());
    }
}
