//! Tests custom health and JSONPath on the public suites of HIP-0025 and of Kubernetes: `expressions.jsonl` of the corpus.

#![expect(
    clippy::unwrap_used,
    reason = "a file of the wrong shape fails its test"
)]

use crate::{corpus, settle};
use rules::jsonpath::{self, Effort};
use rules::readiness::{self, Outcome, Readiness, ReadinessExpression};
use rules::{annotation, keys};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

const RANGE: &str =
    "a path of HIP-0025 ends at its first brace, so there is no room for range and end";

/// Cases whose answer differs from the suite on purpose, each with the cause.
const DELTAS: [(&str, &str); 8] = [
    ("TestKubernetes/range item", RANGE),
    ("TestKubernetes/range item with quote", RANGE),
    ("TestKubernetes/range nodes capacity", RANGE),
    ("TestEmptyRange/empty nested range", RANGE),
    (
        "TestNestedRanges/nested range with a trailing newline",
        RANGE,
    ),
    (
        "TestNestedRanges/nested range with a trailing character within another nested range with a trailing newline",
        RANGE,
    ),
    (
        "TestNestedRanges/two nested ranges at the same level with a trailing newline",
        RANGE,
    ),
    (
        "TestRunningPodsJSONPathOutput/range over pods without selecting the last one",
        RANGE,
    ),
];

#[test]
fn the_corpus_holds() {
    let Some(corpus) = corpus::cases("expressions.jsonl") else {
        return;
    };
    let mut cases = 0;
    let mut skipped = BTreeMap::<String, usize>::new();
    let mut complaints = Vec::new();
    for case in corpus {
        let id = word(&case, "id");
        let complaint = match word(&case, "op") {
            "helm-eval" => check_evaluation(&case),
            "helm-parse" => check_parse(&case),
            "helm-path" => check_path(&case),
            "helm-lint" => check_lint(&case),
            "k8s-jsonpath" => check_jsonpath(&case),
            "flux-cel" | "flux-cel-new" => {
                *skipped.entry(word(&case, "op").to_owned()).or_default() += 1;
                continue;
            }
            other => Some(format!("unknown op {other:?}")),
        };
        cases += 1;
        let delta = DELTAS.iter().find(|(delta, _)| *delta == id);
        match (complaint, delta) {
            (Some(complaint), None) => complaints.push(format!("{id}: {complaint}")),
            (None, Some(_)) => complaints.push(format!("{id}: no delta any more")),
            (Some(_), Some((_, why))) => println!("{id}: {why}"),
            (None, None) => {}
        }
    }
    for (op, count) in skipped {
        println!("skipped: {count} cases of {op}: CEL is another language");
    }
    settle(cases, &complaints);
}

/// The annotations of health on docs/readiness.md can be read.
#[test]
fn the_documentation_holds() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/readiness.md");
    let page = fs::read_to_string(page).unwrap();
    let mut shown = 0;
    for block in page.split("```yaml\n").skip(1) {
        let (block, _) = block.split_once("```").unwrap();
        let annotations: Map<String, Value> = serde_saphyr::from_str(block).unwrap();
        let text = |key: &str| annotations.get(key).map(|it| it.as_str().unwrap());
        let pair = (text(keys::READINESS_SUCCESS), text(keys::READINESS_FAILURE));
        shown += usize::from(Readiness::read(pair.0, pair.1).unwrap().is_some());
        shown += annotation::health(&annotations).unwrap().len();
    }
    assert_eq!(shown, 6, "expressions, a pair counting as one");
}

fn check_evaluation(case: &Value) -> Option<String> {
    let [success, failure] = ["success", "failure"].map(|side| case[side].to_string());
    let object = match &case["status"] {
        Value::Null => json!({}),
        status => json!({ "status": status }),
    };
    let (outcome, warnings) = match Readiness::read(Some(&success), Some(&failure)) {
        Ok(None) => ("kstatus", 0),
        Ok(Some(readiness)) => {
            let finding = readiness.judge(&object);
            let outcome = match finding.outcome {
                Outcome::Ready => "Ready",
                Outcome::Failed => "Failed",
                Outcome::Pending => "Pending",
            };
            (outcome, finding.warnings.len())
        }
        Err((_, problem)) if word(case, "expected") == "error" => {
            return unlike(&case["error"], Some(&problem.to_string()));
        }
        Err((side, problem)) => return Some(format!("{side:?}: {problem}")),
    };
    let expected = case.get("warnings").map_or(0, |it| it.as_u64().unwrap());
    if case["expected"] != outcome {
        return Some(format!("expected {}, found {outcome}", case["expected"]));
    }
    (json!(expected) != warnings).then(|| format!("{warnings} warnings, expected {expected}"))
}

fn check_parse(case: &Value) -> Option<String> {
    match ReadinessExpression::parse(word(case, "expr")) {
        Ok(found) => {
            let found = json!([found.path, found.operator.sign(), found.value]);
            let expected = json!([case["path"], case["operator"], case["value"]]);
            (found != expected).then(|| format!("expected {expected}, found {found}"))
        }
        Err(problem) => unlike(&case["error"], Some(&problem.to_string())),
    }
}

fn check_path(case: &Value) -> Option<String> {
    match readiness::template(word(case, "path")) {
        Ok(found) => {
            let found = format!("{{{found}}}");
            (case["template"] != found).then(|| format!("found {found}"))
        }
        Err(problem) => unlike(&case["error"], Some(&problem.to_string())),
    }
}

fn check_lint(case: &Value) -> Option<String> {
    let found = readiness::lint(word(case, "annotation")).map_err(|problem| problem.to_string());
    unlike(&case["error"], found.err().as_deref())
}

fn check_jsonpath(case: &Value) -> Option<String> {
    let template = word(case, "template");
    let path = template
        .strip_prefix('{')
        .and_then(|it| it.strip_suffix('}'));
    let found = jsonpath::Path::parse(path.unwrap_or(template))
        .map_err(|error| error.to_string())
        .and_then(|path| {
            path.find(&case["input"], &mut Effort::new())
                .map_err(|error| error.to_string())
                .map(|found| jsonpath::print(&found))
        });
    match (found, case.get("expected")) {
        (Ok(Some(found)), Some(expected)) if *expected == found => None,
        (Err(_), None) => None,
        (found, expected) => Some(format!("expected {expected:?}, found {found:?}")),
    }
}

/// Returns a complaint unless the error contains the words of the expected one, or there is none and none is expected; else `None`.
fn unlike(expected: &Value, found: Option<&str>) -> Option<String> {
    let same = match (expected.as_str(), found) {
        (None, None) => true,
        (Some(words), Some(found)) => found.contains(words),
        _ => false,
    };
    (!same).then(|| format!("expected {expected}, found {found:?}"))
}

fn word<'a>(case: &'a Value, key: &str) -> &'a str {
    case.get(key).and_then(Value::as_str).unwrap_or_default()
}
