//! The ways to write the list of one document: what is tried, the best first.

use super::document::{self, Document};
use super::in_text::Context;
use super::list::Listed;
use super::mask::{is_masked, mask};
use super::object::ChartObject;
use super::object::text;
use super::outcome::{ListEntry, Outcome};
use super::render::{NAMESPACE, RELEASE};
use super::switches::Switch;
use super::target::Target;
use super::texts::{File, Texts};
use super::wait::Wait;
use super::waits;
use std::path::Path;

/// The most values that a condition may test together: a longer one is of one set among many, and holds for nearly no user.
const MOST_TOGETHER: usize = 4;

/// A wait that stands in a text, and its outcome.
pub(super) struct WaitInText {
    /// The line of the file, from 0.
    pub(super) line: usize,
    pub(super) container: String,
    /// The command that waits; empty where no command tells what it waits for.
    pub(super) what: String,
    pub(super) outcome: Outcome,
}

/// The list that the text of a document says itself, each entry in its branch; and the outcome of each wait in it.
pub(super) fn of_text(
    texts: &Texts,
    file: &File,
    document: &Document<'_>,
    at: usize,
    by_address: bool,
) -> (Vec<Listed>, Vec<WaitInText>) {
    let mut list: Vec<Listed> = Vec::new();
    let mut told = Vec::new();
    for block in file.blocks.iter().filter(|it| document.holds(it.first)) {
        for container in &block.branches {
            let reading = waits::of(container).of_job(document.is_job());
            for wait in &reading.waits {
                let line = line_of(file, block.first, block.length, wait);
                let within = file.template.between(at, line);
                let context = Context {
                    masked: &file.template.masked,
                    container,
                    texts,
                    open: within,
                    text: &file.text,
                    by_address,
                    of_service: false,
                };
                let outcome = context.resolve(wait);
                if let Outcome::Entry(entry) = &outcome {
                    let listed = Listed {
                        entry: entry.clone(),
                        within: within.to_vec(),
                    };
                    if !list.iter().any(|it| {
                        it.entry.text == listed.entry.text
                            && (it.within == listed.within || it.within.is_empty())
                    }) {
                        list.push(listed);
                    }
                }
                let what = file.template.masked.seen(&wait.what);
                let name = file.template.masked.seen(&container.name);
                told.push(WaitInText {
                    line: block.first,
                    container: name,
                    what,
                    outcome,
                });
            }
            if reading.looks && reading.waits.is_empty() {
                let name = file.template.masked.seen(&container.name);
                told.push(WaitInText {
                    line: block.first,
                    container: name,
                    what: String::new(),
                    outcome: Outcome::Left(super::reason::Reason::Unread),
                });
            }
        }
    }
    (list, told)
}

/// What `resolve` makes of a wait in the text of a container itself; `None` where the text has other waits than were rendered. `at` is
/// the number of the wait, of `count`.
pub(super) fn in_block(
    texts: &Texts,
    file: &File,
    block: usize,
    at: usize,
    count: usize,
    resolve: impl Fn(&Context<'_>, &Wait) -> Option<String>,
) -> Option<String> {
    let block = file.blocks.iter().find(|it| it.first == block)?;
    block.branches.iter().find_map(|container| {
        let reading = waits::of(container);
        let is_it = reading.waits.len() == count;
        let wait = reading.waits.get(at).filter(|_| is_it)?;
        let context = Context {
            masked: &file.template.masked,
            container,
            texts,
            open: &[],
            text: &file.text,
            by_address: false,
            of_service: true,
        };
        resolve(&context, wait)
    })
}

/// The line of a container on which the target of a wait stands.
fn line_of(file: &File, first: usize, length: usize, wait: &Wait) -> usize {
    let words: Vec<&str> = wait
        .what
        .split_whitespace()
        .skip(1)
        .filter(|it| it.len() > 3 && !it.starts_with('-'))
        .collect();
    let lines = file.template.lines();
    // The same port may stand in every branch.
    let says = |line: &str| words.iter().filter(|it| line.contains(**it)).count();
    let own = lines[first..first + length].iter();
    let best = own.enumerate().rev().max_by_key(|(_, line)| says(line));
    first
        + best
            .filter(|(_, line)| says(line) > 0)
            .map_or(0, |(at, _)| at)
}

/// The document of a template that an object was rendered from.
pub(super) fn document_of<'f, 'l>(
    documents: &'f [Document<'l>],
    kind: &str,
    name: &str,
) -> Option<&'f Document<'l>> {
    let same: Vec<&Document<'l>> = documents
        .iter()
        .filter(|it| it.kinds().any(|written| fits(written, kind)))
        .collect();
    match same.as_slice() {
        [one] => Some(*one),
        several => {
            let fit = |it: &&&Document<'l>| it.name().is_some_and(|written| fits(written, name));
            several
                .iter()
                .filter(fit)
                .max_by_key(|it| literal(it.name().unwrap_or_default()))
                .copied()
        }
    }
}

/// Whether a template with the text `written` may render to `name`.
pub(super) fn fits(written: &str, name: &str) -> bool {
    let mut rest = name;
    for part in parts(written) {
        let Some(at) = rest.find(part.as_str()) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    is_masked(&mask(written).text) || written.trim_matches(['"', '\'']) == name
}

fn parts(written: &str) -> Vec<String> {
    let masked = mask(written.trim_matches(['"', '\''])).text;
    let private = |it: char| !it.is_ascii();
    // A number stands between the two marks of an action.
    let mut parts = Vec::new();
    let mut inside = false;
    for part in masked.split(private) {
        if !inside && !part.is_empty() {
            parts.push(part.to_owned());
        }
        inside = !inside;
    }
    parts
}

fn literal(written: &str) -> usize {
    parts(written).iter().map(String::len).sum()
}

/// The entries for a target that hold for a release of any name: first with the name that the target's own template writes,
/// then with the release's name in the rendered name.
pub(super) fn names(
    texts: &Texts,
    chart: &Path,
    objects: &[ChartObject],
    target: &Target,
) -> Vec<ListEntry> {
    let release = |text: &str| {
        text.replace(RELEASE, "{{ .Release.Name }}")
            .replace(NAMESPACE, "{{ .Release.Namespace }}")
    };
    let namespace = target.namespace.as_deref().map(release);
    let mut entries = Vec::new();
    let own = target
        .object
        .and_then(|at| own_name(texts, chart, &objects[at]));
    if let Some(own) = own {
        entries.push(target.entry(&own, namespace.as_deref()));
    }
    let plain = target.entry(&release(&target.name), namespace.as_deref());
    if !entries.contains(&plain) {
        entries.push(plain);
    }
    entries
}

/// The name that an object has in its own template, where that means the same in another template of the chart.
fn own_name(texts: &Texts, chart: &Path, object: &ChartObject) -> Option<String> {
    if object.source.starts_with("charts") {
        return None;
    }
    let file = texts.file(&chart.join(&object.source))?;
    let lines: Vec<&str> = file.text.lines().collect();
    let documents = document::all(&lines);
    let kind = text(&object.value, "/kind");
    let document = document_of(&documents, kind, text(&object.value, "/metadata/name"))?;
    let best = literal(document.name()?);
    let mut as_like = documents.iter().filter(|it| {
        let own = it.name().unwrap_or_default();
        it.kind() == Some(kind)
            && fits(own, text(&object.value, "/metadata/name"))
            && literal(own) == best
    });
    // Of several documents that are as like, none tells the name.
    if as_like.nth(1).is_some() {
        return None;
    }
    let written = mask(document.name()?);
    let name = written
        .seen(&written.text)
        .trim_matches(['"', '\''])
        .replace("{{ template ", "{{ include ");
    let everywhere = [
        "include \"",
        ".Values.",
        ".Release.",
        ".Chart.",
        "$.",
        "printf ",
        "tpl ",
        "default ",
        "(",
        "required ",
    ];
    let actions = super::in_text::actions(&name);
    let known = |it: &String| everywhere.iter().any(|start| it.starts_with(start)) && !variable(it);
    actions.iter().all(known).then_some(name)
}

/// Whether an action reads a variable of the template that it stands in.
fn variable(action: &str) -> bool {
    action
        .match_indices('$')
        .any(|(at, _)| action[at + 1..].starts_with(|it: char| it.is_ascii_alphabetic()))
}

/// The condition on which an object or a wait is rendered that was seen with some sets of values and not with others. `None` where
/// the sets do not tell.
pub(super) fn condition(
    sets: &[Vec<Switch>],
    tried: &[usize],
    seen: &[usize],
    root: &str,
) -> Option<Vec<Vec<String>>> {
    let is_seen = |set: &usize| seen.contains(set);
    if tried.iter().all(is_seen) {
        return Some(Vec::new());
    }
    let all = |op: &str, parts: Vec<String>| {
        let mut once: Vec<String> = Vec::new();
        for part in parts {
            if !once.contains(&part) {
                once.push(part);
            }
        }
        match once.as_slice() {
            [only] => only.clone(),
            _ => format!("({op} {})", once.join(" ")),
        }
    };
    // A workload that is there with some values only has the first of its sets for the chart's own values.
    let first = tried.iter().min_by_key(|set| (sets[**set].len(), **set))?;
    if seen.contains(first) {
        let absent = tried.iter().filter(|it| !is_seen(it)).map(|it| &sets[*it]);
        let single = absent.filter_map(|it| {
            let more = it.iter().filter(|it| !sets[*first].contains(it));
            let (marks, plain): (Vec<_>, Vec<_>) = more.partition(|it| it.follows());
            // A switch that needs a host decides itself, and not the host.
            let decisive = if plain.is_empty() { marks } else { plain };
            let mut parts = decisive.iter().filter_map(|it| it.holds_not(root));
            parts.next().filter(|_| parts.next().is_none())
        });
        let parts: Vec<String> = single.collect();
        return (!parts.is_empty()).then(|| within(&all("and", parts)));
    }
    let mut present: Vec<&Vec<Switch>> = seen
        .iter()
        .map(|it| &sets[*it])
        .filter(|it| !it.is_empty())
        .collect();
    present.sort_by_key(|it| it.len());
    let mut parts = Vec::new();
    let mut taken: Vec<&Vec<Switch>> = Vec::new();
    for set in present {
        if taken
            .iter()
            .any(|it| it.iter().all(|switch| set.contains(switch)))
        {
            continue;
        }
        taken.push(set);
        let mut own: Vec<String> = set.iter().filter_map(|it| it.holds(root)).collect();
        if own.is_empty() || own.len() > MOST_TOGETHER {
            return None;
        }
        // One switch more may take it away again.
        let absent = tried.iter().filter(|it| !is_seen(it)).map(|it| &sets[*it]);
        for other in absent.filter(|it| set.iter().all(|switch| it.contains(switch))) {
            let mut more = other.iter().filter(|it| !set.contains(it) && !it.follows());
            if let (Some(one), None) = (more.next(), more.next()) {
                own.extend(one.holds_not(root));
            }
        }
        parts.push(all("and", own));
    }
    (!parts.is_empty()).then(|| within(&all("or", parts)))
}

/// The actions of one condition.
pub(super) fn within(condition: &str) -> Vec<Vec<String>> {
    let bare = condition
        .strip_prefix('(')
        .and_then(|it| it.strip_suffix(')'));
    vec![vec![format!("if {}", bare.unwrap_or(condition))]]
}
