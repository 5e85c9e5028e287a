//! `suggest -f CHART|DIR`: proposes the annotations that mean the same as a chart's own wait loops, as a diff that applies.
//!
//! Helm renders a chart with several sets of values, and the command reads from the rendered containers for which things they wait. It
//! writes the annotation into a copy of the template and renders the chart again. The command proposes an annotation only if the annotation
//! then says the same as the loops. A template that does not render is read as text.

mod acts;
mod audit;
mod blocks;
mod budget;
mod by_text;
mod candidates;
mod chosen;
mod clients;
mod comparison;
mod conditions;
mod container;
mod diff;
mod document;
mod edits;
mod environment;
mod examples;
mod expected;
mod flow;
mod forms;
mod found;
mod host;
mod host_list;
mod host_lists;
mod image;
mod in_text;
mod known;
mod kubectl;
mod learned_condition;
mod list;
mod mask;
mod object;
mod operands;
mod outcome;
mod places;
mod reason;
mod release;
mod removed;
mod render;
mod report;
mod scripts;
mod search;
mod settle;
mod shell;
mod source;
mod survey;
mod switch;
mod switches;
mod target;
mod telling;
mod template;
mod tested;
mod texts;
mod traces;
mod tried;
mod tried_sets;
mod values;
mod varied;
mod wait;
mod waiting_images;
mod waits;
mod ways;
mod whole_sets;
mod world;

use crate::compose::{self, Additions};
use crate::input;
use crate::output::printable;
use crate::source::ManifestSource;
use anyhow::{Result, ensure};
use budget::RenderBudget;
use container::Container;
use reason::Reason;
use render::Copy;
use report::{Report, Says};
use rules::keys;
use serde_json::Value;
use source::ObjectSource;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use texts::Texts;
use wait::{For, Sought};

/// The request of a user: the paths to read, and the values with which Helm renders charts.
#[derive(Debug, Clone, Default)]
pub(crate) struct Suggesting {
    /// The paths of charts, of folders and of files.
    pub(crate) paths: Vec<PathBuf>,
    /// The files of values, in the order in which Helm reads them.
    pub(crate) values: Vec<PathBuf>,
    /// The single values, in the form that Helm's `--set` takes.
    pub(crate) set: Vec<String>,
}

/// An init container with a wait that a list can replace.
pub(crate) struct WaitLoop {
    /// The index of the container among the init containers of its pod.
    pub(crate) at: usize,
    pub(crate) name: String,
    /// The first command of the container that waits, such as `nc -z db 5432`.
    pub(crate) what: String,
}

/// The init containers of a pod's spec that wait for something that a list can name, each with the first such wait of its command. A wait for a
/// file does not count, nor does one for data other than a table. The gate is left out.
pub(crate) fn wait_loops(spec: &Value) -> Vec<WaitLoop> {
    let init = spec["initContainers"].as_array().into_iter().flatten();
    let waits = |(at, value): (usize, &Value)| {
        let container = Container::of(value, true, spec)?;
        let mut waits = waits::of(&container).waits.into_iter();
        let wait = waits.find(|it| match &it.for_what {
            For::File(_) | For::Nothing(_) => false,
            For::Data(data) => data.sought == Sought::Table,
            _ => true,
        })?;
        Some(WaitLoop {
            at,
            name: container.name,
            what: wait.what,
        })
    };
    let others = init
        .enumerate()
        .filter(|(_, it)| it["name"] != keys::GATE_CONTAINER);
    others.filter_map(waits).collect()
}

/// Runs `suggest`: prints the diff on standard output, or for a Compose file the file to merge over it. Prints on standard error the waits that
/// stay, the parts that go with the replaced loops, and further remarks. Fails where the paths hold no manifest and no template.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) fn run(asked: &Suggesting) -> Result<ExitCode> {
    let mut report = Report::default();
    let mut read = 0;
    for path in &asked.paths {
        if let Some(additions) = compose_file(path)? {
            read += 1;
            of_compose(path, &additions, &mut report);
            continue;
        }
        let mut charts = Vec::new();
        find_charts(path, &mut charts)?;
        for chart in &charts {
            let texts = Texts::of_chart(chart)?;
            read += texts.files.len();
            of_chart(chart, &texts, asked, &mut report)?;
        }
        if let Some(files) = kustomized(path, &mut report) {
            let texts = Texts::of(files)?;
            read += texts.files.len();
            of_manifests(Path::new(""), &texts, &mut report)?;
        } else if charts.first() != Some(path) {
            let texts = Texts::read(path, &charts)?;
            read += texts.files.len();
            let folder = if path.is_dir() { path } else { Path::new("") };
            of_manifests(folder, &texts, &mut report)?;
        }
    }
    ensure!(
        read > 0,
        "there is no manifest and no template; -f takes a chart, a folder or a file"
    );
    for (path, edits) in std::mem::take(&mut report.edits) {
        let (_, text) = input::read(&path)?;
        print!(
            "{}",
            diff::unified(&path, &String::from_utf8_lossy(&text), edits)
        );
    }
    for line in report.lines().lines() {
        eprintln!("{}", printable(line));
    }
    eprintln!(
        "{} proposed, {} left as they are",
        report.proposed,
        report.left()
    );
    Ok(ExitCode::SUCCESS)
}

/// The files of a kustomization's manifests and of its bases'; `None` where `path` is no kustomization. Notes that name prefixes and suffixes
/// change no list. A base may lie outside of the folder, and the annotation belongs into the file that holds the workload.
fn kustomized(path: &Path, report: &mut Report) -> Option<Vec<PathBuf>> {
    let ManifestSource::Kustomization(it) = ManifestSource::of(path) else {
        return None;
    };
    if let Some(affixed) = it.affixes() {
        let told = "namePrefix and nameSuffix change no list: write the names as they are in the end, by a patch or by replacements";
        report.tell(affixed, "", Says::Note(told.to_owned()));
    }
    Some(it.manifests())
}

/// The labels with lists that `suggest` adds to the services of a Compose file; `None` where `path` is no Compose file, is a folder, or is the
/// standard input.
fn compose_file(path: &Path) -> Result<Option<Additions>> {
    if path.is_dir() || input::is_stdin(path) {
        return Ok(None);
    }
    let (_, text) = input::read(path)?;
    Ok(compose::of(&text).map(|file| Additions::of(&file)))
}

/// Prints the additions as a second Compose file, which Compose merges over the file that was read. Reports the dependencies that get no entry,
/// and the awaited services without a healthcheck.
#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
fn of_compose(path: &Path, additions: &Additions, report: &mut Report) {
    print!("{additions}");
    report.proposed += additions.proposed;
    let place = || path.display().to_string();
    for (service, why) in &additions.left {
        let left = Says::Left(String::new(), Reason::Compose(why.clone()).to_string());
        report.tell(place(), service, left);
    }
    for service in &additions.unchecked {
        let told = "others wait until it is healthy, and it has no healthcheck here: say what that is in the label \
                    kompose.service.healthcheck.readiness.test, or it counts as soon as it runs";
        report.tell(place(), service, Says::Note(told.to_owned()));
    }
}

/// Adds the chart at `path`, or else the charts in the folders below it, to `charts`. Hidden folders below it are left out, and so are the
/// sub-charts of a chart, because Helm renders them with the chart.
fn find_charts(path: &Path, charts: &mut Vec<PathBuf>) -> Result<()> {
    if path.join("Chart.yaml").is_file() {
        charts.push(path.to_owned());
    } else if path.is_dir() {
        for inside in input::inside(path)? {
            let hidden = inside
                .file_name()
                .is_some_and(|it| it.to_string_lossy().starts_with('.'));
            if inside.is_dir() && !hidden {
                find_charts(&inside, charts)?;
            }
        }
    }
    Ok(())
}

/// Renders a chart, and proposes lists for its wait loops. Where that fails and a template looks like a wait, the report gets the error and the
/// waits in the text, without a list. Even a chart without a wait in its own templates is rendered, since a helper of a library may hold one.
fn of_chart(chart: &Path, texts: &Texts, asked: &Suggesting, report: &mut Report) -> Result<()> {
    let mut given: Vec<String> = Vec::new();
    for file in &asked.values {
        given.extend(["--values".to_owned(), file.display().to_string()]);
    }
    for pair in &asked.set {
        given.extend(["--set".to_owned(), pair.clone()]);
    }
    let source = ObjectSource::Chart(Box::new(Copy::of(chart, given, RenderBudget::default())?));
    if let Err(error) = flow::run(chart, texts, source, report)
        && texts.files.iter().any(texts::File::looks)
    {
        let why = format!("it was read as text, since it cannot be rendered: {error:#}");
        report.tell(chart.display().to_string(), "", Says::Note(why));
        for file in &texts.files {
            by_text::file(texts, file, report);
        }
    }
    for file in &texts.files {
        by_document(file, report);
    }
    Ok(())
}

/// Proposes lists for the wait loops in plain manifests, which need no rendering. A file with `{{` is a template: it is read as text, and gets
/// no list.
fn of_manifests(folder: &Path, texts: &Texts, report: &mut Report) -> Result<()> {
    let (templates, plain): (Vec<_>, Vec<_>) =
        texts.files.iter().partition(|it| it.text.contains("{{"));
    let below = |path: &Path| path.strip_prefix(folder).unwrap_or(path).to_owned();
    let manifests = plain.iter().map(|it| (below(&it.path), it.text.clone()));
    flow::run(
        folder,
        texts,
        ObjectSource::Plain(manifests.collect()),
        report,
    )?;
    for file in templates {
        by_text::file(texts, file, report);
    }
    for file in &texts.files {
        by_document(file, report);
    }
    Ok(())
}

/// Looks at each document of a file alone: proposes a weight for a workload with a sync wave of Argo CD, and reports a migration that Helm runs
/// last, because no pod can wait for such a hook.
fn by_document(file: &texts::File, report: &mut Report) {
    for document in file.documents() {
        if let Some(edit) = edits::weigh(&document) {
            report
                .edits
                .entry(file.path.clone())
                .or_default()
                .push(edit);
            report.proposed += 1;
        }
        if let (Some(at), true) = (document.late_hook(), document.migrates()) {
            let place = format!("{}:{}", file.name(), at + 1);
            let left = Says::Left(String::new(), Reason::LateHook.to_string());
            report.tell(place, "", left);
        }
    }
}
