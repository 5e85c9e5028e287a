//! Reads objects from files, charts and kustomizations, with the faults in these.

use super::chart;
use super::object::{Alias, Object};
use super::place::Place;
use super::sources::Sources;
use crate::manifest::{Entries, Fault, Origin, Position, is_json_patch};
use crate::source::{self, Chart, FoundBy, FoundSource, ManifestSource};
use crate::{offline, parallel};
use anyhow::{Result, ensure};
use rules::scope::Scope;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The files, charts and kustomizations to read objects from.
#[derive(Debug, Clone, Default)]
pub(crate) struct Input {
    /// Files, folders, charts and kustomizations; `-` is standard input.
    pub(crate) paths: Vec<PathBuf>,
    /// Whether to read the folders inside of folders.
    pub(crate) recursive: bool,
    /// The arguments by which Helm renders charts.
    pub(crate) chart: Chart,
}

/// The objects and faults of the sources that were read.
#[derive(Debug, Default)]
pub(crate) struct Read {
    /// The objects of the input, in their order.
    pub(crate) objects: Vec<Object>,
    /// The faults of the texts, charts and objects that could not be read.
    pub(crate) unread: Vec<Doubt>,
    /// The kustomizations of folders that need more than the files of this machine to be built.
    pub(crate) unbuilt: Vec<Doubt>,
    /// How many JSON patches were passed over: they are no objects, and no faults.
    pub(crate) patches: usize,
    /// A fault for each key that a mapping of the input has twice.
    pub(crate) twice: Vec<Doubt>,
    /// The texts of the input, by which places are found.
    pub(crate) sources: Sources,
}

/// A fault of a text of the input.
#[derive(Debug)]
pub(crate) struct Doubt {
    /// The place of the object with the fault; the file alone for a fault that is in no object.
    pub(crate) place: Place,
    /// The position of the fault in the file; `None` where the fault is of the file as a whole.
    pub(crate) position: Option<Position>,
    pub(crate) why: String,
}

impl Doubt {
    fn of_file(name: &str, position: Option<Position>, why: String) -> Self {
        let place = Place {
            file: name.to_owned(),
            ..Place::default()
        };
        Self {
            place,
            position,
            why,
        }
    }
}

/// Writes the file, the position and the fault: `shop.yaml: line 2, column 1: …`
impl fmt::Display for Doubt {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.position.map(|it| format!("{it}: "));
        let file = &self.place.file;
        write!(out, "{file}: {}{}", at.unwrap_or_default(), self.why)
    }
}

/// Reads the objects of the files, folders, charts and kustomizations. A library chart that was found in a folder is left out.
///
/// # Errors
///
/// Values for a chart where there is no chart, a file that cannot be read, a named chart that cannot be rendered or, unless `recursive`, a named
/// kustomization that cannot be built. A chart or kustomization that was found in a folder hides none of the others: the result lists it as not read
/// or not built.
pub(crate) fn read(input: &Input) -> Result<Read> {
    let mut objects = Read::default();
    let mut found = source::find(&input.paths, input.recursive)?;
    found.retain(|it| match &it.source {
        ManifestSource::Chart(folder) => it.by == FoundBy::Name || !Chart::is_library(folder),
        _ => true,
    });
    let beside_chart = found.iter().any(|it| it.source.is_chart());
    ensure!(
        beside_chart || !input.chart.has_values(),
        "--values and --set render a chart, and there is none; name its folder with -f"
    );
    // Other programs do most of the work.
    let texts = parallel::map_few(&found, |_, it| it.source.text(&input.chart));
    for (FoundSource { source, by }, text) in found.iter().zip(texts) {
        let named = *by == FoundBy::Name;
        match (source, text) {
            (ManifestSource::File(_), text) => {
                let (name, text) = text?;
                objects.take_settled(&name, &text, false, &input.chart, beside_chart)?;
            }
            (ManifestSource::Chart(folder), Ok((name, text))) => {
                let taken = objects.take_chart(folder, &name, &text, &input.chart);
                if let Err(error) = taken {
                    ensure!(!named, error);
                    objects.unreadable(&name, None, format!("{error:#}"));
                }
            }
            (ManifestSource::Kustomization(_), Ok((name, text))) => {
                objects.take_settled(&name, &text, true, &input.chart, beside_chart)?;
            }
            (ManifestSource::Chart(_), Err(error)) => {
                ensure!(!named, error);
                objects.unreadable(&source.name(), None, format!("{error:#}"));
            }
            (ManifestSource::Kustomization(it), Err(error)) => {
                ensure!(!named || input.recursive, error);
                let why = format!("{error:#}");
                match it.needs() {
                    Some(_) => objects
                        .unbuilt
                        .push(Doubt::of_file(&source.name(), None, why)),
                    None => objects.unreadable(&source.name(), None, why),
                }
            }
        }
    }
    Ok(objects)
}

impl Read {
    fn take_chart(&mut self, folder: &Path, name: &str, text: &[u8], chart: &Chart) -> Result<()> {
        let first = self.objects.len();
        self.take(name, text, true, |object| chart.install(folder, object))?;
        let aliases: Arc<[Alias]> = chart::aliases(folder)?.into();
        for object in &mut self.objects[first..] {
            object.aliases = Arc::clone(&aliases);
        }
        Ok(())
    }

    /// Takes the objects of a manifest that is of no chart.
    fn take_settled(
        &mut self,
        name: &str,
        text: &[u8],
        rendered: bool,
        chart: &Chart,
        beside_chart: bool,
    ) -> Result<()> {
        self.take(name, text, rendered, |object| {
            chart.settle(object, beside_chart);
            Ok(())
        })
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
            if entry.problem.is_some() && is_json_patch(&entry.object) {
                self.patches += 1;
                continue;
            }
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
        self.unread.push(Doubt::of_file(name, position, why));
    }
}

/// Makes an object of the input of a JSON value, with its place, kind and scope. An object without a namespace gets the empty namespace.
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
