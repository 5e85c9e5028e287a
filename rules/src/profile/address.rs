//! Judges the state `addressed`: the object has an address at which it can be reached from outside.

use super::{Subject, satisfied, waiting};
use crate::judged::{Judged, Reason};
use crate::kstatus::{group_and_kind, text};
use crate::path::get;
use serde_json::Value;

/// Judges whether an object has an address: an IP, a host name or a value in `status.loadBalancer.ingress` (Service, Ingress) or in
/// `status.addresses` (Gateway).
pub(super) fn addressed(subject: &Subject<'_>) -> Judged {
    let object = subject.object;
    let balancer = entries(object, &["status", "loadBalancer", "ingress"]);
    let addresses = entries(object, &["status", "addresses"]);
    if let Some(entry) = balancer
        .iter()
        .chain(addresses)
        .find(|entry| address(entry).is_some())
    {
        let address = address(entry).unwrap_or_default();
        return satisfied(format!("Address: {address}"));
    }
    let service_type = text(object, &["spec", "type"], "ClusterIP");
    match group_and_kind(object) {
        ("", "Service") if service_type != "LoadBalancer" => waiting(
            Reason::NoAddress,
            format!("Service of type {service_type} gets no address; ask for state ready"),
        ),
        (_, kind) => waiting(Reason::NoAddress, format!("{kind} has no address yet")),
    }
}

fn entries<'a>(object: &'a Value, path: &[&str]) -> &'a [Value] {
    get(object, path)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

fn address(entry: &Value) -> Option<&str> {
    ["ip", "hostname", "value"]
        .into_iter()
        .filter_map(|field| entry.get(field)?.as_str())
        .find(|address| !address.is_empty())
}
