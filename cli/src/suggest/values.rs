//! Writes lists into a chart's values, where no template can carry them: for a sub-chart, whose templates have another author, and for
//! containers in the values themselves.

use super::budget::RenderShare;
use super::diff::{self, Edit};
use super::document::{self, indent};
use super::expected::{self, Lists};
use super::known::{Group, Known};
use super::object::{ChartObject, ObjectList, own_pods, text};
use super::release::RELEASE;
use super::report::Report;
use super::source::ObjectSource;
use super::target::Target;
use super::texts::{File, Texts};
use super::tried;
use anyhow::Result;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const CHARTS: &str = "charts";
const FILE: &str = "values.yaml";
const KEY: &str = "sluice.dev/depends-on";

/// A list to write into the values, because no template can carry it.
#[derive(Debug)]
pub(super) struct Wanted {
    /// The number of the group (a workload in a template) to which the workload belongs.
    pub(super) group: usize,
    pub(super) source: PathBuf,
    pub(super) workload: (String, String),
    /// The number of the first set of values that renders the workload.
    pub(super) set: usize,
    /// The list that each workload of the group has to carry, by the number of the set of values and the workload's name.
    pub(super) expected: Lists,
    /// The entries with the addresses in the form in which the container's text in the values has them; `None` where not all entries are
    /// addresses.
    pub(super) written: Option<Vec<String>>,
    /// The place of the container's text: the file, and the number of the line, from 0. `None` where no text is like the container.
    pub(super) block: Option<(PathBuf, usize)>,
}

/// The outcome of the attempt to write a workload's list into the values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum InValues {
    Listed,
    /// The list says something else than the loops with some values, or another workload gets it too.
    Untrue,
    /// No render was left to try the list.
    Late,
}

/// The outcomes by the number of the group and the name of the workload. A workload without an outcome has annotations that come from no
/// value.
pub(super) type ByValues = BTreeMap<(usize, String), InValues>;

impl Wanted {
    fn entries(&self) -> &[String] {
        let key = (self.set, self.workload.1.clone());
        self.expected.get(&key).map_or(&[], Vec::as_slice)
    }
}

/// The list that each workload of a group has to carry, in entries without template actions, because values hold none.
pub(super) fn expected(known: &Known<'_>, group: &Group) -> Lists {
    let of = |target: &Target, set| {
        let (objects, release) = (known.objects(set), known.release(set));
        entry(target, objects, &known.missing, &group.source, release)
    };
    expected::by(known, group, of)
}

/// The entry for a target, without template actions. An object of another sub-chart whose name depends on the release becomes
/// `subchart/NAME`.
fn entry(
    target: &Target,
    objects: &[ChartObject],
    missing: &[String],
    own: &Path,
    release: &str,
) -> String {
    let plain = target.plain().text;
    if !plain.contains(release) {
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

/// The name of the sub-chart that a template belongs to; `None` for a template of the chart itself.
fn sub_chart(source: &Path) -> Option<String> {
    let below = source.strip_prefix(CHARTS).ok()?;
    Some(below.iter().next()?.to_string_lossy().into_owned())
}

/// Writes each list into the values, and adds the changes to the report. A list stays only if, with every set of values, its workload then
/// carries it, and no other workload does that has other waits. Does nothing for plain manifests, and without a `values.yaml`.
pub(super) fn settle(
    known: &Known<'_>,
    source: &mut ObjectSource,
    groups: &[Group],
    wanted: Vec<Wanted>,
    report: &mut Report,
) -> Result<ByValues> {
    let mut ends = ByValues::new();
    let Some(values) = known.file(Path::new(FILE)) else {
        return Ok(ends);
    };
    let lines = &values.lines;
    let mut draft = ValuesDraft {
        known,
        rendered: known.rendered.clone(),
        edits: Vec::new(),
    };
    let mut taken: Vec<Vec<String>> = Vec::new();
    for wanted in wanted {
        let key = (wanted.group, wanted.workload.1.clone());
        let has_release = wanted.entries().iter().any(|it| it.contains(RELEASE));
        let is_unsaid = has_release && wanted.written.is_none();
        let is_chart = matches!(source, ObjectSource::Chart(_));
        if is_unsaid || !is_chart || ends.get(&key) == Some(&InValues::Listed) {
            continue;
        }
        let list = super::list::text(wanted.written.as_deref().unwrap_or(wanted.entries()));
        for path in paths(known.folder, known.texts, lines, &wanted) {
            if taken.contains(&path) {
                continue;
            }
            let edit = put(lines, &path, &list);
            let group = &groups[wanted.group];
            match draft.try_edit(source, values, group, &wanted, edit)? {
                PathEnd::Elsewhere => {}
                PathEnd::Untrue => drop(ends.insert(key.clone(), InValues::Untrue)),
                PathEnd::Late => drop(ends.insert(key.clone(), InValues::Late)),
                PathEnd::Listed(names) => {
                    report.proposed += wanted.entries().len();
                    let listed = names.into_iter().chain([wanted.workload.1.clone()]);
                    ends.extend(listed.map(|it| ((wanted.group, it), InValues::Listed)));
                    taken.push(path);
                    break;
                }
            }
        }
    }
    if !draft.edits.is_empty() {
        let own = report.edits.entry(values.path.clone()).or_default();
        own.append(&mut draft.edits);
    }
    Ok(ends)
}

/// The lists in the values so far, and the objects that the chart renders with them.
struct ValuesDraft<'k, 'f> {
    known: &'k Known<'f>,
    rendered: Vec<Option<ObjectList>>,
    edits: Vec<Edit>,
}

/// The outcome of an attempt to write a list at one path of the values.
enum PathEnd {
    /// The path does not lead to the annotations of a workload of the group.
    Elsewhere,
    Untrue,
    Late,
    /// These workloads of the group, by name, carry their lists now.
    Listed(BTreeSet<String>),
}

impl ValuesDraft<'_, '_> {
    /// Renders the chart with one more list in the values, and keeps the list if it says the same as the loops.
    fn try_edit(
        &mut self,
        source: &mut ObjectSource,
        values: &File,
        group: &Group,
        wanted: &Wanted,
        edit: Edit,
    ) -> Result<PathEnd> {
        let sets = &self.known.sets;
        self.edits.push(edit);
        let text = diff::applied(&values.text, &self.edits);
        source.put(Path::new(FILE), &text, &values.text)?;
        // One render tells whether the path reaches the workload, so a wrong path costs no more.
        let own = source.render_all(std::slice::from_ref(&sets[wanted.set]), RenderShare::Values);
        let is_late = own.is_empty();
        let mut objects = own.iter().flatten().flat_map(|it| it.iter());
        let is_own = |it: &ChartObject| it.source == wanted.source && is(it, &wanted.workload);
        let is_there = objects.any(|it| is_own(it) && tried::says(it, wanted.entries()));
        let patched = if is_there {
            source.render_again(sets, &self.rendered, RenderShare::Values)
        } else {
            Vec::new()
        };
        source.put(Path::new(FILE), &values.text, &values.text)?;
        let tried = match self.listed(group, wanted, &patched) {
            _ if is_late => PathEnd::Late,
            _ if !is_there => PathEnd::Elsewhere,
            _ if patched.len() < sets.len() => PathEnd::Late,
            Some(names) if self.known.doubts(group).is_empty() => PathEnd::Listed(names),
            _ => PathEnd::Untrue,
        };
        if matches!(tried, PathEnd::Listed(_)) {
            self.rendered = patched;
        } else {
            self.edits.pop();
        }
        Ok(tried)
    }

    /// The names of the group's workloads that carry their lists with every set of values. `None` where a workload carries a list that says
    /// something else than its loops.
    fn listed(
        &self,
        group: &Group,
        wanted: &Wanted,
        patched: &[Option<ObjectList>],
    ) -> Option<BTreeSet<String>> {
        let (mut listed, mut unlisted) = (BTreeSet::new(), BTreeSet::new());
        let sets = patched.iter().zip(&self.rendered).enumerate();
        let sets = sets.filter(|(set, _)| !group.forgotten.contains(set));
        for (set, (new, old)) in sets.filter(|(_, (_, old))| old.is_some()) {
            let old = old.iter().flat_map(|it| it.iter());
            for object in new.as_ref()?.iter().filter(|it| own_pods(it).is_some()) {
                let name = text(&object.value, "/metadata/name");
                let is_of_group = self.known.is_of(group, object);
                let due = wanted.expected.get(&(set, name.to_owned()));
                let due = due.filter(|_| is_of_group).map_or(&[][..], Vec::as_slice);
                if is_of_group && tried::says(object, due) {
                    if !due.is_empty() {
                        listed.insert(name.to_owned());
                    }
                    continue;
                }
                let workload = (text(&object.value, "/kind").to_owned(), name.to_owned());
                let mut before = old.clone().filter(|it| it.source == object.source);
                let before = before.find(|it| is(it, &workload));
                let said = before.and_then(|it| tried::said(&it.value));
                let is_wanted = is_of_group && workload == wanted.workload;
                if is_wanted || tried::said(&object.value) != said {
                    return None;
                }
                unlisted.insert(name.to_owned());
            }
        }
        listed.retain(|it| !unlisted.contains(it));
        Some(listed)
    }
}

fn is(object: &ChartObject, (kind, name): &(String, String)) -> bool {
    text(&object.value, "/kind") == kind && text(&object.value, "/metadata/name") == name
}

/// The paths in the values from which a workload may take its annotations, guessed from the keys around its container, from its template and from the
/// name of the workload. Only a render shows which one is right.
fn paths(folder: &Path, texts: &Texts, lines: &[String], wanted: &Wanted) -> Vec<Vec<String>> {
    let mut paths = Vec::new();
    if let Some((path, line)) = &wanted.block
        && *path == folder.join(FILE)
    {
        let mut around = document::keys_above(lines, *line);
        while around.pop().is_some() {
            for name in ["podAnnotations", "annotations"] {
                let mut path = around.clone();
                path.push(name.to_owned());
                paths.push(path);
            }
        }
    }
    let file = texts.file(&folder.join(&wanted.source));
    let own = file.and_then(|file| annotations_value(file, &wanted.workload.0, &wanted.workload.1));
    // A helper may write the annotations of a workload.
    let by_helper = || {
        let read = texts.reach(&file?.text);
        read.contains(".Values.podAnnotations")
            .then(|| "podAnnotations".to_owned())
    };
    let chart = sub_chart(&wanted.source);
    if let Some(own) = own.or_else(|| by_helper().filter(|_| chart.is_none())) {
        let mut path: Vec<String> = chart.into_iter().collect();
        path.extend(own.split('.').map(str::to_owned));
        paths.push(path);
    }
    paths.extend(by_component(texts, &wanted.workload));
    paths
}

/// The path at which OpenStack-Helm's library takes the annotations of a workload: `annotations.job.keystone_db_sync`. `None` for a chart
/// that does not declare its dependencies as that library reads them.
fn by_component(texts: &Texts, (kind, name): &(String, String)) -> Option<Vec<String>> {
    let declares = texts.values.pointer("/dependencies/static").is_some();
    let of_kind = if kind == "Job" { "job" } else { "pod" };
    let component = name.replace('-', "_");
    let path = ["annotations", of_kind, component.as_str()];
    declares.then(|| path.map(str::to_owned).to_vec())
}

/// The path of the first value in a workload's document that ends in `podAnnotations`, such as `primary.podAnnotations`: the template takes the
/// annotations of the pods from it. `None` without one.
fn annotations_value(file: &File, kind: &str, name: &str) -> Option<String> {
    let document = super::candidates::document_of(file, kind, name)?;
    document.lines.iter().find_map(|line| {
        let (_, value) = line.split_once(".Values.")?;
        let path: String = value
            .chars()
            .take_while(|it| it.is_ascii_alphanumeric() || *it == '.')
            .collect();
        path.ends_with("podAnnotations").then_some(path)
    })
}

/// The change that puts a list at a path of a file of values. The change adds the keys of the path that are missing.
fn put(lines: &[String], path: &[String], list: &str) -> Edit {
    let (mut from, mut to, mut depth) = (0, lines.len(), 0);
    let mut known = 0;
    for key in path {
        let is_key = |line: &String| {
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
