//! What a question is about, as people name it: `api-0`, `pod/api-0`, `deploy/api`.

use anyhow::{Result, bail};
use rules::annotation;
use rules::kinds::{self, Kind};

/// A pod, or the workload above some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Named {
    Pod(String),
    Object {
        /// The kind, as it is written.
        word: String,
        name: String,
    },
}

impl Named {
    /// `NAME`, `pod/NAME` or `KIND/NAME`
    pub(crate) fn of(text: &str) -> Self {
        match text.split_once('/') {
            None => Self::Pod(text.to_owned()),
            Some((word, name)) if kinds::by_word(word) == Some(kinds::POD) => {
                Self::Pod(name.to_owned())
            }
            Some((word, name)) => Self::Object {
                word: word.to_owned(),
                name: name.to_owned(),
            },
        }
    }
}

/// The kind that a word names: as in a list, and of the `workloads` of an installation without their group too.
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
        None => bail!("{problem}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_alone_is_a_pod() {
        for text in ["api-0", "pod/api-0", "pods/api-0", "po/api-0"] {
            assert_eq!(Named::of(text), Named::Pod("api-0".to_owned()), "{text}");
        }
        let deployment = Named::Object {
            word: "deploy".to_owned(),
            name: "api".to_owned(),
        };
        assert_eq!(Named::of("deploy/api"), deployment);
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
        let error = kind("deploymnt", &rollouts).unwrap_err().to_string();
        assert_eq!(
            error,
            "unknown kind \"deploymnt\"; did you mean \"deployment\"?"
        );
    }
}
