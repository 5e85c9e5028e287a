//! `check --health-rules FILE`: what the status service would find wrong with an administrator's health rules.

use crate::{health_rules, input};
use anyhow::Result;
use std::path::Path;
use std::process::ExitCode;

pub(crate) fn run(path: &Path) -> Result<ExitCode> {
    let (name, text) = input::read(path)?;
    let (rules, problems) = health_rules::parse(&name, &text);
    for problem in &problems {
        eprintln!("{problem}");
    }
    if problems.is_empty() {
        eprintln!("{name}: {} rules are in order", rules.len());
        return Ok(ExitCode::SUCCESS);
    }
    Ok(ExitCode::FAILURE)
}
