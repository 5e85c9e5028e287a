//! The texts of a chart or of a folder: templates, helpers and values, with the containers in them.

use super::blocks::{self, Block};
use super::document::{self, Document};
use super::mask::inner;
use super::template::{self, Template};
use crate::input;
use crate::manifest::Entries;
use anyhow::Result;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

/// The variable that a line of a template sets: `$address` of `{{- $address := .Values.address -}}`. `None` for a line that does not begin so.
fn assigned(line: &str) -> Option<&str> {
    let action = line.trim_start().trim_start_matches(['{', '-', ' ']);
    let (name, behind) = action.split_once(' ')?;
    let is_name = name.len() > 1 && name.starts_with('$');
    (is_name && behind.starts_with([':', '='])).then_some(name)
}

/// One file of a chart or of a folder, with the containers in its text.
#[derive(Debug)]
pub(super) struct File {
    pub(super) path: PathBuf,
    pub(super) text: String,
    /// The lines of the text, without their ends.
    pub(super) lines: Vec<String>,
    /// The numbers of the lines of each document of the file, from 0.
    documents: Vec<Range<usize>>,
    pub(super) template: Template,
    pub(super) blocks: Vec<Block>,
}

/// The files of a chart or of a folder, with the helpers and the values of the chart.
#[derive(Debug, Default)]
pub(super) struct Texts {
    pub(super) files: Vec<File>,
    /// The values of the chart.
    pub(super) values: Value,
    /// The bodies of the helpers, by their names.
    pub(super) helpers: BTreeMap<String, String>,
}

const VALUES: &str = "values.yaml";

impl Texts {
    /// Reads the manifests, templates and values of a folder, without the folders in `without`.
    pub(super) fn read(folder: &Path, without: &[PathBuf]) -> Result<Self> {
        let mut texts = Self::default();
        for path in files(folder)? {
            if without.iter().any(|it| path.starts_with(it)) {
                continue;
            }
            let (_, text) = input::read(&path)?;
            texts.add(path, String::from_utf8_lossy(&text).into_owned());
        }
        if folder.is_dir() {
            texts.values = read_values(folder);
        }
        Ok(texts)
    }

    /// Reads the files at these paths, as manifests without the values of a chart.
    pub(super) fn of(paths: Vec<PathBuf>) -> Result<Self> {
        let mut texts = Self::default();
        for path in paths {
            let (_, text) = input::read(&path)?;
            texts.add(path, String::from_utf8_lossy(&text).into_owned());
        }
        Ok(texts)
    }

    /// Reads a chart: its templates, the templates of its sub-charts, and the values. Examples and tests in its folder are no part of the
    /// chart.
    pub(super) fn of_chart(chart: &Path) -> Result<Self> {
        let mut texts = Self::read(chart, &[])?;
        texts.files.retain(|file| {
            let below = file.path.strip_prefix(chart).unwrap_or(&file.path);
            let is_part = |it: &std::ffi::OsStr| it == "templates" || it == "charts";
            let first = below.iter().next();
            below == Path::new(VALUES) || first.is_some_and(is_part)
        });
        Ok(texts)
    }

    pub(super) fn add(&mut self, path: PathBuf, text: String) {
        let template = Template::of(&text);
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let documents = document::all(&lines);
        let mut blocks = blocks::all(&template);
        // Nothing starts after a test of `helm test`, so its containers are no waits.
        for range in &documents {
            let lines = &lines[range.clone()];
            let document = Document {
                first: range.start,
                lines,
            };
            if document.is_test() {
                blocks.retain(|it| !document.holds(it.first));
            }
        }
        for (at, start) in text.match_indices("define \"") {
            let behind = &text[at + start.len()..];
            let name = behind.split('"').next().unwrap_or_default();
            let body = behind.split_once("}}").map(|it| it.1);
            if let (false, Some(body)) = (self.helpers.contains_key(name), body) {
                let body = body[..end_of(body)].to_owned();
                self.helpers.insert(name.to_owned(), body);
            }
        }
        self.files.push(File {
            path,
            text,
            lines,
            documents,
            template,
            blocks,
        });
    }

    pub(super) fn file(&self, path: &Path) -> Option<&File> {
        self.files.iter().find(|it| it.path == path)
    }

    /// The body of a helper of the chart; `None` for an unknown helper.
    pub(super) fn helper(&self, name: &str) -> Option<&str> {
        self.helpers.get(name).map(String::as_str)
    }

    /// A text, followed by the bodies of the helpers that it includes, and of the helpers that these include in turn.
    pub(super) fn reach(&self, text: &str) -> String {
        let mut names: Vec<String> = Vec::new();
        let mut all = text.to_owned();
        let mut from = 0;
        while from < all.len() {
            let new = all[from..].to_owned();
            from = all.len();
            let includes = new.split("include \"").skip(1);
            for name in includes.chain(new.split("template \"").skip(1)) {
                let name = name.split('"').next().unwrap_or_default().to_owned();
                if !names.contains(&name) {
                    all.push_str(self.helper(&name).unwrap_or_default());
                    names.push(name);
                }
            }
        }
        all
    }
}

impl File {
    /// The name of the file for messages.
    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    /// The lines that set the variables which a text of the file reads: a variable may get another value in each branch.
    pub(super) fn variables_of(&self, text: &str) -> String {
        let is_read = |name: &str| text.contains(name);
        let lines = self.lines.iter();
        let sets = lines.filter(|it| assigned(it).is_some_and(is_read));
        sets.map(String::as_str).collect::<Vec<_>>().join("\n")
    }

    /// The text of a container.
    pub(super) fn text_of(&self, block: &Block) -> String {
        self.lines_of(block).join("\n")
    }

    /// The lines of a container.
    pub(super) fn lines_of(&self, block: &Block) -> &[String] {
        let lines = self.lines.get(block.first..).unwrap_or_default();
        &lines[..block.length.min(lines.len())]
    }

    /// The documents of the file, in their order.
    pub(super) fn documents(&self) -> impl Iterator<Item = Document<'_>> {
        self.documents.iter().map(|range| Document {
            first: range.start,
            lines: &self.lines[range.clone()],
        })
    }

    /// Whether the text of a container in the file looks like a wait.
    pub(super) fn looks(&self) -> bool {
        let of_block = |it: &Block| it.read().any(|it| it.1.looks);
        self.blocks.iter().any(of_block)
    }

    pub(super) fn is_values(&self) -> bool {
        self.path.file_name().is_some_and(|it| it == VALUES)
    }
}

/// The byte at which the body of a helper or of another action ends: that of the action's own `end`, or the end of the text without one. `body`
/// begins behind the action.
pub(super) fn end_of(body: &str) -> usize {
    let mut open = 0;
    let mut at = 0;
    while let Some(start) = body[at..].find("{{") {
        let start = at + start;
        let end = body[start..]
            .find("}}")
            .map_or(body.len(), |it| start + it + 2);
        match template::word(inner(&body[start..end])) {
            "if" | "with" | "range" | "define" | "block" => open += 1,
            "end" if open == 0 => return start,
            "end" => open -= 1,
            _ => {}
        }
        at = end;
    }
    body.len()
}

/// The value at a path such as `postgresql.enabled`; `None` where no value is there.
pub(super) fn value_at<'v>(values: &'v Value, path: &str) -> Option<&'v Value> {
    path.split('.')
        .try_fold(values, |value, key| value.get(key))
}

fn read_values(folder: &Path) -> Value {
    let text = fs::read(folder.join(VALUES)).unwrap_or_default();
    let first = Entries::new(&text).next().and_then(Result::ok);
    first.map(|entry| entry.object).unwrap_or_default()
}

/// The manifests, templates and values in a folder and in the folders below it, without hidden folders, a chart's own description and further
/// files of values. A `path` to a file gives that file.
fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    for path in input::inside(path)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let is_text = [".yaml", ".yml", ".tpl"]
            .iter()
            .any(|it| name.ends_with(it));
        if path.is_dir() {
            if !name.starts_with('.') {
                found.extend(files(&path)?);
            }
        } else if is_text
            && !name.starts_with("Chart.")
            && (name == VALUES || !name.starts_with("values"))
        {
            found.push(path);
        }
    }
    Ok(found)
}
