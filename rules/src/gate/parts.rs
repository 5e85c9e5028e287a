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
    let lists = |list: &str, name: &str| has(items(container, list), name);
    container["name"] == keys::GATE_CONTAINER
        && lists("env", env::ADDRESSES)
        && lists("volumeMounts", TOKEN_VOLUME)
}

/// The first of the gate's names that something else in a pod or a pod template has: `container` or `volume`, and the name. `None` where no name
/// is taken, or where the pod has its gate already.
pub fn taken(pod: &Value) -> Option<(&'static str, &'static str)> {
    let [init_containers, containers, volumes] =
        ["initContainers", "containers", "volumes"].map(|list| items(&pod["spec"], list));
    if init_containers.iter().any(is_gate) {
        return None;
    }
    let gate = keys::GATE_CONTAINER;
    if has(init_containers, gate) || has(containers, gate) {
        return Some(("container", gate));
    }
    [TOKEN_VOLUME, STATE_VOLUME]
        .into_iter()
        .chain(PREFETCH_VOLUMES)
        .find(|name| has(volumes, name))
        .map(|name| ("volume", name))
}

/// The items of a list of an object; none where the object has no such list.
fn items<'v>(object: &'v Value, list: &str) -> &'v [Value] {
    object[list].as_array().map_or(&[], Vec::as_slice)
}

/// Whether an item, a container or a volume, has this name.
fn has(items: &[Value], name: &str) -> bool {
    items.iter().any(|item| item["name"] == name)
}
