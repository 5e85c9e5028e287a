//! Chooses the values of a chart that change.

use super::other_values::{counted, is_counted, other};
use super::{FIRST, label, varied};
use crate::suggest::render::ChartNames;
use crate::suggest::switches::{self, Switch};
use crate::suggest::texts::{Texts, value_at};
use crate::suggest::traces;
use crate::suggest::tried_sets::TriedSets;
use serde_json::Value;
use std::collections::BTreeSet;

/// The values of a chart that may change.
pub(super) struct VariedValues {
    /// The scalars, and the lists of scalars, each with its path.
    leaves: Vec<(String, Value)>,
    /// The paths that a template compares with texts. A set of its own changes each of them.
    compared: BTreeSet<String>,
    /// The paths that the sets have changed already.
    changed: BTreeSet<String>,
}

impl VariedValues {
    pub(super) fn of(texts: &Texts, tried: &TriedSets<'_>, names: &ChartNames) -> Self {
        let mut leaves = Vec::new();
        add_leaves(&texts.values, "", &mut leaves);
        // A template may read the values of a sub-chart, too.
        for (part, values) in &names.values {
            let mut own = Vec::new();
            add_leaves(values, part, &mut own);
            own.retain(|(path, _)| value_at(&texts.values, path).is_none());
            leaves.append(&mut own);
        }
        let path = |it: &Switch| it.path.clone();
        let changed = tried.sets.iter().flatten();
        Self {
            leaves,
            compared: tried.compared.iter().map(path).collect(),
            changed: changed.map(path).collect(),
        }
    }

    /// The values whose texts or numbers stand in `literals`, and the counts of pods where a literal may name one, each with another value.
    /// Leaves out a value that a template compares with texts, because it chooses a branch.
    pub(super) fn within(&self, literals: &[String]) -> Vec<Switch> {
        let counts = literals.iter().any(|it| is_counted(it));
        let mut changed: Vec<Switch> = Vec::new();
        for (path, own) in &self.leaves {
            if self.compared.contains(path) {
                continue;
            }
            let counted = || counted(path, own).filter(|_| counts);
            if let Some(value) = other(own, changed.len(), literals).or_else(counted) {
                changed.push(varied(path, value, false));
            }
        }
        changed
    }

    /// The empty values that the texts of the waiting containers read and that name something, each with a made-up text. Leaves out overrides of
    /// names, and values that a set has changed already.
    pub(super) fn empty(&self, texts: &Texts, waiting: &BTreeSet<&str>) -> Vec<Switch> {
        let mut named: Vec<Switch> = Vec::new();
        for path in traces::paths(texts, waiting) {
            let own = value_at(&texts.values, &path);
            let is_empty = own.is_none_or(|it| it.is_null() || it == "");
            if !is_empty || self.changed.contains(&path) || switches::is_override(&path) {
                continue;
            }
            let number = named.len();
            let host = traces::mark(FIRST + number, &path, &Value::Null, false);
            let is_name = switches::is_name(&path) && names_a_server(&path);
            let is_name = is_name || path.ends_with("amespace");
            let name = || is_name.then(|| label(number));
            if let Some(value) = host.map(|it| it.0).or_else(name) {
                named.push(varied(&path, value, false));
            }
        }
        named
    }
}

/// Whether the name at a path may be that of a server, and not that of an account, a Secret or a database.
fn names_a_server(path: &str) -> bool {
    const OTHERS: [&str; 14] = [
        "secret", "user", "database", "class", "account", "password", "key", "cert", "storage",
        "bucket", "db", "claim", "config", "queue",
    ];
    let key = path.rsplit('.').next().unwrap_or_default().to_lowercase();
    !OTHERS.iter().any(|it| key.contains(it))
}

/// Adds the texts and numbers within a value, and the lists of these, with their paths to `leaves`. Leaves out commands, arguments and
/// `dependencies`, which are texts of the chart's author, and keys with a dot or another sign that `--set` cannot take.
fn add_leaves(value: &Value, path: &str, leaves: &mut Vec<(String, Value)>) {
    let is_letter = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '_');
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                // These are texts of the chart's author: a script, and the list that `kubernetes-entrypoint` waits for.
                let is_script = matches!(key.as_str(), "command" | "args" | "dependencies");
                if is_script || !key.chars().all(is_letter) {
                    continue;
                }
                let path = if path.is_empty() {
                    key.clone()
                } else {
                    format!("{path}.{key}")
                };
                add_leaves(value, &path, leaves);
            }
        }
        Value::Array(items) if items.iter().all(|it| it.is_string() || it.is_number()) => {
            leaves.push((path.to_owned(), value.clone()));
        }
        Value::String(_) | Value::Number(_) => leaves.push((path.to_owned(), value.clone())),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_values_are_found_by_their_paths() {
        let mut leaves = Vec::new();
        let values =
            json!({"a": {"b": "x", "c.d": "y", "args": "z"}, "e": [1, 2], "f": [{"g": 1}]});
        add_leaves(&values, "", &mut leaves);
        assert_eq!(
            leaves,
            [
                ("a.b".to_owned(), json!("x")),
                ("e".to_owned(), json!([1, 2]))
            ]
        );
    }
}
