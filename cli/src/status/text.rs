//! Writes the tree of `status` as lines of text for a terminal.

use super::blocks::{TreeBlock, TreeRow, blocks};
use super::creations::HeldCreation;
use super::rows::{self, note, rows, took};
use super::stage::Stage;
use super::tree::{Pod, Tree, Workload};
use crate::output::{counted, printable, wrapped};
use crate::root_causes::{self, HeldUp};
use crate::style::{Style, Tone};
use jiff::Timestamp;
use wire::{Answer, Decision, Report};

/// The options of the text that `status` prints.
#[derive(Debug, Clone, Copy)]
pub(super) struct TreeView {
    /// Shows satisfied dependencies, the node, and the last line of the gate too, of each pod by itself.
    pub(super) wide: bool,
    pub(super) style: Style,
    pub(super) now: Timestamp,
    /// The columns of the terminal, at which lines are wrapped; `None` where they are not.
    pub(super) width: Option<usize>,
}

/// The lines of a tree.
pub(super) struct TreeText {
    /// The headline, and the root causes that hold the pods up.
    pub(super) summary: Vec<String>,
    pub(super) rest: Vec<String>,
}

impl TreeText {
    /// All lines, in their order.
    pub(super) fn all(self) -> Vec<String> {
        [self.summary, self.rest].concat()
    }
}

/// The most names that one line tells.
const NAMED: usize = 3;

impl TreeView {
    /// The lines of the tree; no text of an object can break a line.
    pub(super) fn lines(self, tree: &Tree) -> TreeText {
        let several = tree.workloads.iter().any(|it| {
            let first = tree.workloads.first();
            first.is_some_and(|first| first.namespace != it.namespace)
        });
        let mut summary = self.wrapped("", "  ", &headline(tree));
        summary.extend(self.held_up(&tree.held_up, several));
        let mut lines = Vec::new();
        for block in blocks(tree, self.wide) {
            lines.push(String::new());
            lines.extend(self.wrapped("", "  ", &self.title(&block, several)));
            let refused = block
                .workloads
                .iter()
                .find_map(|it| Some((it, it.refused.as_ref()?)));
            lines.extend(
                refused
                    .into_iter()
                    .flat_map(|(it, why)| self.refused(why, it)),
            );
            let mut before: Option<&Answer> = None;
            for (at, row) in block.rows.iter().enumerate() {
                let (branch, below) = if at + 1 == block.rows.len() {
                    ("└─ ", "     ")
                } else {
                    ("├─ ", "│    ")
                };
                let pod = row.pods[0];
                let same = before.is_some() && before == pod.answer.as_ref();
                let names = row_names(&block, row);
                let (mark, told) = self.row(row, &names, same);
                lines.extend(self.wrapped(
                    &format!("{branch}{mark}  "),
                    &format!("{below}  "),
                    &told,
                ));
                let further = format!("{below}      ");
                for (mark, line) in self.below(pod, same) {
                    lines.extend(self.wrapped(&format!("{below}{mark}"), &further, &line));
                }
                before = pod.answer.as_ref();
            }
        }
        if !tree.creations.is_empty() {
            lines.push(String::new());
        }
        lines.extend(tree.creations.iter().flat_map(|it| self.creation(it)));
        TreeText {
            summary,
            rest: lines,
        }
    }

    fn wrapped(self, first: &str, further: &str, text: &str) -> Vec<String> {
        wrapped(first, further, text, self.width)
    }

    /// The lines about the root causes: each cause with the number of pods that wait for it, and the time of the longest of these waits. Empty
    /// where fewer than two pods wait. `several`: the pods are of several namespaces, so each cause has its namespace in front.
    fn held_up(self, causes: &[HeldUp], several: bool) -> Vec<String> {
        let (shown, more) = root_causes::shown(causes);
        if shown.is_empty() {
            return Vec::new();
        }
        let mut lines = vec![String::new(), self.style.heading(root_causes::TITLE)];
        for held in shown {
            let tone = if held.cause.broken {
                Tone::Bad
            } else {
                Tone::Waiting
            };
            let place = if several {
                format!("{}/", held.namespace)
            } else {
                String::new()
            };
            let since = held
                .since
                .map(|since| format!(", {} so far", took(since, self.now)));
            let told = format!(
                "{place}{}; {}{}",
                held.cause,
                held.count(),
                since.unwrap_or_default()
            );
            let mark = format!("{}  ", self.style.mark(tone));
            lines.extend(self.wrapped(&mark, "      ", &printable(&told)));
        }
        lines.extend(more.map(|it| format!("   {it}")));
        lines
    }

    fn creation(self, held: &HeldCreation) -> Vec<String> {
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
        let waited = took(*since, self.now);
        let tries = match tries_left {
            1 => "1 try".to_owned(),
            count => format!("{count} tries"),
        };
        let told =
            format!("{place}{name} waits to be created, {waited} so far, {tries} left: {why}");
        self.wrapped(&format!("{mark}  "), "      ", &printable(&told))
    }

    fn title(self, block: &TreeBlock<'_>, several: bool) -> String {
        let names = block.workloads.iter().map(|workload| {
            let Workload {
                namespace, name, ..
            } = workload;
            if several {
                format!("{namespace}/{name}")
            } else {
                name.clone()
            }
        });
        let name = named(&names.collect::<Vec<_>>());
        let name = self.style.heading(&printable(&name));
        match block.workloads[0].release.as_deref().filter(|_| self.wide) {
            Some(release) => format!("{name}  release {}", printable(release)),
            None => name,
        }
    }

    fn refused(self, why: &str, workload: &Workload) -> Vec<String> {
        let which = if workload.pods.is_empty() {
            "its pods are refused"
        } else {
            "more pods are refused"
        };
        let mark = self.style.mark(Tone::Bad);
        let told = format!("{which}: {}", printable(why));
        self.wrapped(&format!("{mark}  "), "      ", &told)
    }

    /// The mark and the text of a row. `same`: the pods' answer equals that of the row above, so the row says only that.
    fn row(self, row: &TreeRow<'_>, names: &str, same: bool) -> (String, String) {
        let pod = row.pods[0];
        let node = pod.node.as_deref().filter(|_| self.wide);
        let node = node.map(|it| format!(" (on {it})")).unwrap_or_default();
        let told = format!("{names}  {}{node}", self.told(row, same));
        (self.style.mark(pod.tone()), printable(&told))
    }

    fn told(self, row: &TreeRow<'_>, same: bool) -> String {
        let (pod, count) = (row.pods[0], row.pods.len());
        let one = count == 1;
        let word = pod.stage.verb(count);
        if let (false, false) = (pod.gated, pod.stage.waits()) {
            let whose = if one { "it has" } else { "they have" };
            return format!("{word}; {whose} no gate");
        }
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
                let waits = Stage::Waits.verb(count);
                let of = answer.dependencies.len();
                let unmet = answer.dependencies.iter().filter(|it| !it.satisfied);
                match unmet.count() {
                    _ if same => format!("{held}{waits} for the same"),
                    0 => word.to_owned(),
                    unmet => {
                        format!("{held}{waits} for {unmet} of {}", counted(of, "dependency"))
                    }
                }
            }
            _ => word.to_owned(),
        };
        let since = row.pods.iter().filter_map(|it| it.since).min();
        match (since, pod.opened) {
            (Some(_), Some(_)) => {
                let times = row
                    .pods
                    .iter()
                    .filter_map(|it| Some((it.since?, it.opened?)));
                let longest = times.max_by_key(|(since, opened)| opened.duration_since(*since));
                let longest = longest.map(|(since, opened)| took(since, opened));
                let longest = longest.map(|it| it.to_string()).unwrap_or_default();
                if one {
                    format!("{waits}, after {longest} at its gate")
                } else {
                    format!("{waits}, after up to {longest} at their gates")
                }
            }
            (Some(since), None) if pod.stage.waits() => {
                format!("{waits}, {} so far", took(since, self.now))
            }
            (None, _) if pod.stage == Stage::Waits => {
                let why = match (rows::is_pulling(&pod.pulls), one) {
                    (true, true) => "its images are being pulled, and its gate begins then",
                    (true, false) => "their images are being pulled, and their gates begin then",
                    (false, true) => "its gate has not started yet",
                    (false, false) => "their gates have not started yet",
                };
                format!("{waits}; {why}")
            }
            _ => waits,
        }
    }

    /// The lines below the row of a pod, each with its mark. `same`: the pod's answer equals that of the row above, so its dependencies are left out.
    fn below(self, pod: &Pod, same: bool) -> Vec<(String, String)> {
        let mut lines = Vec::new();
        if let Some(why) = &pod.not_started {
            lines.push(format!("gate  cannot start: {}", printable(why)));
        }
        if let Some(gate) = &pod.gate {
            lines.push(rows::gate_line(gate, pod.since, self.now));
        }
        lines.extend(pod.stranded.map(rows::stranded_line));
        let trouble = pod.trouble.as_deref();
        lines.extend(trouble.map(|why| format!("pod   {}", printable(why))));
        lines.extend(rows::pulls(&pod.pulls, self.now));
        lines.extend(pod.unknown.as_deref().map(printable));
        let plain = |line: String| (String::new(), line);
        let mut lines: Vec<(String, String)> = lines.into_iter().map(plain).collect();
        if let Some(answer) = pod.answer.as_ref().filter(|_| !same) {
            let shown = |it: &&Report| self.wide || !it.satisfied;
            let shown: Vec<_> = answer.dependencies.iter().filter(shown).collect();
            let rows = rows(&shown, self.style, self.now).into_iter();
            lines.extend(rows.map(|(mark, line)| (format!("{mark}  "), line)));
            // The note may call this very pod another pod of its revision, since it is about to start.
            lines.extend(note(answer).filter(|_| !pod.is_disputed()).map(plain));
        }
        lines
    }
}

/// The names of the pods of a row; of the pods of several workloads the number, since the title names the workloads.
fn row_names(block: &TreeBlock<'_>, row: &TreeRow<'_>) -> String {
    if block.workloads.len() > 1 {
        return counted(row.pods.len(), "pod");
    }
    let names: Vec<String> = row.pods.iter().map(|it| it.name.clone()).collect();
    named(&names)
}

/// The first three names, and how many more there are: `a, b, c and 2 more`.
fn named(names: &[String]) -> String {
    let shown = &names[..names.len().min(NAMED)];
    match names.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
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
