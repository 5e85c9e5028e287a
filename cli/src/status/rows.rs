//! The lines about dependencies.

use crate::output::printable;
use crate::style::{Style, Tone};
use wire::{Answer, Decision, Report};

/// One line for each dependency, in columns; what an object says cannot break it.
pub(super) fn rows(reports: &[&Report], style: Style) -> Vec<String> {
    let width = |cell: fn(&Report) -> &str| {
        let widths = reports.iter().map(|report| cell(report).chars().count());
        widths.max().unwrap_or_default()
    };
    let names = width(|report| &report.dependency);
    let statuses = width(|report| &report.status);
    let row = |report: &&Report| {
        let mark = style.mark(if report.satisfied {
            Tone::Good
        } else {
            Tone::Waiting
        });
        // A reason that is the status is said once.
        let reason = Some(report.reason.as_str()).filter(|it| *it != report.status);
        let why = [reason, report.message.as_deref()];
        let why: Vec<_> = why.into_iter().flatten().collect();
        let why = why.join(": ");
        let (name, status) = (&report.dependency, &report.status);
        let told = format!("{name:names$}  {status:statuses$}  {why}");
        format!("{mark}  {}", printable(told.trim_end()))
    };
    reports.iter().map(row).collect()
}

/// What concerns the whole list, worded as the gate does.
pub(super) fn note(answer: &Answer) -> Option<String> {
    let note = printable(answer.note.as_deref()?);
    Some(match answer.verdict {
        Decision::Wait if answer.dependencies.is_empty() => format!("wait  for {note}"),
        Decision::Open if answer.dependencies.is_empty() => format!("open  without {note}"),
        _ => note,
    })
}
