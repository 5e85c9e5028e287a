//! `suggest`: what a chart's wait loops say, as annotations. Each folder in `fixtures/suggest` is a chart, or manifests, and the text
//! beside it what is to be printed: the diff, then what is left.

use super::Ran;
use super::lint::with_helm;
use harness::process::{binary, pipe};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/suggest");

fn names() -> Vec<String> {
    let entries = fs::read_dir(FOLDER).unwrap().map(Result::unwrap);
    let folders = entries.filter(|entry| entry.path().is_dir());
    let mut names: Vec<_> = folders
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn suggest(folder: &Path, name: &str) -> Ran {
    let mut command = Command::new(binary("kubectl-sluice"));
    command.args(["suggest", "-f", name]).current_dir(folder);
    Ran::of(&mut command, "")
}

fn copy(from: &Path, to: &Path) {
    if from.is_dir() {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
            copy(&entry.path(), &to.join(entry.file_name()));
        }
    } else {
        fs::copy(from, to).unwrap();
    }
}

#[test]
fn every_wait_is_proposed_or_named() {
    let names = names();
    assert!(names.len() >= 12, "{names:?}");
    for name in names {
        let ran = suggest(Path::new(FOLDER), &name);
        let expected = fs::read_to_string(format!("{FOLDER}/{name}.txt")).unwrap();
        assert_eq!(ran.out + &ran.error, expected, "{name}");
        assert_eq!(ran.code, Some(0), "{name}");
    }
}

/// The chart as it is once the diff is applied, below `folder`.
pub(crate) fn proposed(name: &str, folder: &Path) -> PathBuf {
    let chart = folder.join(name);
    copy(&Path::new(FOLDER).join(name), &chart);
    let diff = suggest(folder, name).out;
    if !diff.is_empty() {
        let mut patch = Command::new("git");
        patch.args(["apply", "-"]).current_dir(folder);
        let applied = pipe(&mut patch, diff.into_bytes());
        assert!(applied.status.success(), "{name}: {applied:?}");
    }
    chart
}

/// lint finds nothing in the result, and a second run proposes nothing.
#[test]
fn the_diff_applies_and_the_chart_is_in_order() {
    let folder = tempfile::tempdir().unwrap();
    for name in names() {
        let target = proposed(&name, folder.path());
        assert_eq!(suggest(folder.path(), &name).out, "", "{name} again");
        let Some(ran) = with_helm(&["lint", "--strict", "-f", target.to_str().unwrap()]) else {
            println!("no helm renders {name}");
            continue;
        };
        assert_eq!(
            (ran.out.as_str(), ran.code),
            ("", Some(0)),
            "{name}: {}",
            ran.error
        );
    }
}
