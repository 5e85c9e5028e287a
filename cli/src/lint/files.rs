//! The files that lint reads.

use super::finding::{Finding, Level, Place};
use super::object::Object;
use crate::input;
use crate::manifest::{Entries, Entry};
use crate::offline;
use anyhow::{Context, Result};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// The objects of the files and folders in their order, and what cannot be read of them.
pub(super) fn read(paths: &[PathBuf], recursive: bool) -> Result<(Vec<Object>, Vec<Finding>)> {
    let (mut objects, mut findings) = (Vec::new(), Vec::new());
    for path in paths {
        for file in files(path, recursive)? {
            let (name, input) = input::open(&file)?;
            take(&name, Entries::new(input), &mut objects, &mut findings);
        }
    }
    Ok((objects, findings))
}

fn take(
    name: &str,
    entries: impl Iterator<Item = Result<Entry, crate::manifest::Error>>,
    objects: &mut Vec<Object>,
    findings: &mut Vec<Finding>,
) {
    for entry in entries {
        match entry {
            Ok(Entry {
                object,
                problem,
                document,
            }) => {
                let object = place(name, document, object);
                findings.extend(problem.map(|why| Finding::new(Level::Error, &object.place, why)));
                objects.push(object);
            }
            Err(error) => {
                let file = Place {
                    file: name.to_owned(),
                    ..Place::default()
                };
                findings.push(Finding::new(Level::Error, &file, error.to_string()));
            }
        }
    }
}

pub(super) fn place(file: &str, document: usize, value: Value) -> Object {
    let text = |pointer: &str| {
        let text = value.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    Object {
        place: Place {
            file: file.to_owned(),
            document,
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        },
        kind: offline::kind_of(&value).ok(),
        value,
    }
}

/// The manifests of a folder by name, those of folders in it where that is asked for; else the path itself.
fn files(path: &Path, recursive: bool) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let read = || format!("cannot read the folder {}", path.display());
    let mut inside = Vec::new();
    for entry in fs::read_dir(path).with_context(read)? {
        inside.push(entry.with_context(read)?.path());
    }
    inside.sort();
    let mut found = Vec::new();
    for path in inside {
        let extension = path.extension().and_then(|it| it.to_str());
        if path.is_dir() {
            if recursive {
                found.extend(files(&path, recursive)?);
            }
        } else if extension.is_some_and(|it| EXTENSIONS.contains(&it)) {
            found.push(path);
        }
    }
    Ok(found)
}
