//! Which fields of an object sluice keeps: one table, by which objects are trimmed when they arrive, and by which an
//! expression in a list is refused that would look at a field which is gone by then.
//!
//! Objects are trimmed long before anybody knows which expressions will look at them. Of custom resources everything is
//! kept, and of any object whose annotations choose the fields that tell its health. What a rule reads has to stand here: the
//! tests judge objects whole and trimmed.

mod requests;
mod trim;

pub use trim::trim;

use crate::expression::Expression;
use crate::keys;
use crate::kinds::{Builtin, Kind};
use serde_json::Value;

/// How much of a kind's objects is asked of the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The metadata: the kinds of which only the existence counts. Their contents never reach this process.
    Metadata,
    /// Everything, trimmed on arrival.
    Object,
}

/// The built-in kinds without a status that any rule reads: group and kind. Of these only the metadata is asked for.
const METADATA_ONLY: [(&str, &str); 14] = [
    ("", "ConfigMap"),
    ("", "Secret"),
    ("", "ServiceAccount"),
    ("", "LimitRange"),
    ("", "PodTemplate"),
    ("apps", "ControllerRevision"),
    ("networking.k8s.io", "NetworkPolicy"),
    ("networking.k8s.io", "IngressClass"),
    ("node.k8s.io", "RuntimeClass"),
    ("rbac.authorization.k8s.io", "ClusterRole"),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
    ("rbac.authorization.k8s.io", "Role"),
    ("rbac.authorization.k8s.io", "RoleBinding"),
    ("scheduling.k8s.io", "PriorityClass"),
];

/// Annotations that rules and advice read beside those below [`keys::PREFIX`].
const ANNOTATIONS: [&str; 20] = [
    keys::CONFIG_DEPENDS_ON,
    keys::RESOURCE_GROUP,
    keys::READINESS_SUCCESS,
    keys::READINESS_FAILURE,
    keys::ROLLOUT_NUMBERS[0],
    keys::ROLLOUT_NUMBERS[1],
    keys::ROLLOUT_HISTORY,
    keys::TEMPLATE_OF_DAEMON_SET,
    keys::RELEASE_NAME,
    keys::RELEASE_NAMESPACE,
    keys::TRACKING_ID,
    keys::HELM_HOOK,
    keys::HOOK_WEIGHT,
    keys::HOOK_DELETE_POLICY,
    keys::SYNC_HOOK,
    keys::SYNC_WAVE,
    keys::SELECTED_NODE,
    keys::STORAGE_CLASS,
    keys::DEFAULT_CLASS[0],
    keys::DEFAULT_CLASS[1],
];

/// What a pod template may say of its object.
const TEMPLATE_ANNOTATIONS: [&str; 8] = [
    keys::REVISION,
    keys::SCOPE,
    keys::GROUP,
    keys::RESOURCE_GROUP,
    keys::WEIGHT,
    keys::PARALLELISM,
    keys::DEPENDS_ON,
    keys::CONFIG_DEPENDS_ON,
];

/// What is taken away of a kind. A path is made of fields, and [`EACH`] for the items of a list.
enum Cut {
    /// Everything of the mapping at this path but these fields.
    But(&'static [&'static str], &'static [&'static str]),
    /// These fields of the mapping at this path.
    Only(&'static [&'static str], &'static [&'static str]),
    /// The pod template in the mapping at this path, but for its annotations that say something of the object.
    Template(&'static [&'static str]),
    /// The containers of a pod, but for what a gated one requests of its node.
    Containers,
}

const EACH: &str = "*";

/// What is taken away of a built-in kind beside the bookkeeping in its metadata, and what that leaves, in words.
fn cuts(kind: &Builtin) -> (&'static [Cut], &'static str) {
    use Cut::{But, Containers, Only, Template};
    match (kind.group, kind.kind) {
        ("", "Pod") => (
            &[
                Containers,
                But(
                    &["spec"],
                    &[
                        "nodeName",
                        "restartPolicy",
                        "containers",
                        "initContainers",
                        "resources",
                    ],
                ),
                But(
                    &["status"],
                    &[
                        "phase",
                        "conditions",
                        "containerStatuses",
                        "initContainerStatuses",
                        "startTime",
                        "reason",
                        "observedGeneration",
                    ],
                ),
            ],
            "the metadata, spec.nodeName, spec.restartPolicy, and of the status phase, conditions, containerStatuses, \
             initContainerStatuses, startTime and reason",
        ),
        ("discovery.k8s.io", "EndpointSlice") => (
            &[But(&["endpoints", EACH], &["conditions", "nodeName"])],
            "the metadata, and conditions and nodeName of the endpoints",
        ),
        ("apiextensions.k8s.io", "CustomResourceDefinition") => (
            &[
                But(&["spec"], &["group", "names", "scope", "versions"]),
                // The schemas are the bulk of a definition.
                But(
                    &["spec", "versions", EACH],
                    &["name", "served", "storage", "subresources"],
                ),
            ],
            "the metadata, the status, and of the spec group, names, scope and versions without schemas",
        ),
        ("apps" | "batch", _) | ("", "ReplicationController") => (
            &[
                Template(&["spec"]),
                But(&["spec", "jobTemplate"], &["spec"]),
                But(&["spec", "jobTemplate", "spec"], &["template"]),
                Template(&["spec", "jobTemplate", "spec"]),
                Only(&["spec"], &["volumeClaimTemplates"]),
                Only(&["status"], &["uncountedTerminatedPods"]),
            ],
            "the metadata, the status, and the spec without templates",
        ),
        // Only plans come with their data.
        ("", "ConfigMap") => (&[But(&["data"], &[keys::ORDER])], METADATA),
        ("", "Node") => (
            &[Only(&["status"], &["images"])],
            "the metadata, the spec, and the status without images",
        ),
        _ => (&[], METADATA),
    }
}

const METADATA: &str = "the metadata";

/// How much of a kind is asked for.
pub fn detail(kind: &Kind) -> Detail {
    match kind {
        Kind::Builtin(builtin) if METADATA_ONLY.contains(&(builtin.group, builtin.kind)) => {
            Detail::Metadata
        }
        _ => Detail::Object,
    }
}

/// Whether an object carries annotations that choose which of its fields tell its health: then any field may matter.
pub fn says_its_health(object: &Value) -> bool {
    let annotations = object["metadata"]["annotations"].as_object();
    annotations.is_some_and(|annotations| {
        annotations.keys().any(|key| {
            key.starts_with(keys::HEALTH)
                || [keys::READINESS_SUCCESS, keys::READINESS_FAILURE].contains(&key.as_str())
        })
    })
}

/// Whether the expression looks at nothing but the status.
pub fn in_status(expression: &Expression) -> bool {
    expression.steps().next() == Some(Some("status"))
}

/// What is kept of the kind, where the expression looks at something else; `None` where it finds what it names. In doubt
/// a field counts as not kept.
pub fn missing(kind: &Kind, expression: &Expression) -> Option<&'static str> {
    let Kind::Builtin(builtin) = kind else {
        return None;
    };
    let path: Vec<Option<&str>> = expression.steps().collect();
    if path.first() == Some(&Some("metadata")) {
        return missing_in_metadata(&path[1..]);
    }
    if detail(kind) == Detail::Metadata {
        return Some(METADATA);
    }
    let (cuts, left) = cuts(builtin);
    cuts.iter().any(|cut| cut.hides(&path)).then_some(left)
}

fn missing_in_metadata(path: &[Option<&str>]) -> Option<&'static str> {
    match path {
        [Some("managedFields" | "resourceVersion" | "selfLink"), ..] => {
            Some("the metadata without managedFields and resourceVersion")
        }
        [Some("annotations"), key, ..] if !key.is_some_and(|it| it.starts_with(keys::PREFIX)) => {
            Some("the metadata with the annotations below sluice.dev/")
        }
        _ => None,
    }
}

impl Cut {
    /// Whether an expression with this path looks at what is taken away.
    fn hides(&self, path: &[Option<&str>]) -> bool {
        let field = |of: &[&str]| {
            let (begin, rest) = path.split_at_checked(of.len())?;
            let steps = begin.iter().map(|step| step.unwrap_or(EACH));
            let within = steps.eq(of.iter().copied());
            rest.first().copied().filter(|_| within)
        };
        match self {
            Self::But(of, fields) => {
                field(of).is_some_and(|it| !it.is_some_and(|it| fields.contains(&it)))
            }
            Self::Only(of, fields) => {
                field(of).is_some_and(|it| it.is_some_and(|it| fields.contains(&it)))
            }
            Self::Template(of) => field(of) == Some(Some("template")),
            Self::Containers => field(&["spec"])
                .is_some_and(|it| it.is_some_and(|it| requests::PLACES.contains(&it))),
        }
    }
}

#[cfg(test)]
mod tests;
