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

/// Whether there is a Helm to render charts with.
fn has_helm() -> bool {
    Command::new("helm").arg("version").output().is_ok()
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

/// `UPDATE_FIXTURES=1` writes the texts anew.
#[test]
fn every_wait_is_proposed_or_named() {
    if !has_helm() {
        println!("skipped: there is no helm");
        return;
    }
    let names = names();
    assert!(names.len() >= 26, "{names:?}");
    let mut differing = Vec::new();
    for name in names {
        let ran = suggest(Path::new(FOLDER), &name);
        let told = ran.out + &ran.error;
        let path = format!("{FOLDER}/{name}.txt");
        if std::env::var_os("UPDATE_FIXTURES").is_some() {
            fs::write(&path, &told).unwrap();
        }
        if told != fs::read_to_string(&path).unwrap_or_default() {
            differing.push(format!("{name}: {told}"));
        }
        assert_eq!(ran.code, Some(0), "{name}");
    }
    assert!(differing.is_empty(), "{}", differing.join("\n"));
}

/// A chart that nothing renders gets no proposed list, since no list can be tried. Its text is read instead, and each wait is reported.
#[test]
fn a_chart_that_nothing_renders_is_read_as_text() {
    for (name, expected) in [
        (
            "wiki-nc",
            "add sluice.dev/depends-on: service/{{ .Release.Name }}-postgresql",
        ),
        (
            "branches",
            "add sluice.dev/depends-on: tcp://{{ .Values.external.host }}:5432",
        ),
        (
            "in-helpers",
            "left: in-helpers/templates/_helpers.tpl:5: wait-for-db:",
        ),
        ("stays", "own: stays/templates/all.yaml:19: wait-for-file:"),
    ] {
        let folder = format!("{FOLDER}/{name}");
        let ran = super::run(&["suggest", "-f", &folder], "");
        let told = (ran.out + &ran.error).replace(&format!("{FOLDER}/"), "");
        assert!(told.contains(expected), "{name}: {told}");
        assert!(told.contains("it was read as text"), "{name}: {told}");
        assert!(told.contains("0 proposed"), "{name}: {told}");
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

/// After the diff is applied `lint` finds no fault, and a second run of `suggest` proposes nothing.
#[test]
fn the_diff_applies_and_the_chart_is_in_order() {
    let folder = tempfile::tempdir().unwrap();
    // The author of a chart has to mend a list with an address that only a Secret knows, and a workload that waits for itself.
    for name in names() {
        let target = proposed(&name, folder.path());
        assert_eq!(suggest(folder.path(), &name).out, "", "{name} again");
        let Some(ran) = with_helm(&["lint", "-f", target.to_str().unwrap()]) else {
            println!("no helm renders {name}");
            continue;
        };
        // Its templates render with no values.
        if name == "needs-values" {
            assert!(ran.error.contains("helm cannot render"), "{}", ran.error);
            continue;
        }
        // What `suggest` leaves to the author: pods without a probe, the loop itself, a Job's name, and rights.
        let left = [
            "has a readiness probe",
            ", beside the list;",
            "its name is the same in every revision",
            "sluice may read",
        ];
        let mut findings = ran.out.lines();
        let found = findings.find(|line| !left.iter().any(|it| line.contains(it)));
        assert_eq!((found, ran.code), (None, Some(0)), "{name}: {}", ran.error);
    }
}
