//! The match conditions of the chart's webhooks, which say for which requests the API server calls them.

use super::helm::{self, Render, chart_dir, helm};
use serde_json::Value;

/// Returns a sorted line for each condition of each webhook, with single blanks: folding changes white space.
fn conditions(webhooks: Vec<(String, Vec<(String, String)>)>) -> String {
    let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut lines: Vec<String> = webhooks
        .into_iter()
        .flat_map(|(webhook, conditions)| {
            conditions
                .into_iter()
                .map(move |(name, cel)| format!("{webhook} {name}: {}", squeeze(&cel)))
        })
        .collect();
    lines.sort();
    lines.join("\n")
}

#[test]
fn calls_the_webhook_for_exactly_what_was_proven() {
    let text = include_str!("../../fixtures/chart/matchconditions.yaml");
    let proven: Value = serde_saphyr::from_str(text).expect("the fixture is YAML");
    let proven = proven
        .as_object()
        .expect("a mapping")
        .iter()
        .map(|(webhook, conditions)| {
            let conditions = conditions.as_object().expect("a mapping").iter();
            (
                webhook.clone(),
                conditions
                    .map(|(name, cel)| (name.clone(), cel.as_str().unwrap_or_default().to_owned()))
                    .collect(),
            )
        });

    // No value may change the conditions.
    let manifest = render!(
        "admission.failurePolicy=Ignore",
        "annotations.configDependsOn=false",
        "workloads.custom=null"
    );
    let rendered = manifest.only("MutatingWebhookConfiguration")["webhooks"].clone();
    let word = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let rendered = rendered
        .as_array()
        .expect("webhooks")
        .iter()
        .map(|webhook| {
            let conditions = webhook["matchConditions"].as_array().into_iter().flatten();
            (
                word(&webhook["name"]),
                conditions
                    .map(|condition| (word(&condition["name"]), word(&condition["expression"])))
                    .collect(),
            )
        });

    assert_eq!(conditions(rendered.collect()), conditions(proven.collect()));
}

/// The one list of keys in the chart equals that of the rules, and no other template spells out `sluice.dev/weight` or `sluice.dev/parallelism`.
#[test]
fn asks_for_the_keys_of_the_rules() {
    let templates = chart_dir().join("templates");
    let conditions = std::fs::read_to_string(templates.join("_matchconditions.tpl"));
    let conditions = conditions.expect("the conditions");
    let define = "{{- define \"sluice.keys\" -}}";
    let list = conditions.split_once(define).and_then(|(_, rest)| {
        let (list, _) = rest.split_once("{{- end }}")?;
        Some(list.split_whitespace().collect::<Vec<_>>())
    });
    assert_eq!(list.as_deref(), Some(&rules::keys::ASKING[..]));
    for file in helm::files(&templates) {
        let text = std::fs::read_to_string(&file).expect("chart files are text");
        for key in ["sluice.dev/weight", "sluice.dev/parallelism"] {
            let listed = usize::from(file.ends_with("_matchconditions.tpl"));
            assert_eq!(text.matches(key).count(), listed, "{key} in {file:?}");
        }
    }
}
