//! Copies a chart's folder, together with the sub-charts in the folders around it.

use super::MADE_UP;
use crate::manifest::Entries;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

/// The deepest level of sub-charts within sub-charts that is copied, so that the copy of charts which contain each other ends.
const DEEPEST: usize = 4;

/// The names and the aliases of the declared sub-charts that no folder holds.
pub(super) struct Missing(pub(super) Vec<String>);

/// The name of a chart, the keys of its sub-charts, and the sub-charts' own values. A sub-chart's key is its alias, or its name without one.
#[derive(Debug, Default)]
pub(in crate::suggest) struct ChartNames {
    pub(in crate::suggest) chart: String,
    /// The keys of the chart's values below which the sub-charts have theirs.
    pub(in crate::suggest) parts: Vec<String>,
    /// The key of each sub-chart that the copy holds as a folder, and the values in its `values.yaml`.
    pub(in crate::suggest) values: Vec<(String, Value)>,
}

/// The file with the schema of a chart's values. The copy leaves it out, because a large one costs Helm a second in each render.
const SCHEMA: &str = "values.schema.json";

/// The file with the notes for a chart's user. The copy leaves it out, because it holds no object, and many charts refuse values in it.
const NOTES: &str = "NOTES.txt";

/// The functions of templates that generate a key or a hash, which takes a second or more in each render. No wait depends on the result.
const SLOW: [&str; 6] = [
    "genSelfSignedCert",
    "genSignedCert",
    "genCA",
    "genPrivateKey",
    "htpasswd",
    "derivePassword",
];

/// A template with made-up keys in place of generated ones; `None` where the template generates no keys.
fn without_keys(template: &str) -> Option<String> {
    if !SLOW.iter().any(|it| template.contains(it)) {
        return None;
    }
    let with_key = [
        "genSelfSignedCertWithKey",
        "genSignedCertWithKey",
        "genCAWithKey",
    ];
    let mut text = template.to_owned();
    for function in with_key.iter().chain(&SLOW) {
        // A certificate is a mapping of two parts. The arguments of the former function become further pairs of the mapping, which do no
        // harm.
        let given = if function.contains("Cert") || function.contains("CA") {
            format!("dict \"Cert\" \"{MADE_UP}\" \"Key\" \"{MADE_UP}\" ")
        } else {
            "print ".to_owned()
        };
        text = text.replace(&format!("{function} "), &given);
    }
    Some(text)
}

/// Writes a text of the chart into a file, with made-up keys in place of the functions that generate keys, which make a render slow.
pub(super) fn write(path: &Path, text: &str) -> std::io::Result<()> {
    match without_keys(text) {
        Some(short) => fs::write(path, short),
        None => fs::write(path, text),
    }
}

/// Copies a chart's folder without hidden folders, the schema of the values and the notes, and with made-up keys in place of generated ones.
pub(super) fn tree(from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to).with_context(|| format!("cannot make {}", to.display()))?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let name = entry.file_name();
        let (from, to) = (entry.path(), to.join(&name));
        // The copy follows a link, and leaves out a link without a target.
        let Ok(metadata) = fs::metadata(&from) else {
            continue;
        };
        if metadata.is_dir() {
            if !name.to_string_lossy().starts_with('.') {
                tree(&from, &to)?;
            }
        } else if name != SCHEMA && name != NOTES {
            match fs::read_to_string(&from) {
                Ok(text) => write(&to, &text)?,
                Err(_) => fs::copy(&from, &to).map(drop)?,
            }
        }
    }
    Ok(())
}

/// Removes the templates of a copy's sub-charts, at each level, but for those whose names begin with `_` and that only define helpers.
pub(super) fn shorten(copy: &Path) -> Result<()> {
    let Ok(charts) = fs::read_dir(copy.join("charts")) else {
        return Ok(());
    };
    for chart in charts {
        let chart = chart?.path();
        remove_objects(&chart.join("templates"))?;
        shorten(&chart)?;
    }
    Ok(())
}

/// Removes the files in a folder of templates that may render objects: those whose names do not begin with `_`.
fn remove_objects(templates: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(templates) else {
        return Ok(());
    };
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name();
        if entry.path().is_dir() {
            remove_objects(&entry.path())?;
        } else if !name.to_string_lossy().starts_with('_') {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

/// Takes the sub-charts that a copy declares and lacks from the folders around the chart, and theirs. Removes the declaration of a sub-chart that
/// no folder holds, because Helm renders no chart that lacks a sub-chart, and returns its name and its alias. `depth` is 0 for the chart itself;
/// below [`DEEPEST`] levels no sub-chart is taken.
pub(super) fn complete(chart: &Path, copy: &Path, depth: usize) -> Result<Missing> {
    let mut missing = Vec::new();
    for file in ["Chart.yaml", "requirements.yaml"] {
        let Some(mut about) = read(&copy.join(file)) else {
            continue;
        };
        let Some(declared) = about.get_mut("dependencies").and_then(Value::as_array_mut) else {
            continue;
        };
        let before = declared.len();
        declared.retain(|it| {
            let name = it["name"].as_str().unwrap_or_default();
            if is_there(copy, name) {
                return true;
            }
            let repository = it["repository"].as_str().unwrap_or_default();
            let found = beside(chart, name, repository).filter(|_| depth < DEEPEST);
            let taken = found
                .is_some_and(|found| take(&found, &copy.join("charts").join(name), depth).is_ok());
            if !taken {
                let called = it["alias"].as_str().unwrap_or(name);
                missing.extend([name.to_owned(), called.to_owned()]);
            }
            taken
        });
        if declared.len() < before {
            // The rest of the file is written as JSON, which is YAML too.
            fs::write(copy.join(file), about.to_string())?;
            for lock in ["Chart.lock", "requirements.lock"] {
                let _ = fs::remove_file(copy.join(lock));
            }
        }
    }
    missing.sort();
    missing.dedup();
    Ok(Missing(missing))
}

fn take(found: &Path, to: &Path, depth: usize) -> Result<()> {
    tree(found, to)?;
    complete(found, to, depth + 1)?;
    Ok(())
}

fn read(path: &Path) -> Option<Value> {
    let text = fs::read(path).ok()?;
    Some(Entries::new(&text).next()?.ok()?.object)
}

/// Reads the names of a chart and of its sub-charts, and the sub-charts' values, from a copy of the chart. `missing` are the declared sub-charts
/// that the copy does not have.
pub(super) fn names(copy: &Path, missing: &[String]) -> ChartNames {
    let files = ["Chart.yaml", "requirements.yaml"];
    let about: Vec<Value> = files.iter().filter_map(|it| read(&copy.join(it))).collect();
    let declared = about.iter().filter_map(|it| it["dependencies"].as_array());
    let declared: Vec<(&str, &str)> = declared
        .flatten()
        .filter_map(|it| {
            let name = it["name"].as_str()?;
            Some((name, it["alias"].as_str().unwrap_or(name)))
        })
        .collect();
    let inside = fs::read_dir(copy.join("charts")).into_iter().flatten();
    let inside = inside.flatten().map(|it| it.path());
    let mut values = Vec::new();
    for folder in inside.filter(|it| it.is_dir()) {
        let own = folder.file_name().unwrap_or_default().to_string_lossy();
        let aliases = declared.iter().filter(|it| it.0 == own).map(|it| it.1);
        let aliases: Vec<&str> = aliases.collect();
        let known = read(&folder.join("values.yaml")).unwrap_or_default();
        if aliases.is_empty() {
            values.push((own.into_owned(), known.clone()));
        }
        values.extend(aliases.into_iter().map(|it| (it.to_owned(), known.clone())));
    }
    let called = declared.iter().map(|it| it.1.to_owned());
    let folders = values.iter().map(|it| it.0.clone());
    let mut parts: Vec<String> = called.chain(folders).chain(missing.to_vec()).collect();
    parts.sort();
    parts.dedup();
    let chart = about.first().and_then(|it| it["name"].as_str());
    ChartNames {
        chart: chart.unwrap_or_default().to_owned(),
        parts,
        values,
    }
}

/// Whether `charts/` holds a sub-chart, as a folder or packed.
fn is_there(chart: &Path, name: &str) -> bool {
    let Ok(inside) = fs::read_dir(chart.join("charts")) else {
        return false;
    };
    inside.filter_map(Result::ok).any(|it| {
        let file = it.file_name().to_string_lossy().into_owned();
        let own = read(&it.path().join("Chart.yaml"));
        file.starts_with(&format!("{name}-")) || own.is_some_and(|it| it["name"] == name)
    })
}

/// The folder of a sub-chart: at its `file://` address, or else of its name, or `common/` and its name, in one of the three folders above the
/// chart. `None` where none of these is a chart of that name.
fn beside(chart: &Path, name: &str, repository: &str) -> Option<PathBuf> {
    let chart = fs::canonicalize(chart).ok()?;
    let declared = repository.strip_prefix("file://").map(|it| chart.join(it));
    let around = chart.ancestors().skip(1).take(3);
    let around = around.flat_map(|it| [it.join(name), it.join("common").join(name)]);
    let is_it =
        |path: &PathBuf| read(&path.join("Chart.yaml")).is_some_and(|it| it["name"] == name);
    declared.into_iter().chain(around).find(is_it)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_is_generated() {
        for (template, expected) in [
            (
                "{{ $ca := genCA \"x\" 365 }}{{ $ca.Cert | b64enc }}",
                Some(
                    "{{ $ca := dict \"Cert\" \"sluice\" \"Key\" \"sluice\" \"x\" 365 }}{{ $ca.Cert | b64enc }}",
                ),
            ),
            ("{{ genPrivateKey \"rsa\" }}", Some("{{ print \"rsa\" }}")),
            ("{{ include \"x\" . }}", None),
        ] {
            assert_eq!(without_keys(template).as_deref(), expected);
        }
    }
}
