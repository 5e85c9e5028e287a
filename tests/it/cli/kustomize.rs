//! Kustomizations as inputs of the commands: which folders are built, which files are then no inputs of their own, and the report of a kustomization
//! that cannot be built. The trees are in `fixtures/kustomize`.

use super::Ran;
use crate::chart::program;
use harness::process::binary;
use std::fs;
use std::process::Command;

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/kustomize");

/// Runs the command in the folder of fixtures with kubectl on its path. Without kubectl, prints that the test is skipped and returns `None`.
fn with_kubectl(args: &[&str]) -> Option<Ran> {
    let Some(kubectl) = program("kubectl") else {
        eprintln!("skipped: there is no kubectl");
        return None;
    };
    let home = tempfile::tempdir().unwrap();
    let mut command = Command::new(binary("kubectl-sluice"));
    command.args(args).current_dir(FOLDER).env_clear();
    command.env("HOME", home.path());
    // kubectl needs git for a base on another machine.
    let path = format!("{}:/usr/bin:/bin", kubectl.parent().unwrap().display());
    Some(Ran::of(command.env("PATH", path), ""))
}

/// Returns the sorted names of the objects in a graph that was printed as JSON, such as `Deployment/api`.
fn nodes(ran: &Ran) -> Vec<String> {
    let lines = ran.lines();
    let nodes = lines[0]["nodes"].as_array().unwrap();
    let ids = nodes.iter().map(|it| it["id"].as_str().unwrap().to_owned());
    let mut ids: Vec<_> = ids.collect();
    ids.sort();
    ids
}

/// In a tree of kustomizations only the overlay on top is built, and no file that a kustomization reads is an input by itself; a file that none reads
/// is read as it stands. The tree has a base, a component, a JSON patch, a patch with a list, a generator's file without a kind, and overlays of an
/// overlay.
#[test]
fn what_only_a_kustomization_reads_is_no_input_of_its_own() {
    let Some(ran) = with_kubectl(&["lint", "-R", "--strict", "-f", "shop"]) else {
        return;
    };
    assert_eq!(ran.out, "", "{}", ran.error);
    assert_eq!(ran.error, "6 objects: 0 errors, 0 warnings, 0 notes\n");
    assert_eq!(ran.code, Some(0));

    let ran = with_kubectl(&["graph", "-R", "-f", "shop", "-o", "json"]).unwrap();
    let expected = [
        "Deployment/prod-api",
        "Deployment/prod-db",
        "Deployment/web",
        "Deployment/web-cache",
        "Job/prod-seed",
    ];
    assert_eq!(nodes(&ran), expected, "{}", ran.error);
    let edges = ran.lines()[0]["edges"].clone();
    let has = |from: &str, to: &str| {
        let mut edges = edges.as_array().unwrap().iter();
        edges.any(|it| it["from"] == from && it["to"] == to)
    };
    for to in ["Deployment/prod-db", "Job/prod-seed"] {
        assert!(has("Deployment/prod-api", to), "{edges}");
    }
}

/// `-f` takes the folder of a kustomization, its file, and a folder with kustomizations directly below.
#[test]
fn a_kustomization_is_taken_as_a_chart_is() {
    let Some(ran) = with_kubectl(&["lint", "--strict", "-f", "shop/base"]) else {
        return;
    };
    assert_eq!(ran.error, "2 objects: 0 errors, 0 warnings, 0 notes\n");
    let ran = with_kubectl(&["lint", "--strict", "-f", "shop/base/kustomization.yaml"]).unwrap();
    assert_eq!(ran.error, "2 objects: 0 errors, 0 warnings, 0 notes\n");
    let ran = with_kubectl(&["lint", "--strict", "-f", "shop/overlays"]).unwrap();
    assert_eq!(ran.error, "4 objects: 0 errors, 0 warnings, 0 notes\n");

    let ran = with_kubectl(&["status", "-f", "shop/overlays/prod", "-o", "json"]).unwrap();
    let named = ran.lines().iter().any(|it| it["name"] == "prod-db");
    assert!(named && ran.code == Some(3), "{}{}", ran.out, ran.error);
}

/// A list in one overlay does not mean an object of another overlay of the same base: overlays are for different clusters.
#[test]
fn what_is_called_the_same_in_another_overlay_is_not_meant() {
    let Some(ran) = with_kubectl(&["lint", "-R", "--strict", "-f", "pair"]) else {
        return;
    };
    assert_eq!((ran.out.as_str(), ran.code), ("", Some(0)), "{}", ran.error);
    let ran = with_kubectl(&["graph", "-R", "-f", "pair", "-o", "json"]).unwrap();
    let graph = ran.lines()[0].clone();
    let steps = graph["nodes"].as_array().unwrap().iter();
    let steps: Vec<_> = steps.map(|it| it["step"].as_u64().unwrap()).collect();
    assert_eq!(steps, [1, 1, 2, 2], "each overlay has two steps: {graph}");
}

#[test]
fn a_name_that_kustomize_has_changed_is_told() {
    let Some(ran) = with_kubectl(&["lint", "-f", "named"]) else {
        return;
    };
    let told = |entry: &str, likely: &str| {
        let told = format!(
            "it depends on {entry}, which is not among these objects; did you mean {likely:?}?"
        );
        assert!(ran.out.contains(&told), "{told}\n{}", ran.out);
    };
    told("Deployment/db", "Deployment/prod-db");
    told("base/Deployment/prod-db", "Deployment/prod-db");
    let hash = "ConfigMap/prod-settings-4h2mbtbbt6";
    told("ConfigMap/settings", hash);
    assert!(ran.error.contains("0 errors, 3 warnings"), "{}", ran.error);
}

/// A kustomization with a base on another machine is reported once, where it was named, and all other ones are read.
#[test]
fn one_that_needs_more_than_files_hides_no_other() {
    let Some(ran) = with_kubectl(&["lint", "-R", "-f", "remote"]) else {
        return;
    };
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(lines.len(), 2, "{}", ran.out);
    let near = "Deployment web: it depends on Deployment/dbs, which is not among these objects; did you mean \"Deployment/db\"?";
    assert!(lines[0].contains(near), "{}", lines[0]);
    let start = "remote/over/kustomization.yml: warning: kubectl cannot build remote/over: ";
    assert!(lines[1].starts_with(start), "{}", lines[1]);
    for words in [
        "https://sluice.invalid/all.yaml, which needs the network",
        "kubectl kustomize remote/over > FILE",
    ] {
        assert!(lines[1].contains(words), "{}", lines[1]);
    }
    assert!(ran.error.starts_with("2 objects: 0 errors, 2 warnings"));
    assert_eq!(ran.code, Some(0));
    let strict = with_kubectl(&["lint", "-R", "--strict", "-f", "remote"]).unwrap();
    assert_eq!(strict.code, Some(1));

    let ran = with_kubectl(&["graph", "-R", "-f", "remote", "-o", "json"]).unwrap();
    assert!(
        ran.error
            .starts_with("warning: remote/over/kustomization.yml: "),
        "{}",
        ran.error
    );
    assert!(nodes(&ran).contains(&"Deployment/web".to_owned()));
    let named = with_kubectl(&["lint", "-f", "remote/over"]).unwrap();
    assert_eq!((named.out.as_str(), named.code), ("", Some(1)));
    assert!(named.error.contains("which needs the network"));
}

#[test]
fn one_that_is_broken_is_an_error_and_hides_no_other() {
    let Some(ran) = with_kubectl(&["lint", "-R", "-f", "broken"]) else {
        return;
    };
    let start = "broken/bad/kustomization.yaml: error: kubectl cannot build broken/bad: error: accumulating resources";
    assert!(ran.out.starts_with(start), "{}", ran.out);
    assert_eq!(ran.out.lines().count(), 1);
    assert_eq!(ran.error, "1 object: 1 error, 0 warnings, 0 notes\n");
    assert_eq!(ran.code, Some(1));
    let named = with_kubectl(&["status", "-f", "broken/bad"]).unwrap();
    assert!(named.error.contains("mend it"), "{}", named.error);
}

#[test]
fn without_kubectl_it_is_said() {
    let ran = super::run(&["lint", "-f", &format!("{FOLDER}/shop/base")], "");
    let words =
        "is a kustomization, and there is no kubectl on the PATH to build it; install kubectl";
    assert!(ran.error.contains(words), "{}", ran.error);
    assert_eq!(ran.code, Some(1));
}

/// A file `kustomization.yaml` that holds Flux's kind Kustomization is an object, not an input to build.
#[test]
fn a_kustomization_of_flux_is_an_object() {
    let folder = tempfile::tempdir().unwrap();
    let flux = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata: {name: apps, namespace: flux-system}\n\
                spec: {path: ./apps, prune: true, interval: 10m, sourceRef: {kind: GitRepository, name: apps}}\n";
    fs::write(folder.path().join("kustomization.yaml"), flux).unwrap();
    let path = folder.path().to_str().unwrap();
    let ran = super::run(&["lint", "--strict", "-f", path], "");
    assert_eq!(ran.error, "1 object: 0 errors, 0 warnings, 0 notes\n");
}

/// A file of a patch that is named by itself is read as a patch: a hook of git names each changed file.
#[test]
fn a_patch_is_read_as_what_it_is() {
    for patch in ["order.yaml", "replicas.yaml"] {
        let path = format!("{FOLDER}/shop/overlays/prod/{patch}");
        let ran = super::run(&["lint", "--strict", "-f", &path], "");
        assert_eq!(
            (ran.out.as_str(), ran.code),
            ("", Some(0)),
            "{patch}: {}",
            ran.error
        );
    }
    let patch = |annotation: &str| {
        let text = format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: a, annotations: {{{annotation}}}}}\n"
        );
        super::run(&["lint", "-f", "-"], &text)
    };
    let ran = patch("sluice.dev/depends-on: deploymnt/db");
    assert!(
        ran.out.contains("did you mean \"deployment\"?"),
        "{}",
        ran.out
    );
    let ran = patch("sluice.dev/depends-on: null");
    assert_eq!(
        (ran.out.as_str(), ran.code),
        ("", Some(0)),
        "it takes a list away"
    );
    let text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, annotations: {sluice.dev/depends-on: job/x}}\n";
    let ran = super::run(&["lint", "-f", "-"], text);
    assert!(
        ran.out.contains("it has no effect on a ConfigMap"),
        "{}",
        ran.out
    );
}

/// `lint` accepts one value of a key both on an object and on its pod template, as kustomize's `commonAnnotations` writes it, and reports two
/// different ones.
#[test]
fn one_value_in_both_places_is_no_finding() {
    let text = |own: &str| {
        let template = "{metadata: {annotations: {sluice.dev/scope: a}}, spec: {containers: []}}";
        format!(
            "apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: x, annotations: {{sluice.dev/scope: {own}}}}}\n\
             spec: {{template: {template}}}\n"
        )
    };
    let ran = super::run(&["lint", "--strict", "-f", "-"], &text("a"));
    assert_eq!((ran.out.as_str(), ran.code), ("", Some(0)));
    let ran = super::run(&["lint", "-f", "-"], &text("b"));
    assert!(
        ran.out.contains("it stands on spec.template too"),
        "{}",
        ran.out
    );
}

/// `lint` accepts a list on a Service that kompose has made: kompose copies the labels of a Compose service to its Service.
#[test]
fn what_kompose_writes_on_a_service_is_no_finding() {
    let text = |own: &str| {
        format!(
            "apiVersion: v1\nkind: Service\nmetadata: {{name: x, annotations: {{sluice.dev/depends-on: pod/y, {own}}}}}\n"
        )
    };
    let ran = super::run(
        &["lint", "--strict", "-f", "-"],
        &text("kompose.version: 1.34.0"),
    );
    assert_eq!((ran.out.as_str(), ran.code), ("", Some(0)));
    let ran = super::run(&["lint", "-f", "-"], &text("other: x"));
    assert!(
        ran.out.contains("it has no effect on a Service"),
        "{}",
        ran.out
    );
}

/// `suggest` on an overlay proposes the annotation in the file of the base, where the workload is written.
#[test]
fn waits_of_a_base_are_found_through_its_overlay() {
    let Some(ran) = with_kubectl(&["suggest", "-f", "waits/overlay"]) else {
        return;
    };
    for words in [
        "--- a/waits/base/all.yaml\n",
        "+    sluice.dev/depends-on: service/db\n",
    ] {
        assert!(ran.out.contains(words), "{words}: {}{}", ran.out, ran.error);
    }
    let note = "note: waits/overlay/kustomization.yaml: namePrefix and nameSuffix change no list";
    assert!(ran.error.contains(note), "{}", ran.error);
    let ends = "1 proposed, 0 left as they are\n";
    assert!(ran.error.ends_with(ends), "{}", ran.error);
}

/// `suggest` on a Compose file prints a Compose file with labels alone, and reports the rest on standard error.
#[test]
fn a_compose_file_gets_labels() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("compose.yaml");
    let text = "services:\n  web: {depends_on: [Data_Base, gone]}\n  Data_Base: {}\n";
    fs::write(&file, text).unwrap();
    let path = file.to_str().unwrap();
    let ran = super::run(&["suggest", "-f", path], "");
    let expected = "services:\n  \"web\":\n    labels:\n      sluice.dev/depends-on: \"deployment/data-base\"\n";
    assert_eq!(ran.out, expected);
    let left = format!(
        "left: {path}: web: it depends on gone, which is not in this file; name the file that has both\n"
    );
    assert!(ran.error.starts_with(&left), "{}", ran.error);
    assert_eq!(ran.code, Some(0));
}
