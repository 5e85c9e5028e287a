//! Keys that count on the pod template alone, and are written elsewhere.

use super::{Advice, Workload};
use crate::annotation::{self, GatePosition};
use crate::keys;
use serde_json::{Map, Value};

/// Advice on [`keys::GATE_POSITION`] that stands on a workload itself and not on its pod template, or that names an init container that the
/// template lacks.
pub fn of_position(workload: &Workload<'_>) -> Option<Advice> {
    let [own, template] = [workload.object, workload.template]
        .map(|object| object["metadata"]["annotations"].as_object());
    let says =
        |it: Option<&Map<String, Value>>| it.is_some_and(|it| it.contains_key(keys::GATE_POSITION));
    if says(own) && !says(template) {
        return Some(Advice::PositionOnWorkload);
    }
    let Ok(Some(GatePosition::After(name))) = annotation::gate_position(template?) else {
        return None;
    };
    let containers = workload.template["spec"]["initContainers"].as_array();
    let mut containers = containers.into_iter().flatten();
    let is_there = containers.any(|container| container["name"] == *name);
    (!is_there).then_some(Advice::NoSuchInitContainer(name))
}

/// Advice on [`keys::PREFETCH`] that stands on a workload itself and not on its pod template, so that the workload's pods do not get the
/// key.
pub fn of_prefetch(workload: &Workload<'_>) -> Option<Advice> {
    let says = |object: &Value| !object["metadata"]["annotations"][keys::PREFETCH].is_null();
    (says(workload.object) && !says(workload.template)).then_some(Advice::PrefetchOnWorkload)
}

/// Advice on [`keys::HOLD`] that stands on a workload itself and not on its pod template, so that the workload's pods do not get the key.
/// The value `suspend` is right on a Job itself: admission then creates the Job suspended.
pub fn of_hold(workload: &Workload<'_>) -> Option<Advice> {
    let says = |object: &Value| object["metadata"]["annotations"][keys::HOLD].clone();
    let of_pods = matches!(says(workload.object).as_str(), Some("true" | "false"));
    (of_pods && says(workload.template).is_null()).then_some(Advice::HoldOnWorkload)
}
