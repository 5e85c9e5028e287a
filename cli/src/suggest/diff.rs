//! Writes the changes of a file as a unified diff.

use std::path::Path;

/// The number of unchanged lines that the diff shows on each side of a change.
const CONTEXT: usize = 3;

/// A change of a file: added lines take the place of removed lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Edit {
    /// The number of the first removed line, from 0, or of the line before which lines are added.
    pub(super) at: usize,
    /// The number of removed lines.
    pub(super) removed: usize,
    pub(super) added: Vec<String>,
}

/// The changes of one file as a unified diff, which `git apply` and `patch -p1` take.
pub(super) fn unified(path: &Path, text: &str, mut edits: Vec<Edit>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    edits.sort_by_key(|edit| edit.at);
    let path = path.display().to_string();
    let path = path.trim_start_matches("./").trim_start_matches('/');
    let mut diff = format!("--- a/{path}\n+++ b/{path}\n");
    let mut shift = 0;
    for hunk in hunks(&edits) {
        let from = hunk[0].at.saturating_sub(CONTEXT);
        let last = &hunk[hunk.len() - 1];
        let to = (last.at + last.removed + CONTEXT).min(lines.len());
        let mut body = String::new();
        let (mut at, mut added) = (from, 0);
        let mut put = |mark: char, line: &str| {
            body.extend([mark.to_string().as_str(), line, "\n"]);
        };
        for edit in hunk {
            lines[at..edit.at].iter().for_each(|line| put(' ', line));
            at = edit.at + edit.removed;
            lines[edit.at..at].iter().for_each(|line| put('-', line));
            edit.added.iter().for_each(|line| put('+', line));
            added += edit.added.len();
        }
        lines[at..to].iter().for_each(|line| put(' ', line));
        if to == lines.len() && !text.ends_with('\n') {
            body.push_str("\\ No newline at end of file\n");
        }
        let removed: usize = hunk.iter().map(|edit| edit.removed).sum();
        let (old, new) = (to - from, to - from + added - removed);
        let (start, moved) = (from + 1, from + 1 + shift);
        let head = format!("@@ -{start},{old} +{moved},{new} @@\n");
        diff.extend([head, body]);
        shift += added;
        shift -= removed;
    }
    diff
}

/// The text after the changes.
pub(super) fn applied(text: &str, edits: &[Edit]) -> String {
    let mut edits: Vec<&Edit> = edits.iter().collect();
    edits.sort_by_key(|edit| edit.at);
    let mut lines = text.split_inclusive('\n');
    let mut made = String::new();
    let mut at = 0;
    for edit in edits {
        lines
            .by_ref()
            .take(edit.at - at)
            .for_each(|line| made.push_str(line));
        if !made.is_empty() && !made.ends_with('\n') {
            made.push('\n');
        }
        for line in &edit.added {
            made.push_str(line);
            made.push('\n');
        }
        lines.by_ref().take(edit.removed).for_each(drop);
        at = edit.at + edit.removed;
    }
    made.extend(lines);
    made
}

/// The groups of changes that the diff shows together, because the unchanged lines around them overlap.
fn hunks(edits: &[Edit]) -> impl Iterator<Item = &[Edit]> {
    edits.chunk_by(|one, next| next.at <= one.at + one.removed + 2 * CONTEXT)
}
