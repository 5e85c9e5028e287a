//! kubectl-sluice's process, without a cluster.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be read or written fails its test"
)]

mod api;
mod graph;
mod holds;
mod lint;
mod lint_folder;
mod reasons;
mod server;
mod slots;
mod subjects;
pub(crate) mod suggest;
mod ui;

use harness::process::{binary, json_lines, pipe};
use serde_json::{Value, json};
use std::io::Write;
use std::process::Command;

/// What a run wrote, and its exit code.
struct Ran {
    code: Option<i32>,
    out: String,
    error: String,
}

impl Ran {
    fn of(command: &mut Command, input: &str) -> Self {
        let output = pipe(command, input.as_bytes().to_vec());
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            error: String::from_utf8(output.stderr).unwrap(),
        }
    }

    fn lines(&self) -> Vec<Value> {
        json_lines(self.out.as_bytes())
    }
}

fn run(args: &[&str], input: &str) -> Ran {
    let mut command = Command::new(binary("kubectl-sluice"));
    // No kubeconfig: whatever asks a cluster fails. No helm either.
    let nowhere = "/nonexistent";
    command.args(args).env_clear().env("HOME", nowhere);
    command.env("PATH", nowhere);
    Ran::of(&mut command, input)
}

/// `status -f -`
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

#[test]
fn a_file_is_read_like_standard_input() {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(SHOP.as_bytes()).unwrap();
    let path = file.path().to_str().unwrap();
    let ran = run(&["status", "-f", path], "");
    assert_eq!(ran.out, status(&[], SHOP).out);
    let page = include_str!("../../docs/cli.md");
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
fn wrong_arguments_are_told() {
    for (args, expected) in [
        (
            &["status", "a", "-f", "b"][..],
            "'[POD|KIND/NAME]' cannot be used with '--filename <FILE>'",
        ),
        (&["status", "a", "-A"], "cannot be used with"),
        (&["status", "--release", "a", "-A"], "cannot be used with"),
        (&["status", "-A", "-f", "b"], "cannot be used with"),
        (&["status", "-f", "-", "-o", "wide"], "text or json"),
        (&["status", "--profile", "kstatus"], "--filename <FILE>"),
        (
            &["status", "a", "--profile", "kstatus"],
            "cannot be used with",
        ),
        (
            &["status", "a", "--now", "2026-01-01T00:00:00Z"],
            "cannot be used with",
        ),
        (&["status", "-f", "-", "--now", "noon"], "'--now <TIME>'"),
        (
            &["status", "-f", "-", "--now", "yesterday"],
            "write it in RFC 3339, like 2026-01-31T12:00:00Z",
        ),
        (&["sttus"], "tip: a similar subcommand exists: 'status'"),
        (&["check", "--wait", "soon"], "write a time like 90s or 2m"),
        (&["lint", "x.yaml"], "tip: did you mean -f x.yaml?"),
        (&["lint", "it"], "tip: did you mean -f it?"),
        (
            &["graph", "--relase", "shop"],
            "tip: a similar argument exists: '--release'",
        ),
        (
            &["status", "-f", "-", "--profile", "helm"],
            "[possible values: kstatus, sluice]",
        ),
        (
            &["status", "-f", "-", "--rules", "-"],
            "standard input can be read once",
        ),
        (
            &["status", "-f", "-", "--rules", "a", "--profile", "kstatus"],
            "--rules judges with --profile sluice",
        ),
        (&["status", "a", "--rules", "b"], "cannot be used with"),
        (&["lint"], "name what to lint with -f FILE"),
        (
            &["graph", "-o", "svg"],
            "[possible values: text, dot, mermaid, json]",
        ),
        (&["graph", "--set", "a=b"], "--filename <FILE>"),
        (&["release"], "<POD>"),
    ] {
        let ran = run(args, "");
        assert!(ran.error.contains(expected), "{args:?}: {}", ran.error);
        assert_eq!(ran.code, Some(2), "{args:?}");
    }
}

#[test]
fn a_word_is_explained_without_a_cluster() {
    let ran = run(&["explain", "timeout"], "");
    assert!(
        ran.out
            .starts_with("sluice.dev/timeout\n  how long a pod may wait"),
        "{}",
        ran.out
    );
    let all = run(&["explain"], "").out;
    for word in [
        "  NoEndpoints\n",
        "  rbac.kinds\n",
        "  sluice.dev/timeout\n",
    ] {
        assert!(all.contains(word), "{word}: {all}");
    }
    let ran = run(&["explain", "NoEndpoints"], "");
    assert!(
        ran.out.contains("no pod behind the Service is ready"),
        "{}",
        ran.out
    );
    assert_eq!(run(&["explain", "noendpoint"], "").out, ran.out);
    let ran = run(&["explain", "walrus"], "");
    let expected =
        "error: nothing is known of \"walrus\"; kubectl sluice explain shows every word\n";
    assert_eq!((ran.error.as_str(), ran.code), (expected, Some(1)));
    let ran = run(&["version", "--client"], "");
    let expected = format!("kubectl sluice {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!((ran.out, ran.code), (expected, Some(0)));
}

#[test]
fn shells_and_kubectl_are_told_what_to_complete_with() {
    for (shell, part) in [
        ("bash", "complete -F _kubectl__sluice"),
        ("zsh", "#compdef kubectl-sluice"),
        ("fish", "complete -c kubectl-sluice"),
        ("powershell", "Register-ArgumentCompleter"),
    ] {
        let ran = run(&["completion", shell], "");
        assert!(ran.out.contains(part), "{shell}: {}", ran.out);
        assert_eq!(ran.code, Some(0));
    }
    let script = run(&["completion", "kubectl"], "").out;
    assert!(
        script.contains("exec kubectl-sluice __complete -- "),
        "{script}"
    );
    let ran = run(&["__complete", "--", "status", "--rel"], "");
    assert_eq!((ran.out.as_str(), ran.code), ("--release\n:4\n", Some(0)));
}

/// Each is told once, and what to do about it.
#[test]
fn a_cluster_that_nobody_names_is_told() {
    let file = |text: &str| {
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(text.as_bytes()).unwrap();
        file
    };
    let way_out = "name a file with --kubeconfig, or set KUBECONFIG, as for kubectl; ~/.kube/config is the default";
    for (args, expected) in [
        (
            &["--kubeconfig", "/none"][..],
            format!(
                "error: cannot read the kubeconfig /none: No such file or directory (os error 2); {way_out}\n"
            ),
        ),
        (
            &[],
            format!(
                "error: cannot read the kubeconfig /nonexistent/.kube/config: No such file or directory (os error 2); {way_out}\n"
            ),
        ),
    ] {
        let ran = run(&[&["status", "a"], args].concat(), "");
        assert_eq!((ran.error, ran.code), (expected, Some(1)), "{args:?}");
    }
    let empty = file("apiVersion: v1\nkind: Config\n");
    let path = empty.path().to_str().unwrap();
    for (args, expected) in [
        (&[][..], "kubectl config use-context"),
        (
            &["--context", "nope"],
            "has no context \"nope\"; kubectl config get-contexts",
        ),
    ] {
        let ran = run(&[&["status", "a", "--kubeconfig", path], args].concat(), "");
        assert!(ran.error.contains(expected), "{args:?}: {}", ran.error);
        assert_eq!(ran.code, Some(1));
    }
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
fn every_command_explains_itself() {
    for (command, told) in [
        ("status", "What pods wait for"),
        ("check", "Whether the installed sluice can do its work"),
        ("lint", "chart's folder is rendered by helm"),
        ("graph", "kubectl sluice graph --release shop"),
        ("suggest", "as a diff that `git apply` and `patch -p1` take"),
        ("ui", "at an address with a secret"),
        ("release", "Break-glass: opens a pod's gate at once"),
        ("explain", "In the words of the documentation"),
        ("version", "The versions of this command"),
    ] {
        let ran = run(&[command, "--help"], "");
        assert_eq!(ran.code, Some(0), "{command}");
        for part in [told, "Exit code 0: ", "Usage: kubectl sluice "] {
            assert!(ran.out.contains(part), "{command}: {}", ran.out);
        }
    }
}

#[test]
fn broken_health_rules_are_told_before_they_are_applied() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("rules.yaml");
    let path = path.to_str().unwrap();
    let check = |rules: &str| {
        std::fs::write(path, rules).unwrap();
        run(&["check", "--health-rules", path], "")
    };
    let good = check("- {apiVersion: example.com/v1, kind: Thing, current: status.ok}");
    assert_eq!(
        (good.code, good.error),
        (Some(0), format!("{path}: 1 rule in order\n"))
    );
    let bad = check("- {apiVersion: example.com/v1, kind: Thing, current: 'status.('}");
    assert_eq!(bad.code, Some(1));
    assert!(
        bad.error
            .starts_with(&format!("{path}: rule 1: current: failed to parse")),
        "{}",
        bad.error
    );
    assert_eq!(
        run(&["check", "--health-rules", "/nonexistent"], "").code,
        Some(1)
    );
}

/// As under `head`.
#[test]
fn where_nobody_reads_on_it_ends_without_a_word() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(binary("kubectl-sluice"));
    let output = command.arg("explain").stdout(writer).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(128 + 13));
}
