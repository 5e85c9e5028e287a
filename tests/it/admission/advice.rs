//! Admission, by warnings, and `kubectl sluice lint`, by findings, give the same advice on the same objects.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a table of objects is read more easily without a reference before each of them"
)]

mod cases;

use super::{answer_to_api_server, review};
use harness::process::{binary, json_lines, pipe};
use prometheus_client::registry::Registry;
use rules::kinds::{Kind, builtin};
use serde_json::{Value, json};
use std::process::Command;
use std::sync::Arc;
use webhook::{Admission, AdmissionLimits as Limits, AdmissionMetrics as Metrics, Cached};
use webhook::{Known, Settings};
use webhook::{MemoryAlarm, Options};

/// A dependent, the object that it depends on, and the advice that both admission and `lint` must give.
struct Case {
    name: &'static str,
    dependent: Value,
    beside: Value,
    /// Whether the dependency is in the cluster when the dependent is applied.
    is_there: bool,
    /// The names of the rules whose advice is expected, such as `Removed`.
    expected: &'static [&'static str],
}

/// Returns the warnings of admission on the dependent, without its name in front, while the kinds that a waiting gate may have asked for are watched.
/// Fails where the dependent is refused.
async fn warnings(case: &Case) -> Vec<String> {
    let (known, _wanted) = Known::new(Settings::of_the_chart());
    let endpoints = ("discovery.k8s.io", "EndpointSlice");
    for (group, kind) in [
        ("batch", "Job"),
        ("", "Service"),
        ("apps", "Deployment"),
        endpoints,
    ] {
        let store = known.want(&Kind::Builtin(builtin(group, kind).unwrap()));
        let is_of = case.is_there && case.beside["kind"] == kind;
        store.replace(is_of.then_some(&case.beside));
    }
    let metrics = Metrics::register(&mut Registry::default());
    let (admission, _) = Admission::new(
        Options::default(),
        Limits::default(),
        MemoryAlarm::default(),
        metrics,
    );
    let admission = Arc::new(admission.knowing(Arc::new(Cached(known))));
    let create = review("CREATE", &case.dependent, &Value::Null);
    let told = answer_to_api_server(&admission, &create).await;
    assert_eq!(told["allowed"], true, "{}: {told}", case.name);
    let prefix = format!("shop/{}/api: ", case.dependent["kind"].as_str().unwrap());
    let warnings = told["warnings"].as_array().cloned().unwrap_or_default();
    let sentence = |warning: &Value| {
        let warning = warning.as_str().unwrap();
        warning.strip_prefix(&prefix).unwrap_or(warning).to_owned()
    };
    warnings.iter().map(sentence).collect()
}

/// Admission warns of a dependency without a readiness probe that it knows. `lint` gives this advice on the dependency itself, so the case is in no
/// table that both share.
#[tokio::test]
async fn admission_tells_of_a_known_dependency_that_nothing_asks() {
    let metadata = json!({"name": "api", "namespace": "shop", "annotations": {"sluice.dev/depends-on": "deploy/db"}});
    for (container, expected) in [(json!({}), 1), (json!({"readinessProbe": {}}), 0)] {
        let pods = json!({"spec": {"containers": [container]}});
        let case = Case {
            name: "a probe",
            dependent: json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": {"template": {"spec": {}}}}),
            beside: json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "db", "namespace": "shop"},
                "spec": {"template": pods}}),
            is_there: true,
            expected: &[],
        };
        let told = warnings(&case).await;
        assert_eq!(told.len(), expected, "{told:?}");
        let says = |it: &String| it.starts_with("Deployment/db has no readiness probe");
        assert!(told.iter().all(says), "{told:?}");
    }
}

/// Returns the findings of `lint` on both objects, each with its rule and its message, but not those that only files can have.
fn findings(case: &Case) -> Vec<(String, String)> {
    let mut command = Command::new(binary("kubectl-sluice"));
    command.args(["lint", "-f", "-", "-o", "json"]);
    let input = format!("{}\n---\n{}\n", case.dependent, case.beside);
    let output = pipe(&mut command, input.into_bytes());
    let text = |finding: &Value, key: &str| Some(finding[key].as_str()?.to_owned());
    json_lines(&output.stdout)
        .iter()
        // Rules that only files can break.
        .filter(|finding| finding["rule"] != "NotAmong" && finding["rule"] != "NoEffect")
        .filter_map(|finding| Some((text(finding, "rule")?, text(finding, "message")?)))
        .collect()
}

#[tokio::test]
async fn admission_and_lint_say_the_same() {
    let cases = [
        cases::of_jobs_that_go_away(),
        cases::of_installers(),
        cases::of_workloads(),
        cases::of_what_counts_at_once(),
        cases::of_timeouts(),
        cases::of_holds(),
        cases::of_prefetch(),
        cases::of_parts(),
    ];
    for case in cases.into_iter().flatten() {
        let (labels, sentences): (Vec<_>, Vec<_>) = findings(&case).into_iter().unzip();
        assert_eq!(labels, case.expected, "lint of {}", case.name);
        assert_eq!(
            warnings(&case).await,
            sentences,
            "admission of {}",
            case.name
        );
    }
}
