//! The remarks about a chart, beside the diff.

use super::diff::Edit;
use super::reason::Reason;
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

/// One remark about a place.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Told {
    /// The file and the line that the remark is about, such as `templates/web.yaml:17`.
    pub(super) place: String,
    /// The name of the container that the remark is about; empty where it is about none.
    pub(super) container: String,
    pub(super) says: Says,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Says {
    /// A wait stays as it is: the command, and why.
    Left(String, Reason),
    /// A container waits for its own pod alone.
    Itself,
    /// The entries that replace a loop, and what goes with it.
    Replaced {
        entries: Vec<String>,
        removed: String,
    },
    /// A remark about a proposal.
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

    /// The number of waits that stay.
    pub(super) fn left(&self) -> usize {
        let is_left = |it: &&Told| matches!(it.says, Says::Left(..));
        self.told.iter().filter(is_left).count()
    }

    /// The lines of a message, and how many entries are proposed and left.
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
                    writeln!(lines, "left: {place}:{named} {what}: {reason}")
                }
                Says::Itself => writeln!(
                    lines,
                    "own: {place}:{named} it waits inside its own pod, which no list can; it stays"
                ),
                Says::Replaced { entries, removed } => {
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
