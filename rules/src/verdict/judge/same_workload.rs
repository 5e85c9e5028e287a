//! Whether an object is another pod of the dependent's own workload, which waits for the same list.

use super::basis::Judge;
use crate::gate::{self, Gate};
use crate::keys;
use crate::kinds::{self, Kind};
use serde_json::Value;

impl Judge<'_> {
    /// Whether an object is another pod of the dependent's workload that has not passed its gate. The list of such a pod names the pod's
    /// own workload, so the pod never becomes ready. A pod that passed before the list was written may well become ready.
    pub(super) fn is_of_same_workload(&self, kind: &Kind, object: &Value) -> bool {
        let own = &self.dependent.pod_annotations;
        let is_same = |key: &str| own.get(key) == object["metadata"]["annotations"].get(key);
        let waits = gate::is_gated(object)
            && gate::is_pending(object)
            && !matches!(Gate::of(object), Gate::Passed { .. });
        let is_one = kind.is_pod() && self.dependent.includes(kind, object);
        is_one && waits && keys::ASKING.iter().all(|key| is_same(key))
    }

    /// Whether a kind and a name are those of a pod that the dependent's own StatefulSet may make, such as `Pod` and `db-3`.
    pub(super) fn would_be_of_same_set(&self, kind: &Kind, name: &str) -> bool {
        let nearest = self.dependent.owners.first();
        let set = nearest.filter(|owner| owner.kind == Kind::Builtin(kinds::STATEFUL_SET));
        let number = set.and_then(|set| name.strip_prefix(&set.name)?.strip_prefix('-'));
        let is_number = |it: &str| !it.is_empty() && it.bytes().all(|it| it.is_ascii_digit());
        kind.is_pod() && number.is_some_and(is_number)
    }
}
