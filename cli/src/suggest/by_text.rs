//! Reads a template as text, where Helm does not render the template.

use super::candidates;
use super::document::Document;
use super::edits;
use super::in_text::Context;
use super::reason::Reason;
use super::report::{Report, Says};
use super::texts::{File, Texts};

/// Reports the waits in a template that is read as text: those of its workloads, and those of containers outside of every workload's document.
/// Proposes nothing.
pub(super) fn file(texts: &Texts, file: &File, report: &mut Report) {
    for document in file.documents().filter(Document::is_workload) {
        of_document(texts, file, &document, report);
    }
    let is_of_none = |line: &usize| {
        let mut documents = file.documents();
        !documents.any(|it| it.is_workload() && it.holds(*line))
    };
    unrendered(texts, file, is_of_none, report);
}

/// Reports the waits of a workload's document as left, each with the entry that might replace it, or with the reason that the workload has a list
/// already. Proposes no list, since a list can be tried only where the template renders.
fn of_document(texts: &Texts, file: &File, document: &Document<'_>, report: &mut Report) {
    let edit = edits::annotate(texts, document, &[String::new()]);
    let at = edit.map_or(document.first, |it| it.at.saturating_sub(1));
    let has_list = document.has(rules::keys::DEPENDS_ON);
    let untried = |entry: String| {
        if has_list {
            Reason::Listed
        } else {
            Reason::Untried(entry)
        }
    };
    let (_, told) = candidates::of_text(texts, file, document, at, false);
    for wait in told {
        let place = format!("{}:{}", file.name(), wait.line + 1);
        match wait.outcome.reason(untried) {
            Some(reason) => report.tell(
                place,
                &wait.container,
                Says::Left(wait.what, reason.to_string()),
            ),
            None => report.tell(place, &wait.container, Says::Itself),
        }
    }
}

/// Reports the waits of the containers in a file for whose first line, from 0, `is_new` holds; among these also a container that seems to wait
/// although no wait can be read from it. Proposes nothing.
pub(super) fn unrendered(
    texts: &Texts,
    file: &File,
    is_new: impl Fn(&usize) -> bool,
    report: &mut Report,
) {
    for block in file.blocks.iter().filter(|it| is_new(&it.first)) {
        let mut around = file.documents().filter(|it| it.holds(block.first));
        let is_job = around.any(|it| it.is_job());
        let place = format!("{}:{}", file.name(), block.first + 1);
        for (container, reading) in block.read() {
            let reading = reading.clone().of_job(is_job);
            let name = file.template.masked.seen(&container.name);
            if reading.looks && reading.waits.is_empty() {
                report.tell(
                    place.clone(),
                    &name,
                    Says::Left(String::new(), Reason::Unread.to_string()),
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
                    of_service: false,
                };
                let what = file.template.masked.seen(&wait.what);
                match context.resolve(wait).reason(Reason::Helper) {
                    Some(reason) => {
                        report.tell(place.clone(), &name, Says::Left(what, reason.to_string()));
                    }
                    None => report.tell(place.clone(), &name, Says::Itself),
                }
            }
        }
    }
}
