//! Judges whether a Service is ready: an endpoint of it must serve.

use super::judged::unavailable;
use super::{Subject, from_kstatus, satisfied, waiting};
use crate::judged::{Judged, Reason};
use crate::kinds::{self, Kind};
use crate::kstatus::{Status, text};
use crate::lookup::Lookup;
use crate::path::get;
use crate::selector::Selector;
use crate::world::{Objects, World};
use serde_json::Value;
use std::collections::BTreeMap;

/// The label by which the slices of a Service are found.
const SERVICE_NAME: &str = "kubernetes.io/service-name";

/// Judges a Service: with a selector it is ready where at least one endpoint serves; without one, or as an `ExternalName`, as soon as it exists. A
/// load balancer also needs its cluster IP.
pub(super) fn ready(subject: Subject<'_>) -> Judged {
    let Subject {
        object,
        evaluation,
        world,
        ..
    } = subject;
    if evaluation.status != Status::Current {
        let no_address = evaluation.reason == "NoIPAssigned";
        let judged = from_kstatus(evaluation);
        return if no_address {
            waiting(Reason::NoAddress, judged.message)
        } else {
            judged
        };
    }
    let selector = get(object, &["spec", "selector"]).and_then(Value::as_object);
    if text(object, &["spec", "type"], "") == "ExternalName" {
        return satisfied("Service is an external name");
    }
    if selector.is_none_or(serde_json::Map::is_empty) {
        return satisfied("Service has no selector");
    }
    match slices(object, world) {
        Lookup::Found(slices) => serving(&slices),
        Lookup::NotFound => serving(&[]),
        Lookup::Unavailable(why) => unavailable(&Kind::Builtin(kinds::ENDPOINT_SLICE), why),
    }
}

/// The EndpointSlices of a Service.
fn slices(service: &Value, world: &dyn Objects) -> Lookup<Vec<Value>> {
    let kind = Kind::Builtin(kinds::ENDPOINT_SLICE);
    let namespace = get(service, &["metadata", "namespace"]).and_then(Value::as_str);
    let name = text(service, &["metadata", "name"], "");
    world.list(&kind, namespace, &Selector::label(SERVICE_NAME, name))
}

/// How many pods have an address behind a Service, serving or not; a pod with addresses of both families counts once. `None` where the slices cannot
/// be read.
pub(crate) fn pods_behind(service: &Value, world: &dyn World) -> Option<usize> {
    let slices = match slices(service, world) {
        Lookup::Found(slices) => slices,
        Lookup::NotFound => Vec::new(),
        Lookup::Unavailable(_) => return None,
    };
    // A pod with two addresses is in the slices of both families.
    let mut of_family = BTreeMap::<&str, usize>::new();
    for slice in &slices {
        let family = slice["addressType"].as_str().unwrap_or_default();
        *of_family.entry(family).or_default() += endpoints(slice).count();
    }
    Some(of_family.into_values().max().unwrap_or_default())
}

fn endpoints(slice: &Value) -> impl Iterator<Item = &Value> {
    let endpoints = slice.get("endpoints").and_then(Value::as_array);
    endpoints.into_iter().flatten()
}

fn serving(slices: &[Value]) -> Judged {
    let mut known = 0_usize;
    let serving = slices
        .iter()
        .flat_map(endpoints)
        .inspect(|_| known += 1)
        .filter(|endpoint| serves(endpoint))
        .count();
    match (serving, known) {
        (0, 0) => waiting(Reason::NoEndpoints, "Service has no endpoints"),
        (0, known) => waiting(Reason::NoEndpoints, format!("Serving endpoints: 0/{known}")),
        (serving, known) => satisfied(format!("Serving endpoints: {serving}/{known}")),
    }
}

/// Whether an endpoint serves and is not terminating. Its condition `serving` counts and not `ready`, because `publishNotReadyAddresses` makes every
/// endpoint ready. Without `serving` the condition `ready` counts, and without both the answer is yes (discovery/v1 `EndpointConditions`).
fn serves(endpoint: &Value) -> bool {
    let condition = |name| get(endpoint, &["conditions", name]).and_then(Value::as_bool);
    let serving = condition("serving").or_else(|| condition("ready"));
    serving.unwrap_or(true) && !condition("terminating").unwrap_or(false)
}
