//! `lint`: the annotations of manifests.

use super::run;
use harness::process::json_lines;

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
        "error: {path}, document 2, Deployment api, metadata: sluice.dev/depends-on: line 1, column 1: unknown kind \
         \"Deploymnt\"; did you mean \"Deployment\"?\n\
         note: {path}, document 1, Pod p: it depends on Job/migrate, which is not among these objects\n"
    );
    assert_eq!(ran.out, expected);
    assert_eq!(ran.error, "2 objects: 1 errors, 0 warnings, 1 notes\n");
    assert_eq!(ran.code, Some(1));

    let page = include_str!("../../../docs/cli.md");
    let shown = expected.replace(path, "shop.yaml");
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
    let flat = run(&["lint", "-f", path, "-f", "-", "-o", "json"], NOTE);
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
        ran.out
            .starts_with("error: standard input: line 6, column 5: "),
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

/// The charts and examples of the documentation are an example to others.
#[test]
fn our_own_example_is_clean() {
    let chart = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/shop/chart");
    let Ok(rendered) = std::process::Command::new("helm")
        .args(["template", "shop", chart])
        .output()
    else {
        println!("skipped: there is no helm");
        return;
    };
    assert!(rendered.status.success());
    let manifest = String::from_utf8(rendered.stdout).unwrap();
    let ran = run(&["lint", "-f", "-", "--strict"], &manifest);
    assert_eq!(ran.code, Some(0), "{}{}", ran.out, ran.error);
}
