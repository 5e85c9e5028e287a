//! The values of charts: what a wait's address is by default, and where an umbrella annotates the pods of its sub-charts.

use super::diff::Edit;
use super::document::{Document, indent};
use super::edits;
use super::waits::masked;
use crate::manifest::Entries;
use anyhow::Result;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// A chart, with the sub-charts in its folder.
#[derive(Debug, Default)]
pub(super) struct Umbrella {
    folder: PathBuf,
    /// Its own values, and those of each sub-chart by its name.
    values: BTreeMap<String, Value>,
    /// What is to be annotated: the path of the values, and the list.
    lists: BTreeMap<Vec<String>, String>,
}

const CHARTS: &str = "charts";
const FILE: &str = "values.yaml";
const KEY: &str = "sluice.dev/depends-on";

impl Umbrella {
    pub(super) fn read(folder: &Path) -> Result<Self> {
        let mut values = BTreeMap::from([(String::new(), read_values(folder))]);
        if folder.join(CHARTS).is_dir() {
            for entry in fs::read_dir(folder.join(CHARTS))? {
                let path = entry?.path();
                let name = path.file_name().unwrap_or_default().to_string_lossy();
                if path.is_dir() {
                    values.insert(name.into_owned(), read_values(&path));
                }
            }
        }
        let folder = folder.to_owned();
        Ok(Self {
            folder,
            values,
            lists: BTreeMap::new(),
        })
    }

    /// The values that a template sees, as far as they are literal.
    pub(super) fn of_template(&self, path: &Path) -> &Value {
        let chart = self.sub_chart(path).unwrap_or_default();
        self.values.get(&chart).unwrap_or(&Value::Null)
    }

    /// The sub-chart that a template is of.
    fn sub_chart(&self, path: &Path) -> Option<String> {
        let below = path.strip_prefix(self.folder.join(CHARTS)).ok()?;
        Some(below.iter().next()?.to_string_lossy().into_owned())
    }

    /// Whether a template is somebody else's, which is not changed.
    pub(super) fn is_vendored(&self, path: &Path) -> bool {
        self.sub_chart(path).is_some()
    }

    /// Takes the list of a sub-chart's workload that has `podAnnotations`. Whether that changes the values; `None` where they
    /// cannot say it.
    pub(super) fn take(
        &mut self,
        path: &Path,
        document: &Document<'_>,
        entries: &[String],
    ) -> Option<bool> {
        let chart = self.sub_chart(path)?;
        let value = annotations_value(document)?;
        let plain = entries.iter().map(|entry| self.plain(entry, &chart));
        let list = edits::list(&plain.collect::<Option<Vec<_>>>()?);
        let mut keys = vec![chart];
        keys.extend(value.split('.').map(str::to_owned));
        let own = self.values.get("").unwrap_or(&Value::Null);
        let annotations = keys.iter().try_fold(own, |value, key| value.get(key));
        if annotations.is_some_and(|it| it[KEY].is_string()) {
            return Some(false);
        }
        self.lists.insert(keys, list);
        Some(true)
    }

    /// An entry that values can say, which are no templates: a Service of another sub-chart is that sub-chart.
    fn plain(&self, entry: &str, own: &str) -> Option<String> {
        if !entry.contains("{{") {
            return Some(entry.to_owned());
        }
        let shown = masked(entry);
        let mut others = self.values.keys().filter(|it| !it.is_empty() && *it != own);
        let named = others.find(|it| shown.ends_with(&format!("-{it}")) || entry.contains(*it))?;
        Some(format!("subchart/{named}"))
    }

    /// The change of the umbrella's values.
    pub(super) fn finish(&self, edits: &mut BTreeMap<PathBuf, Vec<Edit>>) {
        let path = self.folder.join(FILE);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        for (keys, list) in &self.lists {
            let edit = put(&lines, keys, list);
            edits.entry(path.clone()).or_default().push(edit);
        }
    }
}

fn read_values(folder: &Path) -> Value {
    let text = fs::read(folder.join(FILE)).unwrap_or_default();
    let first = Entries::new(&text).next().and_then(Result::ok);
    first.map(|entry| entry.object).unwrap_or_default()
}

/// The value by which a workload's pods are annotated: `primary.podAnnotations`.
fn annotations_value(document: &Document<'_>) -> Option<String> {
    document.lines.iter().find_map(|line| {
        let (_, value) = line.split_once(".Values.")?;
        let path: String = value
            .chars()
            .take_while(|it| it.is_ascii_alphanumeric() || *it == '.')
            .collect();
        path.ends_with("podAnnotations").then_some(path)
    })
}

/// Puts a list at a path of a file of values: as deep as that is there already.
fn put(lines: &[&str], path: &[String], list: &str) -> Edit {
    let (mut from, mut to, mut depth) = (0, lines.len(), 0);
    let mut known = 0;
    for key in path {
        let is_key = |line: &&str| {
            let rest = line.trim_start().strip_prefix(key.as_str());
            indent(line) == depth && rest.is_some_and(|it| it.starts_with(':'))
        };
        let Some(at) = lines[from..to].iter().position(is_key) else {
            break;
        };
        let at = from + at;
        known += 1;
        let inner = lines[at + 1..to]
            .iter()
            .position(|it| !it.trim().is_empty() && indent(it) <= depth);
        to = inner.map_or(to, |it| at + 1 + it);
        from = at + 1;
        let empty =
            matches!(lines[at].split_once(':'), Some((_, rest)) if rest.trim().starts_with('{'));
        if empty {
            let mut added = vec![format!("{}{key}:", " ".repeat(depth))];
            added.extend(below(&path[known..], list, depth + 2));
            return Edit {
                at,
                removed: 1,
                added,
            };
        }
        let first = lines[from..to]
            .iter()
            .find(|it| !it.trim().is_empty() && !it.trim().starts_with('#'));
        depth = first.map_or(depth + 2, |it| indent(it));
    }
    Edit {
        at: if known == 0 { lines.len() } else { from },
        removed: 0,
        added: below(&path[known..], list, depth),
    }
}

fn below(path: &[String], list: &str, depth: usize) -> Vec<String> {
    let keys = path.iter().map(String::as_str);
    let mut lines: Vec<String> = keys
        .enumerate()
        .map(|(at, key)| format!("{}{key}:", " ".repeat(depth + 2 * at)))
        .collect();
    let pad = " ".repeat(depth + 2 * path.len());
    lines.push(format!("{pad}{KEY}: {list}"));
    lines
}
