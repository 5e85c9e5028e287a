//! The objects in memory, as admission sees them. Admission starts no watch, so a kind that no gate has needed yet is
//! unknown, although a list may name it.

use crate::known::{Freshness, Known, Store};
use rules::advice::{Seen, Served, Target, Workload};
use rules::dependency::{ObjectRef, Part, Parts, Selection};
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::scope::{self, Scope};
use rules::selector::Selector;
use serde_json::Value;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Gives the advice of admission access to the objects that the status service has in memory.
#[derive(Debug)]
pub struct Cached(pub Arc<Known>);

/// The answer to admission about a kind that no watch follows, or whose watch is no longer believed.
const UNWATCHED: Unavailable = Unavailable::Syncing;

impl Cached {
    fn live(&self, kind: &Kind) -> Option<Arc<Store>> {
        self.0
            .watched(kind)
            .filter(|store| store.believed_until().is_ok())
    }
}

impl Seen for Cached {
    fn object(&self, from: &Workload<'_>, named: &ObjectRef) -> Lookup<Target> {
        let Some(store) = self.live(&named.kind) else {
            return Lookup::Unavailable(UNWATCHED);
        };
        let home = home(from, &named.kind, named.namespace.as_ref());
        // Admission does not know whether a custom kind has namespaces, so look for an object of the cluster too.
        let of_cluster = || store.get("", &named.name);
        let found = store.get(home, &named.name).or_else(of_cluster);
        found.map_or(Lookup::NotFound, |object| {
            Lookup::Found(target(from, object))
        })
    }

    fn selected(&self, from: &Workload<'_>, selection: &Selection) -> Lookup<Vec<Target>> {
        let Some(store) = self.live(&selection.kind) else {
            return Lookup::Unavailable(UNWATCHED);
        };
        let home = home(from, &selection.kind, selection.namespace.as_ref());
        let found = store.list(Some(home), &selection.selector).into_iter();
        Lookup::Found(found.map(|object| target(from, object)).collect())
    }

    fn served_by_others(&self, from: &Workload<'_>, service: &ObjectRef) -> Served {
        let slices = Kind::Builtin(kinds::ENDPOINT_SLICE);
        let Some(store) = self.live(&slices) else {
            return Served::Unknown;
        };
        let of_service = Selector::label("kubernetes.io/service-name", &service.name);
        let home = home(from, &service.kind, service.namespace.as_ref());
        let endpoints = |slice: &Value| {
            slice["endpoints"]
                .as_array()
                .is_some_and(|it| !it.is_empty())
        };
        if store.list(Some(home), &of_service).iter().any(endpoints) {
            Served::Yes
        } else {
            Served::NotYet
        }
    }

    /// Returns the other namespaces in which the workload's release has this part, if the workload's own namespace has none. Answers only for a
    /// release that is kept in the workload's own namespace. An object of another namespace that claims this release was then written by a user
    /// with rights in the workload's namespace.
    fn elsewhere(&self, from: &Workload<'_>, part: &Part) -> Vec<String> {
        let release = Scope::of(from.object).filter(|own| own.kept_in.is_none());
        let Some(own) = release else {
            return Vec::new();
        };
        let stores: Vec<_> = scope::workloads().filter_map(|it| self.live(&it)).collect();
        let is_in = |namespace: &str| {
            let parts = Parts {
                part: part.clone(),
                namespace: Some(namespace.to_owned()),
                min: None,
            };
            let counts =
                |it: &Value| !scope::is_hook(it) && parts.is_of(Some(&own), Scope::of(it).as_ref());
            let members = |store: &Arc<Store>| store.members(namespace, Some(&own.name), part);
            stores.iter().flat_map(members).any(|it| counts(&it))
        };
        let namespaces = stores.iter().flat_map(|store| store.namespaces_of(&own));
        let others: BTreeSet<String> = namespaces.filter(|it| *it != own.namespace).collect();
        if others.is_empty() || is_in(&own.namespace) {
            return Vec::new();
        }
        others.into_iter().filter(|it| is_in(it)).collect()
    }

    fn is_forbidden(&self, kind: &Kind) -> bool {
        let store = self.0.watched(kind);
        store.is_some_and(|store| store.freshness() == Freshness::Forbidden)
    }

    fn tells_of_other_namespaces(&self) -> bool {
        false
    }
}

/// Returns the namespace in which an object that a workload names is looked for: the one `written` in the reference, else the workload's own. Empty
/// for a built-in kind without namespaces.
fn home<'a>(from: &Workload<'a>, kind: &Kind, written: Option<&'a String>) -> &'a str {
    match kind {
        Kind::Builtin(builtin) if !builtin.namespaced => "",
        _ => written.map_or(from.namespace, String::as_str),
    }
}

fn target(from: &Workload<'_>, object: Value) -> Target {
    Target {
        same_release: scope::is_shared(from.object, &object),
        object,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Settings;
    use serde_json::json;

    fn builtin(group: &str, kind: &str) -> Kind {
        Kind::Builtin(kinds::builtin(group, kind).unwrap())
    }

    fn named(kind: Kind, name: &str) -> ObjectRef {
        ObjectRef {
            kind,
            namespace: None,
            name: name.to_owned(),
        }
    }

    /// Calls `told` with a Deployment of a release.
    fn with_workload<T>(told: impl FnOnce(&Workload<'_>) -> T) -> T {
        let object = json!({"metadata": {"namespace": "shop", "labels": {"app.kubernetes.io/instance": "r"}}});
        told(&Workload {
            group: "apps",
            kind: "Deployment",
            namespace: "shop",
            name: "api",
            object: &object,
            template: &Value::Null,
        })
    }

    #[test]
    fn what_nobody_watches_is_unknown_and_stays_unwatched() {
        let (known, mut requests) = Known::new(Settings::of_the_chart());
        let seen = Cached(known);
        let migrate = named(builtin("batch", "Job"), "migrate");
        let selection = Selection {
            kind: migrate.kind.clone(),
            namespace: None,
            selector: Selector::label("app", "a"),
            min: None,
        };
        with_workload(|from| {
            let unknown = Lookup::Unavailable(UNWATCHED);
            assert_eq!(seen.object(from, &migrate), unknown);
            let unknown = Lookup::Unavailable(UNWATCHED);
            assert_eq!(seen.selected(from, &selection), unknown);
            assert_eq!(seen.served_by_others(from, &migrate), Served::Unknown);
        });
        assert!(!seen.is_forbidden(&migrate.kind));
        assert!(requests.try_recv().is_err(), "no watch was asked for");
    }

    #[test]
    fn what_is_watched_is_known_while_the_watch_is_connected() {
        let (known, _requests) = Known::new(Settings::of_the_chart());
        let migrate = named(builtin("batch", "Job"), "migrate");
        let object = |release: &str| {
            json!({"metadata": {"namespace": "shop", "name": "migrate",
                "labels": {"app.kubernetes.io/instance": release}}})
        };
        let store = known.want(&migrate.kind);
        let seen = Cached(known);
        let look = |name: &str| {
            with_workload(|from| seen.object(from, &named(migrate.kind.clone(), name)))
        };
        assert_eq!(
            look("migrate"),
            Lookup::Unavailable(UNWATCHED),
            "not listed yet"
        );
        for (release, same_release) in [("r", true), ("other", false)] {
            store.replace(&[object(release)]);
            let target = Target {
                object: object(release),
                same_release: Some(same_release),
            };
            assert_eq!(look("migrate"), Lookup::Found(target));
        }
        assert_eq!(look("another"), Lookup::NotFound);
        store.clear(Freshness::Forbidden);
        assert_eq!(look("migrate"), Lookup::Unavailable(UNWATCHED));
        assert!(seen.is_forbidden(&migrate.kind));
    }

    #[test]
    fn what_is_of_the_cluster_is_found_there() {
        let (known, _requests) = Known::new(Settings::of_the_chart());
        let kind = builtin("scheduling.k8s.io", "PriorityClass");
        let store = known.want(&kind);
        store.replace(&[json!({"metadata": {"name": "high"}})]);
        let seen = Cached(known);
        let found = with_workload(|from| seen.object(from, &named(kind, "high")));
        assert!(matches!(found, Lookup::Found(_)), "{found:?}");
    }

    #[test]
    fn endpoints_are_those_of_the_service() {
        let (known, _requests) = Known::new(Settings::of_the_chart());
        let slice = |service: &str, endpoints: Value| {
            let labels = json!({"kubernetes.io/service-name": service});
            let metadata = json!({"namespace": "shop", "name": service, "labels": labels});
            json!({"metadata": metadata, "endpoints": endpoints})
        };
        let store = known.want(&builtin("discovery.k8s.io", "EndpointSlice"));
        store.replace(&[slice("empty", json!([])), slice("full", json!([{}]))]);
        let seen = Cached(known);
        let served = |name: &str| {
            with_workload(|from| seen.served_by_others(from, &named(builtin("", "Service"), name)))
        };
        assert_eq!(served("full"), Served::Yes);
        assert_eq!(served("empty"), Served::NotYet);
        assert_eq!(served("absent"), Served::NotYet);
    }

    #[test]
    fn a_sub_chart_elsewhere_is_told_of_to_whoever_has_the_release() {
        let (known, _requests) = Known::new(Settings::of_the_chart());
        let job = |namespace: &str, kept_in: &str| {
            let annotations = json!({
                "meta.helm.sh/release-name": "r", "meta.helm.sh/release-namespace": kept_in,
            });
            json!({"metadata": {"namespace": namespace, "name": "seed", "annotations": annotations,
                "labels": {"helm.sh/chart": "db-1.0.0"}}})
        };
        let store = known.want(&builtin("batch", "Job"));
        let seen = Cached(known);
        let told = |of: &str, objects: &[Value]| {
            store.replace(objects);
            elsewhere(&seen, &job("shop", of))
        };
        assert_eq!(told("shop", &[job("data", "shop")]), ["data"]);
        let both = [job("data", "shop"), job("shop", "shop")];
        assert_eq!(told("shop", &both), [""; 0], "it is here");
        assert_eq!(
            told("shop", &[job("data", "data")]),
            [""; 0],
            "another release"
        );
        // Any user may claim a release that is kept elsewhere.
        let theirs = [job("data", "theirs")];
        assert_eq!(told("theirs", &theirs), [""; 0]);
        store.clear(Freshness::Forbidden);
        assert_eq!(elsewhere(&seen, &job("shop", "shop")), [""; 0]);
    }

    fn elsewhere(seen: &Cached, object: &Value) -> Vec<String> {
        let workload = Workload {
            group: "apps",
            kind: "Deployment",
            namespace: "shop",
            name: "api",
            object,
            template: &Value::Null,
        };
        seen.elsewhere(&workload, &Part::SubChart("db".to_owned()))
    }
}
