//! `status -f FILE`: what the rules say of each object of a manifest, without a cluster.

mod judge;
mod print;
mod world;

pub(crate) use judge::kind_of;
pub(crate) use world::Manifest;

use crate::args::Output;
use crate::input;
use crate::manifest::{Entries, Entry, SyntaxError};
use anyhow::{Context, Result};
use clap::ValueEnum;
use jiff::Timestamp;
use print::Printer;
use rules::health::Rules;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit code for "something is not as a dependent needs it".
const WAITS: u8 = 3;

/// Whose rules judge.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// kstatus as it is: status and message are its own.
    Kstatus,
    /// What a dependent needs: kstatus, and what `ready` asks for beyond it.
    Sluice,
}

/// What is asked for.
pub(crate) struct Question {
    /// The manifest; `-` is standard input.
    pub(crate) file: PathBuf,
    pub(crate) profile: Profile,
    /// What the age of an object is measured against.
    pub(crate) now: Timestamp,
    pub(crate) output: Output,
    /// The administrator's health rules, which the library's come after.
    pub(crate) rules: Rules,
}

pub(crate) fn run(question: &Question) -> Result<ExitCode> {
    let (name, text) = input::read(&question.file)?;
    let mut printer = Printer::new(io::stdout().lock(), question.output);
    let read = judge_all(question, Entries::new(&text), &mut printer);
    match printer.finish() {
        // Whoever reads has seen enough.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
        finished => finished.context("cannot write")?,
    }
    read.with_context(|| name.clone())?;
    if printer.printed == 0 {
        eprintln!("{name}: there is no object");
    }
    Ok(if printer.current == printer.printed {
        ExitCode::SUCCESS
    } else {
        ExitCode::from(WAITS)
    })
}

/// Prints a line for each entry, up to the one at which reading ends.
fn judge_all(
    question: &Question,
    mut entries: Entries<'_>,
    printer: &mut Printer<impl Write>,
) -> Result<(), SyntaxError> {
    let now = question.now;
    match question.profile {
        Profile::Kstatus => entries.try_for_each(|entry| {
            printer.print(judge::kstatus(&entry?, now));
            Ok(())
        }),
        Profile::Sluice => {
            // A Service is judged by slices that may come after it, so all is read first.
            let mut read: Vec<Entry> = Vec::new();
            let end = entries.try_for_each(|entry| {
                read.push(entry?);
                Ok(())
            });
            let world = Manifest::new(read.iter().map(|entry| &entry.object), &question.rules);
            for entry in &read {
                printer.print(judge::sluice(entry, &world, now));
            }
            end
        }
    }
}
