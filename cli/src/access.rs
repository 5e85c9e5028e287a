//! What to do about a right that is missing.

use rules::kinds::{Builtin, Kind};

/// What kubectl calls the objects of a kind: `deployments.apps`.
pub(crate) fn resource(kind: &Kind) -> String {
    match kind {
        Kind::Builtin(builtin) => of_builtin(builtin),
        Kind::Custom { group, word } => format!("{word}.{group}"),
    }
}

/// The same of a built-in kind.
pub(crate) fn of_builtin(kind: &Builtin) -> String {
    match kind.group {
        "" => kind.plural.to_owned(),
        group => format!("{}.{group}", kind.plural),
    }
}

/// `you may not list pods in namespace shop; ...`, with what gives the right; without a namespace it is meant in all of them.
pub(crate) fn missing(verb: &str, resource: &str, namespace: Option<&str>) -> String {
    let role = if matches!(verb, "get" | "list") {
        "view"
    } else {
        "edit"
    };
    let (place, binding) = match namespace {
        Some(namespace) => (
            format!("in namespace {namespace}"),
            format!(
                "kubectl create rolebinding NAME --clusterrole={role} --user=YOU -n {namespace}"
            ),
        ),
        None => (
            "in all namespaces".to_owned(),
            format!("kubectl create clusterrolebinding NAME --clusterrole={role} --user=YOU"),
        ),
    };
    format!("you may not {verb} {resource} {place}; an administrator gives the right by {binding}")
}
