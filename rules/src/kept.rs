//! Which fields of an object sluice keeps, so that an expression in a list can be refused that would look at another.
//!
//! Objects are trimmed when they arrive, long before anybody knows which expressions will look at them. The webhook's
//! cache does that, and its tests hold it to these tables. Of custom resources everything is kept.

use crate::expression::Expression;
use crate::keys;
use crate::kinds::{Builtin, Kind};

/// The built-in kinds without a status that any rule reads: group and kind. Of these only the metadata is asked for.
pub const METADATA_ONLY: [(&str, &str); 14] = [
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

/// What is kept of a Pod's `spec`.
pub const POD_SPEC: [&str; 2] = ["nodeName", "restartPolicy"];

/// What is kept of a Pod's `status`.
pub const POD_STATUS: [&str; 6] = [
    "phase",
    "conditions",
    "containerStatuses",
    "initContainerStatuses",
    "startTime",
    "observedGeneration",
];

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
        return of_metadata(&path[1..]);
    }
    of_the_rest(builtin, &path)
}

fn of_metadata(path: &[Option<&str>]) -> Option<&'static str> {
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

fn of_the_rest(kind: &Builtin, path: &[Option<&str>]) -> Option<&'static str> {
    let name = (kind.group, kind.kind);
    if METADATA_ONLY.contains(&name) {
        return Some("the metadata");
    }
    match (name, path) {
        (("", "Pod"), path) => {
            let kept = match path {
                [Some("spec"), Some(field), ..] => POD_SPEC.contains(field),
                [Some("status"), Some(field), ..] => POD_STATUS.contains(field),
                _ => true,
            };
            let only = "the metadata, spec.nodeName, spec.restartPolicy, and of the status phase, conditions, \
                        containerStatuses, initContainerStatuses and startTime";
            (!kept).then_some(only)
        }
        (("discovery.k8s.io", "EndpointSlice"), [Some("endpoints"), None, field, ..])
            if !matches!(field, Some("conditions" | "nodeName")) =>
        {
            Some("the metadata, and conditions and nodeName of the endpoints")
        }
        (("apiextensions.k8s.io", "CustomResourceDefinition"), [Some("spec"), field, ..])
            if !matches!(field, Some("group" | "names" | "scope")) =>
        {
            Some("the metadata, the status, and group, names and scope of the spec")
        }
        (
            ("apps" | "batch", _) | ("", "ReplicationController"),
            [
                Some("spec"),
                Some("template" | "jobTemplate" | "volumeClaimTemplates"),
                ..,
            ]
            | [Some("status"), Some("uncountedTerminatedPods"), ..],
        ) => Some("the metadata, the status, and the spec without templates"),
        (("", "Node"), [Some("status"), Some("images"), ..]) => {
            Some("the metadata, the spec, and the status without images")
        }
        _ => None,
    }
}
