//! Where a live tree is shown: drawn again in its place on a terminal, elsewhere a line for each change.

use super::text::{View, headline};
use super::tree::{Pod, Tree};
use super::{Format, Manner};
use crate::output::printable;
use anyhow::Result;
use jiff::Timestamp;
use rustix::termios::tcgetwinsize;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write, stdout};
use wire::said;

/// What was shown last.
pub(super) struct Screen {
    manner: Manner,
    begin: Timestamp,
    terminal: bool,
    /// The lines that stand on the terminal.
    drawn: usize,
    /// The last tree, to tell what has changed.
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
            Format::Text | Format::Wide => changes(self.last.as_ref(), tree, self.begin, now),
            Format::Json => serde_json::to_string(tree)? + "\n",
            Format::Yaml => format!("---\n{}", serde_saphyr::to_string(tree)?),
        };
        self.last = Some(tree.clone());
        let mut out = stdout().lock();
        out.write_all(text.as_bytes())?;
        out.flush()?;
        Ok(())
    }

    /// The tree over the last one. What is too wide is cut by the terminal, what is too long here.
    fn redrawn(&mut self, tree: &Tree, now: Timestamp) -> String {
        let view = View {
            wide: self.manner.is_wide(),
            style: self.manner.style,
            now,
        };
        let mut lines = view.lines(tree);
        let rows = tcgetwinsize(stdout()).map_or(usize::MAX, |size| size.ws_row.into());
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
        format!("{up}\x1b[J\x1b[?7l{}\n\x1b[?7h", lines.join("\n"))
    }
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

/// What a pod does, and what for.
fn told(pod: &Pod) -> (&'static str, String) {
    let judged = pod.answer.as_ref().and_then(said::unsatisfied);
    let why = judged.or_else(|| pod.gate.clone());
    let why = why.or_else(|| pod.unknown.clone());
    (pod.stage.word(), why.unwrap_or_default())
}
