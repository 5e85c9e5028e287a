//! Manifests of no particular sense: the fields that the rules read, with values of every type in them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

const KINDS: [(&str, &str); 18] = [
    ("apps/v1", "Deployment"),
    ("apps/v1", "StatefulSet"),
    ("apps/v1", "DaemonSet"),
    ("extensions/v1beta1", "ReplicaSet"),
    ("v1", "ReplicationController"),
    ("v1", "Pod"),
    ("v1", "Service"),
    ("v1", "PersistentVolumeClaim"),
    ("v1", "Namespace"),
    ("v1", "ConfigMap"),
    ("batch/v1", "Job"),
    ("policy/v1", "PodDisruptionBudget"),
    ("apiextensions.k8s.io/v1", "CustomResourceDefinition"),
    ("apiregistration.k8s.io/v1", "APIService"),
    ("argoproj.io/v1alpha1", "Application"),
    ("argoproj.io/v1alpha1", "Rollout"),
    ("a/b/c", "Pod"),
    ("/", "Deployment"),
];

const WORDS: [&str; 24] = [
    "",
    "True",
    "False",
    "Ready",
    "Available",
    "Progressing",
    "Reconciling",
    "Stalled",
    "Complete",
    "Failed",
    "Suspended",
    "PodScheduled",
    "Unschedulable",
    "Running",
    "Pending",
    "Succeeded",
    "Bound",
    "Lost",
    "OnDelete",
    "LoadBalancer",
    "CrashLoopBackOff",
    "Established",
    "2024-01-01T00:00:00Z",
    "7",
];

const PATHS: [&str; 32] = [
    "metadata",
    "metadata.generation",
    "metadata.deletionTimestamp",
    "metadata.creationTimestamp",
    "metadata.annotations",
    "spec",
    "spec.replicas",
    "spec.parallelism",
    "spec.completions",
    "spec.suspend",
    "spec.selector",
    "spec.type",
    "spec.clusterIP",
    "spec.updateStrategy.type",
    "spec.paused",
    "spec.updateStrategy.rollingUpdate.partition",
    "spec.progressDeadlineSeconds",
    "spec.storageClassName",
    "status",
    "status.observedGeneration",
    "status.phase",
    "status.conditions",
    "status.replicas",
    "status.readyReplicas",
    "status.availableReplicas",
    "status.updatedReplicas",
    "status.currentReplicas",
    "status.desiredNumberScheduled",
    "status.startTime",
    "status.containerStatuses",
    "status.initContainerStatuses",
    "status.loadBalancer.ingress",
];

/// Generates any JSON value for a property test.
pub(crate) fn json() -> impl Strategy<Value = Value> {
    leaf().prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
            prop::collection::hash_map(word(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

/// An object of a kind that has a rule (or none), with the fields of the rules set to anything.
pub(crate) fn manifest() -> impl Strategy<Value = Value> {
    let value = prop_oneof![4 => leaf(), 2 => conditions(), 2 => containers(), 1 => json()];
    let fields = prop::collection::vec((prop::sample::select(PATHS.to_vec()), value), 0..8);
    (prop::sample::select(KINDS.to_vec()), fields).prop_map(|((version, kind), fields)| {
        let mut object = json!({ "apiVersion": version, "kind": kind });
        for (path, value) in fields {
            put(&mut object, path, value);
        }
        object
    })
}

fn put(object: &mut Value, path: &str, value: Value) {
    let mut at = object;
    for field in path.split('.') {
        if !at.is_object() {
            *at = Value::Object(Map::new());
        }
        at = &mut at[field];
    }
    *at = value;
}

fn word() -> impl Strategy<Value = String> {
    prop::sample::select(WORDS.to_vec()).prop_map(str::to_owned)
}

fn leaf() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-2_i64..5).prop_map(Value::from),
        prop::sample::select(vec![i64::MIN, i64::MAX, i64::from(i32::MAX)]).prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        word().prop_map(Value::from),
        prop::collection::vec(any::<char>(), 0..4)
            .prop_map(|text| Value::from(String::from_iter(text))),
    ]
}

fn conditions() -> impl Strategy<Value = Value> {
    let text = || prop_oneof![8 => word().prop_map(Value::from), 1 => leaf()];
    let condition = (text(), text(), text(), text()).prop_map(|(kind, status, reason, message)| {
        json!({ "type": kind, "status": status, "reason": reason, "message": message })
    });
    prop::collection::vec(condition, 0..4).prop_map(Value::Array)
}

fn containers() -> impl Strategy<Value = Value> {
    let container = (leaf(), prop_oneof![word().prop_map(Value::from), leaf()]).prop_map(
        |(name, reason)| json!({ "name": name, "state": { "waiting": { "reason": reason } } }),
    );
    prop::collection::vec(container, 0..3).prop_map(Value::Array)
}
