//! The list of an object whose creation is held: the entries that no wait before the creation can judge.

use super::problem::HoldFault;
use super::{ParseError, declared, no_variables};
use crate::dependency::{Dependency, ObjectRef, Reference};
use crate::keys;
use crate::kinds::Kind;
use serde_json::{Map, Value};

/// The facts about an object that decide which entries of its list can hold its creation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Created {
    /// Whether gates of the object's pods judge the entries that need a gate.
    pub has_pods: bool,
    /// Whether the object lies in a namespace, in which entries without one look.
    pub namespaced: bool,
}

/// Reads the lists in the annotations of an object whose creation is held, as [`declared`] does.
///
/// # Errors
///
/// A list that cannot be read, an entry that would hold the creation for ever, or a variable in the list of an object without pods.
pub fn at_creation(
    annotations: &Map<String, Value>,
    created: Created,
) -> Result<Vec<Dependency>, ParseError> {
    let list = declared(annotations)?;
    if !created.has_pods {
        no_variables(annotations)?;
    }
    match list.iter().find_map(|entry| created.fault(entry)) {
        None => Ok(list),
        Some(fault) => Err(ParseError {
            key: keys::DEPENDS_ON.to_owned(),
            place: None,
            problem: fault.into(),
        }),
    }
}

impl Created {
    /// The reason why an entry would never be satisfied before the object exists.
    fn fault(self, entry: &Dependency) -> Option<HoldFault> {
        let gate = |asks| HoldFault::NeedsGate {
            entry: entry.to_string(),
            asks,
        };
        let is_gateless = !self.has_pods;
        if is_gateless && entry.is_per_pod() {
            return Some(gate("\"sameNode\""));
        }
        if is_gateless && entry.is_probed() {
            return Some(gate("an address"));
        }
        if is_fresh(entry) {
            return Some(HoldFault::FreshAtCreation(entry.to_string()));
        }
        let is_nowhere = !self.namespaced && lacks_namespace(entry);
        is_nowhere.then(|| HoldFault::NoNamespace(entry.to_string()))
    }
}

fn is_fresh(entry: &Dependency) -> bool {
    match &entry.reference {
        Reference::Any(alternatives) => alternatives.of.iter().any(is_fresh),
        _ => entry.fresh,
    }
}

/// Whether an entry, or one of its alternatives, means objects in a namespace and leaves the namespace to that of its object. `false` for a custom
/// kind, of which it is not known here whether it has namespaces.
fn lacks_namespace(entry: &Dependency) -> bool {
    let lacks = |kind: &Kind, namespace: &Option<String>| {
        namespace.is_none() && matches!(kind, Kind::Builtin(kind) if kind.namespaced)
    };
    match &entry.reference {
        Reference::Object(ObjectRef {
            kind, namespace, ..
        }) => lacks(kind, namespace),
        Reference::Selected(selection) => lacks(&selection.kind, &selection.namespace),
        Reference::Part(_) => true,
        Reference::Any(alternatives) => alternatives.of.iter().any(lacks_namespace),
        Reference::Address(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const ISSUER: Created = Created {
        has_pods: false,
        namespaced: true,
    };
    const DEPLOYMENT: Created = Created {
        has_pods: true,
        ..ISSUER
    };
    const CLUSTER_ISSUER: Created = Created {
        namespaced: false,
        ..ISSUER
    };

    fn of(created: Created, list: &str) -> Result<usize, String> {
        let annotations = json!({ keys::DEPENDS_ON: list, keys::HOLD: "create" });
        let annotations = annotations.as_object().unwrap();
        let read = at_creation(annotations, created);
        read.map(|it| it.len()).map_err(|error| error.to_string())
    }

    #[test]
    fn an_entry_that_only_a_gate_can_judge_is_refused_where_no_pod_has_one() {
        let on_node = "- {kind: DaemonSet, name: csi, sameNode: true}";
        let any = "- any: [svc/a, tcp://b.example.com:1]";
        for list in [on_node, "tcp://db.example.com:5432", "svc/db:connects", any] {
            assert_eq!(of(DEPLOYMENT, list), Ok(1), "{list}");
            let told = of(ISSUER, list).unwrap_err();
            assert!(told.contains("needs the gate of a pod"), "{told}");
        }
        assert!(of(ISSUER, "tcp://$(DB):5432").is_err());
        assert_eq!(of(ISSUER, "svc/db, deploy/api"), Ok(2));
    }

    #[test]
    fn no_job_of_now_is_fresh() {
        for list in [
            "- {kind: Job, name: seed, fresh: true}",
            "- any: [svc/a, {kind: Job, name: seed, fresh: true}]",
        ] {
            let told = of(DEPLOYMENT, list).unwrap_err();
            assert!(told.contains("\"fresh\" means nothing"), "{told}");
        }
    }

    #[test]
    fn an_object_of_the_cluster_says_where_its_dependencies_are() {
        for list in ["svc/db", "group/backend", "- {kind: Pod, selector: app=a}"] {
            let told = of(CLUSTER_ISSUER, list).unwrap_err();
            assert!(told.contains("write namespace/kind/name"), "{told}");
        }
        assert_eq!(of(CLUSTER_ISSUER, "data/svc/db, crd/x.example.com"), Ok(2));
    }
}
