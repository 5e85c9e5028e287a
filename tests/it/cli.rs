//! kubectl-sluice's process, without a cluster.

#![expect(
    clippy::unwrap_used,
    reason = "what cannot be read or written fails its test"
)]

mod api;
mod check;
mod crowd;
mod environment;
mod files;
mod graph;
mod holds;
mod kustomize;
mod lint;
mod lint_folder;
mod reasons;
mod release;
mod rounds;
mod server;
mod slots;
mod subjects;
pub(crate) mod suggest;
mod ui;
mod versions;

use harness::process::{binary, json_lines, pipe};
use serde_json::Value;
use std::io::Write;
use std::process::Command;

/// The output of a run, and its exit code.
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
    // No kubeconfig: a command that asks a cluster fails. No helm either.
    let nowhere = "/nonexistent";
    command.args(args).env_clear().env("HOME", nowhere);
    command.env("PATH", nowhere);
    Ran::of(&mut command, input)
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
        (
            &["lint"],
            "error: lint needs -f, the manifests or the chart to look at, for example:\n  kubectl sluice lint -f chart/\n",
        ),
        (
            &["graph", "-o", "svg"],
            "[possible values: text, dot, mermaid, json]",
        ),
        (&["graph", "--set", "a=b"], "--filename <FILE>"),
        (&["release"], "<POD|KIND/NAME>"),
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

/// A missing or empty kubeconfig, or an unknown context, is reported once and with the way out.
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
fn every_command_explains_itself() {
    for (command, told) in [
        ("status", "Shows the waits of pods"),
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

/// A reader of `--help` meets the options of the command first, then those that all commands share.
#[test]
fn help_shows_the_options_of_a_command_first() {
    for (command, own) in [
        ("status", "--all-namespaces"),
        ("graph", "--release"),
        ("lint", "--strict"),
        ("ui", "--port"),
        ("release", "--all-holds"),
    ] {
        let help = run(&[command, "--help"], "").out;
        let at = |part: &str| {
            help.find(part)
                .unwrap_or_else(|| panic!("{command}: {part}"))
        };
        let order = [
            at("\nOptions:\n"),
            at(&format!("      {own}").replace("      --all-n", "  -A, --all-n")),
            at("\nConnection:\n"),
            at("      --kubeconfig"),
        ];
        assert!(order.is_sorted(), "{command}: {help}");
    }
    let help = run(&["lint", "--help"], "").out;
    let output = help.split("\nOutput:\n").nth(1).expect("a group");
    assert!(
        output.contains("--output") && output.contains("--color"),
        "{help}"
    );
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

/// A reader that closes the pipe, as `head` does, ends the command without a message, by exit code 141.
#[test]
fn where_nobody_reads_on_it_ends_without_a_word() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = Command::new(binary("kubectl-sluice"));
    let output = command.arg("explain").stdout(writer).output().unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(128 + 13));
}
