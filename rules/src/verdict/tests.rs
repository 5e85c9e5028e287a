//! Tests the whole way from a pod to the answer that its gate gets, in a fake cluster that is a list of objects.

mod any;
mod behind;
mod cluster;
mod consent;
mod cycle;
mod dependent;
mod ends;
mod health;
mod kueue;
mod large;
mod lockstep;
mod missing_status;
mod no_room;
mod node;
mod node_rules;
mod object;
mod observed;
mod optional;
mod outside;
mod owners;
mod part;
mod patience;
mod pod_cause;
mod recovered;
mod remembered;
mod selection;
mod settle;
mod since_boot;
mod slot;
mod spelling;
mod stable;
mod too_late;
mod unread;
mod wave;
mod why;

use super::report::LONGEST_REPORT;
use super::*;
use crate::annotation::MAX_ENTRIES;
use crate::dependent::Dependent;
use crate::judged::{Judged, Reason};
use crate::kinds::{self, Kind};
use crate::lookup::{Lookup, Unavailable};
use crate::memory::{self, CompletedJob, Completing};
use crate::scope::{self, Scope};
use crate::selector::Selector;
use crate::world::{Pending, World};
use cluster::Cluster;
use jiff::Timestamp;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

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

/// The Namespace `shop` of the dependents, which is older than every object in it.
fn home() -> Value {
    json!({"kind": "Namespace", "metadata": {"name": "shop", "creationTimestamp": "1969-01-01T00:00:00Z"}})
}

fn list(text: &str) -> Value {
    json!({"sluice.dev/depends-on": text})
}

fn config_map(namespace: &str, name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": namespace, "name": name}})
}

/// The pod `p`, which has no owner, with this list.
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
