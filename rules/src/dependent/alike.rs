//! Pods that are alike: their controller and all fields that a verdict may rest on are equal, so a verdict on one pod is the verdict on all.

use crate::object::{OWN_LABELS, controller_of};
use serde_json::{Value, json};

/// A copy of a pod without its name, UID, node and start, and without the labels that number it. Pods of a controller with equal copies are
/// alike: a dependent that is resolved from the copy, as from a pod, has the verdict of each. `None` for a pod without a controller.
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
