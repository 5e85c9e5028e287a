//! Messages for a request that the API server refuses or does not answer, each with the way out; and kubectl's names for kinds.

use anyhow::anyhow;
use kube::Error;
use rules::judged;
use rules::kinds::{Builtin, Kind};
use rules::lookup::Unavailable;

/// The most requests that a command has open at the API server at the same time.
pub(crate) const AT_ONCE: usize = 5;

/// kubectl's name for the objects of a kind: its plural and its group, `deployments.apps`, or the plural alone in the core group, `pods`.
pub(crate) fn resource(kind: &Kind) -> String {
    match kind {
        Kind::Builtin(builtin) => of_builtin(builtin),
        Kind::Custom { group, word } => format!("{word}.{group}"),
    }
}

/// kubectl's name for the objects of a built-in kind: `deployments.apps`, or `pods` in the core group.
pub(crate) fn of_builtin(kind: &Builtin) -> String {
    match kind.group {
        "" => kind.plural.to_owned(),
        group => format!("{}.{group}", kind.plural),
    }
}

/// The message about a right that the caller lacks, `you may not list pods in namespace shop; ...`, with the kubectl command by which an
/// administrator gives it. Without a namespace the right is for all namespaces.
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

/// The message why the caller cannot read objects of a kind, with the way out. The verb and the namespace count only where the right is
/// missing.
pub(crate) fn unread(why: Unavailable, verb: &str, kind: &Kind, namespace: Option<&str>) -> String {
    match why {
        Unavailable::Forbidden | Unavailable::Hidden => missing(verb, &resource(kind), namespace),
        why => judged::unavailable(why, kind, false).message,
    }
}

/// Words a failed request to the API server for the user, in one sentence: unknown account (401), refused (another 4xx), or not answered
/// (every other error).
pub(crate) fn failed(error: Error) -> anyhow::Error {
    match error {
        Error::Api(status) if status.code == 401 => anyhow!(
            "the API server does not know who you are; log in again, or choose another account with --context"
        ),
        Error::Api(status) => {
            let why = match status.message.as_str() {
                "" => &status.reason,
                message => message,
            };
            match status.code {
                400..500 => anyhow!("the API server refuses it: {why}"),
                _ => anyhow!("the API server did not answer: {why}"),
            }
        }
        error => anyhow::Error::new(error).context("the API server did not answer"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use kube::core::Status;
    use rules::kinds;

    #[test]
    fn what_the_api_server_says_is_told_without_its_structure() {
        let told = |code: u16, message: &str| {
            let status = Status {
                code,
                message: message.to_owned(),
                reason: "Because".to_owned(),
                ..Status::default()
            };
            format!("{:#}", failed(Error::Api(Box::new(status))))
        };
        let expected = "the API server did not answer: etcd has no leader";
        assert_eq!(told(500, "etcd has no leader"), expected);
        assert_eq!(told(500, ""), "the API server did not answer: Because");
        let refused = "admission webhook \"x\" denied the request: no";
        for code in [400, 403, 409, 422] {
            assert_eq!(
                told(code, refused),
                format!("the API server refuses it: {refused}")
            );
        }
        assert!(
            told(401, "Unauthorized")
                .ends_with("; log in again, or choose another account with --context")
        );
    }

    #[test]
    fn what_cannot_be_read_is_told_in_a_sentence() {
        let told = |why| unread(why, "get", &Kind::Builtin(kinds::JOB), Some("shop"));
        for why in [Unavailable::Forbidden, Unavailable::Hidden] {
            assert_eq!(told(why), missing("get", "jobs.batch", Some("shop")));
        }
        let expected =
            "the API server cannot tell whether it serves Job; check the APIService of group batch";
        assert_eq!(told(Unavailable::Undiscovered), expected);
    }

    #[test]
    fn the_role_that_gives_a_right_is_named() {
        let told = missing("list", "pods", Some("shop"));
        assert!(
            told.ends_with("--clusterrole=view --user=YOU -n shop"),
            "{told}"
        );
        let told = missing("create", "pods", None);
        assert!(
            told.ends_with("kubectl create clusterrolebinding NAME --clusterrole=edit --user=YOU"),
            "{told}"
        );
    }
}
