//! Makes the lists that may replace the waits of one document (a workload in a template), the best first. Each list is tried by rendering.

use super::document::Document;
use super::in_text::{self, Context};
use super::list::Listed;
use super::mask::{is_masked, mask};
use super::object::ChartObject;
use super::object::text;
use super::operands;
use super::outcome::{ListEntry, Outcome};
use super::release::{self, RELEASE};
use super::render::Stubs;
use super::target::Target;
use super::texts::{File, Texts};
use super::wait::Wait;
use std::collections::BTreeSet;
use std::path::Path;

/// A wait in the text of a template, and its outcome.
pub(super) struct WaitInText {
    /// The number of the container's first line in the file, from 0.
    pub(super) line: usize,
    pub(super) container: String,
    /// The command that waits; empty where no command tells for which thing the container waits.
    pub(super) what: String,
    pub(super) outcome: Outcome,
}

/// Makes a list from the text of a document alone, with each entry in the branch of its wait. Also returns the outcome of each wait in the text, and
/// `Reason::Unread` for a container that seems to wait and in which no wait can be read. `at` is the line above the list, from 0 and in the file.
/// `by_address`: a host from a value becomes an address that the gate tries, and no Service.
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
        for (container, reading) in block.read() {
            let reading = reading.clone().of_job(document.is_job());
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

/// The number of the line in the file, from 0, on which the target of a container's wait stands: the container's line with the most words of the
/// wait, or else its first line, `first`. Words up to three letters and options do not count.
fn line_of(file: &File, first: usize, length: usize, wait: &Wait) -> usize {
    let words: Vec<&str> = wait
        .what
        .split_whitespace()
        .skip(1)
        .filter(|it| it.len() > 3 && !it.starts_with('-'))
        .collect();
    let lines = file.template.lines();
    // Every branch may name one port, so the line with the most words of the wait counts.
    let says = |line: &str| words.iter().filter(|it| line.contains(**it)).count();
    let own = lines[first..first + length].iter();
    let best = own.enumerate().rev().max_by_key(|(_, line)| says(line));
    first
        + best
            .filter(|(_, line)| says(line) > 0)
            .map_or(0, |(at, _)| at)
}

/// The document of a template from which an object was rendered: the only one that may have the object's kind, with any name. Of several such
/// documents it is the one with the most literal text in its name, among those whose name may render to the object's. `None` where none fits.
pub(super) fn document_of<'f>(file: &'f File, kind: &str, name: &str) -> Option<Document<'f>> {
    let same: Vec<Document<'f>> = file
        .documents()
        .filter(|it| it.kinds().any(|written| fits(written, kind)))
        .collect();
    match same.as_slice() {
        [one] => Some(*one),
        several => {
            let fit = |it: &&Document<'f>| it.name().is_some_and(|written| fits(written, name));
            several
                .iter()
                .filter(fit)
                .max_by_key(|it| literal(it.name().unwrap_or_default()))
                .copied()
        }
    }
}

/// Whether the text `written` in a template may render to `name`: it is that name, or it has an action, and its literal parts stand in the name
/// in their order.
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
    // Two marks enclose the number of each masked action, so every second part is such a number.
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

/// The length of a template's text without its actions, in bytes.
pub(super) fn literal(written: &str) -> usize {
    parts(written).iter().map(String::len).sum()
}

/// The entries for a target that hold for a release of any name: one with the name that the target's own template writes, where another template
/// may write it too, and last one with the rendered name, with `.Release.Name` in place of the release's name. Equal entries count once.
pub(super) fn names(
    texts: &Texts,
    chart: &Path,
    objects: &[ChartObject],
    target: &Target,
) -> Vec<ListEntry> {
    let namespace = target.namespace.as_deref().map(release::shown);
    let mut entries = Vec::new();
    let own = target
        .object
        .and_then(|at| own_name(texts, chart, &objects[at]));
    if let Some(own) = own {
        entries.push(target.entry(&own, namespace.as_deref()));
    }
    let plain = target.entry(&release::shown(&target.name), namespace.as_deref());
    if !entries.contains(&plain) {
        entries.push(plain);
    }
    entries
}

/// The entry for a target whose name a helper of the chart may make, guessed from the name of the helper: `shop.db.fullname` for
/// `RELEASE-db-primary`. Only a render shows whether it does. `None` where no helper is called so, or the name does not begin with the release's.
pub(super) fn by_helper(texts: &Texts, target: &Target, root: &str) -> Option<ListEntry> {
    let rest = target.name.strip_prefix(RELEASE)?.strip_prefix('-')?;
    let made = texts.helpers.keys().filter_map(|helper| {
        let before = helper.strip_suffix("fullname")?.trim_end_matches('.');
        let (chart, part) = before.split_once('.').unwrap_or((before, ""));
        let whole = format!("{chart}-{part}");
        let names = [part, whole.trim_end_matches('-')].into_iter();
        let behind = names.filter(|it| !it.is_empty()).filter_map(|name| {
            let behind = rest.strip_prefix(name)?;
            let is_whole = behind.is_empty() || behind.starts_with('-');
            is_whole.then_some(behind.len())
        });
        Some((behind.min()?, helper))
    });
    let (length, helper) = made.min()?;
    let behind = &rest[rest.len() - length..];
    let namespace = target.namespace.as_deref().map(release::shown);
    let name = format!("{{{{ include \"{helper}\" {root} }}}}{behind}");
    Some(target.entry(&name, namespace.as_deref()))
}

/// The entry for a target whose name a helper prints that no chart at hand defines, by that helper with the argument that the templates give
/// it: `service/{{ include "mariadb.fullname" .Subcharts.mariadb }}`. `None` where the templates give it several arguments, or one that is not
/// of the root.
pub(super) fn by_missing_helper(
    texts: &Texts,
    stubs: &Stubs,
    target: &Target,
) -> Option<ListEntry> {
    let (helper, rest) = stubs.printer(&target.name)?;
    let named = format!("\"{helper}\" ");
    let templates = texts.files.iter().filter(|it| !it.is_values());
    let actions = templates.flat_map(|it| in_text::actions(&it.text));
    let given = actions.filter_map(|it| {
        let behind = it.split_once(&named)?.1.trim_start();
        let argument = operands::operands(behind).first()?.trim_end_matches(')');
        Some(argument.to_owned())
    });
    let given: BTreeSet<String> = given.collect();
    let argument = given.first().filter(|_| given.len() == 1)?;
    let is_plain = operands::is_of_root(argument) && !argument.contains(['(', '"']);
    let name = format!("{{{{ include \"{helper}\" {argument} }}}}{rest}");
    let namespace = target.namespace.as_deref().map(release::shown);
    is_plain.then(|| target.entry(&name, namespace.as_deref()))
}

/// The name that an object has in its own template, as template text. `None` where that text may mean something else in another template of the
/// chart, where several documents fit the object equally well, and for an object of a sub-chart.
fn own_name(texts: &Texts, chart: &Path, object: &ChartObject) -> Option<String> {
    if object.source.starts_with("charts") {
        return None;
    }
    let file = texts.file(&chart.join(&object.source))?;
    let kind = text(&object.value, "/kind");
    let document = document_of(file, kind, text(&object.value, "/metadata/name"))?;
    let best = literal(document.name()?);
    let mut as_like = file.documents().filter(|it| {
        let own = it.name().unwrap_or_default();
        it.kind() == Some(kind)
            && fits(own, text(&object.value, "/metadata/name"))
            && literal(own) == best
    });
    // Where several documents fit the object equally well, none of them tells its name.
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

/// Whether an action reads a variable that its template sets, such as `$name`; the root `$` is none.
fn variable(action: &str) -> bool {
    action
        .match_indices('$')
        .any(|(at, _)| action[at + 1..].starts_with(|it: char| it.is_ascii_alphabetic()))
}
