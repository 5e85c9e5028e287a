//! The screen of a live tree: drawn again in its place on a terminal, elsewhere a line for each change.

use super::text::{TreeText, TreeView, headline};
use super::tree::{Pod, Tree};
use super::{Manner, StatusFormat};
use crate::installation;
use crate::output::{self, printable};
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
            for warning in installation::warnings(&tree.unseen) {
                eprintln!("warning: {warning}");
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

    /// The text that draws the tree over the last one on a terminal. Lines that are too many are shown page after page below the summary, or the
    /// cursor would miss the first line.
    fn redrawn(&mut self, tree: &Tree, now: Timestamp) -> String {
        let view = TreeView {
            wide: self.manner.is_wide(),
            style: self.manner.style,
            now,
            width: output::columns(),
        };
        let TreeText { summary, rest } = view.lines(tree);
        let rows = terminal_size_of(stdout()).map_or(0, |(_, height)| height.0.into());
        let seconds = now.duration_since(self.begin).as_secs();
        let turn = usize::try_from(seconds).unwrap_or_default() / PAGE_SECONDS;
        let lines = paged(summary, rest, known(rows), turn);
        let up = match self.drawn {
            0 => String::new(),
            drawn => format!("\x1b[{drawn}F"),
        };
        self.drawn = lines.len();
        format!("{up}\x1b[J\x1b[?7l{}\n\x1b[?7h", lines.join("\n"))
    }
}

/// The number of rows of the terminal. Some terminals do not know their size and report 0, which becomes the largest number: every line is shown.
fn known(size: usize) -> usize {
    if size == 0 { usize::MAX } else { size }
}

/// The seconds for which a page of a long tree is shown.
const PAGE_SECONDS: usize = 5;

/// The lines that a terminal of so many rows shows: the summary, cut where it is too long, and the page of the rest whose turn it is, with a line
/// about the other pages. `turn` counts on past the last page, and begins again with the first.
fn paged(summary: Vec<String>, rest: Vec<String>, rows: usize, turn: usize) -> Vec<String> {
    let room = rows.saturating_sub(1).max(2);
    if summary.len() + rest.len() <= room {
        return [summary, rest].concat();
    }
    let mut lines = summary;
    lines.truncate(room - 1);
    let page = room - lines.len() - 1;
    if page == 0 {
        let hidden = rest.len();
        lines.push(format!(
            "... and {hidden} lines more; a higher window shows them"
        ));
        return lines;
    }
    let pages = rest.len().div_ceil(page);
    let at = turn % pages;
    let shown = rest.iter().skip(at * page).take(page);
    lines.extend(shown.cloned());
    lines.push(format!(
        "... page {} of {pages}; the next in {PAGE_SECONDS} s, or make the window higher",
        at + 1
    ));
    lines
}

/// A line for each pod that is new, has changed since the last tree or is gone, and one when nothing waits any more; each begins with the seconds
/// since `begin`.
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

/// The stage of a pod and, for one that waits, the reason as far as it is known; else an empty text. A pod with nothing to wait for is about to
/// start: a note on it, for example that a pod of its revision has started, may be about this very pod.
fn told(pod: &Pod) -> (&'static str, String) {
    let word = pod.stage.word();
    if !pod.stage.waits() {
        return (word, String::new());
    }
    if let Some(why) = pod.stranded {
        return (word, format!("stranded: {why}"));
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
    fn a_long_tree_is_shown_in_pages_below_its_summary() {
        let lines =
            |from: usize, to: usize| (from..to).map(|it| it.to_string()).collect::<Vec<_>>();
        let shown = |rows, turn| paged(lines(0, 2), lines(2, 9), rows, turn);
        assert_eq!(shown(10, 0), lines(0, 9), "one row is the cursor's");
        assert_eq!(shown(known(0), 3), lines(0, 9), "a terminal without a size");
        for (turn, expected) in [
            (0, &["2", "3", "4"][..]),
            (1, &["5", "6", "7"]),
            (2, &["8"]),
            (3, &["2", "3", "4"]),
        ] {
            let shown = shown(7, turn);
            assert_eq!(shown[..2], ["0", "1"]);
            assert_eq!(shown[2..shown.len() - 1], *expected);
            let page = format!("... page {} of 3;", turn % 3 + 1);
            assert!(shown[shown.len() - 1].starts_with(&page), "{shown:?}");
        }
        assert_eq!(
            shown(3, 0),
            ["0", "... and 7 lines more; a higher window shows them"]
        );
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
            roots: Vec::new(),
            unjudged: Vec::new(),
            unknown: None,
            stranded: None,
            not_started: None,
            trouble: None,
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
