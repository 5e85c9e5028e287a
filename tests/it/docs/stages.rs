//! The few commands that no test runs in the form of the page. Each is listed with the file that runs its equivalent.

use super::blocks::{Block, Kind, Stage, blocks};
use super::{pages, read, root};
use std::collections::BTreeSet;

/// Each command, the file that runs it, and its form in that file. `make` builds the images or brings up a cluster, which no test may do to the
/// cluster that it runs in: stages do. `demo.sh` needs the image that `make demo` loads. `ui` serves until it is ended.
const RUN_BY: &[(&str, &str, &str)] = &[
    ("make demo", "tests/run", "make demo"),
    ("make test", ".ci/run", "make test"),
    ("make images", "Makefile", "install: cluster images"),
    ("make install", "tests/cluster/session.sh", "make install"),
    ("examples/shop/demo.sh", "Makefile", "examples/shop/demo.sh"),
    (
        "kubectl sluice ui --namespace shop",
        "tests/it/cli/ui.rs",
        r#"["ui", "--kubeconfig""#,
    ),
];

/// Returns the commands of a block of plain `sh`, without comments, and with continued lines joined.
fn commands(block: &Block) -> Vec<String> {
    let bare = |line: &str| {
        let command = line.split(" #").next().unwrap_or_default();
        command.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let joined = block.text.replace("\\\n", " ");
    let lines = joined.lines().map(bare);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect()
}

#[test]
fn every_command_of_a_stage_is_run_by_it() {
    let listed = |block: &Block| block.kind == Kind::Commands(Stage::Listed);
    let shown: BTreeSet<String> = pages()
        .iter()
        .flat_map(|page| blocks(page))
        .filter(listed)
        .flat_map(|block| commands(&block))
        .collect();
    let known: BTreeSet<String> = RUN_BY
        .iter()
        .map(|(command, ..)| (*command).to_owned())
        .collect();
    let unknown: Vec<_> = shown.difference(&known).collect();
    assert!(unknown.is_empty(), "nothing runs {unknown:#?}");
    let idle: Vec<_> = known.difference(&shown).collect();
    assert!(idle.is_empty(), "no page shows {idle:#?}");
    for (command, file, text) in RUN_BY {
        assert!(
            read(&root().join(file)).contains(text),
            "{file} no longer runs {command:?}"
        );
    }
}

/// `published.sh` takes the commands of a release line by line from the pages of the folders that it names.
#[test]
fn every_command_of_a_release_is_on_a_page_that_its_test_reads() {
    let script = read(&root().join("tests/cluster/published.sh"));
    assert!(script.contains("for page in README.md docs/*.md; do"));
    assert!(script.contains("blocks README.md sh,first"));
    for page in pages() {
        let of_a_release = |it: &Block| {
            let stage = |stage| it.kind == Kind::Commands(stage);
            stage(Stage::Published) || stage(Stage::First)
        };
        for block in blocks(&page).into_iter().filter(of_a_release) {
            let folder = page.strip_prefix(root()).expect("a page of ours");
            let read = folder.starts_with("docs") || folder.ends_with("README.md");
            assert!(read && folder.components().count() < 3, "{}", block.at);
            assert!(!block.text.contains("\\\n"), "{}: one line each", block.at);
            let first = block.kind == Kind::Commands(Stage::First);
            let readme = page == root().join("README.md");
            assert!(
                readme || !first,
                "{}: only README.md has first steps",
                block.at
            );
        }
    }
}
