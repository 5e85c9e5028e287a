//! Ordinal 0 of the dependent's own StatefulSet: its other ordinals may wait for it, and it waits for none of them.

use super::Dependent;
use crate::dependency::{Dependency, Reference};
use crate::kinds::{self, Kind};
use crate::ordinals;

impl Dependent {
    /// Whether this is the name of ordinal 0 of the dependent's own StatefulSet, for which its other ordinals may wait.
    pub(crate) fn has_ordinal(&self, kind: &Kind, name: &str) -> bool {
        let nearest = self.owners.first();
        let set = nearest.filter(|owner| owner.kind == Kind::Builtin(kinds::STATEFUL_SET));
        kind.is_pod() && set.is_some_and(|set| ordinals::of(name) == Some((&set.name, 0)))
    }

    /// Whether an entry, or an alternative of it, names the pod of ordinal 0 of the dependent's own StatefulSet. That pod does not wait for
    /// itself, but the pods of higher ordinals wait for it, so the verdict on one pod does not hold for another.
    pub(super) fn waits_for_own_ordinal(&self, entry: &Dependency) -> bool {
        match &entry.reference {
            Reference::Object(it) => {
                let elsewhere = it
                    .namespace
                    .as_ref()
                    .is_some_and(|it| *it != self.namespace);
                !elsewhere && self.has_ordinal(&it.kind, &it.name)
            }
            Reference::Any(alternatives) => alternatives
                .of
                .iter()
                .any(|it| self.waits_for_own_ordinal(it)),
            Reference::Selected(_) | Reference::Part(_) | Reference::Address(_) => false,
        }
    }
}
