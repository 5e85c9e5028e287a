//! Refuses keys of an item that mean nothing beside its other keys.

use super::super::problem::{Flaw, Problem};
use super::fields::Fields;
use crate::dependency::{Dependency, Need, ObjectRef, Reference, Selection, State};
use crate::kinds::Kind;

impl Fields<'_> {
    /// Refuses the first key of an item that has no effect beside its kind, name or selector. Items for parts, alternatives and addresses are not
    /// checked here.
    pub(super) fn check(&self, dependency: &Dependency) -> Result<(), Flaw> {
        let by_name = matches!(dependency.reference, Reference::Object(_));
        let (Reference::Object(ObjectRef { kind, .. })
        | Reference::Selected(Selection { kind, .. })) = &dependency.reference
        else {
            return Ok(());
        };
        let is = |group, word| kind.group() == group && kind.word() == word;
        let fits_node = if by_name {
            is("apps", "DaemonSet")
        } else {
            is("", "Pod")
        };
        for (key, idle, problem) in [
            ("min", by_name, Problem::NothingToCount),
            ("status", true, Problem::IdleStatusCode),
            ("container", true, Problem::IdleContainer),
            (
                "fresh",
                dependency.fresh && !kind.is_job(),
                Problem::IdleFresh(kind.to_string()),
            ),
            (
                "sameNode",
                dependency.same_node && !fits_node,
                Problem::IdleSameNode,
            ),
            (
                "optional",
                dependency.status == Need::Optional
                    && !has_status_to_wait_for(kind, dependency.state),
                Problem::IdleStatus,
            ),
            (
                "health",
                dependency.state != State::Ready,
                Problem::IdleHealth(dependency.state.word()),
            ),
            (
                "health",
                dependency.same_node && by_name,
                Problem::HealthOnNode,
            ),
        ] {
            if let Some(field) = self.find(key).filter(|_| idle) {
                return Err(Flaw::at(field.at, problem));
            }
        }
        Ok(())
    }
}

/// Whether objects of this kind may lack the status that this state needs: the kind is custom, and the state is `ready` or `available`.
fn has_status_to_wait_for(kind: &Kind, state: State) -> bool {
    matches!(kind, Kind::Custom { .. }) && matches!(state, State::Ready | State::Available)
}
