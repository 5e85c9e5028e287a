//! The subject of a question, in the user's words: `api-0`, `pod/api-0`, `deploy/api`.

use anyhow::{Result, ensure};
use rules::annotation;
use rules::kinds::{self, Kind};
use std::collections::BTreeSet;
use std::fmt;

/// The pod, or the workload above some pods, that an argument names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    Pod(String),
    Object {
        /// The kind, as the argument spells it.
        word: String,
        name: String,
    },
}

/// A name that no object can have: a wrong argument, which may be found only after the cluster has named its kinds.
#[derive(Debug)]
pub(crate) struct Misnamed(pub(crate) String);

impl fmt::Display for Misnamed {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl std::error::Error for Misnamed {}

impl Named {
    /// Reads the argument `NAME`, `pod/NAME` or `KIND/NAME`; [`Misnamed`] for a name that no object can have. The kind is not looked up yet.
    pub(crate) fn of(text: &str) -> Result<Self> {
        let (word, name) = match text.split_once('/') {
            None => (None, text),
            Some((word, name)) => (Some(word), name),
        };
        let told = || {
            Misnamed(format!(
                "{text:?} names nothing; write NAME, pod/NAME or KIND/NAME"
            ))
        };
        ensure!(is_name(name), told());
        let name = name.to_owned();
        Ok(match word {
            Some(word) if kinds::by_word(word) != Some(kinds::POD) => Self::Object {
                word: word.to_owned(),
                name,
            },
            _ => Self::Pod(name),
        })
    }
}

/// Whether the API server can find an object by the text: it stands in the path of a request. The other rules for names differ by
/// kind.
fn is_name(text: &str) -> bool {
    let breaks = |it: char| matches!(it, '/' | '%') || it.is_whitespace() || it.is_control();
    !matches!(text, "" | "." | "..") && !text.contains(breaks)
}

/// The kind that a word names: as in a list, and a kind among the `workloads` of an installation without its group too; [`Misnamed`] for any other
/// word.
pub(crate) fn kind(word: &str, workloads: &[(String, String)]) -> Result<Kind> {
    let problem = match annotation::kind(word) {
        Ok(kind) => return Ok(kind),
        Err(problem) => problem,
    };
    let called = |kind: &str| {
        let singular = kind.to_lowercase();
        let word = word.to_lowercase();
        word == singular || word.strip_suffix('s') == Some(&singular)
    };
    match workloads.iter().find(|(_, kind)| called(kind)).cloned() {
        Some((group, word)) => Ok(Kind::Custom { group, word }),
        None => Err(Misnamed(problem.to_string()).into()),
    }
}

/// The sentence that a place, such as `namespace shop`, has no workload of a release, with the releases that it has.
pub(crate) fn no_release(release: &str, place: &str, there: &BTreeSet<String>) -> String {
    let names: Vec<&str> = there.iter().map(String::as_str).collect();
    let others = match names.as_slice() {
        [] => "there is no release in it".to_owned(),
        [name] => format!("the only release there is {name}"),
        names => format!("the releases there are {}", names.join(", ")),
    };
    format!("no workload of release {release:?} in {place}; {others}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_is_a_pod() {
        for text in ["api-0", "pod/api-0", "pods/api-0", "po/api-0"] {
            let named = Named::of(text).unwrap();
            assert_eq!(named, Named::Pod("api-0".to_owned()), "{text}");
        }
        let deployment = Named::Object {
            word: "deploy".to_owned(),
            name: "api".to_owned(),
        };
        assert_eq!(Named::of("deploy/api").unwrap(), deployment);
    }

    #[test]
    fn what_no_object_is_called_is_a_wrong_argument() {
        for text in [
            "",
            "pod/",
            "deploy/",
            "deploy/api/status",
            "pod/..",
            "a b",
            "a%2f",
        ] {
            let error = Named::of(text).unwrap_err();
            assert!(error.is::<Misnamed>(), "{text}");
            let expected = format!("{text:?} names nothing; write NAME, pod/NAME or KIND/NAME");
            assert_eq!(error.to_string(), expected);
        }
        let role = Named::of("clusterrole/system:node").unwrap();
        assert!(matches!(role, Named::Object { name, .. } if name == "system:node"));
    }

    #[test]
    fn a_kind_is_spelt_as_in_a_list() {
        let rollouts = [("argoproj.io".to_owned(), "Rollout".to_owned())];
        for (word, expected) in [
            ("deploy", "Deployment"),
            ("sts", "StatefulSet"),
            ("jobs.batch", "Job"),
            ("rollout", "Rollout.argoproj.io"),
            ("Rollouts", "Rollout.argoproj.io"),
            ("rollouts.argoproj.io", "rollouts.argoproj.io"),
        ] {
            assert_eq!(
                kind(word, &rollouts).unwrap().to_string(),
                expected,
                "{word}"
            );
        }
        let error = kind("deploymnt", &rollouts).unwrap_err();
        assert!(error.is::<Misnamed>());
        assert_eq!(
            error.to_string(),
            "unknown kind \"deploymnt\"; did you mean \"deployment\"?"
        );
    }
}
