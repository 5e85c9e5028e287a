//! `status -f FILE`: the verdict of the rules on each object of a manifest, without a cluster.

mod judge;
mod namespace;
mod print;
mod world;

pub(crate) use judge::kind_of;
pub(crate) use namespace::put_into;
pub(crate) use world::Manifest;

use crate::manifest::{Entries, Entry, Fault, List};
use crate::output::Output;
use crate::parallel;
use crate::source::{Chart, ManifestSource};
use crate::style::Style;
use anyhow::{Context, Result};
use clap::ValueEnum;
use jiff::Timestamp;
use print::Printer;
use rules::health::Rules;
use std::io::{self, ErrorKind, Write};
use std::path::PathBuf;
use std::process::ExitCode;

/// The exit code where an object is not ready for its dependents.
const WAITS: u8 = 3;

/// The rules that judge an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Profile {
    /// The rules of kstatus, with its own statuses and messages.
    Kstatus,
    /// The rules of sluice: kstatus, and the conditions of `ready` beyond it.
    Sluice,
}

/// The manifest, and the rules for it.
pub(crate) struct OfflineOptions {
    /// The manifest, or the folder of a chart or a kustomization; `-` is standard input.
    pub(crate) file: PathBuf,
    /// The namespace of an object that names none; without this option such an object has none.
    pub(crate) namespace: Option<String>,
    pub(crate) profile: Profile,
    /// The time at which objects are judged.
    pub(crate) now: Timestamp,
    pub(crate) output: Output,
    pub(crate) style: Style,
    /// The administrator's health rules; they come before the library's.
    pub(crate) rules: Rules,
}

pub(crate) fn run(options: &OfflineOptions) -> Result<ExitCode> {
    let chart = Chart {
        namespace: options.namespace.clone(),
        ..Chart::default()
    };
    let (name, text) = ManifestSource::of(&options.file).text(&chart)?;
    let mut printer = Printer::new(io::stdout().lock(), options.output, options.style);
    let read = judge_all(options, &text, &mut printer);
    match printer.finish() {
        // The reader, such as `head`, closed the pipe.
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

/// Judges and prints each object of a manifest, by the rules of the profile. Those before the first syntax error are printed too; that error is
/// returned.
fn judge_all(
    options: &OfflineOptions,
    text: &[u8],
    printer: &mut Printer<impl Write>,
) -> Result<(), Fault> {
    let now = options.now;
    let list = List::of(text);
    match options.profile {
        Profile::Kstatus => {
            let judge = |entry: Entry| judge::kstatus(&settled(options, entry), now);
            match list.and_then(|list| list.map(judge)) {
                Some(lines) => {
                    for line in lines {
                        printer.print(line);
                    }
                }
                None => Entries::new(text).try_for_each(|entry| {
                    printer.print(judge(entry?));
                    Ok(())
                })?,
            }
            Ok(())
        }
        Profile::Sluice => {
            // The EndpointSlices that judge a Service may come after it, so read everything first.
            let (read, end) = match list.and_then(|list| list.map(|entry| settled(options, entry)))
            {
                Some(read) => (read, Ok(())),
                None => read_all(options, text),
            };
            let world = Manifest::new(read.iter().map(|entry| &entry.object), &options.rules);
            for line in parallel::map(&read, |_, entry| judge::sluice(entry, &world, now)) {
                printer.print(line);
            }
            end
        }
    }
}

/// Puts an entry that names no namespace into that of the options, if they have one.
fn settled(options: &OfflineOptions, mut entry: Entry) -> Entry {
    if let Some(namespace) = &options.namespace {
        put_into(&mut entry.object, namespace);
    }
    entry
}

/// Reads the entries before the first syntax error, and that error, if there is one.
fn read_all(options: &OfflineOptions, text: &[u8]) -> (Vec<Entry>, Result<(), Fault>) {
    let mut read = Vec::new();
    let end = Entries::new(text).try_for_each(|entry| {
        read.push(settled(options, entry?));
        Ok(())
    });
    (read, end)
}
