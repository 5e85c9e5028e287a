//! Pods that are alike: a verdict on one of them is a verdict on all.

use crate::object::{OWN_LABELS, controller_of};
use serde_json::{Value, json};

/// The part of a pod that all pods of its controller share: without its name, its UID, its node and its start. A dependent is
/// resolved from this part as from a pod, so its verdict rests on nothing else. `None` for a pod without a controller.
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
