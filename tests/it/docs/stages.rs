//! Commands that a stage of `make test` runs, or CI, or a test that stands for them: each names who.

use super::blocks::{Block, Kind, Stage, blocks};
use super::{pages, read, root};
use std::collections::BTreeSet;

/// Each command that the documentation shows, the file that runs it, and how it stands there.
const RUN_BY: &[(&str, &str, &str)] = &[
    ("make demo", "tests/run", "make demo"),
    ("make test", ".ci/run", "make test"),
    ("make images", "Makefile", "install: cluster images"),
    ("make install", "tests/cluster/session.sh", "make install"),
    (
        "helm install sluice oci://ghcr.io/sluice-dev/charts/sluice --version 0.1.0 --namespace sluice-system --create-namespace --wait",
        "tests/cluster/published.sh",
        r#"eval "$command""#,
    ),
    (
        "curl -sSL https://github.com/sluice-dev/sluice/releases/download/v0.1.0/kubectl-sluice-0.1.0-linux-amd64.tar.gz | tar -xz kubectl-sluice",
        "tests/cluster/published.sh",
        r#"eval "$command""#,
    ),
    (
        "sudo install kubectl-sluice /usr/local/bin/",
        "tests/cluster/published.sh",
        r#"eval "$command""#,
    ),
    (
        "helm upgrade sluice oci://ghcr.io/sluice-dev/charts/sluice --version 0.1.0 --namespace sluice-system",
        "tests/cluster/published.sh",
        r#"eval "$command""#,
    ),
    (
        "kubectl apply -f shop.yaml",
        "tests/cluster/published.sh",
        r#"eval "$command""#,
    ),
    (
        "kubectl get pods",
        "tests/cluster/published.sh",
        r#"eval "$command""#,
    ),
    (
        "kubectl sluice status --namespace default",
        "tests/cluster/published.sh",
        r#"eval "$command""#,
    ),
    (
        "helm install shop examples/shop/chart --namespace shop --create-namespace",
        "tests/it/cluster/helm.rs",
        r#"["install", "shop", CHART]"#,
    ),
    (
        "kubectl sluice status POD --namespace shop",
        "tests/it/cluster/told.rs",
        r#"["status", &api.name, "--namespace", &ns.name]"#,
    ),
    (
        "kubectl sluice status deploy/api --namespace shop",
        "tests/it/cli/subjects.rs",
        r#"["deploy/api", "-n", "shop"]"#,
    ),
    (
        "kubectl sluice status --release shop --namespace shop",
        "tests/it/cli/subjects.rs",
        r#"["--release", "shop", "-n", "shop"]"#,
    ),
    (
        "kubectl sluice status --namespace shop",
        "tests/it/cli/subjects.rs",
        r#"["-n", "shop"]"#,
    ),
    (
        "kubectl sluice status -A",
        "tests/it/cli/subjects.rs",
        r#"["-A"]"#,
    ),
    (
        "kubectl sluice graph --release shop --namespace shop",
        "tests/it/cli/graph.rs",
        r#"["graph", "--release", "shop"]"#,
    ),
    (
        "kubectl sluice ui --namespace shop",
        "tests/it/cli/ui.rs",
        r#"["ui", "--kubeconfig""#,
    ),
    (
        "kubectl sluice release POD --namespace shop",
        "tests/it/cli/server.rs",
        r#"["release", "api-1"]"#,
    ),
    (
        "kubectl sluice release --all-holds",
        "tests/it/cli/holds.rs",
        r#"["release", "--all-holds"]"#,
    ),
    (
        "kubectl sluice check",
        "tests/it/cli/server.rs",
        r#"["check"]"#,
    ),
    (
        "kubectl sluice check --pre",
        "tests/it/cli/server.rs",
        r#"["check", "--pre"]"#,
    ),
    (
        "kubectl sluice version",
        "tests/it/cli/server.rs",
        r#"["version"]"#,
    ),
    (
        "kubectl sluice status --release shop --namespace shop --watch",
        "tests/it/cli/subjects.rs",
        r#"["-n", "shop", "-w"]"#,
    ),
    (
        "kubectl annotate deployment/api sluice.dev/skip=true",
        "tests/it/cluster/terms.rs",
        r#"["annotate", "deployment/api", "sluice.dev/skip=true"]"#,
    ),
    (
        "kubectl delete mutatingwebhookconfiguration sluice",
        "tests/it/cluster/without_sluice/emergency.rs",
        r#"["delete", "mutatingwebhookconfiguration", "sluice"]"#,
    ),
    ("examples/shop/demo.sh", "Makefile", "examples/shop/demo.sh"),
    (
        "helm install shop examples/shop/chart -n shop --create-namespace",
        "examples/shop/demo.sh",
        "helm install shop",
    ),
    (
        "kubectl sluice status --release shop -n shop --watch",
        "examples/shop/demo.sh",
        r#"kubectl sluice status --release shop -n "$namespace" --watch"#,
    ),
    (
        "kubectl sluice graph --release shop -n shop",
        "examples/shop/demo.sh",
        r#"kubectl sluice graph --release shop -n "$namespace""#,
    ),
    (
        "helm upgrade shop examples/shop/chart -n shop --set schema=2",
        "examples/shop/demo.sh",
        "helm upgrade shop",
    ),
    (
        "kubectl get events -n shop",
        "tests/it/cluster/told.rs",
        "has_event",
    ),
    (
        "helm uninstall shop -n shop",
        "tests/run",
        "helm uninstall shop",
    ),
    (
        "python3 -m unittest discover examples/shop",
        "tests/run",
        "unittest discover",
    ),
];

/// The lines of such a block, without comments and continued lines joined.
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
