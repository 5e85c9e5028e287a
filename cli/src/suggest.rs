//! `suggest -f CHART|DIR`: the annotations that say what a chart's own wait loops do, as a diff that applies.
//!
//! Templates are read as text, never rendered: what a loop calls its target, an annotation may call it too, template and all.

mod diff;
mod document;
mod edits;
mod targets;
mod values;
mod waits;
mod words;

use crate::input;
use crate::output::printable;
use anyhow::{Result, ensure};
use diff::Edit;
use document::Document;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use targets::{Context, Target};
use values::Umbrella;

/// What was found.
#[derive(Debug, Default)]
struct Found {
    /// The changes by the files that they are of.
    edits: BTreeMap<PathBuf, Vec<Edit>>,
    /// What cannot be expressed, with its place.
    left: Vec<String>,
    proposed: usize,
}

/// Prints the diff, and on standard error what is left as it is.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) fn run(paths: &[PathBuf]) -> Result<ExitCode> {
    let mut found = Found::default();
    let mut read = 0;
    for folder in paths {
        let mut umbrella = Umbrella::read(folder)?;
        for file in files(folder)? {
            let (name, text) = input::read(&file)?;
            read += 1;
            let text = String::from_utf8_lossy(&text);
            found.file(&file, &name, &text, &mut umbrella);
        }
        umbrella.finish(&mut found.edits);
    }
    ensure!(
        read > 0,
        "there is no manifest and no template; -f takes a chart, a folder or a file"
    );
    for (path, edits) in found.edits {
        let (_, text) = input::read(&path)?;
        print!(
            "{}",
            diff::unified(&path, &String::from_utf8_lossy(&text), edits)
        );
    }
    for left in &found.left {
        eprintln!("left: {}", printable(left));
    }
    let left = found.left.len();
    eprintln!("{} proposed, {left} left as they are", found.proposed);
    Ok(ExitCode::SUCCESS)
}

impl Found {
    fn file(&mut self, path: &Path, name: &str, text: &str, umbrella: &mut Umbrella) {
        let lines: Vec<&str> = text.lines().collect();
        for document in document::all(&lines) {
            self.waits(path, name, &document, umbrella);
            self.wave(path, &document);
            self.hook(name, &document);
        }
    }

    /// The wait loops of one workload.
    fn waits(&mut self, path: &Path, name: &str, document: &Document<'_>, umbrella: &mut Umbrella) {
        let words = words::of(document);
        let context = Context {
            words: &words,
            values: umbrella.of_template(path),
        };
        let mut list: Vec<String> = Vec::new();
        for wait in waits::find(&words) {
            let place = format!("{name}:{}: {}", wait.line + 1, wait.what);
            match context.resolve(&wait) {
                Target::Itself => {}
                Target::Entry(entry) if document.is_workload() => {
                    if !list.contains(&entry) {
                        list.push(entry);
                    }
                }
                Target::Entry(entry) => self.left.push(format!(
                    "{place}: it is in no workload of this file; where it is used, annotate with {entry}"
                )),
                Target::Left(why) => self.left.push(format!("{place}: {why}")),
            }
        }
        if list.is_empty() {
            return;
        }
        if document.has("sluice.dev/depends-on") {
            self.left.push(format!(
                "{name}:{}: it has a list already",
                document.first + 1
            ));
            return;
        }
        if let Some(changes) = umbrella.take(path, document, &list) {
            self.proposed += if changes { list.len() } else { 0 };
            return;
        }
        let text = edits::list(&list);
        let edit = edits::annotate(document, &text).filter(|_| !umbrella.is_vendored(path));
        if let Some(edit) = edit {
            self.edits.entry(path.to_owned()).or_default().push(edit);
            self.proposed += list.len();
            return;
        }
        let place = format!("{name}:{}", document.first + 1);
        self.left.push(format!(
            "{place}: its annotations cannot be changed here; add sluice.dev/depends-on: {text}"
        ));
    }

    /// A sync wave of Argo CD, as a weight.
    fn wave(&mut self, path: &Path, document: &Document<'_>) {
        if let Some(edit) = edits::weigh(document) {
            self.edits.entry(path.to_owned()).or_default().push(edit);
            self.proposed += 1;
        }
    }

    /// A migration that nobody can wait for, because Helm runs it last.
    fn hook(&mut self, name: &str, document: &Document<'_>) {
        let (Some(at), true) = (document.late_hook(), document.migrates()) else {
            return;
        };
        self.left.push(format!(
            "{name}:{}: this hook migrates after everything else is there; make it a plain Job with the release's revision in its name, \
             and let its dependents wait for job/NAME",
            at + 1
        ));
    }
}

/// The manifests and templates of a folder and of the folders inside; of a file, the file itself.
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
            found.extend(files(&path)?);
        } else if is_text && !name.starts_with("values") && !name.starts_with("Chart.") {
            found.push(path);
        }
    }
    Ok(found)
}
