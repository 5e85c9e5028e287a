//! Tests of `kubectl sluice lint`, which checks the annotations of manifests.

use super::{Ran, run};
use harness::process::{binary, json_lines};
use std::process::Command;

const TYPO: &str = "apiVersion: apps/v1
kind: Deployment
metadata: {name: api, annotations: {sluice.dev/depends-on: Deploymnt/db}}
spec: {template: {spec: {containers: []}}}
";
const NOTE: &str = "apiVersion: v1
kind: Pod
metadata: {name: p, annotations: {sluice.dev/depends-on: job/migrate}}
";

#[test]
fn an_error_is_told_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.yaml");
    std::fs::write(&path, format!("{NOTE}---\n{TYPO}")).unwrap();
    let path = path.to_str().unwrap();
    let ran = run(&["lint", "-f", path], "");
    let expected = format!(
        "{path}:7:60: error: Deployment api: sluice.dev/depends-on: unknown kind \"Deploymnt\"; did you mean \
         \"Deployment\"?\n\
         {path}:3:62: note: Pod p: it depends on Job/migrate, which is not among these objects\n"
    );
    assert_eq!(ran.out, expected);
    assert_eq!(ran.error, "2 objects: 1 error, 0 warnings, 1 note\n");
    assert_eq!(ran.code, Some(1));

    let page = include_str!("../../../docs/cli.md");
    let shown = expected.replace(path, "examples/mistakes.yaml");
    assert!(page.contains(&shown), "docs/cli.md must show:\n{shown}");
}

#[test]
fn a_folder_and_standard_input_are_read() {
    let folder = tempfile::tempdir().unwrap();
    let inner = folder.path().join("inner");
    std::fs::create_dir(&inner).unwrap();
    for (file, text) in [
        (folder.path().join("b.yml"), NOTE),
        (folder.path().join("a.json"), "{\"kind\": \"X\"}"),
        (folder.path().join("notes.txt"), "{{ no manifest"),
        (inner.join("c.yaml"), TYPO),
    ] {
        std::fs::write(file, text).unwrap();
    }
    let path = folder.path().to_str().unwrap();
    let other = NOTE.replace("name: p", "name: q");
    let flat = run(&["lint", "-f", path, "-f", "-", "-o", "json"], &other);
    assert_eq!(
        flat.error, "3 objects: 0 errors, 0 warnings, 2 notes\n",
        "{}",
        flat.out
    );
    assert_eq!(flat.code, Some(0));
    let files: Vec<_> = json_lines(flat.out.as_bytes())
        .iter()
        .map(|line| line["file"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(files, [&format!("{path}/b.yml"), "standard input"]);
    let deep = run(&["lint", "-R", "-f", path], "");
    assert_eq!(deep.code, Some(1), "{}", deep.error);
}

#[test]
fn warnings_count_where_they_are_asked_to() {
    let idle = "apiVersion: v1\nkind: Service\nmetadata: {name: s, annotations: {sluice.dev/depends-on: job/a}}\n";
    assert_eq!(run(&["lint", "-f", "-"], idle).code, Some(0));
    assert_eq!(run(&["lint", "-f", "-", "--strict"], idle).code, Some(1));
}

#[test]
fn what_cannot_be_read_is_an_error_and_hides_nothing_before_it() {
    let ran = run(&["lint", "-f", "-"], &format!("{TYPO}---\na: b: c\n"));
    assert!(
        ran.out.contains("standard input:6:5: error: "),
        "{}",
        ran.out
    );
    assert!(
        ran.out.contains("unknown kind \"Deploymnt\""),
        "{}",
        ran.out
    );
    assert_eq!(ran.code, Some(1));
    let none = run(&["lint", "-f", "-"], "# nothing\n");
    assert!(
        none.error.starts_with("error: there is no object"),
        "{}",
        none.error
    );
    assert_eq!(none.code, Some(1));
    let twice = run(&["lint", "-f", "-", "-f", "-"], "");
    assert!(
        twice.error.contains("standard input can be read once"),
        "{}",
        twice.error
    );
    assert_eq!(twice.code, Some(2));
}

/// `lint` finds nothing in the chart of the example, which users copy.
#[test]
fn our_own_example_is_clean() {
    let chart = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/shop/chart");
    let Some(ran) = with_helm(&["lint", "--strict", "-f", chart]) else {
        println!("skipped: there is no helm");
        return;
    };
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.error);
    let ran = with_helm(&["graph", "--release", "mine", "-f", chart, "-o", "json"]).unwrap();
    assert_eq!(ran.lines()[0]["nodes"][0]["scope"], "mine", "{}", ran.out);
}

/// Runs `kubectl sluice` with these arguments and the present PATH; `None` where there is no helm on it.
pub(super) fn with_helm(args: &[&str]) -> Option<Ran> {
    Command::new("helm").arg("version").output().ok()?;
    let mut command = Command::new(binary("kubectl-sluice"));
    let path = std::env::var_os("PATH").unwrap_or_default();
    let home = tempfile::tempdir().unwrap();
    command.args(args).env_clear().env("HOME", home.path());
    Some(Ran::of(command.env("PATH", path), ""))
}

/// `lint` takes the objects of a chart for one release, though `helm template` does not say so.
#[test]
fn a_chart_is_one_release() {
    let folder = tempfile::tempdir().unwrap();
    let templates = folder.path().join("templates");
    std::fs::create_dir(&templates).unwrap();
    let chart = "apiVersion: v2\nname: little\nversion: 1.0.0\n";
    std::fs::write(folder.path().join("Chart.yaml"), chart).unwrap();
    let job = |name: &str, annotations: &str| {
        format!(
            "---\napiVersion: batch/v1\nkind: Job\nmetadata: {{name: {name}, annotations: {{{annotations}}}}}\n\
             spec: {{template: {{spec: {{containers: []}}}}}}\n"
        )
    };
    let jobs = [
        job("late-1", "sluice.dev/weight: {{ .Values.weight | quote }}"),
        job("early-1", "sluice.dev/depends-on: job/late-1"),
    ];
    std::fs::write(templates.join("jobs.yaml"), jobs.concat()).unwrap();
    let path = folder.path().to_str().unwrap();
    let Some(cycle) = with_helm(&["lint", "-f", path, "--set", "weight=1"]) else {
        println!("skipped: there is no helm");
        return;
    };
    assert!(
        cycle.out.contains(
            "Job default/late-1 -> Job default/early-1 (weight 0) -> Job default/late-1; "
        ),
        "{}{}",
        cycle.out,
        cycle.error
    );
    let clean = with_helm(&["lint", "-f", path, "--set", "weight=0", "-n", "shop"]).unwrap();
    assert_eq!((clean.out.as_str(), clean.code), ("", Some(0)));
    let broken = with_helm(&["lint", "-f", path, "--set", "weight"]).unwrap();
    assert!(
        broken
            .error
            .starts_with(&format!("error: helm cannot render {path}: ")),
        "{}",
        broken.error
    );
}

#[test]
fn without_helm_a_chart_is_refused_with_the_way_out() {
    let chart = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/shop/chart");
    let ran = run(&["lint", "-f", chart], "");
    assert_eq!(
        ran.error,
        format!(
            "error: {chart} is a chart, and there is no helm on the PATH to render it; install Helm, or render it elsewhere and \
             name the file\n"
        )
    );
    assert_eq!(ran.code, Some(1));
}

#[test]
fn what_says_no_namespace_is_put_into_that_of_n() {
    let deployment = |name: &str, list: &str, namespace: &str| {
        format!(
            "---\napiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}{namespace}, annotations: {{sluice.dev/depends-on: {list}}}}}\n\
             spec: {{template: {{spec: {{containers: []}}}}}}\n"
        )
    };
    let cycle = [
        deployment("a", "deployment/b", ", namespace: shop"),
        deployment("b", "deployment/a", ""),
    ]
    .concat();
    let open = run(&["lint", "-f", "-"], &cycle);
    assert_eq!((open.out.as_str(), open.code), ("", Some(0)));
    let shop = run(&["lint", "-n", "shop", "-f", "-"], &cycle);
    let path = "Deployment shop/a -> Deployment shop/b -> Deployment shop/a";
    assert!(shop.out.contains(path), "{}", shop.out);
    assert_eq!(shop.code, Some(1));
}

/// Writes a chart of this `type`, named like its folder, with two Jobs that wait for a Job that is not there: one by a list on line 7, one by a list
/// that an expression of the template makes.
fn write_chart(folder: &std::path::Path, kind: &str) {
    let templates = folder.join("templates");
    std::fs::create_dir_all(&templates).unwrap();
    let name = folder.file_name().unwrap().to_str().unwrap();
    let chart = format!("apiVersion: v2\nname: {name}\nversion: 1.0.0\ntype: {kind}\n");
    std::fs::write(folder.join("Chart.yaml"), chart).unwrap();
    let job = |name: &str, gone: &str| {
        format!(
            "{{{{- if true }}}}\napiVersion: batch/v1\nkind: Job\nmetadata:\n  name: {name}\n  annotations:\n    \
             sluice.dev/depends-on: job/{gone}\nspec: {{template: {{spec: {{containers: []}}}}}}\n{{{{- end }}}}\n"
        )
    };
    std::fs::write(templates.join("plain.yaml"), job("plain", "gone")).unwrap();
    let computed = job("computed", r#"{{ "gone" }}"#);
    std::fs::write(templates.join("computed.yaml"), computed).unwrap();
}

#[test]
fn each_chart_of_a_folder_is_rendered_and_its_templates_are_named() {
    let folder = tempfile::tempdir().unwrap();
    write_chart(&folder.path().join("one"), "application");
    write_chart(&folder.path().join("two"), "application");
    write_chart(&folder.path().join("shared"), "library");
    let broken = folder.path().join("vendored");
    write_chart(&broken, "application");
    let chart = "apiVersion: v2\nname: vendored\nversion: 1.0.0\n\
                 dependencies: [{name: db, version: 1.x, repository: 'https://charts.example.com'}]\n";
    std::fs::write(broken.join("Chart.yaml"), chart).unwrap();
    let path = folder.path().to_str().unwrap();
    let Some(ran) = with_helm(&["lint", "-f", path]) else {
        println!("skipped: there is no helm");
        return;
    };
    let of_names = |it: &&str| !it.contains("its name is the same in every revision");
    let lines: Vec<_> = ran.out.lines().filter(of_names).collect();
    let job = |name: &str| {
        format!("Job default/{name}: it depends on Job/gone, which is not among these objects")
    };
    // Errors come before notes.
    let (unreadable, notes) = lines.split_first().expect("lines");
    for (at, chart) in ["one", "two"].into_iter().enumerate() {
        let templates = format!("{path}/{chart}/templates");
        let computed = format!("{templates}/computed.yaml:7:5: note: {}", job("computed"));
        assert_eq!(
            notes[2 * at],
            computed,
            "what is computed is found by its key"
        );
        let plain = format!("{templates}/plain.yaml:7:32: note: {}", job("plain"));
        assert_eq!(notes[2 * at + 1], plain);
    }
    let unread = format!("{path}/vendored: error: helm cannot render {path}/vendored: ");
    assert!(unreadable.starts_with(&unread), "{unreadable}");
    assert!(unreadable.contains("helm dependency build"), "{unreadable}");
    assert_eq!((lines.len(), ran.code), (5, Some(1)));
}

#[test]
fn other_programs_read_it_in_their_own_formats() {
    let with = |format: &str| run(&["lint", "-f", "-", "-o", format], TYPO);
    let expected = "::error file=standard input,line=3,col=60,title=Grammar::Deployment api: sluice.dev/depends-on: unknown kind \
                    \"Deploymnt\"; did you mean \"Deployment\"?\n";
    assert_eq!(with("github").out, expected);
    let sarif = with("sarif").lines().remove(0);
    let place = &sarif["runs"][0]["results"][0]["locations"][0]["physicalLocation"];
    assert_eq!(place["region"]["startColumn"], 60, "{sarif}");
}

#[test]
fn values_without_a_chart_are_an_error() {
    for value in [["--set", "a=b"], ["--values", "values.yaml"]] {
        let ran = run(&[&["lint", "-f", "-"][..], &value].concat(), "");
        let expected =
            "--values and --set render a chart, and there is none; name its folder with -f";
        assert!(ran.error.contains(expected), "{}", ran.error);
        assert_eq!(ran.code, Some(1));
    }
}
