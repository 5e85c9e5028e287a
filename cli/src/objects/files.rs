//! The files that objects are read from.

use super::chart::{self, Chart};
use super::object::Object;
use super::place::Place;
use crate::input;
use crate::manifest::Entries;
use crate::offline;
use anyhow::{Context, Result};
use rules::scope::Scope;
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};

const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// The files and charts to read objects from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Input {
    /// Files, folders and charts; `-` is standard input.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether to read the folders inside of folders.
    pub(crate) recursive: bool,
    /// How to render charts.
    pub(crate) chart: Chart,
}

/// A place that cannot be read, and why.
#[derive(Debug)]
pub(crate) struct Unread {
    pub(crate) place: Place,
    pub(crate) why: String,
}

/// The objects of the files and folders in their order, and the places that cannot be read.
pub(crate) fn read(input: &Input) -> Result<(Vec<Object>, Vec<Unread>)> {
    let mut objects = Objects::default();
    for path in &input.paths {
        if chart::is_chart(path) {
            objects.take_chart(path, &input.chart)?;
            continue;
        }
        for file in files(path, input.recursive)? {
            let (name, text) = input::read(&file)?;
            objects.take(&name, Entries::new(&text), |_| Ok(()))?;
        }
    }
    Ok((objects.read, objects.unread))
}

#[derive(Default)]
struct Objects {
    read: Vec<Object>,
    unread: Vec<Unread>,
}

impl Objects {
    fn take_chart(&mut self, folder: &Path, chart: &Chart) -> Result<()> {
        let rendered = chart.render(folder)?;
        let name = folder.display().to_string();
        let first = self.read.len();
        self.take(&name, Entries::new(&rendered), |object| {
            chart.install(folder, object)
        })?;
        for object in &mut self.read[first..] {
            object.rendered = true;
        }
        Ok(())
    }

    fn take(
        &mut self,
        name: &str,
        entries: Entries<'_>,
        finish: impl Fn(&mut Value) -> Result<()>,
    ) -> Result<()> {
        for entry in entries {
            match entry {
                Ok(mut entry) => {
                    finish(&mut entry.object)?;
                    let object = place(name, entry.document, entry.object);
                    let place = object.place.clone();
                    let unread = entry.problem.map(|why| Unread { place, why });
                    self.unread.extend(unread);
                    self.read.push(object);
                }
                Err(error) => self.unread.push(Unread {
                    place: Place {
                        file: name.to_owned(),
                        ..Place::default()
                    },
                    why: error.to_string(),
                }),
            }
        }
        Ok(())
    }
}

/// An object with its place, kind and scope.
pub(crate) fn place(file: &str, document: usize, mut value: Value) -> Object {
    // Objects of a manifest that name no namespace all belong to one, whose name is empty here.
    if let Some(metadata) = value.get_mut("metadata").and_then(Value::as_object_mut) {
        metadata.entry("namespace").or_insert_with(|| "".into());
    }
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
        scope: Scope::of(&value),
        value,
        rendered: false,
    }
}

/// The manifests of a folder, sorted by name (`recursive`: also those of the folders inside); of a file, the file itself.
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
