//! The report: the changes for the diff, and the remarks beside the diff.

use super::diff::Edit;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;

/// The report on a chart or a folder: changes and remarks.
#[derive(Debug, Default)]
pub(super) struct Report {
    /// The changes of each file, by its path.
    pub(super) edits: BTreeMap<PathBuf, Vec<Edit>>,
    /// The number of proposed entries and weights.
    pub(super) proposed: usize,
    pub(super) told: Vec<Told>,
}

/// One remark about a place in a file.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    /// The file and the line that the remark is about, such as `templates/web.yaml:17`.
    pub(super) place: String,
    /// The name of the container that the remark is about; empty for a remark that is about no container.
    pub(super) container: String,
    pub(super) says: Says,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Says {
    /// A wait stays: its command, and the reason.
    Left(String, String),
    /// A container waits only for its own pod, so it stays.
    Itself,
    /// The list replaces a loop: the entries, and either the remarks about the parts that the user can delete or the reason why the loop
    /// stays.
    Replaced {
        entries: Vec<String>,
        removed: Result<String, String>,
    },
    /// A fact that the user should know about a proposal.
    Note(String),
}

impl Report {
    pub(super) fn tell(&mut self, place: String, container: &str, says: Says) {
        let told = Told {
            place,
            container: container.to_owned(),
            says,
        };
        if !self.told.contains(&told) {
            self.told.push(told);
        }
    }

    /// Reports the entries that replace a loop, once for each container. Where one helper gives a container to several workloads, the user
    /// can delete it only if its loop is replaced in all of them.
    pub(super) fn replace(
        &mut self,
        place: &str,
        container: &str,
        entries: Vec<String>,
        removed: Result<String, String>,
    ) {
        let mut same = self
            .told
            .iter_mut()
            .filter(|it| it.place == place && it.container == container);
        let told = same.find_map(|it| match &mut it.says {
            Says::Replaced { entries, removed } => Some((entries, removed)),
            _ => None,
        });
        let Some((known, told)) = told else {
            let says = Says::Replaced { entries, removed };
            self.tell(place.to_owned(), container, says);
            return;
        };
        // With other values the container may wait for something else.
        let new: Vec<String> = entries
            .into_iter()
            .filter(|it| !known.contains(it))
            .collect();
        known.extend(new);
        if let (true, Err(stays)) = (told.is_ok(), removed) {
            *told = Err(stays);
        }
    }

    /// The number of waits that stay.
    pub(super) fn left(&self) -> usize {
        let is_left = |it: &&Told| matches!(it.says, Says::Left(..));
        self.told.iter().filter(is_left).count()
    }

    /// Whether a wait of the remark's container is left, for this workload or for another one that has the container from one helper.
    fn is_left(&self, told: &Told) -> bool {
        self.told.iter().any(|it| {
            let is_same = it.place == told.place && it.container == told.container;
            is_same && matches!(it.says, Says::Left(..))
        })
    }

    /// The remarks of the report as lines of text, without the changes and the totals.
    pub(super) fn lines(&self) -> String {
        let mut lines = String::new();
        for told in &self.told {
            let Told {
                place,
                container,
                says,
            } = told;
            let named = if container.is_empty() {
                String::new()
            } else {
                format!(" {container}:")
            };
            let _ = match says {
                Says::Left(what, reason) if what.is_empty() => {
                    writeln!(lines, "left: {place}:{named} {reason}")
                }
                Says::Left(what, reason) => {
                    let what: Vec<String> = what.split(' ').map(without_credentials).collect();
                    let what = what.join(" ");
                    writeln!(lines, "left: {place}:{named} {what}: {reason}")
                }
                Says::Itself => writeln!(
                    lines,
                    "own: {place}:{named} it waits inside its own pod, which no list can; it stays"
                ),
                Says::Replaced { entries, removed } => {
                    // Several workloads may have the container of one helper.
                    let removed = match removed {
                        Ok(_) if self.is_left(told) => {
                            "the loop stays: another workload has it from this place, and no list for it"
                        }
                        Ok(removed) | Err(removed) => removed.as_str(),
                    };
                    writeln!(
                        lines,
                        "replaced: {place}:{named} {} says it; {removed}",
                        entries.join(", ")
                    )
                }
                Says::Note(text) => writeln!(lines, "note: {place}:{named} {text}"),
            };
        }
        lines
    }
}

/// A word of a command without the user and the password of a URL in it.
fn without_credentials(word: &str) -> String {
    let Some((scheme, behind)) = word.split_once("://") else {
        return word.to_owned();
    };
    // The path of an HTTP URL may hold an `@`, and the password in another URL a slash.
    let is_http = scheme.ends_with("http") || scheme.ends_with("https");
    let user = if is_http {
        behind.split(['/', '?']).next().unwrap_or_default()
    } else {
        behind
    };
    match user.rfind('@') {
        Some(at) => format!("{scheme}://{}", &behind[at + 1..]),
        None => word.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_password_of_a_url_is_shown() {
        for (word, expected) in [
            ("http://u:p@a:1/x", "http://a:1/x"),
            ("http://a:1/users/@me", "http://a:1/users/@me"),
            ("postgres://u:p/w@db/shop", "postgres://db/shop"),
            ("db:5432", "db:5432"),
        ] {
            assert_eq!(without_credentials(word), expected);
        }
    }
}
