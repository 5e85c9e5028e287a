//! The pods of a store by their nodes: after a boot each gate of a node asks for the pods beside it, and a cluster has many others.

use super::snapshot::{Key, NODE, Snapshot};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// The pods on each node. The node of a pod that is too large to be read is unknown, so such a pod may be on any node.
#[derive(Debug, Default)]
pub(super) struct Nodes {
    by_node: HashMap<Box<str>, BTreeSet<Key>>,
    unknown: BTreeSet<Key>,
}

impl Nodes {
    /// Makes the table of the pods by their nodes from all objects of a store.
    pub(super) fn of(objects: &BTreeMap<Key, Snapshot>) -> Self {
        let mut nodes = Self::default();
        for (key, snapshot) in objects {
            nodes.insert(key, snapshot);
        }
        nodes
    }

    /// Adds a pod of the store, unless it has no node. A pod that is too large to be read may be on any node.
    pub(super) fn insert(&mut self, key: &Key, snapshot: &Snapshot) {
        if snapshot.too_large {
            self.unknown.insert(key.clone());
        } else if let Some(node) = snapshot.label(NODE) {
            let there = self.by_node.entry((*node).into()).or_default();
            there.insert(key.clone());
        }
    }

    /// Removes an object by the node that the object had in the store.
    pub(super) fn remove(&mut self, key: &Key, before: &Snapshot) {
        self.unknown.remove(key);
        let Some(node) = before.label(NODE) else {
            return;
        };
        if let Some(there) = self.by_node.get_mut(&*node) {
            there.remove(key);
            if there.is_empty() {
                self.by_node.remove(&*node);
            }
        }
    }

    /// The keys of the pods that may be on a node: those on it, and those whose node is unknown.
    pub(super) fn on(&self, node: &str) -> impl Iterator<Item = &Key> {
        let known = self.by_node.get(node).into_iter().flatten();
        known.chain(&self.unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Store;
    use super::super::snapshot::LOOKED;
    use rules::kept::mark_too_large;
    use rules::selector::Selector;
    use serde_json::{Value, json};

    fn pod(namespace: &str, name: &str, node: &str) -> Value {
        let labels = json!({"app": "web"});
        json!({
            "metadata": {"namespace": namespace, "name": name, "labels": labels},
            "spec": {"nodeName": node},
        })
    }

    #[test]
    fn a_look_at_the_pods_of_a_node_costs_nothing_for_the_others() {
        let store = Store::new(crate::known::WallClock::STILL);
        let of = |node: usize, pod: usize| format!("{node}-{pod}");
        let all = (0..100).flat_map(|node| (0..10).map(move |it| (node, it)));
        let pods: Vec<Value> = all
            .map(|(node, it)| pod("shop", &of(node, it), &node.to_string()))
            .collect();
        store.replace(&pods);
        let web = Selector::label("app", "web");
        let on = |node: &str, namespace| store.pods_on(node, namespace, &web).len();
        assert_eq!(on("7", Some("shop")), 10);
        let before = LOOKED.get();
        for _ in 0..10 {
            assert_eq!(on("7", None), 10);
        }
        assert_eq!(LOOKED.get() - before, 100, "ten pods, ten times");
        assert_eq!([on("7", Some("sho")), on("100", None)], [0, 0]);
    }

    #[test]
    fn a_pod_is_found_where_it_is_now() {
        let store = Store::new(crate::known::WallClock::STILL);
        store.replace(&[pod("shop", "a", "one")]);
        let all = Selector::default();
        let there = || ["one", "two"].map(|node| store.pods_on(node, None, &all).len());
        assert_eq!(there(), [1, 0]);
        store.apply(&pod("shop", "a", "two"));
        assert_eq!(there(), [0, 1], "a pod of the same name");
        let mut large = pod("shop", "b", "one");
        mark_too_large(&mut large);
        store.apply(&large);
        assert_eq!(there(), [1, 2], "its node may be any");
        store.delete(&large);
        store.delete(&pod("shop", "a", "two"));
        assert_eq!(there(), [0, 0]);
        store.replace(&[pod("shop", "c", "one")]);
        assert_eq!(there(), [1, 0]);
        store.clear(super::super::Freshness::Syncing);
        assert_eq!(there(), [0, 0]);
    }
}
