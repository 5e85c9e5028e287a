//! The screen of a live tree: drawn again in its place on a terminal, elsewhere a line for each change.

use super::text::{TreeView, headline};
use super::tree::{Pod, Tree};
use super::{Manner, StatusFormat};
use crate::output::printable;
use anyhow::Result;
use jiff::Timestamp;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stdout};
use terminal_size::terminal_size_of;
use wire::{Decision, said};

/// The last tree that was shown, and its screen.
pub(super) struct Screen {
    manner: Manner,
    begin: Timestamp,
    terminal: bool,
    /// The number of lines of the last tree on the terminal.
    drawn: usize,
    /// The last tree, to find the changes.
    last: Option<Tree>,
}

impl Screen {
    pub(super) fn new(manner: Manner, begin: Timestamp) -> Self {
        Self {
            manner,
            begin,
            terminal: stdout().is_terminal(),
            drawn: 0,
            last: None,
        }
    }

    /// Whether the output is a terminal.
    pub(super) fn is_terminal(&self) -> bool {
        self.terminal
    }

    #[expect(clippy::print_stderr, reason = "a warning is no part of the answer")]
    pub(super) fn show(&mut self, tree: &Tree, now: Timestamp) -> Result<()> {
        if self.last.is_none() {
            for unseen in &tree.unseen {
                eprintln!("warning: {unseen}");
            }
        }
        let text = match self.manner.format {
            _ if self.terminal && self.manner.is_text() => self.redrawn(tree, now),
            _ if self.last.as_ref() == Some(tree) => return Ok(()),
            StatusFormat::Text | StatusFormat::Wide => {
                changes(self.last.as_ref(), tree, self.begin, now)
            }
            StatusFormat::Json => serde_json::to_string(tree)? + "\n",
            StatusFormat::Yaml => format!("---\n{}", serde_saphyr::to_string(tree)?),
        };
        self.last = Some(tree.clone());
        let mut out = stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        Ok(())
    }

    /// The tree over the last one. A line that is too wide, and lines that are too many, are cut, or the cursor would miss the
    /// first line.
    fn redrawn(&mut self, tree: &Tree, now: Timestamp) -> String {
        let view = TreeView {
            wide: self.manner.is_wide(),
            style: self.manner.style,
            now,
        };
        let mut lines = view.lines(tree);
        let (rows, columns) = terminal_size_of(stdout())
            .map_or((0, 0), |(width, height)| (height.0.into(), width.0.into()));
        let (rows, columns) = (known(rows), known(columns));
        let room = rows.saturating_sub(1).max(2);
        if lines.len() > room {
            let hidden = lines.len() - room + 1;
            lines.truncate(room - 1);
            lines.push(format!("... and {hidden} lines more"));
        }
        let up = match self.drawn {
            0 => String::new(),
            drawn => format!("\x1b[{drawn}F"),
        };
        self.drawn = lines.len();
        let lines: Vec<_> = lines.iter().map(|line| cut(line, columns)).collect();
        format!("{up}\x1b[J\x1b[?7l{}\n\x1b[?7h", lines.join("\n"))
    }
}

/// A dimension of the terminal. Some terminals do not know their size and report 0: then a line is not cut.
fn known(size: usize) -> usize {
    if size == 0 { usize::MAX } else { size }
}

/// The part of a line that fits into the columns of a terminal; colours take none.
fn cut(line: &str, columns: usize) -> String {
    let mut seen = 0;
    let mut escape = false;
    let mut end = 0; // of the part that fits with an ellipsis behind it
    for (at, letter) in line.char_indices() {
        match letter {
            '\x1b' => escape = true,
            'm' if escape => escape = false,
            _ if escape => {}
            _ => seen += 1,
        }
        if seen > columns {
            return format!("{}…\x1b[0m", &line[..end]);
        }
        if seen < columns {
            end = at + letter.len_utf8();
        }
    }
    line.to_owned()
}

/// A line for each pod that is not as it was, and one when nothing waits any more.
fn changes(last: Option<&Tree>, tree: &Tree, begin: Timestamp, now: Timestamp) -> String {
    let before: BTreeMap<&str, (&str, String)> = last
        .into_iter()
        .flat_map(Tree::pods)
        .map(|pod| (pod.uid.as_str(), told(pod)))
        .collect();
    let seconds = now.duration_since(begin).as_secs_f64();
    let line = |text: &str| format!("{seconds:6.1}s  {}\n", printable(text));
    let changed = tree.pods().filter_map(|pod| {
        let (word, why) = told(pod);
        if before.get(pod.uid.as_str()) == Some(&(word, why.clone())) {
            return None;
        }
        let text = format!("{}/{}  {word:7}  {why}", pod.namespace, pod.name);
        Some(line(text.trim_end()))
    });
    let here: Vec<&str> = tree.pods().map(|pod| pod.uid.as_str()).collect();
    let gone = last.into_iter().flat_map(Tree::pods);
    let gone = gone
        .filter(|pod| !here.contains(&pod.uid.as_str()))
        .map(|pod| line(&format!("{}/{}  gone", pod.namespace, pod.name)));
    let end = (tree.waiting == 0).then(|| line(&headline(tree)));
    changed.chain(gone).chain(end).collect()
}

/// The stage of a pod and, for one that waits, the reason. A pod with nothing to wait for is about to start: a note on it, for
/// example that a pod of its revision has started, may be about this very pod.
fn told(pod: &Pod) -> (&'static str, String) {
    let word = pod.stage.word();
    if !pod.stage.waits() {
        return (word, String::new());
    }
    let answer = pod.answer.as_ref();
    let answer = answer.filter(|it| it.verdict != Decision::Open);
    let why = answer.and_then(said::unsatisfied);
    let why = why.or_else(|| pod.gate.clone());
    let why = why.or_else(|| pod.unknown.clone());
    (word, why.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gate_log::GateWord;
    use crate::status::stage::Stage;
    use crate::status::tree::Workload;
    use wire::Answer;

    #[test]
    fn a_line_is_cut_to_the_columns_and_colours_take_none() {
        assert_eq!(cut("└─ abc", 6), "└─ abc");
        assert_eq!(cut("└─ abc", 5), "└─ a…\x1b[0m");
        assert_eq!(cut("\x1b[31mabc\x1b[0m", 3), "\x1b[31mabc\x1b[0m");
        assert_eq!(cut("\x1b[31mabcd\x1b[0m", 3), "\x1b[31mab…\x1b[0m");
    }

    #[test]
    fn a_terminal_of_no_size_shows_everything() {
        let line = "└─ abc".repeat(99);
        assert_eq!(cut(&line, known(0)), line);
        assert_eq!(known(80), 80);
    }

    #[test]
    fn a_pod_waits_for_something_or_starts_with_nothing_behind_it() {
        let answer = |verdict| Answer {
            verdict,
            digest: String::new(),
            dependencies: Vec::new(),
            note: Some("asking again: another pod of this revision has passed".to_owned()),
            probes: Vec::new(),
            for_good: false,
        };
        let pod = |verdict| Pod {
            name: "api-1".to_owned(),
            namespace: "shop".to_owned(),
            uid: "1".to_owned(),
            stage: Stage::Waits,
            gated: true,
            since: Some(Timestamp::UNIX_EPOCH),
            opened: None,
            node: None,
            answer: Some(answer(verdict)),
            unknown: None,
            not_started: None,
            images: Vec::new(),
            pulls: Vec::new(),
            gate: None,
        };
        let itself = pod(Decision::Open);
        assert_eq!(told(&itself), ("waits", String::new()));
        assert!(told(&pod(Decision::Wait)).1.starts_with("asking again"));

        let mut tree = Tree::new("namespace shop".to_owned());
        tree.waiting = 1;
        tree.workloads = vec![Workload {
            namespace: "shop".to_owned(),
            name: "Deployment/api".to_owned(),
            release: None,
            refused: None,
            pods: vec![itself],
        }];
        let said = said::last("sluice-gate: open after 2s").map(GateWord::Said);
        tree.hear(&BTreeMap::from([("1".to_owned(), said.unwrap())]));
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(
            changes(None, &tree, now, now),
            "   0.0s  shop/api-1  starts\n   0.0s  namespace shop: nothing waits\n"
        );
    }
}
