//! Known states of owners that are older than the objects that the owners have made.
//!
//! Watches of two kinds have no order between them. So a pod may be seen before the change of its owner that made it, and the
//! known owner then describes another revision: its list, its weight, its place in a release.

use super::Dependent;
use crate::keys;
use crate::kinds::{self, Kind};
use crate::lookup::Lookup;
use crate::object::{created, written};
use crate::world::World;
use serde_json::Value;

/// Whether the known state of an owner is older than the object that it has made, by the revision numbers that a Deployment, an Argo Rollout or
/// a DaemonSet writes on both. `false` for other kinds.
pub(super) fn is_older(kind: &Kind, owner: &Value, made: &Value) -> bool {
    let [of_deployment, of_rollout] = keys::ROLLOUT_NUMBERS;
    match (kind.group(), kind.word()) {
        ("apps", "Deployment") => annotated(made, of_deployment) > annotated(owner, of_deployment),
        ("argoproj.io", "Rollout") => annotated(made, of_rollout) > annotated(owner, of_rollout),
        // A DaemonSet that was created again over existing pods counts from 1 again.
        ("apps", "DaemonSet") if created(made) >= created(owner) => {
            let template = number(&made["metadata"]["labels"][keys::TEMPLATE_OF_POD]);
            template > annotated(owner, keys::TEMPLATE_OF_DAEMON_SET)
        }
        _ => false,
    }
}

fn annotated(object: &Value, key: &str) -> Option<u64> {
    number(&object["metadata"]["annotations"][key])
}

fn number(text: &Value) -> Option<u64> {
    text.as_str()?.parse().ok()
}

impl Dependent {
    /// Whether the known state `set` of the pod's `StatefulSet` is older than the pod. It is if its status does not name the pod's revision, and the
    /// pod was created after the revision that the status rolls out, or that revision is unknown. `false` for a pod of another owner, and where
    /// sluice may not read the pod's revision.
    ///
    /// A pod of an older revision may still wait at its gate, since a StatefulSet does not replace a pod that is not ready. But such a pod was
    /// created before the revision that is rolled out now.
    pub(super) fn outruns(&self, set: &Value, world: &dyn World) -> bool {
        let is_set = self.owners.first().is_some_and(|owner| {
            (owner.kind.group(), owner.kind.word()) == ("apps", "StatefulSet")
        });
        let Some(own) = self.template_hash.as_deref().filter(|_| is_set) else {
            return false;
        };
        let [current, update] =
            ["currentRevision", "updateRevision"].map(|field| set["status"][field].as_str());
        if [current, update].contains(&Some(own)) || self.unread_revision().is_some() {
            return false;
        }
        let Some(update) = update else {
            return true;
        };
        let kind = Kind::Builtin(kinds::CONTROLLER_REVISION);
        match world.object(&kind, Some(&self.namespace), update) {
            Lookup::Found(update) => self.created >= written(&update),
            Lookup::NotFound | Lookup::Unavailable(_) => true,
        }
    }
}
