//! Pods that are alike: what is found of one of them is found of all.

use crate::object::controller_of;
use serde_json::{Value, json};

/// By these labels controllers tell apart pods that are otherwise the same.
const OWN_LABELS: [&str; 3] = [
    "apps.kubernetes.io/pod-index",
    "batch.kubernetes.io/job-completion-index",
    "statefulset.kubernetes.io/pod-name",
];

/// What the pods that a controller has made have in common: a pod without its name, its UID, its node and its start. A dependent
/// is resolved from it as from a pod, so what is found of that rests on nothing else. `None` for a pod of its own.
pub fn alike(pod: &Value) -> Option<Value> {
    controller_of(pod)?;
    let metadata = |field: &str| pod["metadata"][field].clone();
    let mut labels = metadata("labels");
    if let Some(labels) = labels.as_object_mut() {
        labels.retain(|key, _| !OWN_LABELS.contains(&key.as_str()));
    }
    Some(json!({"metadata": {
        "namespace": metadata("namespace"),
        "labels": labels,
        "annotations": metadata("annotations"),
        "ownerReferences": metadata("ownerReferences"),
        "creationTimestamp": metadata("creationTimestamp"),
    }}))
}
