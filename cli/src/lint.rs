//! `lint -f FILE`: what is wrong with the annotations of manifests, before a cluster sees them.

mod annotations;
mod cycles;
mod dependencies;
mod finding;
mod plans;
mod waves;

use crate::args::Output;
use crate::objects::{self, Graph, Input, Object};
use anyhow::{Result, ensure};
use finding::{Finding, Level};
use std::process::ExitCode;

/// What is asked for.
pub(crate) struct Question {
    pub(crate) input: Input,
    /// Whether a warning is as bad as an error.
    pub(crate) strict: bool,
    pub(crate) output: Output,
}

#[expect(clippy::print_stdout, reason = "the answer of a command line tool")]
pub(crate) fn run(question: &Question) -> Result<ExitCode> {
    let (objects, unread) = objects::read(&question.input)?;
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
        match question.output {
            Output::Text => println!("{finding}"),
            Output::Json => println!("{}", serde_json::to_string(finding)?),
        }
    }
    let count = |level| findings.iter().filter(|it| it.level == level).count();
    let (errors, warnings) = (count(Level::Error), count(Level::Warning));
    eprintln!(
        "{} objects: {errors} errors, {warnings} warnings, {} notes",
        objects.len(),
        count(Level::Note)
    );
    let wrong = errors > 0 || question.strict && warnings > 0;
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
