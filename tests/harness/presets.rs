//! All presets of the chart at once: their names, their rights, and definitions of their kinds.

use anyhow::{Context, Result, ensure};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use serde_json::{Value, json};
use std::process::Command;

const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../charts/sluice");

/// Returns the value of `rbac.presets` that turns all presets on, in the form of `helm --set`.
///
/// # Errors
///
/// The chart's schema names no preset.
pub fn setting() -> Result<String> {
    let schema = std::fs::read_to_string(format!("{CHART}/values.schema.json"))?;
    let schema: Value = serde_json::from_str(&schema)?;
    let known = schema.pointer("/properties/rbac/properties/presets/items/enum");
    let known = known.and_then(Value::as_array).into_iter().flatten();
    let names: Vec<&str> = known.filter_map(Value::as_str).collect();
    ensure!(!names.is_empty(), "the chart's schema names no preset");
    Ok(format!("rbac.presets={{{}}}", names.join(",")))
}

/// Returns the chart's ClusterRole of readable custom kinds, with all presets on.
///
/// # Errors
///
/// Helm cannot render the chart, the chart's schema names no preset, or the chart has no such ClusterRole.
pub fn role() -> Result<Value> {
    let rendered = Command::new("helm")
        .args(["template", "sluice", CHART, "--set", &setting()?])
        .args(["--set", "image.registry=registry.example"])
        .args(["--show-only", "templates/customkinds.yaml"])
        .output()
        .context("failed to run helm")?;
    let error = String::from_utf8_lossy(&rendered.stderr);
    ensure!(rendered.status.success(), "helm template: {error}");
    let documents: Vec<Value> = serde_saphyr::from_multiple(str::from_utf8(&rendered.stdout)?)?;
    // Kubernetes aggregates the other ClusterRole of that template.
    let is_own = |it: &Value| it["kind"] == "ClusterRole" && it["rules"].is_array();
    let role = documents.into_iter().find(is_own);
    role.context("the chart has no ClusterRole for custom kinds")
}

/// Returns a CustomResourceDefinition for each custom kind in the rules of a ClusterRole: each resource of a group with a dot in its name.
pub fn definitions(role: &Value) -> Vec<CustomResourceDefinition> {
    let rules = role["rules"].as_array().into_iter().flatten();
    let named = rules.flat_map(|rule| {
        let custom = texts(&rule["apiGroups"]).filter(|group| group.contains('.'));
        custom.flat_map(|group| {
            let plurals = texts(&rule["resources"]).filter(|it| !it.contains('/'));
            plurals.map(move |plural| definition(group, plural))
        })
    });
    named.collect()
}

fn texts(list: &Value) -> impl Iterator<Item = &str> {
    let list = list.as_array().into_iter().flatten();
    list.filter_map(Value::as_str)
}

fn definition(group: &str, plural: &str) -> CustomResourceDefinition {
    let schema = json!({"type": "object", "x-kubernetes-preserve-unknown-fields": true});
    let version = json!({
        "name": "v1", "served": true, "storage": true, "schema": {"openAPIV3Schema": schema},
    });
    let definition = json!({
        "metadata": {
            "name": format!("{plural}.{group}"),
            "annotations": {"api-approved.kubernetes.io": "unapproved, a test"},
        },
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": plural, "kind": format!("{}Kind", plural.to_uppercase())},
            "versions": [version],
        },
    });
    serde_json::from_value(definition).expect("it is a definition")
}
