//! The fields of an object that sluice keeps. One table says which: [`trim_object()`] applies the table to each object that arrives, and
//! [`looks_beyond`] finds the expressions that read a field that the table removes. An object of such an expression is read whole, by its
//! name.
//!
//! Objects are trimmed before sluice knows which expressions will look at them. So every field of a custom resource is kept, and
//! every field of an object whose annotations choose the fields that tell its health. A field that a rule reads must stand in
//! this table: the tests judge objects whole and trimmed. Only the metadata of a Secret is ever requested, even where an
//! expression looks beyond it.

mod passed;
mod requests;
mod trim_object;

pub use passed::trim_passed;
pub use trim_object::{length, trim_object, trim_object_within};

use crate::definition::COLUMNS;
use crate::expression::Expression;
use crate::keys;
use crate::kinds::{Builtin, Kind};
use crate::text::Quoted;
use serde_json::Value;

/// The part of a kind's objects that sluice requests from the API server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The metadata: for kinds of which only the existence counts. The contents of their objects never reach this process.
    Metadata,
    /// Each object of the kind is read, and trimmed on arrival.
    Object,
    /// Each pod with a gate is read, and trimmed on arrival; a pod that has passed its gate is trimmed further ([`trim_passed`]).
    Gated,
    /// Each object of the kind is read, and every field is kept.
    Whole,
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

/// Annotations without the prefix [`keys::PREFIX`] that rules and advice read.
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

/// The fields of a container's status that are kept. Most of the status names the image, the volumes and the process, and no rule reads
/// that.
const CONTAINER_STATUS: &[&str] = &[
    "name",
    "ready",
    "started",
    "restartCount",
    "state",
    "lastState",
];

/// The annotations that are kept of the pod template of a built-in workload; trimming drops all others. Those that are kept may concern
/// the workload itself, or the pods that a held Job has yet to make.
const TEMPLATE_ANNOTATIONS: [&str; 14] = [
    keys::TIMEOUT,
    keys::ON_TIMEOUT,
    keys::ON_FAILURE,
    keys::REGATE,
    keys::SKIP,
    keys::SKIP_REASON,
    keys::REVISION,
    keys::SCOPE,
    keys::GROUP,
    keys::RESOURCE_GROUP,
    keys::WEIGHT,
    keys::PARALLELISM,
    keys::DEPENDS_ON,
    keys::CONFIG_DEPENDS_ON,
];

/// One step of trimming the objects of a kind. A path consists of fields, with [`EACH`] for the items of a list.
enum Cut {
    /// Removes, from the mapping at the path that comes first, all fields but those that come second.
    But(&'static [&'static str], &'static [&'static str]),
    /// Removes, from the mapping at the path that comes first, the fields that come second.
    Only(&'static [&'static str], &'static [&'static str]),
    /// Removes the pod template in the mapping at this path, except for its labels, by which Services select its pods, and its
    /// [`TEMPLATE_ANNOTATIONS`].
    Template(&'static [&'static str]),
    /// Removes the schema and the printer columns from a version of a CustomResourceDefinition, except for those of the status.
    Version(&'static [&'static str]),
    /// Removes the containers of a pod, except for the requests of a gated pod that has not passed its gate.
    Containers,
}

const EACH: &str = "*";

/// The fields that trimming removes from objects of a built-in kind, beside the bookkeeping in their metadata.
fn cuts(kind: &Builtin) -> &'static [Cut] {
    use Cut::{But, Containers, Only, Template, Version};
    match (kind.group, kind.kind) {
        ("", "Pod") => &[
            Containers,
            But(
                &["spec"],
                &[
                    "nodeName",
                    "schedulingGates",
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
            But(&["status", "containerStatuses", EACH], CONTAINER_STATUS),
            But(&["status", "initContainerStatuses", EACH], CONTAINER_STATUS),
        ],
        ("discovery.k8s.io", "EndpointSlice") => {
            &[But(&["endpoints", EACH], &["conditions", "nodeName"])]
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => {
            &[
                But(&["spec"], &["group", "names", "scope", "versions"]),
                But(
                    &["spec", "versions", EACH],
                    &[
                        "name",
                        "served",
                        "storage",
                        "subresources",
                        "schema",
                        COLUMNS,
                    ],
                ),
                // The schemas are the bulk of a definition.
                Version(&["spec", "versions", EACH]),
            ]
        }
        ("apps" | "batch", _) | ("", "ReplicationController") => &[
            Template(&["spec"]),
            But(&["spec", "jobTemplate"], &["spec"]),
            But(&["spec", "jobTemplate", "spec"], &["template"]),
            Template(&["spec", "jobTemplate", "spec"]),
            Only(&["spec"], &["volumeClaimTemplates"]),
            Only(&["status"], &["uncountedTerminatedPods"]),
        ],
        // Only plans come with their data.
        ("", "ConfigMap") => &[But(&["data"], &[keys::ORDER])],
        ("", "Node") => &[Only(&["status"], &["images"])],
        _ => &[],
    }
}

/// The part of a kind's objects that sluice requests from the API server: the metadata alone of the built-in kinds without a status that any rule
/// reads, and the whole object of every other kind.
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

/// The field of `metadata` that marks a trimmed object whose annotations ask for every field of it ([`says_its_health`]), but for which
/// there was no room. The API server has no such field, so no user can set it.
const CUT: &str = "cut";

/// Marks an object whose annotations ask for every field of it, and which was trimmed all the same, for want of room.
pub fn mark_cut(object: &mut Value) {
    object["metadata"][CUT] = Value::Bool(true);
}

/// Whether an object's annotations ask for every field of it, and it was trimmed all the same, for want of room.
pub fn is_cut(object: &Value) -> bool {
    object["metadata"][CUT] == true
}

/// The longest object that is read, in bytes of JSON. One object of a tenant must not fill the memory, nor block the other
/// objects of its kind: of a longer object only the metadata is read, and a dependent that needs the rest waits.
pub const LONGEST: usize = 8 << 20;

/// The field of `metadata` that marks an object longer than [`LONGEST`]. The API server has no such field, so no user can set it.
pub const TOO_LARGE: &str = "tooLarge";

/// Marks an object of which only the metadata was read, because the whole of it is too long.
pub fn mark_too_large(object: &mut Value) {
    object["metadata"][TOO_LARGE] = Value::Bool(true);
}

/// Whether only the metadata of an object was read, because the whole of it is too long.
pub fn is_too_large(object: &Value) -> bool {
    object["metadata"][TOO_LARGE] == true
}

/// Whether the expression looks at nothing but the status.
pub fn in_status(expression: &Expression) -> bool {
    expression.steps().next() == Some(Some("status"))
}

/// Whether the kind is Secret.
pub fn is_secret(kind: &Kind) -> bool {
    kind.group().is_empty() && kind.word() == "Secret"
}

/// Whether the expression reads a field that trimming removes from objects of the kind. A doubtful field counts as removed. `false` for a custom
/// kind, of which trimming keeps all fields that count.
pub fn looks_beyond(kind: &Kind, expression: &Expression) -> bool {
    let Kind::Builtin(builtin) = kind else {
        return false;
    };
    let path: Vec<Option<&str>> = expression.steps().collect();
    if path.first() == Some(&Some("metadata")) {
        return beyond_metadata(&path[1..]);
    }
    detail(kind) == Detail::Metadata || cuts(builtin).iter().any(|cut| cut.hides(&path))
}

/// Says why sluice never reads the field that the expression names, for an object of this kind: a field of a Secret outside of the kept metadata.
/// `None` where sluice can read the field.
pub fn never_read(kind: &Kind, expression: &Expression) -> Option<String> {
    (is_secret(kind) && looks_beyond(kind, expression)).then(|| {
        format!(
            "{} looks at what is never read: of a Secret only the metadata is requested, with its annotations below {}",
            Quoted(&expression.to_string()),
            keys::PREFIX
        )
    })
}

fn beyond_metadata(path: &[Option<&str>]) -> bool {
    match path {
        [Some("managedFields" | "resourceVersion" | "selfLink"), ..] => true,
        [Some("annotations"), key, ..] => !key.is_some_and(|it| it.starts_with(keys::PREFIX)),
        _ => false,
    }
}

impl Cut {
    /// Whether this step of trimming removes a field that an expression with this path reads.
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
            Self::Version(of) => {
                field(of).is_some_and(|it| it.is_some_and(|it| ["schema", COLUMNS].contains(&it)))
            }
            Self::Containers => field(&["spec"])
                .is_some_and(|it| it.is_some_and(|it| requests::PLACES.contains(&it))),
        }
    }
}

#[cfg(test)]
mod tests;
