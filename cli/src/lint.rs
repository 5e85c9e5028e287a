//! `lint -f FILE`: faults in the annotations of manifests, before a cluster sees them.

mod annotations;
mod creations;
mod cycles;
mod dependencies;
mod finding;
mod fit;
mod flux;
mod identity;
mod jobs;
mod loops;
mod plans;
mod report;
mod rights;
mod spots;
mod targets;
mod used_too_early;
mod waves;

pub(crate) use report::ReportFormat;

use crate::objects::{self, Doubt, Graph, Input, Object, Read};
use crate::output::counted;
use crate::style::Style;
use anyhow::{Result, ensure};
use finding::{Finding, Where};
use rules::advice::Level;
use std::process::ExitCode;

/// Prints the findings on the input and, on standard error, their number. An error makes the exit code 1; with `strict` a warning or a note
/// does too, except a note on rights, which no manifest can mend. An input without any object is refused.
pub(crate) fn run(
    input: &Input,
    strict: bool,
    format: ReportFormat,
    style: Style,
) -> Result<ExitCode> {
    let Read {
        objects,
        unread,
        unbuilt,
        patches,
        twice,
        sources,
    } = objects::read(input)?;
    ensure!(
        !objects.is_empty() || !unread.is_empty() || !unbuilt.is_empty() || patches > 0,
        "there is no object; -f takes a file, a folder with *.yaml, *.yml or *.json, a chart, a kustomization, or -"
    );
    let doubts = unread
        .iter()
        .map(|it| of_text("Unreadable", Level::Error, it));
    let mut findings: Vec<_> = doubts.collect();
    let doubts = unbuilt
        .iter()
        .map(|it| of_text("NotBuilt", Level::Warning, it));
    findings.extend(doubts);
    let doubts = twice
        .iter()
        .map(|it| of_text("DuplicateKey", Level::Warning, it));
    findings.extend(doubts);
    findings.extend(check(&objects));
    let mut finder = sources.finder();
    let located = findings.into_iter().map(|it| it.located(&mut finder));
    let mut findings: Vec<_> = located.collect();
    findings.sort_by_cached_key(Finding::order);
    report::print(&findings, format, style)?;

    let count = |level| findings.iter().filter(|it| it.level == level).count();
    eprintln!(
        "{}: {}, {}, {}",
        counted(objects.len(), "object"),
        counted(count(Level::Error), "error"),
        counted(count(Level::Warning), "warning"),
        counted(count(Level::Note), "note")
    );
    // No change of a manifest takes a note on rights away, so such a note fails no pipeline.
    let mut mendable = findings.iter().filter(|it| it.rule != rights::RULE);
    let wrong = count(Level::Error) > 0 || strict && mendable.next().is_some();
    Ok(if wrong {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

fn of_text(rule: &'static str, level: Level, doubt: &Doubt) -> Finding {
    let finding = Finding::new(rule, level, &doubt.place, doubt.why.as_str());
    finding.spot(doubt.position.map_or(Where::Object, Where::Text))
}

/// Every finding on these objects: on the annotations of each by itself, and on the relations between objects. They have no line yet.
fn check(objects: &[Object]) -> Vec<Finding> {
    let graph = Graph::new(objects);
    let mut findings: Vec<_> = objects.iter().flat_map(annotations::check).collect();
    findings.extend(identity::check(objects));
    findings.extend(waves::check(objects));
    findings.extend(plans::check(objects));
    findings.extend(dependencies::check(&graph));
    findings.extend(targets::check(&graph));
    findings.extend(used_too_early::check(&graph));
    findings.extend(fit::check(&graph));
    findings.extend(rights::check(&graph));
    findings.extend(jobs::check(&graph));
    findings.extend(loops::check(objects));
    findings.extend(creations::check(&graph));
    findings.extend(cycles::check(&graph));
    findings.extend(flux::check(&graph));
    findings
}

#[cfg(test)]
mod tests;
