//! Applies the manifests of the pages to a real API server as dry runs, and runs the commands for which that is enough.

#![expect(clippy::panic, reason = "a page that cannot be read fails its test")]

mod api_server;

use super::blocks::{Block, Kind, Stage, blocks, has};
use super::runner::{Setting, run};
use super::{pages, root};
use api_server::ApiServer;
use harness::process::{binary, pipe};
use serde_json::{Value, json};
use std::process::Command;

/// The name of an object of which a page shows only a part.
const PART: &str = "part";

/// Returns the objects of a block of YAML. A list of dependencies, annotations or other parts of an object are completed to a workload.
fn objects(block: &Block) -> Vec<Value> {
    // Helm fills this in.
    let text = block.text.replace("{{ .Release.Revision }}", "1");
    let whole = |document: &str| {
        let read = serde_saphyr::from_str(document);
        let part: Value = read.unwrap_or_else(|error| panic!("{}: {error}", block.at));
        match &part {
            Value::Array(_) => workload(&json!({"sluice.dev/depends-on": part.to_string()})),
            _ if part["kind"] == "Deployment" && part.get("spec").is_none() => {
                workload(&part["metadata"]["annotations"])
            }
            _ if part.get("kind").is_some() => part,
            _ if part.get("metadata").is_some() => workload(&part["metadata"]["annotations"]),
            annotations => workload(annotations),
        }
    };
    text.split("\n---\n").map(whole).collect()
}

fn workload(annotations: &Value) -> Value {
    let labels = json!({"app": PART});
    let containers = json!([{"name": PART, "image": PART}]);
    // It is of a release, or what is said of waves means nothing.
    let release = json!({"app.kubernetes.io/instance": PART});
    json!({"apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": PART, "labels": release, "annotations": annotations},
        "spec": {"selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": containers}}}})
}

/// Whether a file is for a tool that makes objects of it: kustomize or kompose.
fn is_of_another_tool(name: &str) -> bool {
    ["kustomization.yaml", "compose.yaml"]
        .iter()
        .any(|it| name.ends_with(it))
}

fn yaml_blocks() -> Vec<Block> {
    let taken = |it: &Block| match &it.kind {
        Kind::Yaml => true,
        Kind::File(name) => !is_of_another_tool(name),
        _ => false,
    };
    let all = pages().into_iter().flat_map(|page| blocks(&page));
    all.filter(taken)
        .filter(|it| it.text.contains(':'))
        .collect()
}

fn json_of(objects: &[Value]) -> Vec<u8> {
    let list = json!({"apiVersion": "v1", "kind": "List", "items": objects});
    list.to_string().into_bytes()
}

/// `lint` finds no error in any manifest of a page, so admission would refuse none.
#[test]
fn lint_finds_no_error_in_any_manifest() {
    for block in yaml_blocks() {
        let mut lint = Command::new(binary("kubectl-sluice"));
        lint.args(["lint", "-f", "-"]);
        let output = pipe(&mut lint, json_of(&objects(&block)));
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{}: {said}", block.at);
    }
}

/// The API server takes the manifests of built-in kinds; a custom kind is not defined there, so only `lint` looks at its form.
#[test]
fn an_api_server_takes_every_manifest_and_runs_what_needs_no_node() {
    let Some(server) = ApiServer::start() else {
        return;
    };
    let built_in = |it: &Value| {
        let group = it["apiVersion"].as_str().and_then(|it| it.split_once('/'));
        group.is_none_or(|(group, _)| !group.contains('.') || group.ends_with(".k8s.io"))
    };
    let mut applied = 0;
    for block in yaml_blocks() {
        let objects: Vec<Value> = objects(&block).into_iter().filter(built_in).collect();
        for namespace in objects
            .iter()
            .filter_map(|it| it["metadata"]["namespace"].as_str())
        {
            server
                .kubectl(&["create", "namespace", namespace], Vec::new())
                .ok();
        }
        for object in &objects {
            let ran = server.kubectl(
                &["apply", "--dry-run=server", "--validate=strict", "-f", "-"],
                object.to_string().into_bytes(),
            );
            assert!(ran.is_ok(), "{}: {}", block.at, ran.unwrap_err());
            applied += 1;
        }
    }
    assert!(applied > 10, "{applied}");

    let setting = Setting {
        stages: &[Stage::Offline, Stage::Api],
        kubeconfig: Some(server.kubeconfig()),
    };
    let complaints: Vec<String> = pages()
        .into_iter()
        .filter(|page| has(page, Stage::Api))
        .flat_map(|page| run(&page, &setting))
        .collect();
    assert!(complaints.is_empty(), "{}", complaints.join("\n\n"));
}

/// Helm renders the chart with every block of values on a page: its schema and its templates take them.
#[test]
fn helm_renders_with_every_block_of_values() {
    let Some(helm) = crate::chart::program("helm") else {
        eprintln!("skipped: no helm here; `make cluster` builds one");
        return;
    };
    let mut rendered = 0;
    for block in pages().into_iter().flat_map(|page| blocks(&page)) {
        let Kind::Values(chart) = &block.kind else {
            continue;
        };
        let mut command = Command::new(&helm);
        command.args(["template", "t", "--kube-version", "1.36.0", "--values", "-"]);
        command.arg(root().join(chart));
        if chart == "charts/sluice" {
            command.args(["--set", "image.registry=registry.example"]);
        }
        let output = pipe(&mut command, block.text.clone().into_bytes());
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}: {error}", block.at);
        rendered += 1;
    }
    assert!(rendered > 0);
}
