//! What the watches have brought, looked at from the side: nothing is asked for, so a kind that no gate has needed yet is
//! unknown, whatever a list says.

use crate::inject::Known;
use crate::known::{self, Condition, Store};
use rules::kinds::{self, Kind};
use rules::selector::Selector;
use serde_json::Value;
use std::sync::Arc;

/// What the status service knows.
#[derive(Debug)]
pub struct Cached(pub Arc<known::Known>);

impl Cached {
    /// The store of a kind that is watched. Not [`known::Known::store`], which would begin to watch it.
    fn watched(&self, kind: &Kind) -> Option<Arc<Store>> {
        let mut stores = self.0.stores().into_iter();
        stores.find_map(|(it, store)| (it == *kind).then_some(store))
    }

    fn live(&self, kind: &Kind) -> Option<Arc<Store>> {
        self.watched(kind)
            .filter(|store| store.believed_until().is_ok())
    }
}

impl Known for Cached {
    fn object(&self, kind: &Kind, namespace: &str, name: &str) -> Option<Value> {
        self.live(kind)?.get(namespace, name)
    }

    fn has_endpoints(&self, namespace: &str, service: &str) -> Option<bool> {
        let slices = kinds::builtin("discovery.k8s.io", "EndpointSlice")?;
        let store = self.live(&Kind::Builtin(slices))?;
        let of_service = Selector::label("kubernetes.io/service-name", service);
        let slices = store.list(Some(namespace), &of_service);
        let endpoints = |slice: &Value| {
            slice["endpoints"]
                .as_array()
                .is_some_and(|it| !it.is_empty())
        };
        Some(slices.iter().any(endpoints))
    }

    fn is_forbidden(&self, kind: &Kind) -> bool {
        let store = self.watched(kind);
        store.is_some_and(|store| store.condition() == Condition::Forbidden)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn builtin(group: &str, kind: &str) -> Kind {
        Kind::Builtin(kinds::builtin(group, kind).unwrap())
    }

    #[test]
    fn what_nobody_watches_is_unknown_and_stays_unwatched() {
        let (known, mut requests) = known::Known::new();
        let seen = Cached(known);
        let job = builtin("batch", "Job");
        assert_eq!(seen.object(&job, "shop", "migrate"), None);
        assert_eq!(seen.has_endpoints("shop", "redis"), None);
        assert!(!seen.is_forbidden(&job));
        assert!(requests.try_recv().is_err(), "no watch was asked for");
    }

    #[test]
    fn what_is_watched_is_known_while_the_watch_is_connected() {
        let (known, _requests) = known::Known::new();
        let job = builtin("batch", "Job");
        let migrate = json!({"metadata": {"namespace": "shop", "name": "migrate"}});
        let store = known.store(&job);
        let seen = Cached(known);
        assert_eq!(seen.object(&job, "shop", "migrate"), None, "not listed yet");
        store.replace(std::slice::from_ref(&migrate));
        assert_eq!(seen.object(&job, "shop", "migrate"), Some(migrate));
        store.clear(Condition::Forbidden);
        assert_eq!(seen.object(&job, "shop", "migrate"), None);
        assert!(seen.is_forbidden(&job));
    }

    #[test]
    fn endpoints_are_those_of_the_service() {
        let (known, _requests) = known::Known::new();
        let slice = |service: &str, endpoints: Value| {
            let labels = json!({"kubernetes.io/service-name": service});
            let metadata = json!({"namespace": "shop", "name": service, "labels": labels});
            json!({"metadata": metadata, "endpoints": endpoints})
        };
        let store = known.store(&builtin("discovery.k8s.io", "EndpointSlice"));
        store.replace(&[slice("empty", json!([])), slice("full", json!([{}]))]);
        let seen = Cached(known);
        assert_eq!(seen.has_endpoints("shop", "full"), Some(true));
        assert_eq!(seen.has_endpoints("shop", "empty"), Some(false));
        assert_eq!(seen.has_endpoints("shop", "absent"), Some(false));
    }
}
