//! How it is told: to people and as JSON.

use crate::gate_log::Word;
use crate::output::{Output, printable};
use anyhow::Result;
use rules::gate::Gate;
use rules::keys;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use wire::said::{self, Said};
use wire::{Answer, Decision, Report};

/// Everything that is told of a pod.
pub(super) struct Told<'a> {
    pod: &'a Value,
    gate: Gate<'a>,
    /// What is judged from here.
    answer: Answer,
    word: Word,
    /// Whether the gate says something else, so that both have to be shown.
    differs: bool,
    unseen: Vec<String>,
}

/// The same as JSON: what the gate would be told, with what it said itself beside it.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(flatten)]
    answer: &'a Answer,
    /// The last line of the gate on its wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<&'a str>,
    /// Why its log cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unheard: Option<&'a str>,
    differs: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unseen: &'a [String],
}

impl<'a> Told<'a> {
    pub(super) fn new(pod: &'a Value, answer: Answer, word: Word, unseen: Vec<String>) -> Self {
        let gate = Gate::of(pod);
        // Once the gate has passed, its word is of then and the judgement of now.
        let differs = match &word {
            Word::Said(said) if !matches!(gate, Gate::Passed { .. }) => differ(said, &answer),
            _ => false,
        };
        Self {
            pod,
            gate,
            answer,
            word,
            differs,
            unseen,
        }
    }

    /// Whether something holds the pod back: by the word of its gate, and by the judgement where it has none.
    pub(super) fn waits(&self) -> bool {
        if !self.has_gate() || matches!(self.gate, Gate::Passed { .. }) {
            return false;
        }
        match &self.word {
            Word::Said(said) => said.decision != Decision::Open,
            Word::Nothing | Word::Unheard(_) => self.answer.verdict != Decision::Open,
        }
    }

    #[expect(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "the answer of a command line tool"
    )]
    pub(super) fn print(&self, output: Output) -> Result<()> {
        match output {
            Output::Json => println!("{}", serde_json::to_string(&self.json())?),
            Output::Text => {
                for unseen in &self.unseen {
                    eprintln!("warning: {unseen}");
                }
                for line in self.text().lines() {
                    println!("{}", printable(line));
                }
            }
        }
        Ok(())
    }

    fn json(&self) -> Json<'_> {
        let (gate, unheard) = match &self.word {
            Word::Said(said) => (Some(said.line.as_str()), None),
            Word::Nothing => (None, None),
            Word::Unheard(why) => (None, Some(why.as_str())),
        };
        Json {
            answer: &self.answer,
            gate,
            unheard,
            differs: self.differs,
            unseen: &self.unseen,
        }
    }

    fn text(&self) -> String {
        let mut out = format!("{}\n", self.headline());
        // Writing to a String cannot fail.
        let _ = match &self.word {
            Word::Said(said) => writeln!(out, "  gate  {}", said.line),
            Word::Unheard(why) => writeln!(out, "  gate  its log cannot be read: {why}"),
            Word::Nothing => Ok(()),
        };
        if self.differs {
            out.push_str("The word of the gate counts. Judged from here, now:\n");
        }
        self.reports(&mut out);
        out
    }

    fn reports(&self, out: &mut String) {
        let reports = &self.answer.dependencies;
        let width = |cell: fn(&Report) -> &str| {
            let widths = reports.iter().map(|report| cell(report).chars().count());
            widths.max().unwrap_or_default()
        };
        let names = width(|report| &report.dependency);
        let statuses = width(|report| &report.status);
        for report in reports {
            let mark = if report.satisfied { "ok  " } else { "wait" };
            let why = report.message.as_deref();
            let why = why.map(|text| format!(": {text}")).unwrap_or_default();
            let (name, status, reason) = (&report.dependency, &report.status, &report.reason);
            let _ = writeln!(
                out,
                "  {mark}  {name:names$}  {status:statuses$}  {reason}{why}"
            );
        }
        let _ = match (&self.answer.note, self.answer.verdict) {
            (None, _) => Ok(()),
            // Worded to follow these, as the gate does.
            (Some(note), Decision::Wait) if reports.is_empty() => {
                writeln!(out, "  wait  for {note}")
            }
            (Some(note), Decision::Open) if reports.is_empty() => {
                writeln!(out, "  open  without {note}")
            }
            (Some(note), _) => writeln!(out, "  {note}"),
        };
    }

    fn has_gate(&self) -> bool {
        self.pod["metadata"]["labels"][keys::GATED].is_string()
    }

    fn headline(&self) -> String {
        let metadata = &self.pod["metadata"];
        let text = |key: &str| metadata[key].as_str().unwrap_or_default();
        let name = format!("pod {}/{}", text("namespace"), text("name"));
        let reports = &self.answer.dependencies;
        let unmet = reports.iter().filter(|report| !report.satisfied).count();
        let total = reports.len();
        if !self.has_gate() {
            return format!("{name} has no gate: it started when it was scheduled");
        }
        match &self.gate {
            Gate::Passed { at: when, .. } if total == 0 => {
                format!("{name} passed its gate at {when}; its list is empty")
            }
            Gate::Passed { at: when, .. } => {
                format!("{name} passed its gate at {when}; its dependencies now:")
            }
            Gate::Refused { at: when } => {
                format!("{name} was refused by its gate at {when}; its dependencies now:")
            }
            Gate::Waiting { since } if self.differs && self.waits() => {
                format!("{name} waits, since {since}")
            }
            Gate::Waiting { since } if unmet > 0 => {
                format!("{name} waits for {unmet} of {total} dependencies, since {since}")
            }
            Gate::Waiting { since } if self.answer.verdict != Decision::Open => {
                format!("{name} waits, since {since}")
            }
            Gate::Waiting { .. } if total == 0 => {
                format!("{name} is about to start: its list is empty")
            }
            Gate::Waiting { .. } => {
                format!("{name} is about to start: all {total} dependencies are satisfied")
            }
            Gate::NotStarted => format!("{name}: its gate has not started yet; its dependencies:"),
        }
    }
}

/// Whether the gate says something else than what is judged from here: another decision, or another dependency or reason.
fn differ(said: &Said, answer: &Answer) -> bool {
    let judged = said::first(answer);
    let judged = judged.map(|it| (it.dependency.as_str(), it.reason.as_str()));
    let about = said.about.as_ref();
    let about = about.map(|it| (it.dependency.as_str(), it.reason.as_str()));
    said.decision != answer.verdict || (about.is_some() && about != judged)
}

#[cfg(test)]
mod tests;
