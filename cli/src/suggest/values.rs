//! Lists in a chart's values: for a sub-chart, whose templates have another author, and for containers that stand in the values
//! themselves.

use super::diff::{self, Edit};
use super::document::{self, Document, indent};
use super::object::ChartObject;
use super::object::text;
use super::render::{IN_ALL, RELEASE};
use super::source::ObjectSource;
use super::switches::Switch;
use super::target::Target;
use super::texts::{File, Texts};
use super::told::Report;
use super::tried;
use anyhow::Result;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

const CHARTS: &str = "charts";
const FILE: &str = "values.yaml";
const KEY: &str = "sluice.dev/depends-on";

/// A list that cannot be written into a template, so it goes into values.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The number of the group of the list's workload.
    pub(super) group: usize,
    pub(super) source: PathBuf,
    pub(super) workload: (String, String),
    /// The values with which the workload was seen.
    pub(super) switches: Vec<Switch>,
    pub(super) entries: Vec<String>,
    /// The file and the line of the container.
    pub(super) block: Option<(PathBuf, usize)>,
}

/// An entry that values can say, which are no templates: a Service of another sub-chart is that sub-chart.
pub(super) fn entry(
    target: &Target,
    objects: &[ChartObject],
    missing: &[String],
    own: &Path,
) -> String {
    let plain = target.plain().text;
    if !plain.contains(RELEASE) {
        return plain;
    }
    let made_by = target.object.and_then(|at| sub_chart(&objects[at].source));
    let lacking = || {
        missing
            .iter()
            .find(|it| target.name.contains(it.as_str()))
            .cloned()
    };
    let chart = made_by
        .or_else(lacking)
        .filter(|it| Some(it) != sub_chart(own).as_ref());
    chart.map_or(plain, |it| format!("subchart/{it}"))
}

/// The sub-chart that a template is of.
fn sub_chart(source: &Path) -> Option<String> {
    let below = source.strip_prefix(CHARTS).ok()?;
    Some(below.iter().next()?.to_string_lossy().into_owned())
}

/// Writes each list into the values where it then stands on the workload, and returns the groups that have got a list.
pub(super) fn settle(
    folder: &Path,
    texts: &Texts,
    source: &mut ObjectSource,
    wanted: Vec<Wanted>,
    report: &mut Report,
) -> Result<BTreeSet<usize>> {
    let mut settled = BTreeSet::new();
    let Some(values) = texts.file(&folder.join(FILE)) else {
        return Ok(settled);
    };
    let lines: Vec<&str> = values.text.lines().collect();
    let mut taken: Vec<Vec<String>> = Vec::new();
    for wanted in wanted {
        let has_release = wanted.entries.iter().any(|it| it.contains(RELEASE));
        if has_release || !matches!(source, ObjectSource::Chart(_)) {
            continue;
        }
        let list = super::list::text(&wanted.entries);
        for path in paths(folder, texts, &lines, &wanted) {
            if taken.contains(&path) {
                continue;
            }
            let edit = put(&lines, &path, &list);
            source.put(
                Path::new(FILE),
                &diff::applied(&values.text, std::slice::from_ref(&edit)),
            )?;
            let rendered = source.render_all(std::slice::from_ref(&wanted.switches), IN_ALL);
            source.put(Path::new(FILE), &values.text)?;
            let objects = rendered.into_iter().flatten().flatten();
            let mut own =
                objects.filter(|it| it.source == wanted.source && is(it, &wanted.workload));
            if own
                .next()
                .is_some_and(|it| tried::says(&it, &wanted.entries))
            {
                report
                    .edits
                    .entry(values.path.clone())
                    .or_default()
                    .push(edit);
                report.proposed += wanted.entries.len();
                settled.insert(wanted.group);
                taken.push(path);
                break;
            }
        }
    }
    Ok(settled)
}

fn is(object: &ChartObject, (kind, name): &(String, String)) -> bool {
    text(&object.value, "/kind") == kind && text(&object.value, "/metadata/name") == name
}

/// The paths of values that may be a workload's annotations.
fn paths(folder: &Path, texts: &Texts, lines: &[&str], wanted: &Wanted) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    if let Some((path, line)) = &wanted.block
        && *path == folder.join(FILE)
    {
        let mut around = keys(lines, *line);
        while around.pop().is_some() {
            for name in ["podAnnotations", "annotations"] {
                let mut path = around.clone();
                path.push(name.to_owned());
                paths.push(path);
            }
        }
    }
    let template = folder.join(&wanted.source);
    let file = texts
        .file(&template)
        .filter(|_| sub_chart(&wanted.source).is_some());
    let own = file.and_then(|file| annotations_value(file, &wanted.workload.0, &wanted.workload.1));
    if let (Some(own), Some(chart)) = (own, sub_chart(&wanted.source)) {
        let mut path = vec![chart];
        path.extend(own.split('.').map(str::to_owned));
        paths.push(path);
    }
    paths
}

/// The keys above a line of a file of values.
fn keys(lines: &[&str], line: usize) -> Vec<String> {
    let mut keys = Vec::new();
    let mut depth = indent(lines[line]) + 1;
    for line in lines[..line].iter().rev() {
        let text = line.trim_start();
        let is_key = !text.is_empty() && !text.starts_with(['#', '-']) && indent(line) < depth;
        if let Some((key, _)) = text.split_once(':').filter(|_| is_key) {
            keys.push(key.trim_matches(['"', '\'']).to_owned());
            depth = indent(line);
        }
    }
    keys.reverse();
    keys
}

/// The value by which a workload's pods are annotated: `primary.podAnnotations`.
fn annotations_value(file: &File, kind: &str, name: &str) -> Option<String> {
    let lines: Vec<&str> = file.text.lines().collect();
    let documents: Vec<Document<'_>> = document::all(&lines);
    let document = super::candidates::document_of(&documents, kind, name)?;
    document.lines.iter().find_map(|line| {
        let (_, value) = line.split_once(".Values.")?;
        let path: String = value
            .chars()
            .take_while(|it| it.is_ascii_alphanumeric() || *it == '.')
            .collect();
        path.ends_with("podAnnotations").then_some(path)
    })
}

/// Puts a list at a path of a file of values: as deep as that is there already.
fn put(lines: &[&str], path: &[String], list: &str) -> Edit {
    let (mut from, mut to, mut depth) = (0, lines.len(), 0);
    let mut known = 0;
    for key in path {
        let is_key = |line: &&str| {
            let rest = line.trim_start().strip_prefix(key.as_str());
            indent(line) == depth && rest.is_some_and(|it| it.starts_with(':'))
        };
        let Some(at) = lines[from..to].iter().position(is_key) else {
            break;
        };
        let at = from + at;
        known += 1;
        let inner = lines[at + 1..to]
            .iter()
            .position(|it| !it.trim().is_empty() && indent(it) <= depth);
        to = inner.map_or(to, |it| at + 1 + it);
        from = at + 1;
        let empty =
            matches!(lines[at].split_once(':'), Some((_, rest)) if rest.trim().starts_with('{'));
        if empty {
            let mut added = vec![format!("{}{key}:", " ".repeat(depth))];
            added.extend(below(&path[known..], list, depth + 2));
            return Edit {
                at,
                removed: 1,
                added,
            };
        }
        let first = lines[from..to]
            .iter()
            .find(|it| !it.trim().is_empty() && !it.trim().starts_with('#'));
        depth = first.map_or(depth + 2, |it| indent(it));
    }
    Edit {
        at: if known == 0 { lines.len() } else { from },
        removed: 0,
        added: below(&path[known..], list, depth),
    }
}

fn below(path: &[String], list: &str, depth: usize) -> Vec<String> {
    let keys = path.iter().map(String::as_str);
    let mut lines: Vec<String> = keys
        .enumerate()
        .map(|(at, key)| format!("{}{key}:", " ".repeat(depth + 2 * at)))
        .collect();
    let pad = " ".repeat(depth + 2 * path.len());
    lines.push(format!("{pad}{KEY}: {list}"));
    lines
}
