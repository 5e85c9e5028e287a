//! Reads the fenced blocks of a page, each with its purpose, which decides how a test runs it. The purpose is behind the opening marks, so a reader
//! of the page's source sees it, and a block without a known purpose fails a test.

#![expect(clippy::panic, reason = "a page that cannot be read fails its test")]

use super::{pages, read};
use std::path::Path;

/// A fenced block.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The file and the line of the block, for messages.
    pub(crate) at: String,
    /// The heading above the block, in the form of a link to it.
    pub(crate) section: String,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// The purpose of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `sh` and a stage: commands.
    Commands(Stage),
    /// No word: the output of the commands right above the block.
    Output,
    /// `yaml`: a manifest, annotations, or a list.
    Yaml,
    /// `yaml,values=CHART`: values of that chart. The commands below the block find them as `values.yaml`.
    Values(String),
    /// `yaml,file=NAME`: a file that the commands below the block find under that name.
    File(String),
    /// `text`: a text that a program prints elsewhere, or a list in its short form. `claims` compares it.
    Quoted,
}

/// The runner of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// `sh`: a stage of `make test` or CI runs each line, and `stages` names it.
    Listed,
    /// `sh,offline`: commands that need no cluster.
    Offline,
    /// `sh,api`: commands for which an API server is enough, without a node.
    Api,
    /// `sh,cluster`: commands that run in a cluster with sluice.
    Cluster,
    /// `sh,alone`: commands that run in a cluster with sluice while no other test runs, since their output is about the whole cluster.
    Alone,
    /// `sh,engine`: commands that run with stand-ins for a container engine and for its cluster; see `engine`.
    Engine,
    /// `sh,published`: commands that install a release from a registry in a cluster without sluice; `published.sh` reads them off the pages.
    Published,
    /// `sh,first`: commands that run after `sh,published`, in a cluster that has the release; `published.sh` reads them off README.md.
    First,
    /// `sh,elsewhere`: commands that no test runs, since they need a service or a tool that this machine cannot have.
    Elsewhere,
}

impl Stage {
    const ALL: [Self; 9] = [
        Self::Listed,
        Self::Offline,
        Self::Api,
        Self::Cluster,
        Self::Alone,
        Self::Engine,
        Self::Published,
        Self::First,
        Self::Elsewhere,
    ];

    /// Returns the word of a stage behind `sh,` in the opening marks; empty for a block of plain `sh`.
    pub(super) const fn word(self) -> &'static str {
        match self {
            Self::Listed => "",
            Self::Offline => "offline",
            Self::Api => "api",
            Self::Cluster => "cluster",
            Self::Alone => "alone",
            Self::Engine => "engine",
            Self::Published => "published",
            Self::First => "first",
            Self::Elsewhere => "elsewhere",
        }
    }

    fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|stage| stage.word() == word)
    }
}

impl Kind {
    fn of(info: &str) -> Option<Self> {
        let kind = match info.split_once(',').unwrap_or((info, "")) {
            ("", "") => Self::Output,
            ("text", "") => Self::Quoted,
            ("yaml", "") => Self::Yaml,
            ("yaml", rest) => match rest.split_once('=')? {
                ("values", chart) => Self::Values(chart.to_owned()),
                ("file", name) => Self::File(name.to_owned()),
                _ => return None,
            },
            ("sh", word) => Self::Commands(Stage::of(word)?),
            _ => return None,
        };
        Some(kind)
    }
}

/// Returns the fenced blocks of a page, in their order.
///
/// # Panics
///
/// A block is left open, or has an unknown word.
pub(crate) fn blocks(page: &Path) -> Vec<Block> {
    let text = read(page);
    let mut section = String::new();
    let mut found = Vec::new();
    let mut lines = text.lines().enumerate();
    while let Some((number, line)) = lines.next() {
        if line.starts_with('#') {
            section = super::links::anchor(line);
        }
        let Some(info) = line.trim_start().strip_prefix("```") else {
            continue;
        };
        let at = format!("{}:{}", page.display(), number + 1);
        let kind = Kind::of(info).unwrap_or_else(|| panic!("{at}: nobody runs {info:?}"));
        let mut text = String::new();
        loop {
            match lines.next() {
                Some((_, "```")) => break,
                Some((_, line)) => text.extend([line, "\n"]),
                None => panic!("{at}: no end"),
            }
        }
        found.push(Block {
            at,
            section: section.clone(),
            kind,
            text,
        });
    }
    found
}

/// Whether a page has commands of a stage.
pub(crate) fn has(page: &Path, stage: Stage) -> bool {
    let is = |block: &Block| block.kind == Kind::Commands(stage);
    blocks(page).iter().any(is)
}

/// The number of blocks that are never run, because they need kind, minikube, k3s, a project at Google, or a release with its signatures. A new such
/// block must be counted here.
const ELSEWHERE: usize = 6;

#[test]
fn every_block_has_somebody_who_runs_it() {
    let mut elsewhere = 0;
    for page in pages() {
        let blocks = blocks(&page);
        for (index, block) in blocks.iter().enumerate() {
            let above = index.checked_sub(1).map(|it| &blocks[it].kind);
            match &block.kind {
                Kind::Commands(Stage::Elsewhere) => elsewhere += 1,
                Kind::Output => {
                    let commands =
                        matches!(above, Some(Kind::Commands(stage)) if *stage != Stage::Elsewhere);
                    assert!(commands, "{}: nothing above prints this", block.at);
                }
                _ => {}
            }
        }
    }
    assert_eq!(elsewhere, ELSEWHERE, "blocks that run elsewhere");
}

/// The text of a page names each file that its commands need: a browser does not show the opening marks of a block, which have the name too.
#[test]
fn the_text_of_a_page_names_each_file_that_its_commands_need() {
    for page in pages() {
        let whole = read(&page);
        let text: String = whole.split("```").step_by(2).collect();
        let blocks = blocks(&page);
        let mut names: Vec<&str> = Vec::new();
        for block in &blocks {
            match &block.kind {
                Kind::File(name) => names.push(name),
                Kind::Commands(_) if block.text.contains("--values values.yaml") => {
                    names.push("values.yaml");
                }
                _ => {}
            }
        }
        for name in names {
            let said = text.contains(&format!("`{name}`"));
            assert!(said, "{}: the text does not name {name}", page.display());
        }
    }
}
