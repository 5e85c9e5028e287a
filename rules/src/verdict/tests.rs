//! From a pod to its answer, on a cluster that is a list of objects.

mod any;
mod cause;
mod consent;
mod cycle;
mod health;
mod never;
mod node;
mod owners;
mod part;
mod patience;
mod remembered;
mod revision;
mod room;
mod ruling;
mod selection;
mod settle;
mod slot;
mod stable;
mod unread;
mod unwritten;
mod wave;

use super::*;
use crate::cause::{Behind, Stuck};
use crate::holder::{Running, Wave};
use crate::judged::Reason;
use crate::kinds::{self, Kind};
use crate::lookup::{Lookup, Unavailable};
use crate::memory::{self, CompletedJob};
use crate::scope::{self, Scope};
use crate::selector::Selector;
use crate::world::{Objects, Pending};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::BTreeMap;

/// The objects, and what can be said of the kinds that have none.
struct Cluster {
    objects: Vec<Value>,
    unavailable: Vec<(&'static str, Unavailable)>,
    /// Custom kinds that are looked for in scopes, and whether sluice is meant to read them.
    custom: Vec<(Kind, bool)>,
    /// Why nobody can say which kinds are looked for there.
    kinds_unread: Option<Unavailable>,
    active: Result<Option<Timestamp>, Unavailable>,
    pending: Pending,
    /// What is remembered of Jobs, by the keys of the ConfigMap.
    memory: BTreeMap<String, String>,
    /// Why nobody can say that.
    forgotten: Option<Unavailable>,
    /// Since when everything that is satisfied has been seen so.
    seen: Option<Timestamp>,
}

impl Cluster {
    fn of(objects: Vec<Value>) -> Self {
        Self {
            objects,
            unavailable: Vec::new(),
            custom: Vec::new(),
            kinds_unread: None,
            active: Ok(None),
            pending: Pending::NotFollowed,
            memory: remembered::one("gone", None),
            forgotten: None,
            seen: None,
        }
    }

    fn pods_of(&self, namespace: &str) -> impl Iterator<Item = &Value> {
        let is_one =
            move |it: &&Value| it["kind"] == "Pod" && it["metadata"]["namespace"] == namespace;
        self.objects.iter().filter(is_one)
    }

    fn usable(&self, kind: &Kind) -> Result<(), Unavailable> {
        let found = self
            .unavailable
            .iter()
            .find(|(word, _)| *word == kind.word());
        found.map_or(Ok(()), |(_, why)| Err(*why))
    }
}

impl Objects for Cluster {
    fn object(&self, kind: &Kind, namespace: Option<&str>, name: &str) -> Lookup<Value> {
        if let Err(why) = self.usable(kind) {
            return Lookup::Unavailable(why);
        }
        let fits = |object: &&Value| {
            let metadata = &object["metadata"];
            object["kind"] == kind.word()
                && metadata["name"] == name
                && metadata["namespace"].as_str() == namespace
        };
        let home = (kind.word() == "Namespace" && name == "shop").then(home);
        let found = self.objects.iter().find(fits).cloned().or(home);
        found.map_or(Lookup::NotFound, Lookup::Found)
    }

    fn whole<'o>(&self, _: &Kind, object: &'o Value) -> Lookup<Cow<'o, Value>> {
        Lookup::Found(Cow::Borrowed(object))
    }

    fn list(
        &self,
        kind: &Kind,
        namespace: Option<&str>,
        selector: &Selector,
    ) -> Lookup<Vec<Value>> {
        if let Err(why) = self.usable(kind) {
            return Lookup::Unavailable(why);
        }
        let fits = |object: &&Value| {
            object["kind"] == kind.word()
                && namespace.is_none_or(|it| object["metadata"]["namespace"] == it)
                && selector.selects(object)
        };
        Lookup::Found(self.objects.iter().filter(fits).cloned().collect())
    }

    fn namespaced(&self, kind: &Kind) -> Lookup<bool> {
        self.usable(kind).map_or_else(Lookup::Unavailable, |()| {
            Lookup::Found(kind.word() != "ClusterIssuer")
        })
    }
}

impl World for Cluster {
    fn kinds(&self) -> Result<Vec<Kind>, Unavailable> {
        let custom = self.custom.iter().map(|(kind, _)| kind.clone());
        let kinds = scope::workloads().chain(custom).collect();
        self.kinds_unread.map_or(Ok(kinds), Err)
    }

    fn is_same(&self, one: &Kind, other: &Kind) -> bool {
        one == other
    }

    fn is_granted(&self, kind: &Kind) -> bool {
        self.custom
            .iter()
            .any(|(it, granted)| it == kind && *granted)
    }

    fn active(&self, _: &Scope) -> Result<Option<Timestamp>, Unavailable> {
        self.active
    }

    fn pending(&self, _: &Scope) -> Pending {
        self.pending
    }

    /// The `ConfigMap`s, all of which are plans.
    fn plans(&self, namespace: &str) -> Lookup<Vec<Value>> {
        let kind = crate::kinds::builtin("", "ConfigMap").map(Kind::Builtin);
        self.list(&kind.unwrap(), Some(namespace), &Selector::default())
    }

    fn slots(&self, _: &Wave) -> Lookup<Running> {
        Lookup::Unavailable(Unavailable::Hidden)
    }

    fn completed_job(&self, namespace: &str, name: &str) -> Lookup<CompletedJob> {
        if let Some(why) = self.forgotten {
            return Lookup::Unavailable(why);
        }
        let entry = self.memory.get(&memory::job_key(namespace, name));
        entry.and_then(|text| memory::read(text)).into()
    }

    fn completed_jobs(
        &self,
        namespace: &str,
        selector: &Selector,
    ) -> Lookup<BTreeMap<String, CompletedJob>> {
        if let Some(why) = self.forgotten {
            return Lookup::Unavailable(why);
        }
        let entries = self.memory.iter();
        let texts = entries.map(|(key, text)| (key.as_str(), text.as_str()));
        Lookup::Found(memory::selected(texts, namespace, selector))
    }

    fn has_passed(&self, _: &str) -> Lookup<bool> {
        Lookup::Found(false)
    }

    fn unscheduled(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        let homeless = |pod: &&Value| pod["spec"]["nodeName"].is_null() && selector.selects(pod);
        Lookup::Found(self.pods_of(namespace).filter(homeless).cloned().collect())
    }

    fn peek_gated(&self, namespace: &str, selector: &Selector) -> Lookup<Vec<Value>> {
        let is_gated = |pod: &&Value| {
            pod["metadata"]["labels"]["sluice.dev/gated"] == "true" && selector.selects(pod)
        };
        Lookup::Found(self.pods_of(namespace).filter(is_gated).cloned().collect())
    }

    fn stuck(&self, behind: &Behind, now: Timestamp) -> Option<Stuck> {
        let home = behind.namespace.as_str();
        let pods = self
            .pods_of(home)
            .filter(|pod| behind.selector.selects(pod));
        let pods: Vec<Value> = pods.cloned().collect();
        let claims = Kind::Builtin(kinds::PERSISTENT_VOLUME_CLAIM);
        let claim = |name: &str| self.object(&claims, Some(home), name);
        super::stuck(behind, &pods, claim, self, now)
    }

    fn satisfied_since(&self, _: &str, satisfied: bool, _: Timestamp) -> Option<Timestamp> {
        self.seen.filter(|_| satisfied)
    }

    fn declares_status(&self, kind: &Kind) -> Lookup<bool> {
        match kind.word() {
            "Pool" => Lookup::Found(true),
            _ => Lookup::NotFound,
        }
    }

    fn health(&self, _: &Value) -> Option<Judged> {
        None
    }
}

#[expect(clippy::needless_pass_by_value, reason = "a test hands over a literal")]
fn owned(kind: &str, name: &str, by: Option<(&str, &str)>, annotations: Value) -> Value {
    let version = match kind {
        "Pod" | "ReplicationController" => "v1",
        "Job" | "CronJob" => "batch/v1",
        "Rollout" => "argoproj.io/v1alpha1",
        _ => "apps/v1",
    };
    let mut object = json!({
        "apiVersion": version, "kind": kind,
        "metadata": {
            "namespace": "shop", "name": name, "annotations": annotations,
            "creationTimestamp": "1969-12-31T00:00:00Z",
        },
    });
    if let Some((kind, name)) = by {
        let version = if kind == "Rollout" {
            "argoproj.io/v1alpha1"
        } else {
            "apps/v1"
        };
        let version = if kind.ends_with("Job") {
            "batch/v1"
        } else {
            version
        };
        object["metadata"]["ownerReferences"] =
            json!([{"apiVersion": version, "kind": kind, "name": name, "controller": true}]);
    }
    object
}

/// The namespace of the dependents, which is older than everything in it.
fn home() -> Value {
    json!({"kind": "Namespace", "metadata": {"name": "shop", "creationTimestamp": "1969-01-01T00:00:00Z"}})
}

fn list(text: &str) -> Value {
    json!({"sluice.dev/depends-on": text})
}

fn config_map(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "name": name}})
}

/// A pod of its own with this list.
fn pod(text: &str) -> Value {
    owned("Pod", "p", None, list(text))
}

fn rollouts() -> Vec<(String, String)> {
    vec![("argoproj.io".to_owned(), "Rollout".to_owned())]
}

fn edges_of(pod: &Value, cluster: &Cluster, policy: &Policy) -> Vec<JudgedEdge> {
    let Lookup::Found(dependent) = Dependent::resolve(pod, &rollouts(), cluster) else {
        panic!("resolved")
    };
    let edges = dependent.edges(true, cluster).unwrap();
    judge(&dependent, edges, policy, cluster, Timestamp::UNIX_EPOCH).edges
}

fn reasons(pod: &Value, cluster: &Cluster) -> Vec<Reason> {
    edges_of(pod, cluster, &Policy::of_the_chart())
        .iter()
        .map(|edge| edge.judged.reason)
        .collect()
}

#[test]
fn the_list_comes_from_the_topmost_owner() {
    let pod = owned("Pod", "web-1-x", Some(("ReplicaSet", "web-1")), json!({}));
    let set = owned(
        "ReplicaSet",
        "web-1",
        Some(("Deployment", "web")),
        list("configmap/old"),
    );
    let web = owned("Deployment", "web", None, list("configmap/new"));
    let cluster = Cluster::of(vec![set, web, config_map("shop", "new")]);
    assert_eq!(reasons(&pod, &cluster), [Reason::Satisfied]);
}

#[test]
fn a_list_that_was_taken_away_does_not_live_on_in_a_copy() {
    let pod = owned("Pod", "web-1-x", Some(("ReplicaSet", "web-1")), json!({}));
    let set = owned(
        "ReplicaSet",
        "web-1",
        Some(("Deployment", "web")),
        list("configmap/old"),
    );
    let web = owned("Deployment", "web", None, json!({}));
    assert_eq!(reasons(&pod, &Cluster::of(vec![set, web])), []);
}

#[test]
fn the_pod_template_wins_key_by_key() {
    let pod = owned("Pod", "x", Some(("Job", "seed")), list("configmap/a"));
    let mut both = list("configmap/b");
    both["config.kubernetes.io/depends-on"] = json!("/namespaces/shop/ConfigMap/c");
    let cluster = Cluster::of(vec![owned("Job", "seed", None, both)]);
    let edges = edges_of(&pod, &cluster, &Policy::of_the_chart());
    let names: Vec<String> = edges.iter().map(|edge| edge.edge.name()).collect();
    assert_eq!(names, ["a", "c"]);
}

#[test]
fn cron_jobs_and_rollouts_are_followed() {
    let cron = Cluster::of(vec![
        owned("Job", "nightly-1", Some(("CronJob", "nightly")), json!({})),
        owned("CronJob", "nightly", None, list("configmap/a")),
    ]);
    assert_eq!(
        reasons(
            &owned("Pod", "n", Some(("Job", "nightly-1")), json!({})),
            &cron
        ),
        [Reason::NotFound]
    );
    let rollout = Cluster::of(vec![
        owned("ReplicaSet", "web-1", Some(("Rollout", "web")), json!({})),
        owned("Rollout", "web", None, list("configmap/a")),
    ]);
    assert_eq!(
        reasons(
            &owned("Pod", "w", Some(("ReplicaSet", "web-1")), json!({})),
            &rollout
        ),
        [Reason::NotFound]
    );
}

#[test]
fn an_owner_that_is_not_seen_yet_is_waited_for_and_a_foreign_one_ends_the_climb() {
    let pod = owned("Pod", "w", Some(("ReplicaSet", "web-1")), json!({}));
    assert_eq!(
        Dependent::resolve(&pod, &rollouts(), &Cluster::of(vec![])),
        Lookup::NotFound
    );
    let mut cluster = Cluster::of(vec![owned(
        "ReplicaSet",
        "web-1",
        Some(("Rollout", "web")),
        list("configmap/a"),
    )]);
    cluster.unavailable = vec![("Rollout", Unavailable::Forbidden)];
    assert_eq!(reasons(&pod, &cluster), [Reason::NotFound]);
    cluster.unavailable = vec![("Rollout", Unavailable::Syncing)];
    let resolved = Dependent::resolve(&pod, &rollouts(), &cluster);
    assert_eq!(resolved, Lookup::Unavailable(Unavailable::Syncing));
    let strange = owned(
        "ReplicaSet",
        "web-1",
        Some(("Database", "db")),
        list("configmap/a"),
    );
    assert_eq!(
        reasons(&pod, &Cluster::of(vec![strange])),
        [Reason::NotFound]
    );
}

/// Nothing is known of a list that stands on what cannot be read, and what is not known opens nothing.
#[test]
fn an_owner_that_cannot_be_read_is_waited_for_where_no_other_list_is_known() {
    let pod = owned("Pod", "w", Some(("ReplicaSet", "web-1")), json!({}));
    let set = owned("ReplicaSet", "web-1", Some(("Rollout", "web")), json!({}));
    let mut cluster = Cluster::of(vec![set]);
    for why in [Unavailable::Forbidden, Unavailable::NotServed] {
        cluster.unavailable = vec![("Rollout", why)];
        let resolved = Dependent::resolve(&pod, &rollouts(), &cluster);
        assert_eq!(resolved, Lookup::Unavailable(why));
        let listed = owned(
            "Pod",
            "w",
            Some(("ReplicaSet", "web-1")),
            list("configmap/a"),
        );
        assert_eq!(reasons(&listed, &cluster), [Reason::NotFound]);
    }
}

#[test]
fn owners_that_own_each_other_end_somewhere() {
    let a = owned("ReplicaSet", "a", Some(("ReplicaSet", "b")), json!({}));
    let b = owned("ReplicaSet", "b", Some(("ReplicaSet", "a")), json!({}));
    let pod = owned("Pod", "x", Some(("ReplicaSet", "a")), json!({}));
    assert!(matches!(
        Dependent::resolve(&pod, &[], &Cluster::of(vec![a, b])),
        Lookup::Found(_)
    ));
}

#[test]
fn what_is_not_there_is_waited_for_unless_it_is_optional() {
    let optional = pod("- kind: ConfigMap\n  name: a\n  optional: true\n- configmap/b");
    let cluster = Cluster::of(vec![]);
    assert_eq!(
        reasons(&optional, &cluster),
        [Reason::OptionalNotFound, Reason::NotFound]
    );
    let answer = answer(&edges_of(&optional, &cluster, &Policy::of_the_chart()));
    assert_eq!(answer.verdict, wire::Decision::Wait);
    assert_eq!(answer.dependencies[1].status, "NotFound");
}

#[test]
fn a_job_that_completed_before_it_was_removed_goes_on_counting() {
    let cluster = Cluster::of(vec![]);
    assert_eq!(
        reasons(&pod("job/gone, job/gone:complete"), &cluster),
        [Reason::Remembered; 2]
    );
    assert_eq!(
        reasons(&pod("job/never, job/gone:present"), &cluster),
        [Reason::NotFound; 2]
    );
    let newer = owned("Job", "gone", None, json!({}));
    assert_eq!(
        reasons(&pod("job/gone"), &Cluster::of(vec![newer])),
        [Reason::JobNotComplete]
    );
}

/// What completed in a namespace that was deleted has nothing to do with the one that has its name now.
#[test]
fn a_job_of_an_earlier_namespace_is_not_remembered() {
    let reason = |began: Value| {
        let mut shop = home();
        shop["metadata"]["creationTimestamp"] = began;
        reasons(&pod("job/gone"), &Cluster::of(vec![shop]))
    };
    assert_eq!(reason(json!("1970-01-01T00:00:00Z")), [Reason::Remembered]);
    assert_eq!(reason(json!("1970-01-01T00:00:01Z")), [Reason::NotFound]);
    assert_eq!(reason(json!(null)), [Reason::Syncing]);
    let mut cluster = Cluster::of(vec![]);
    cluster.unavailable = vec![("Namespace", Unavailable::Forbidden)];
    assert_eq!(reasons(&pod("job/gone"), &cluster), [Reason::KindForbidden]);
}

#[test]
fn what_cannot_be_known_never_opens() {
    let custom = pod("widget.example.com/a");
    let mut cluster = Cluster::of(vec![config_map("shop", "a")]);
    for (why, reason) in [
        (Unavailable::Syncing, Reason::Syncing),
        (Unavailable::NotServed, Reason::KindNotServed),
        (Unavailable::Forbidden, Reason::KindForbidden),
        (Unavailable::Stale, Reason::Stale),
        (Unavailable::Undiscovered, Reason::DiscoveryFailed),
    ] {
        cluster.unavailable = vec![("widget", why), ("ConfigMap", why)];
        assert_eq!(reasons(&custom, &cluster), [reason]);
        assert_eq!(reasons(&pod("configmap/a"), &cluster), [reason]);
    }
}

/// "Not served" is an answer, and what is not there may be optional; that nobody answers is none.
#[test]
fn an_optional_entry_does_not_open_while_nobody_knows_the_kind() {
    let optional = pod("- {kind: widget.example.com, name: a, optional: true}");
    let mut cluster = Cluster::of(vec![]);
    let mut reason = |why| {
        cluster.unavailable = vec![("widget", why)];
        reasons(&optional, &cluster)
    };
    assert_eq!(reason(Unavailable::NotServed), [Reason::OptionalNotFound]);
    for (why, reason_of) in [
        (Unavailable::Undiscovered, Reason::DiscoveryFailed),
        (Unavailable::Forbidden, Reason::KindForbidden),
        (Unavailable::Syncing, Reason::Syncing),
    ] {
        assert_eq!(reason(why), [reason_of]);
    }
}

#[test]
fn nobody_waits_for_himself() {
    let pod = owned("Pod", "web-1-x", Some(("ReplicaSet", "web-1")), json!({}));
    let set = owned(
        "ReplicaSet",
        "web-1",
        Some(("Deployment", "web")),
        json!({}),
    );
    let web = owned(
        "Deployment",
        "web",
        None,
        list("deployment/web, pod/web-1-x, deployment/other"),
    );
    let expected = [
        Reason::SelfReference,
        Reason::SelfReference,
        Reason::NotFound,
    ];
    assert_eq!(reasons(&pod, &Cluster::of(vec![set, web])), expected);
}

#[test]
fn no_list_opens() {
    let pod = owned("Pod", "p", None, json!({}));
    let edges = edges_of(&pod, &Cluster::of(vec![]), &Policy::of_the_chart());
    assert_eq!(answer(&edges).verdict, wire::Decision::Open);
}
