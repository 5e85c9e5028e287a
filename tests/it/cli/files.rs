//! `status -f` on objects in files.

use super::{Ran, run};
use serde_json::json;
use std::io::Write;

/// Runs `kubectl sluice status -f -` with this input and further arguments.
fn status(args: &[&str], input: &str) -> Ran {
    run(&[&["status", "-f", "-"], args].concat(), input)
}

const SHOP: &str = "
apiVersion: v1
kind: Service
metadata: {name: db, namespace: shop}
spec: {selector: {app: db}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop}
status: {startTime: 2026-01-01T00:00:00Z, active: 1}
---
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: db-1, namespace: shop, labels: {kubernetes.io/service-name: db}}
endpoints: [{conditions: {ready: true}}]
";

#[test]
fn each_object_has_a_line_in_its_order() {
    let ran = status(&["-o", "json"], SHOP);
    let expected = r#"{"kind":"Service","namespace":"shop","name":"db","status":"Current","reason":"Satisfied","message":"Serving endpoints: 1/1"}
{"kind":"Job","namespace":"shop","name":"migrate","status":"InProgress","reason":"JobNotComplete","message":"Job in progress. success:0, active: 1, failed: 0"}
{"kind":"EndpointSlice","namespace":"shop","name":"db-1","status":"Current","reason":"Satisfied","message":"Resource is current"}
"#;
    assert_eq!(ran.out, expected);
    assert_eq!((ran.code, ran.error.as_str()), (Some(3), ""));
}

#[test]
fn kstatus_keeps_its_own_words() {
    let ran = status(&["-o", "json", "--profile", "kstatus"], SHOP);
    let expected = r#"{"kind":"Service","namespace":"shop","name":"db","status":"Current","reason":"","message":"Service is ready"}
{"kind":"Job","namespace":"shop","name":"migrate","status":"Current","reason":"","message":"Job in progress. success:0, active: 1, failed: 0"}
{"kind":"EndpointSlice","namespace":"shop","name":"db-1","status":"Current","reason":"","message":"Resource is current"}
"#;
    assert_eq!(ran.out, expected);
    assert_eq!(ran.code, Some(0), "all is current to kstatus");

    let odd = "apiVersion: v1\nkind: Pod\nmetadata: {name: x, generation: '1'}\n";
    let ran = status(&["-o", "json", "--profile", "kstatus"], odd);
    let line = json!({"kind": "Pod", "namespace": "", "name": "x", "status": "Unknown", "reason": "Unjudgeable",
        "message": "looking up metadata.generation from resource: .metadata.generation accessor error: 1 is of the \
                    type string, expected int64"});
    assert_eq!(ran.lines(), [line]);
    assert_eq!(ran.code, Some(3));
}

#[test]
fn people_get_a_table() {
    let expected = "\
KIND           NAMESPACE  NAME     STATUS      REASON          MESSAGE
Service        shop       db       Current     Satisfied       Serving endpoints: 1/1
Job            shop       migrate  InProgress  JobNotComplete  Job in progress. success:0, active: 1, failed: 0
EndpointSlice  shop       db-1     Current     Satisfied       Resource is current
";
    assert_eq!(status(&[], SHOP).out, expected);
    let forged = "apiVersion: v1\nkind: Namespace\nmetadata: {name: \"a\\e[2J\\nb\"}\n";
    let out = status(&["--profile", "kstatus"], forged).out;
    assert_eq!(out.lines().count(), 2);
    assert!(!out.contains('\u{1b}'), "{out:?}");
}

/// An object without a namespace counts as one of the namespace of `-n`, where `kubectl apply -n` puts it.
#[test]
fn what_says_no_namespace_is_put_into_that_of_n() {
    let input = "
apiVersion: v1
kind: ConfigMap
metadata: {name: a}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: b, namespace: other}
---
apiVersion: v1
kind: Namespace
metadata: {name: c}
";
    let list = json!({"apiVersion": "v1", "kind": "List", "items": [{"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}]});
    for profile in ["sluice", "kstatus"] {
        let of = |input: &str, args: &[&str]| {
            let ran = status(
                &[&["-o", "json", "--profile", profile], args].concat(),
                input,
            );
            let namespace = |it: &serde_json::Value| it["namespace"].as_str().unwrap().to_owned();
            ran.lines().iter().map(namespace).collect::<Vec<_>>()
        };
        assert_eq!(of(input, &["-n", "shop"]), ["shop", "other", ""]);
        assert_eq!(of(input, &[]), ["", "other", ""]);
        assert_eq!(of(&list.to_string(), &["-n", "shop"]), ["shop"]);
    }
}

#[test]
fn a_table_is_coloured_where_that_is_asked_for() {
    let colored = status(&["--color", "always"], SHOP).out;
    for cell in [
        "\u{1b}[32mCurrent   \u{1b}[0m",
        "\u{1b}[33mInProgress\u{1b}[0m",
    ] {
        assert!(colored.contains(cell), "{colored:?}");
    }
    let plain = status(&[], SHOP).out;
    assert_eq!(status(&["--color", "never"], SHOP).out, plain);
    let bare = colored.replace("\u{1b}[32m", "").replace("\u{1b}[33m", "");
    assert_eq!(bare.replace("\u{1b}[0m", ""), plain);
    let data = |args: &[&str]| status(&[&["-o", "json"], args].concat(), SHOP).out;
    assert_eq!(data(&["--color", "always"]), data(&[]));
}

#[test]
fn a_file_is_read_like_standard_input() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(SHOP.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    let ran = run(&["status", "-f", path], "");
    assert_eq!(ran.out, status(&[], SHOP).out);
    let page = include_str!("../../../docs/cli.md");
    assert!(
        page.contains(&ran.out),
        "docs/cli.md must show:\n{}",
        ran.out
    );

    let ran = run(&["status", "-f", "/nonexistent/a.yaml"], "");
    assert!(
        ran.error
            .starts_with("error: cannot open /nonexistent/a.yaml: "),
        "{}",
        ran.error
    );
    assert_eq!(ran.code, Some(1));
}

#[test]
fn the_time_decides_on_a_pod_that_finds_no_node() {
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p", "creationTimestamp": "2026-01-01T00:00:00Z"},
        "status": {"phase": "Pending",
            "conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable"}]}});
    for profile in ["kstatus", "sluice"] {
        let at = |now| {
            let args = ["-o", "json", "--profile", profile, "--now", now];
            status(&args, &pod.to_string()).lines().remove(0)["status"].clone()
        };
        assert_eq!(at("2026-01-01T00:00:14Z"), "InProgress", "{profile}");
        assert_eq!(at("2026-01-01T00:00:16Z"), "Failed", "{profile}");
        assert_eq!(at("2026-01-01T01:00:16+01:00"), "Failed", "{profile}");
    }
}

#[test]
fn what_cannot_be_judged_does_not_end_the_run() {
    let ran = status(
        &["-o", "json"],
        "- a\n---\nkind: Pod\n---\napiVersion: v1\nkind: ConfigMap\n",
    );
    let lines = ran.lines();
    let told: Vec<_> = lines
        .iter()
        .map(|line| (&line["status"], &line["message"]))
        .collect();
    let expected = [
        (
            "Unknown",
            "line 1, column 1: an object is a mapping, this is a list",
        ),
        ("Unknown", "it has no apiVersion"),
        ("Current", "Resource is always ready"),
    ];
    let expected = expected.map(|(status, message)| (json!(status), json!(message)));
    assert!(
        told.iter()
            .copied()
            .eq(expected.iter().map(|(status, message)| (status, message))),
        "{told:?}"
    );
    assert_eq!(ran.code, Some(3));
}

#[test]
fn a_syntax_error_comes_after_what_was_before_it() {
    for profile in ["kstatus", "sluice"] {
        let broken =
            "apiVersion: v1\nkind: ConfigMap\n---\na: b: c\n---\napiVersion: v1\nkind: ConfigMap\n";
        let ran = status(&["-o", "json", "--profile", profile], broken);
        assert_eq!(ran.lines().len(), 1, "{profile}");
        assert!(
            ran.error
                .starts_with("error: standard input: line 4, column 5: "),
            "{}",
            ran.error
        );
        assert_eq!(ran.code, Some(1));
    }
}

#[test]
fn nothing_is_told_of_an_empty_manifest() {
    let ran = status(&["-o", "json"], "---\n# nothing\n");
    assert_eq!(ran.out, "");
    assert_eq!(ran.error, "standard input: there is no object\n");
    assert_eq!(ran.code, Some(0));
}

#[test]
fn the_administrators_rules_judge_a_manifest() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.yaml");
    let path = path.to_str().unwrap();
    let widget =
        "{apiVersion: example.com/v1, kind: Widget, metadata: {name: w}, status: {phase: Placed}}";
    let by = |rules: &str| {
        std::fs::write(path, rules).unwrap();
        status(&["--rules", path, "-o", "json"], widget)
    };
    let rule = "- {apiVersion: example.com/v1, kind: Widget, current: status.phase == 'Settled'}";
    let map = format!("apiVersion: v1\nkind: ConfigMap\ndata:\n  rules.yaml: |\n    {rule}\n");
    for rules in [rule, &map] {
        let ran = by(rules);
        assert_eq!(ran.lines()[0]["status"], "InProgress", "{rules}");
        assert_eq!((ran.code, ran.error.as_str()), (Some(3), ""));
    }
    assert_eq!(status(&[], widget).code, Some(0), "without rules");

    let broken = by("- {apiVersion: example.com/v1, kind: Widget, current: 'status.('}");
    let expected =
        format!("error: broken health rules:\n  {path}: rule 1: current: failed to parse the CEL");
    assert!(broken.error.starts_with(&expected), "{}", broken.error);
    assert_eq!((broken.code, broken.out.as_str()), (Some(1), ""));

    // A file may come from standard input, one of them.
    let manifest = folder.path().join("widget.yaml");
    std::fs::write(&manifest, widget).unwrap();
    let manifest = manifest.to_str().unwrap();
    let ran = run(&["status", "-f", manifest, "--rules", "-"], rule);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
}

#[test]
fn what_is_packed_is_to_be_unpacked() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop-1.0.0.tgz");
    std::fs::write(&path, [0x1f, 0x8b, 8, 0]).unwrap();
    let path = path.to_str().unwrap();
    for command in ["status", "lint", "graph"] {
        let ran = run(&[command, "-f", path], "");
        let expected = "is packed with gzip, as a chart of `helm package` is; unpack it";
        assert!(ran.error.contains(expected), "{command}: {}", ran.error);
        assert_eq!(ran.code, Some(1));
    }
}

#[test]
fn an_answer_that_cannot_be_written_is_an_error() {
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full");
    let mut command = std::process::Command::new(harness::process::binary("kubectl-sluice"));
    let ran = command.arg("explain").stdout(full.unwrap()).output();
    let ran = ran.unwrap();
    assert_eq!(
        String::from_utf8(ran.stderr).unwrap(),
        "error: cannot write to stdout: No space left on device (os error 28)\n"
    );
    assert_eq!(ran.status.code(), Some(1));
}
