//! What a template's text alone says, where nothing renders it.

use super::candidates;
use super::document::{self, Document};
use super::edits;
use super::in_text::Context;
use super::list;
use super::outcome::Outcome;
use super::reason::Reason;
use super::texts::{File, Texts};
use super::told::{Report, Says};
use super::waits;

/// Proposes what the documents of a file say, and tells of what stands in none.
pub(super) fn file(texts: &Texts, file: &File, report: &mut Report) {
    let lines: Vec<&str> = file.text.lines().collect();
    let documents = document::all(&lines);
    for document in documents.iter().filter(|it| it.is_workload()) {
        of_document(texts, file, document, report);
    }
    let is_of_none = |line: &usize| {
        !documents
            .iter()
            .any(|it| it.is_workload() && it.holds(*line))
    };
    unrendered(texts, file, is_of_none, report);
}

fn of_document(texts: &Texts, file: &File, document: &Document<'_>, report: &mut Report) {
    let edit = edits::annotate(document, &[String::new()]);
    let at = edit
        .as_ref()
        .map_or(document.first, |it| it.at.saturating_sub(1));
    let (list, told) = candidates::of_text(texts, file, document, at, false);
    let has_list = document.has(rules::keys::DEPENDS_ON);
    let written =
        edits::annotate(document, &list::lines(&list)).filter(|_| !has_list && !list.is_empty());
    let is_written = written.is_some();
    if let Some(edit) = written {
        report
            .edits
            .entry(file.path.clone())
            .or_default()
            .push(edit);
        report.proposed += list.len();
    }
    for (line, container, what, outcome) in told {
        let place = format!("{}:{}", file.name(), line + 1);
        match &outcome {
            Outcome::Entry(entry) if is_written => {
                let removed = format!("delete {container} once the order holds");
                let entries = vec![entry.text.clone()];
                report.tell(place, &container, Says::Replaced { entries, removed });
            }
            Outcome::Itself => report.tell(place, &container, Says::Itself),
            outcome => {
                let elsewhere = |entry: String| {
                    if has_list {
                        Reason::Listed
                    } else {
                        Reason::Closed(entry)
                    }
                };
                if let Some(reason) = outcome.reason(elsewhere) {
                    report.tell(place, &container, Says::Left(what, reason));
                }
            }
        }
    }
}

/// Tells of the containers of a file that nothing has told of.
pub(super) fn unrendered(
    texts: &Texts,
    file: &File,
    is_new: impl Fn(&usize) -> bool,
    report: &mut Report,
) {
    for block in file.blocks.iter().filter(|it| is_new(&it.first)) {
        let place = format!("{}:{}", file.name(), block.first + 1);
        for container in &block.branches {
            let reading = waits::of(container);
            let name = file.template.masked.seen(&container.name);
            if reading.looks && reading.waits.is_empty() {
                report.tell(
                    place.clone(),
                    &name,
                    Says::Left(String::new(), Reason::Unread),
                );
            }
            for wait in &reading.waits {
                let context = Context {
                    masked: &file.template.masked,
                    container,
                    texts,
                    open: &[],
                    text: &file.text,
                    by_address: false,
                };
                let what = file.template.masked.seen(&wait.what);
                match context.resolve(wait).reason(Reason::Helper) {
                    Some(reason) => report.tell(place.clone(), &name, Says::Left(what, reason)),
                    None => report.tell(place.clone(), &name, Says::Itself),
                }
            }
        }
    }
}
