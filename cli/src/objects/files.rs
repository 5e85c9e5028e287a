//! The files that objects are read from.

use super::chart::{self, Chart};
use super::object::{Alias, Object};
use super::place::Place;
use super::sources::Sources;
use crate::input;
use crate::manifest::{Entries, Fault, Origin, Position};
use crate::offline;
use anyhow::{Result, ensure};
use rules::scope::Scope;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const EXTENSIONS: [&str; 3] = ["yaml", "yml", "json"];

/// The files and charts to read objects from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Input {
    /// Files, folders and charts; `-` is standard input.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether to read the folders inside of folders.
    pub(crate) recursive: bool,
    /// The arguments by which Helm renders charts.
    pub(crate) chart: Chart,
}

/// The objects and faults of the files and charts that were read.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// The objects of the input, in their order.
    pub(crate) objects: Vec<Object>,
    /// The texts that could not be read.
    pub(crate) unread: Vec<Doubt>,
    /// The keys that a mapping of the input has twice.
    pub(crate) twice: Vec<Doubt>,
    /// The texts of the input, by which places are found.
    pub(crate) sources: Sources,
}

/// A fault of a text of the input.
#[derive(Debug)]
pub(crate) struct Doubt {
    /// The object with the fault, as far as it is one.
    pub(crate) place: Place,
    /// The position of the fault in the file.
    pub(crate) position: Option<Position>,
    pub(crate) why: String,
}

/// Reads the objects of the files, folders and charts.
pub(crate) fn read(input: &Input) -> Result<Read> {
    let mut objects = Read::default();
    let mut inputs = Vec::new();
    for path in &input.paths {
        let files = files(path, input.recursive)?;
        inputs.extend(files.into_iter().map(|file| (path, file)));
    }
    let beside_chart = inputs.iter().any(|(_, file)| chart::is_chart(file));
    ensure!(
        beside_chart || !input.chart.has_values(),
        "--values and --set render a chart, and there is none; name its folder with -f"
    );
    for (path, file) in inputs {
        if !chart::is_chart(&file) {
            let (name, text) = input::read(&file)?;
            let settle = |object: &mut Value| {
                input.chart.settle(object, beside_chart);
                Ok(())
            };
            objects.take(&name, &text, false, settle)?;
        } else if *path == file {
            objects.take_chart(&file, &input.chart)?;
        } else if !chart::is_library(&file)
            // One chart of many that cannot be rendered hides none of the others.
            && let Err(error) = objects.take_chart(&file, &input.chart)
        {
            objects.unreadable(&file.display().to_string(), None, format!("{error:#}"));
        }
    }
    Ok(objects)
}

impl Read {
    fn take_chart(&mut self, folder: &Path, chart: &Chart) -> Result<()> {
        let rendered = chart.render(folder)?;
        let name = folder.display().to_string();
        let first = self.objects.len();
        self.take(&name, &rendered, true, |object| {
            chart.install(folder, object)
        })?;
        let aliases: Arc<[Alias]> = chart::aliases(folder)?.into();
        for object in &mut self.objects[first..] {
            object.aliases = Arc::clone(&aliases);
        }
        Ok(())
    }

    fn take(
        &mut self,
        name: &str,
        text: &[u8],
        rendered: bool,
        finish: impl Fn(&mut Value) -> Result<()>,
    ) -> Result<()> {
        for entry in Entries::new(text) {
            let mut entry = match entry {
                Ok(entry) => entry,
                Err(Fault { place, text }) => {
                    self.unreadable(name, Some(place), text);
                    continue;
                }
            };
            finish(&mut entry.object)?;
            let mut object = place(name, entry.document, entry.object);
            object.place.origin = entry.origin;
            object.rendered = rendered;
            let doubt = |fault: Fault| Doubt {
                place: object.place.clone(),
                position: Some(fault.place),
                why: fault.text,
            };
            self.unread.extend(entry.problem.map(doubt));
            self.twice.extend(entry.twice.into_iter().map(doubt));
            self.objects.push(object);
        }
        self.sources.keep(name, text, rendered);
        Ok(())
    }

    fn unreadable(&mut self, name: &str, position: Option<Position>, why: String) {
        let file = name.to_owned();
        let place = Place {
            file,
            ..Place::default()
        };
        self.unread.push(Doubt {
            place,
            position,
            why,
        });
    }
}

/// Makes an object of the input, with its place, kind and scope.
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
            origin: Origin::default(),
            kind: text("/kind"),
            namespace: text("/metadata/namespace"),
            name: text("/metadata/name"),
        },
        kind: offline::kind_of(&value).ok(),
        scope: Scope::of(&value),
        value,
        rendered: false,
        aliases: Arc::default(),
    }
}

/// The manifests and charts of a folder, sorted by name (`recursive`: also those of the folders inside); of a file or a chart,
/// that itself.
fn files(path: &Path, recursive: bool) -> Result<Vec<PathBuf>> {
    if !path.is_dir() || chart::is_chart(path) {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for path in input::inside(path)? {
        let extension = path.extension().and_then(|it| it.to_str());
        if chart::is_chart(&path) {
            found.push(path);
        } else if path.is_dir() {
            if recursive {
                found.extend(files(&path, recursive)?);
            }
        } else if extension.is_some_and(|it| EXTENSIONS.contains(&it)) {
            found.push(path);
        }
    }
    Ok(found)
}
