//! Finds the documents of a file, by their lines. A template is no YAML before it is rendered, so this module only searches its lines.

use rules::scope;
use std::ops::Range;

/// The kinds of workloads whose template can carry a list.
const WORKLOADS: [&str; 8] = [
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "ReplicaSet",
    "Job",
    "CronJob",
    "Rollout",
    "Pod",
];

/// One YAML document of a file.
#[derive(Debug, Clone, Copy)]
pub(super) struct Document<'t> {
    /// The number of the document's first line in the file, from 0.
    pub(super) first: usize,
    pub(super) lines: &'t [String],
}

/// The numbers of the lines of each document, from 0 in the file; a line `---` separates documents and belongs to none.
pub(super) fn all(lines: &[String]) -> Vec<Range<usize>> {
    let mut documents = Vec::new();
    let mut first = 0;
    for part in lines.split(|line| line.trim_end() == "---") {
        documents.push(first..first + part.len());
        first += part.len() + 1;
    }
    documents
}

impl Document<'_> {
    pub(super) fn is_workload(&self) -> bool {
        self.kinds().any(|kind| WORKLOADS.contains(&kind))
    }

    pub(super) fn is_job(&self) -> bool {
        self.kinds().any(|kind| kind == "Job")
    }

    pub(super) fn kind(&self) -> Option<&str> {
        self.kinds().next()
    }

    /// The kinds that the document's object may have, since a template may choose one of several.
    pub(super) fn kinds(&self) -> impl Iterator<Item = &str> {
        let kinds = self.lines.iter().filter_map(|it| it.strip_prefix("kind:"));
        kinds.map(str::trim)
    }

    /// Whether the document has a key on a line that is no comment.
    pub(super) fn has(&self, key: &str) -> bool {
        self.line_of(key).is_some()
    }

    /// The number of the first line with a key, from 0 within the document; `None` where no line has it. A comment does not count.
    pub(super) fn line_of(&self, key: &str) -> Option<usize> {
        let is_key = |line: &String| {
            let line = line.trim_start().trim_start_matches(['"', '\'']);
            let rest = line.strip_prefix(key).unwrap_or_default();
            rest.trim_start_matches(['"', '\'']).starts_with(':')
        };
        self.lines.iter().position(is_key)
    }

    /// The name of the document's object, as the template writes it. `None` where no line of a `metadata:` at the left edge has it.
    pub(super) fn name(&self) -> Option<&str> {
        let metadata = self
            .lines
            .iter()
            .position(|it| it.trim_end() == "metadata:")?;
        let inside = self.lines[metadata + 1..].iter();
        let mut inside =
            inside.take_while(|it| it.trim().is_empty() || is_action(it) || indent(it) > 0);
        let depth = inside
            .clone()
            .find(|it| !is_action(it) && !it.trim().is_empty())
            .map(|it| indent(it))?;
        let name = inside.find(|it| indent(it) == depth && it.trim_start().starts_with("name:"))?;
        Some(name.trim_start()["name:".len()..].trim())
    }

    /// Whether a line of the file, counted from 0, belongs to the document.
    pub(super) fn holds(&self, line: usize) -> bool {
        (self.first..self.first + self.lines.len()).contains(&line)
    }

    /// The number of the line in the file that makes a Job a hook which Helm runs only after all other objects; `None` for any other object.
    pub(super) fn late_hook(&self) -> Option<usize> {
        let at = self.line_of("helm.sh/hook")?;
        let line = &self.lines[at];
        let is_late = line.contains("post-") && !line.contains("pre-");
        (is_late && self.kind() == Some("Job")).then_some(self.first + at)
    }

    /// Whether Helm runs the object only as a test.
    pub(super) fn is_test(&self) -> bool {
        let line = self.line_of("helm.sh/hook").map(|at| &self.lines[at]);
        let hook = line.and_then(|it| Some(it.split_once(':')?.1.trim().trim_matches(['"', '\''])));
        hook.is_some_and(scope::is_test)
    }

    /// Whether the name of the object says that it migrates.
    pub(super) fn migrates(&self) -> bool {
        let name = self.line_of("name").map(|at| self.lines[at].to_lowercase());
        name.is_some_and(|line| line.contains("migrat"))
    }
}

/// The number of blanks in front of a line's text.
pub(super) fn indent(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

/// Whether a line is nothing but a template's action, such as `{{- if .Values.x }}`.
pub(super) fn is_action(line: &str) -> bool {
    let line = line.trim();
    line.starts_with("{{") && line.ends_with("}}")
}

/// The keys of YAML that lead to a line of a file of values, the outermost first.
pub(super) fn keys_above(lines: &[String], line: usize) -> Vec<String> {
    let mut keys = Vec::new();
    let mut depth = indent(&lines[line]) + 1;
    for line in lines[..line].iter().rev() {
        let text = line.trim_start();
        let is_key = !text.is_empty() && !text.starts_with(['#', '-']) && indent(line) < depth;
        if let Some((key, _)) = text.split_once(':').filter(|_| is_key) {
            keys.push(key.trim_matches(['"', '\'']).to_owned());
            depth = indent(line);
        }
    }
    keys.reverse();
    keys
}
