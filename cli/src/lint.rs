//! `lint -f FILE`: what is wrong with the annotations of manifests, before a cluster sees them.

mod annotations;
mod cycles;
mod dependencies;
mod finding;
mod plans;
mod waves;

use crate::objects::{self, Graph, Input, Object};
use crate::output::{self, Output};
use anyhow::{Result, ensure};
use finding::Finding;
use rules::advice::Level;
use std::process::ExitCode;

/// Prints what is wrong. With `strict` a warning is as bad as an error.
pub(crate) fn run(input: &Input, strict: bool, output: Output) -> Result<ExitCode> {
    let (objects, unread) = objects::read(input)?;
    let unread = unread.into_iter();
    let mut findings: Vec<_> = unread
        .map(|it| Finding::new(Level::Error, &it.place, it.why))
        .collect();
    ensure!(
        !objects.is_empty() || !findings.is_empty(),
        "there is no object; -f takes a file, a folder with *.yaml, *.yml or *.json, a chart, or -"
    );
    findings.extend(check(&objects));
    for finding in &findings {
        output::print(finding, output)?;
    }
    let count = |level| findings.iter().filter(|it| it.level == level).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warning));
    eprintln!(
        "{} objects: {errors} errors, {warnings} warnings, {} notes",
        objects.len(),
        count(Level::Note)
    );
    let wrong = errors > 0 || strict && warnings > 0;
    Ok(if wrong {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    })
}

/// Everything that there is to say of these objects: of each by itself, then of what they are to each other.
fn check(objects: &[Object]) -> Vec<Finding> {
    let graph = Graph::new(objects);
    let mut findings: Vec<_> = objects.iter().flat_map(annotations::check).collect();
    findings.extend(waves::check(objects));
    findings.extend(plans::check(objects));
    findings.extend(dependencies::check(&graph));
    findings.extend(cycles::check(&graph));
    findings
}

#[cfg(test)]
mod tests;
