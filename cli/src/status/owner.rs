//! The reason why the workload above a pod is unknown.

use crate::access;
use crate::installed::Installed;
use crate::offline;
use rules::judged;
use rules::kinds::Kind;
use rules::lookup::{Lookup, Unavailable};
use rules::object;
use rules::world::Objects;
use serde_json::Value;

/// The longest way from a pod to the topmost workload, and a bound on forged ones.
const MAX_OWNERS: usize = 4;

/// The sentence that says which owner above a pod cannot be read and the way out, or that the owner is about to change.
pub(super) fn unread(world: &Installed<'_>, pod: &Value, why: Unavailable) -> String {
    let namespace = pod.pointer("/metadata/namespace").and_then(Value::as_str);
    let found = match why {
        // Each owner was read, and one of them is older than the object that it has made.
        Unavailable::Syncing => None,
        _ => first(world, namespace, pod),
    };
    match found {
        None => "it is about to change; ask again".to_owned(),
        // Sluice may not read it, even if the caller may.
        Some((why @ Unavailable::Forbidden, kind)) => {
            judged::unavailable(why, &kind, false).message
        }
        Some((why, kind)) => access::unread(why, "get", &kind, namespace),
    }
}

/// The first owner above a pod that cannot be read: why, and the owner's kind. `None` where all can be read, or one does not exist.
fn first(
    world: &Installed<'_>,
    namespace: Option<&str>,
    pod: &Value,
) -> Option<(Unavailable, Kind)> {
    let mut object = pod.clone();
    for _ in 0..MAX_OWNERS {
        let owner = object::controller_of(&object)?;
        let kind = offline::kind_of(owner).ok()?;
        match world.object(&kind, namespace, owner["name"].as_str()?) {
            Lookup::Found(above) => object = above,
            Lookup::NotFound => return None,
            Lookup::Unavailable(why) => return Some((why, kind)),
        }
    }
    None
}
