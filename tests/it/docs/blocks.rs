//! The blocks of a page, and the runner of each. The purpose of a block stands behind its opening marks, so a reader of the
//! page's source sees it, and a block without a known purpose fails a test.

#![expect(clippy::panic, reason = "a page that cannot be read fails its test")]

use super::{pages, read};
use std::path::Path;

/// A fenced block.
#[derive(Debug, Clone)]
pub(crate) struct Block {
    /// The file and the line, for people.
    pub(crate) at: String,
    /// The heading above it, as a link names it.
    pub(crate) section: String,
    pub(crate) kind: Kind,
    pub(crate) text: String,
}

/// The purpose of a block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Kind {
    /// `sh` and a stage: commands.
    Commands(Stage),
    /// No word: what the commands right above it print.
    Output,
    /// `yaml`: a manifest, annotations, or a list.
    Yaml,
    /// `yaml,values=CHART`: values of that chart; the commands below them find them as `values.yaml`.
    Values(String),
    /// `yaml,file=NAME`: what the commands below it find under that name.
    File(String),
    /// `text`: what a program says somewhere else, or a list in its short form; `claims` compares it.
    Quoted,
}

/// The runner of commands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// `sh`: a stage of `make test` or CI runs each line, and `stages` names it.
    Listed,
    /// `sh,offline`: they need no cluster.
    Offline,
    /// `sh,api`: an API server is enough for them, without a node.
    Api,
    /// `sh,cluster`: in a cluster with sluice.
    Cluster,
    /// `sh,alone`: there, while no other test runs, since they tell of the whole cluster.
    Alone,
    /// `sh,engine`: with stand-ins for a container engine and the cluster that it brings up: `engine`.
    Engine,
    /// `sh,published`: in a cluster without sluice, with a release out of a registry: `published.sh` reads them off the pages.
    Published,
    /// `sh,first`: in that cluster, once sluice is there: `published.sh` reads them off README.md.
    First,
    /// `sh,elsewhere`: never run here, since they need what this machine cannot have.
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

    /// The word behind `sh,`.
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

/// The blocks of a page, in their order.
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

/// Whether a page has commands for it.
pub(crate) fn has(page: &Path, stage: Stage) -> bool {
    let is = |block: &Block| block.kind == Kind::Commands(stage);
    blocks(page).iter().any(is)
}

/// How many blocks are never run, because of what they need: kind, minikube, k3s, a project at Google, and a release with its signatures. A new such block must
/// be counted here.
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

/// A page in a browser does not show the opening marks of a block, so its text has to tell under which name to save the block.
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
