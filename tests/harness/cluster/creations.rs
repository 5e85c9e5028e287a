//! Held creations (`sluice.dev/hold: create`), which the chart's value `creationHolds.enabled` turns on.

use super::manifest::{Manifest, config_map};
use super::namespace::Namespace;
use super::object::text;
use super::{LIMIT, await_until};
use serde_json::Value;

/// The values that turn held creations on. The cluster of the tests has one node, and its API server calls from an address that is no
/// secret.
pub const ON: [&str; 4] = [
    "--set",
    "creationHolds.enabled=true",
    "--set",
    "creationHolds.apiServers={0.0.0.0/0,::/0}",
];

/// Returns an object that holds its creation until `list` is satisfied.
pub fn held(object: Manifest, list: &str) -> Manifest {
    object
        .depends_on(list)
        .annotated("sluice.dev/hold", "create")
}

/// Waits until the API server asks sluice about held creations: it reads a new configuration with a delay.
pub async fn is_asked(ns: &Namespace) {
    let probe = held(config_map("probe"), "configmap/never").into_object();
    await_until(
        "the API server asks about creations",
        LIMIT,
        async || match ns.look.try_to_create(&probe).await {
            (429, message) if message.contains("is not created yet") => Ok(()),
            (201, _) => {
                ns.kubectl(["delete", "configmap/probe"]).await.ok();
                Err("it was created".to_owned())
            }
            (code, message) => Err(format!("{code}: {message}")),
        },
    )
    .await;
}

/// Waits until an Event tells that the creation of this object is held, and returns the Event.
pub async fn is_told(ns: &Namespace, name: &str) -> Value {
    await_until(&format!("an Event tells of {name}"), LIMIT, async || {
        let events = ns.look.list("event", "").await;
        let tells = |it: &&Value| {
            text(it, "/involvedObject/name") == name
                && text(it, "/message").starts_with("creation held")
        };
        let found = events.iter().find(tells).cloned();
        found.ok_or_else(|| format!("{} other Events", events.len()))
    })
    .await
}
