//! Tests of `kubectl sluice suggest`, which turns the wait loops of a chart into annotations. Each folder in `fixtures/suggest` is a chart, or
//! manifests, and the text beside it is the expected output: the diff, then the waits that are left.

use super::Ran;
use super::lint::with_helm;
use harness::process::{binary, pipe};
use std::fmt::Write as _;
use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
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

/// `suggest` prints for each fixture the text beside it. `UPDATE_FIXTURES=1` writes the texts anew.
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

/// Copies a chart of the fixtures below `folder`, applies the diff in the text beside it, if it has one, and returns the path of the copy. The test
/// `every_wait_is_proposed_or_named` compares this diff with the printed one.
pub(crate) fn proposed(name: &str, folder: &Path) -> PathBuf {
    let chart = folder.join(name);
    copy(&Path::new(FOLDER).join(name), &chart);
    let told = fs::read(format!("{FOLDER}/{name}.txt")).unwrap();
    if told.starts_with(b"--- ") {
        let mut patch = Command::new("git");
        patch.args(["apply", "-"]).current_dir(folder);
        let applied = pipe(&mut patch, told);
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
        // Their templates render with more values alone, or with sub-charts that are not here.
        let lacks = [
            "needs-values",
            "no-images",
            "other-names",
            "helper-of-a-subchart",
        ];
        if lacks.contains(&name.as_str()) {
            assert!(ran.error.contains("helm cannot render"), "{}", ran.error);
            continue;
        }
        // The author has these to do: pods without a probe, the loop itself, the name of a Job, rights, and objects from elsewhere.
        let left = [
            "not among these objects",
            "selects none of these objects",
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

/// A line of shell that prints a checksum of Helm's arguments, in any order, and of the chart's files: equal questions have an equal sum.
const QUESTION: &str =
    r#"{ printf '%s\n' "$@" | sort; find "$3" -type f | sort | xargs cat; } | cksum"#;

/// Returns the command `suggest` for the chart `shop` of a folder, and the file to which a wrapped Helm adds the output of `line`, a line of shell,
/// for each call.
fn with_counting_helm(folder: &Path, line: &str) -> (Command, PathBuf) {
    let paths = std::env::var_os("PATH").unwrap();
    let real = std::env::split_paths(&paths).map(|it| it.join("helm"));
    let real = real.into_iter().find(|it| it.is_file()).unwrap();
    let questions = folder.join("questions");
    let counting = folder.join("bin");
    fs::create_dir(&counting).unwrap();
    let script = format!(
        "#!/bin/sh\n{line} >>{}\nexec {} \"$@\"\n",
        questions.display(),
        real.display()
    );
    fs::write(counting.join("helm"), script).unwrap();
    fs::set_permissions(counting.join("helm"), Permissions::from_mode(0o755)).unwrap();
    let searched = std::iter::once(counting).chain(std::env::split_paths(&paths));
    let mut command = Command::new(binary("kubectl-sluice"));
    command
        .args(["suggest", "-f", "shop"])
        .current_dir(folder)
        .env("PATH", std::env::join_paths(searched).unwrap());
    (command, questions)
}

/// Helm is never asked to render the same chart with the same values twice. In this chart one switch adds a workload, and another chooses what it
/// waits for.
#[test]
fn helm_is_asked_nothing_twice() {
    if !has_helm() {
        println!("skipped: there is no helm");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    copy(
        &Path::new(FOLDER).join("inner-branches"),
        &folder.path().join("shop"),
    );
    let (mut command, questions) = with_counting_helm(folder.path(), QUESTION);
    let ran = Ran::of(&mut command, "");
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    let all = fs::read_to_string(questions).unwrap();
    let mut once: Vec<&str> = all.lines().collect();
    once.sort_unstable();
    once.dedup();
    assert_eq!(all.lines().count(), once.len());
}

/// `suggest` on a chart with very many switches stops after a number of renders, not after a time, and reports each wait.
#[test]
fn a_chart_of_many_switches_is_rendered_a_bounded_number_of_times() {
    const SWITCHES: usize = 70;
    if !has_helm() {
        println!("skipped: there is no helm");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let chart = folder.path().join("shop");
    fs::create_dir_all(chart.join("templates")).unwrap();
    fs::write(
        chart.join("Chart.yaml"),
        "apiVersion: v2\nname: shop\nversion: 1.0.0\n",
    )
    .unwrap();
    let mut values = String::new();
    for at in 0..SWITCHES {
        writeln!(values, "part{at}:\n  enabled: true").unwrap();
        let template = format!(
            "{{{{- if .Values.part{at}.enabled }}}}\napiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: part{at}\nspec:\n  template:\n    spec:\n      \
             containers: [{{name: app, image: busybox}}]\n      initContainers:\n        - name: wait\n          image: busybox\n          command: [sh, -c, 'until nc -z db 80; do sleep 1; done']\n{{{{- end }}}}\n"
        );
        fs::write(chart.join(format!("templates/part{at}.yaml")), template).unwrap();
    }
    fs::write(chart.join("values.yaml"), values).unwrap();
    let service = "apiVersion: v1\nkind: Service\nmetadata:\n  name: db\nspec:\n  selector: {app: db}\n  ports: [{port: 80}]\n";
    fs::write(chart.join("templates/db.yaml"), service).unwrap();
    let (mut command, questions) = with_counting_helm(folder.path(), "echo asked");
    let ran = Ran::of(&mut command, "");
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    let renders = fs::read_to_string(questions).unwrap().lines().count();
    assert!((60..=730).contains(&renders), "{renders}");
    // No render is spent on a value that is one too many, so enough are left to try the lists.
    assert!(
        ran.out.contains("+    sluice.dev/depends-on: service/db\n"),
        "{}",
        ran.out
    );
    assert!(
        ran.error.contains("more switches than are tried"),
        "{}",
        ran.error
    );
    for at in 0..SWITCHES {
        let place = format!("shop/templates/part{at}.yaml:");
        assert!(ran.error.contains(&place), "{at}: {}", ran.error);
    }
}
