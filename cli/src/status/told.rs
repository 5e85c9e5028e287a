//! Writes the answer of `status` for one pod, as text for a terminal, JSON or YAML.

use super::StatusFormat;
use super::rows::{self, note, rows};
use super::stage::{Stage, is_gated};
use crate::gate_log::GateWord;
use crate::installation::{self, Unseen};
use crate::output::{self, API_VERSION, printable, wrapped};
use crate::stranded;
use crate::style::Style;
use anyhow::Result;
use jiff::Timestamp;
use rules::cause::{Pull, RootCause};
use rules::gate::{self, Gate};
use rules::object;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write;
use wire::said::{self, Said};
use wire::{Answer, Decision};

/// The parts of the answer of `status` for one pod.
pub(super) struct PodTold<'a> {
    pod: &'a Value,
    gate: Gate<'a>,
    /// The answer by this command's own judgement.
    answer: Answer,
    /// The root causes of the pod's wait: the ends of the chains behind its unsatisfied dependencies.
    roots: Vec<RootCause>,
    word: GateWord,
    /// Why the gate of a stranded pod never opens, and the way out; `None` for any other pod.
    stranded: Option<&'static str>,
    /// The reason why the gate cannot start, for a pod whose gate has not started.
    not_started: Option<String>,
    /// The reason why the containers of a pod whose gate has opened do not become ready.
    trouble: Option<String>,
    /// The images that are being pulled early, or cannot be.
    pulls: Vec<Pull>,
    /// Whether the gate's last line differs from this command's judgement, so that both have to be shown.
    differs: bool,
    unseen: Vec<Unseen>,
}

/// The answer for one pod as JSON: the answer that its gate would get, with the gate's own last line.
#[derive(Serialize)]
struct Json<'a> {
    #[serde(rename = "apiVersion")]
    api_version: &'static str,
    namespace: &'a str,
    pod: &'a str,
    /// The time since which the gate asks; for a held pod, its creation.
    #[serde(skip_serializing_if = "Option::is_none")]
    since: Option<&'a str>,
    /// Whether the pod is held before it takes a node.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    held: bool,
    #[serde(flatten)]
    answer: &'a Answer,
    #[serde(rename = "rootCauses", skip_serializing_if = "<[_]>::is_empty")]
    roots: &'a [RootCause],
    /// The last line of the gate on its wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<&'a str>,
    /// Why the gate of a stranded pod never opens, and the way out; `None` for any other pod.
    #[serde(skip_serializing_if = "Option::is_none")]
    stranded: Option<&'static str>,
    /// Why the gate cannot start, for a pod whose gate has not started.
    #[serde(rename = "notStarted", skip_serializing_if = "Option::is_none")]
    not_started: Option<&'a str>,
    /// Why the containers of a pod whose gate has opened do not become ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    trouble: Option<&'a str>,
    /// The images that are being pulled early, or cannot be.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pulls: &'a [Pull],
    /// Why the gate's log cannot be read.
    #[serde(skip_serializing_if = "Option::is_none")]
    unheard: Option<&'a str>,
    differs: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    unseen: &'a [Unseen],
}

impl<'a> PodTold<'a> {
    pub(super) fn new(pod: &'a Value, answer: Answer, word: GateWord, unseen: Vec<Unseen>) -> Self {
        let gate = Gate::of(pod);
        // The last line of a gate that has passed is from the past, and this judgement is of now: a difference means nothing.
        let differs = match &word {
            GateWord::Said(said) if !matches!(gate, Gate::Passed { .. }) => differ(said, &answer),
            _ => false,
        };
        Self {
            pod,
            gate,
            answer,
            roots: Vec::new(),
            word,
            stranded: None,
            not_started: None,
            trouble: None,
            pulls: Vec::new(),
            differs,
            unseen,
        }
    }

    /// Adds the root causes of the pod's wait: the ends of the chains behind its unsatisfied dependencies.
    pub(super) fn behind(self, roots: Vec<RootCause>) -> Self {
        Self { roots, ..self }
    }

    /// Adds the reason why the gate of the pod cannot start, and the images that the pod lacks.
    pub(super) fn kept_by(self, not_started: Option<String>, pulls: Vec<Pull>) -> Self {
        Self {
            not_started,
            pulls,
            ..self
        }
    }

    /// Adds whether the pod is stranded.
    pub(super) fn stranded(self, is_stranded: bool) -> Self {
        Self {
            stranded: is_stranded.then_some(stranded::WHY),
            ..self
        }
    }

    /// Adds the reason why the containers of the pod do not become ready although its gate has opened.
    pub(super) fn troubled_by(self, trouble: Option<String>) -> Self {
        Self { trouble, ..self }
    }

    /// Whether the pod waits: by the last line of its gate, or by this command's judgement where there is no line. A held pod always does; a pod
    /// without a gate, past its gate, ended or being deleted never does.
    pub(super) fn waits(&self) -> bool {
        // A pod that has ended, or is being stopped, waits no more, even if its gate has written no last line.
        if matches!(
            Stage::of(self.pod),
            Stage::Done | Stage::Failed | Stage::Stops
        ) {
            return false;
        }
        if self.held().is_some() {
            return true;
        }
        if !is_gated(self.pod) || matches!(self.gate, Gate::Passed { .. }) {
            return false;
        }
        match &self.word {
            GateWord::Said(said) => said.decision != Decision::Open,
            GateWord::Nothing | GateWord::Unheard(_) => self.answer.verdict != Decision::Open,
        }
    }

    #[expect(
        clippy::print_stdout,
        clippy::print_stderr,
        reason = "the answer of a command line tool"
    )]
    pub(super) fn print(&self, format: StatusFormat, style: Style) -> Result<()> {
        match format {
            StatusFormat::Json => println!("{}", serde_json::to_string(&self.json())?),
            StatusFormat::Yaml => print!("{}", serde_saphyr::to_string(&self.json())?),
            StatusFormat::Text | StatusFormat::Wide => {
                for warning in installation::warnings(&self.unseen) {
                    eprintln!("warning: {warning}");
                }
                print!("{}", self.text(style, Timestamp::now()));
            }
        }
        Ok(())
    }

    fn json(&self) -> Json<'_> {
        let (gate, unheard) = match &self.word {
            GateWord::Said(said) => (Some(said.line.as_str()), None),
            GateWord::Nothing => (None, None),
            GateWord::Unheard(why) => (None, Some(why.as_str())),
        };
        let metadata = &self.pod["metadata"];
        Json {
            api_version: API_VERSION,
            namespace: metadata["namespace"].as_str().unwrap_or_default(),
            pod: object::name(self.pod),
            held: self.held().is_some(),
            since: match self.gate {
                _ if self.held().is_some() => self.held(),
                Gate::Waiting { since } | Gate::Passed { since, .. } => Some(since),
                Gate::NotStarted | Gate::Refused { .. } => None,
            },
            answer: &self.answer,
            roots: &self.roots,
            gate,
            stranded: self.stranded,
            not_started: self.not_started.as_deref(),
            trouble: self.trouble.as_deref(),
            pulls: &self.pulls,
            unheard,
            differs: self.differs,
            unseen: &self.unseen,
        }
    }

    fn text(&self, style: Style, now: Timestamp) -> String {
        let mut out = format!("{}\n", printable(&self.headline()));
        if let Some(why) = &self.not_started {
            // Writing to a String cannot fail.
            let _ = writeln!(out, "  gate  cannot start: {}", printable(why));
        }
        let _ = match &self.word {
            GateWord::Said(said) => {
                let since = match self.gate {
                    Gate::Waiting { since } => since.parse().ok(),
                    _ => None,
                };
                writeln!(out, "  {}", rows::gate_line(&said.line, since, now))
            }
            GateWord::Unheard(why) => writeln!(out, "  gate  its log cannot be read: {why}"),
            GateWord::Nothing => Ok(()),
        };
        if let Some(why) = self.stranded {
            let _ = writeln!(out, "  {}", rows::stranded_line(why));
        }
        if let Some(why) = &self.trouble {
            let _ = writeln!(out, "  pod   {}", printable(why));
        }
        for line in rows::pulls(&self.pulls, now) {
            let _ = writeln!(out, "  {line}");
        }
        if self.differs {
            out.push_str("The word of the gate counts. Judged from here, now:\n");
        }
        self.reports(&mut out, style, now);
        out
    }

    fn reports(&self, out: &mut String, style: Style, now: Timestamp) {
        let reports: Vec<_> = self.answer.dependencies.iter().collect();
        let width = output::columns();
        for (mark, line) in rows(&reports, style, now) {
            let first = format!("  {mark}  ");
            for line in wrapped(&first, "        ", &line, width) {
                let _ = writeln!(out, "{line}");
            }
        }
        // The note may call this very pod another pod of its revision, since it is about to start.
        if let Some(note) = note(&self.answer).filter(|_| !self.opens_unasked()) {
            let _ = writeln!(out, "  {note}");
        }
    }

    /// Whether the gate is about to open without a look at the dependencies: the answer has none, only a note, and the gate's last line does not say
    /// that it waits.
    fn opens_unasked(&self) -> bool {
        let is_waiting = matches!(self.gate, Gate::Waiting { .. });
        let is_unasked = self.answer.dependencies.is_empty() && self.answer.note.is_some();
        is_waiting && is_unasked && !self.waits()
    }

    /// The start of the pod's hold, which is its creation; `None` for a pod that is not held.
    fn held(&self) -> Option<&'a str> {
        let created = self.pod["metadata"]["creationTimestamp"].as_str();
        gate::is_held(self.pod).then(|| created.unwrap_or_default())
    }

    /// The headline for a pod that has been held since `since` and has `unmet` unsatisfied dependencies.
    fn of_held(&self, name: &str, since: &str, unmet: usize) -> String {
        let total = self.answer.dependencies.len();
        let others: Vec<_> = gate::others(self.pod).collect();
        let others = match others.as_slice() {
            [] => String::new(),
            others => format!(
                "; scheduling gates that are not sluice's keep it from a node too: {}",
                others.join(", ")
            ),
        };
        if self.answer.verdict == Decision::Open {
            return format!(
                "{name} is held before it takes a node, and about to be let go (where it stays so, kubectl sluice check says why){others}"
            );
        }
        let waits = match unmet {
            0 => "waits".to_owned(),
            unmet => format!("waits for {unmet} of {total} dependencies"),
        };
        format!("{name} is held before it takes a node: it {waits}, since {since}{others}")
    }

    fn headline(&self) -> String {
        let metadata = &self.pod["metadata"];
        let text = |key: &str| metadata[key].as_str().unwrap_or_default();
        let name = format!("pod {}/{}", text("namespace"), text("name"));
        let reports = &self.answer.dependencies;
        let unmet = reports.iter().filter(|report| !report.satisfied).count();
        let total = reports.len();
        if let Some(since) = self.held() {
            return self.of_held(&name, since, unmet);
        }
        if !is_gated(self.pod) {
            return format!("{name} has no gate: it started when it was scheduled");
        }
        let ended = match Stage::of(self.pod) {
            Stage::Stops => "is being deleted",
            Stage::Failed => "has failed",
            _ => "",
        };
        match &self.gate {
            Gate::NotStarted | Gate::Waiting { .. } if !ended.is_empty() => {
                format!("{name} {ended}, and has not passed its gate; its dependencies now:")
            }
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
            Gate::Waiting { .. } if self.opens_unasked() => format!("{name} is about to start"),
            Gate::Waiting { .. } if total == 0 => {
                format!("{name} is about to start: its list is empty")
            }
            Gate::Waiting { .. } => {
                format!("{name} is about to start: all {total} dependencies are satisfied")
            }
            Gate::NotStarted if rows::is_pulling(&self.pulls) => format!(
                "{name}: its images are being pulled, and its gate begins then; its dependencies:"
            ),
            Gate::NotStarted => format!("{name}: its gate has not started yet; its dependencies:"),
        }
    }
}

/// Whether the gate's last line differs from this command's own judgement: another decision, or another dependency or reason.
fn differ(said: &Said, answer: &Answer) -> bool {
    let judged = said::first(answer);
    let judged = judged.map(|it| (it.dependency.as_str(), it.reason.as_str()));
    let about = said.about.as_ref();
    let about = about.map(|it| (it.dependency.as_str(), it.reason.as_str()));
    said.decision != answer.verdict || (about.is_some() && about != judged)
}

#[cfg(test)]
mod tests;
