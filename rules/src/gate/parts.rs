//! The parts of a gate in a pod or a template: whether they are there, and whether something else has their names.

use super::prefetch::PREFETCH_VOLUMES;
use crate::keys;
use serde_json::Value;
use wire::env;

/// The volume with the gate's token.
pub const TOKEN_VOLUME: &str = "sluice-token";

/// The volume with the marker that outlives a restart of the container and of the node.
pub const STATE_VOLUME: &str = "sluice-state";

/// Whether a container is a gate, of this version or another.
pub fn is_gate(container: &Value) -> bool {
    let lists = |list: &str, name: &str| named(container, list, name);
    container["name"] == keys::GATE_CONTAINER
        && lists("env", env::ADDRESSES)
        && lists("volumeMounts", TOKEN_VOLUME)
}

/// The first of the gate's names that something else in a pod or a pod template has: `container` or `volume`, and the name.
pub fn taken(pod: &Value) -> Option<(&'static str, &'static str)> {
    let spec = &pod["spec"];
    let init_containers = spec["initContainers"].as_array();
    if init_containers.into_iter().flatten().any(is_gate) {
        return None;
    }
    let gate = keys::GATE_CONTAINER;
    let lists = ["initContainers", "containers"];
    if lists.into_iter().any(|list| named(spec, list, gate)) {
        return Some(("container", gate));
    }
    [TOKEN_VOLUME, STATE_VOLUME]
        .into_iter()
        .chain(PREFETCH_VOLUMES)
        .find(|name| named(spec, "volumes", name))
        .map(|name| ("volume", name))
}

/// Whether a member of a list, a container or a volume, has this name.
fn named(object: &Value, list: &str, name: &str) -> bool {
    let items = object[list].as_array();
    items.into_iter().flatten().any(|item| item["name"] == name)
}
