//! The files and folders that a kustomization reads.

use crate::manifest::Entries;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The fields whose entries may be folders.
const FOLDERS: [&str; 6] = [
    "resources",
    "bases",
    "components",
    "generators",
    "transformers",
    "validators",
];

/// The fields whose entries are configurations of plugins, which read files too.
pub(super) const PLUGINS: [&str; 3] = ["generators", "transformers", "validators"];

/// The fields that hold texts, not paths.
const TEXTS: [&str; 4] = ["literals", "labels", "commonLabels", "commonAnnotations"];

/// The field with the charts that kustomize renders.
pub(super) const CHARTS: &str = "helmCharts";

/// The references of a kustomization to files, folders and other machines.
#[derive(Debug, Default)]
pub(super) struct References {
    /// The files and folders of this machine, by their canonical paths.
    pub(super) read: Vec<PathBuf>,
    /// The folders among the paths that may be kustomizations.
    pub(super) folders: Vec<PathBuf>,
    /// The entries that name something on another machine.
    pub(super) remote: Vec<String>,
    /// Whether one of the plugin configurations is for the built-in plugin that renders Helm charts.
    pub(super) renders: bool,
}

/// The references of a kustomization, from what its file says.
///
/// A text that is the path of a file is a reference, wherever it stands: kustomize has fields for files in many places, and `key=path`
/// in generators. A folder is one only where kustomize takes folders.
pub(super) fn of(folder: &Path, says: &Value) -> References {
    let mut found = References::default();
    found.files(folder, says);
    for field in FOLDERS {
        for entry in texts_of(&says[field]) {
            let path = folder.join(entry);
            match path.canonicalize() {
                Ok(path) if path.is_dir() => {
                    found.read.push(path.clone());
                    found.folders.push(path);
                }
                Ok(path) if PLUGINS.contains(&field) => {
                    found.configured(folder, &path);
                }
                Err(_) if is_remote(entry) => found.remote.push(entry.to_owned()),
                _ => {}
            }
        }
    }
    let home = says["helmGlobals"]["chartHome"].as_str();
    let home = folder.join(home.unwrap_or("charts"));
    for chart in says[CHARTS].as_array().into_iter().flatten() {
        let chart = chart["name"].as_str().map(|name| home.join(name));
        found
            .read
            .extend(chart.and_then(|it| it.canonicalize().ok()));
    }
    found
}

fn texts_of(list: &Value) -> impl Iterator<Item = &str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str)
}

impl References {
    /// Adds the files and URLs that the texts in a value name, at any depth, except those under [`TEXTS`].
    fn files(&mut self, folder: &Path, value: &Value) {
        match value {
            Value::String(text) => self.file(folder, text),
            Value::Array(items) => items.iter().for_each(|it| self.files(folder, it)),
            Value::Object(fields) => {
                let fields = fields
                    .iter()
                    .filter(|(key, _)| !TEXTS.contains(&key.as_str()));
                fields.for_each(|(_, it)| self.files(folder, it));
            }
            _ => {}
        }
    }

    /// Adds the file or the URL that a text names, alone or behind a key (`key=path`); a text that names neither adds nothing.
    fn file(&mut self, folder: &Path, text: &str) {
        let behind_key = text.split_once('=').map(|(_, path)| path);
        let named = [Some(text), behind_key].into_iter().flatten();
        for path in named.filter(|it| !it.is_empty() && !it.contains('\n')) {
            match folder.join(path).canonicalize() {
                Ok(path) if path.is_file() => self.read.push(path),
                Err(_) if path.starts_with("https://") || path.starts_with("http://") => {
                    self.remote.push(path.to_owned());
                }
                _ => {}
            }
        }
    }

    /// Adds the files that the configuration of a plugin names.
    fn configured(&mut self, folder: &Path, file: &Path) {
        let text = fs::read(file).unwrap_or_default();
        for entry in Entries::new(&text).filter_map(Result::ok) {
            self.renders |= entry.object["kind"] == "HelmChartInflationGenerator";
            self.files(folder, &entry.object);
        }
    }
}

/// Whether an entry that is no path of this machine names a repository or a file elsewhere: `https://…`, `git@…`, or as Go has
/// it, `github.com/OWNER/NAME//FOLDER?ref=…`.
fn is_remote(entry: &str) -> bool {
    let host = entry.split('/').next().unwrap_or_default();
    let like_a_host = entry.contains('/') && host.contains('.') && !host.starts_with('.');
    !entry.contains('\n') && (entry.contains("://") || entry.starts_with("git@") || like_a_host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_elsewhere_is_told_from_what_is_missing() {
        for (entry, expected) in [
            ("https://example.com/all.yaml", true),
            ("ssh://git@example.com/a", true),
            ("git@github.com:a/b.git", true),
            ("github.com/a/b//base?ref=v1", true),
            ("../base", false),
            ("./base.d/a.yaml", false),
            ("deploy.yaml", false),
            ("apiVersion: v1\nkind: x.y/z\n", false),
        ] {
            assert_eq!(is_remote(entry), expected, "{entry}");
        }
    }

    #[test]
    fn a_generator_may_read_from_another_machine() {
        let says = serde_json::json!({
            "configMapGenerator": [{"name": "a", "files": ["b.json=https://example.com/b.json"], "literals": ["c=https://example.com/"]}],
            "commonAnnotations": {"docs": "https://example.com/docs"},
        });
        let found = of(Path::new("/nonexistent"), &says);
        assert_eq!(found.remote, ["https://example.com/b.json"]);
    }
}
