//! The tree for people.

use super::creations::HeldCreation;
use super::rows::{self, note, rows};
use super::stage::Stage;
use super::tree::{Pod, Tree, Workload};
use crate::output::{counted, printable};
use crate::style::{Style, Tone};
use jiff::Timestamp;
use std::time::Duration;
use wire::said::Elapsed;
use wire::{Answer, Decision, Report};

/// The options of the text that `status` prints.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeView {
    /// Shows satisfied dependencies, the node, and the last line of the gate too.
    pub(super) wide: bool,
    pub(super) style: Style,
    pub(super) now: Timestamp,
}

impl TreeView {
    /// The lines of the tree; no text of an object can break a line.
    pub(super) fn lines(self, tree: &Tree) -> Vec<String> {
        let mut lines = vec![headline(tree)];
        let several = tree.workloads.iter().any(|it| {
            let first = tree.workloads.first();
            first.is_some_and(|first| first.namespace != it.namespace)
        });
        for workload in &tree.workloads {
            lines.push(String::new());
            lines.push(self.title(workload, several));
            let refused = workload.refused.as_deref();
            lines.extend(refused.map(|why| self.refused(why, workload)));
            let mut before: Option<&Answer> = None;
            for (at, pod) in workload.pods.iter().enumerate() {
                let (branch, below) = if at + 1 == workload.pods.len() {
                    ("└─ ", "     ")
                } else {
                    ("├─ ", "│    ")
                };
                let same = before.is_some() && before == pod.answer.as_ref();
                lines.push(format!("{branch}{}", self.pod(pod, same)));
                let inner = self.below(pod, same).into_iter();
                lines.extend(inner.map(|line| format!("{below}{line}")));
                before = pod.answer.as_ref();
            }
        }
        if !tree.creations.is_empty() {
            lines.push(String::new());
        }
        lines.extend(tree.creations.iter().map(|it| self.creation(it)));
        lines
    }

    fn creation(self, held: &HeldCreation) -> String {
        let HeldCreation {
            namespace,
            name,
            since,
            tries_left,
            why,
        } = held;
        let mark = self.style.mark(Tone::Waiting);
        let place = match namespace.as_str() {
            "" => String::new(),
            namespace => format!("{namespace}/"),
        };
        let seconds = self.now.duration_since(*since).as_secs();
        let waited = Elapsed(Duration::from_secs(seconds.try_into().unwrap_or_default()));
        let tries = match tries_left {
            1 => "1 try".to_owned(),
            count => format!("{count} tries"),
        };
        let told =
            format!("{place}{name} waits to be created, {waited} so far, {tries} left: {why}");
        format!("{mark}  {}", printable(&told))
    }

    fn title(self, workload: &Workload, several: bool) -> String {
        let Workload {
            namespace, name, ..
        } = workload;
        let name = if several {
            format!("{namespace}/{name}")
        } else {
            name.clone()
        };
        let name = self.style.heading(&printable(&name));
        match workload.release.as_deref().filter(|_| self.wide) {
            Some(release) => format!("{name}  release {}", printable(release)),
            None => name,
        }
    }

    fn refused(self, why: &str, workload: &Workload) -> String {
        let which = if workload.pods.is_empty() {
            "its pods are refused"
        } else {
            "more pods are refused"
        };
        let mark = self.style.mark(Tone::Bad);
        format!("{mark}  {which}: {}", printable(why))
    }

    fn pod(self, pod: &Pod, same: bool) -> String {
        let node = pod.node.as_deref().filter(|_| self.wide);
        let node = node.map(|it| format!(" (on {it})")).unwrap_or_default();
        let mark = self.style.mark(pod.stage.tone());
        let told = format!("{}  {}{node}", pod.name, self.told(pod, same));
        format!("{mark}  {}", printable(&told))
    }

    fn told(self, pod: &Pod, same: bool) -> String {
        let word = pod.stage.word();
        if let (false, false) = (pod.gated, pod.stage.waits()) {
            return format!("{word}; it has no gate");
        }
        let unmet = |answer: &Answer| {
            let of = answer.dependencies.len();
            let unmet = answer.dependencies.iter().filter(|it| !it.satisfied);
            (unmet.count(), of)
        };
        let waits = match (pod.stage, &pod.answer) {
            (Stage::Held, Some(answer)) if answer.verdict == Decision::Open => {
                format!("{word}, and about to be let go")
            }
            (Stage::Held | Stage::Waits, Some(answer)) if !pod.is_disputed() => {
                let held = if pod.stage == Stage::Held {
                    "held, "
                } else {
                    ""
                };
                match unmet(answer) {
                    _ if same => format!("{held}waits for the same"),
                    (0, _) => word.to_owned(),
                    (unmet, of) => {
                        format!("{held}waits for {unmet} of {}", counted(of, "dependency"))
                    }
                }
            }
            _ => word.to_owned(),
        };
        let took = |from: Timestamp, to: Timestamp| {
            let seconds = to.duration_since(from).as_secs();
            Elapsed(Duration::from_secs(seconds.try_into().unwrap_or_default()))
        };
        match (pod.since, pod.opened) {
            (Some(since), Some(opened)) => {
                format!("{waits}, after {} at its gate", took(since, opened))
            }
            (Some(since), None) if pod.stage.waits() => {
                format!("{waits}, {} so far", took(since, self.now))
            }
            (None, _) if pod.stage == Stage::Waits && rows::is_pulling(&pod.pulls) => {
                format!("{waits}; its images are being pulled, and its gate begins then")
            }
            (None, _) if pod.stage == Stage::Waits => {
                format!("{waits}; its gate has not started yet")
            }
            _ => waits,
        }
    }

    fn below(self, pod: &Pod, same: bool) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(why) = &pod.not_started {
            lines.push(format!("gate  cannot start: {}", printable(why)));
        }
        if let Some(gate) = &pod.gate {
            lines.push(format!("gate  {}", printable(gate)));
        }
        lines.extend(rows::pulls(&pod.pulls, self.now));
        lines.extend(pod.unknown.as_deref().map(printable));
        if let Some(answer) = pod.answer.as_ref().filter(|_| !same) {
            let shown = |it: &&Report| self.wide || !it.satisfied;
            let shown: Vec<_> = answer.dependencies.iter().filter(shown).collect();
            lines.extend(rows(&shown, self.style, self.now));
            // The note may call this very pod another pod of its revision, since it is about to start.
            lines.extend(note(answer).filter(|_| !pod.is_disputed()));
        }
        lines
    }
}

/// The first line of the answer of `status`: `namespace shop: 2 of 3 pods with a gate wait`.
pub(super) fn headline(tree: &Tree) -> String {
    let subject = printable(&tree.subject);
    let refused = match tree.refused() {
        0 => None,
        count => Some(format!(
            "the pods of {} are refused",
            counted(count, "workload")
        )),
    };
    let gated = counted(tree.pods, "pod");
    let waits = match tree.waiting {
        _ if tree.podless && refused.is_some() => {
            return format!("{subject}: it has no pods, since they are refused");
        }
        _ if tree.podless => {
            return format!(
                "{subject}: it has no pods, so none that wait; kubectl sluice graph shows what waits for it"
            );
        }
        0 => "nothing waits".to_owned(),
        1 => format!("1 of {gated} with a gate waits"),
        waiting => format!("{waiting} of {gated} with a gate wait"),
    };
    let held = match tree.creations.len() {
        0 => None,
        count => Some(format!(
            "the creation of {} is held",
            counted(count, "object")
        )),
    };
    let told = [Some(waits), refused, held].into_iter().flatten();
    format!("{subject}: {}", told.collect::<Vec<_>>().join("; "))
}

#[cfg(test)]
mod tests;
