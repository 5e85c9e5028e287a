//! Health rules in CEL: our evaluator gives the results of Flux's on the cases in `expressions.jsonl` of the corpus.

use crate::{corpus, settle};
use rules::health::{CelExpression, Rule};
use serde_json::Value;

#[test]
fn rules_mean_what_they_mean_in_flux() {
    let Some(mut cases) = corpus::cases("expressions.jsonl") else {
        return;
    };
    cases.retain(|case| word(case, "op").is_some_and(|op| op.starts_with("flux-cel")));
    let complaints: Vec<_> = cases.iter().filter_map(check).collect();
    settle(cases.len(), &complaints);
}

fn word<'a>(case: &'a Value, field: &str) -> Option<&'a str> {
    case.get(field)?.as_str().filter(|text| !text.is_empty())
}

/// Returns the disagreement on a case; `None` where our result is the expected one. With an object, the case is evaluated, without one only compiled.
fn check(case: &Value) -> Option<String> {
    let expected = word(case, "error").or_else(|| word(case, "expected"));
    let found = match case.get("obj").or_else(|| case.get("object")) {
        Some(object) => evaluated(case, object),
        None => compiled(case),
    };
    let right = match expected {
        // The parsers of the two libraries word their complaints differently.
        Some(error) if error.contains("failed to parse") => found.contains("failed to parse"),
        Some(expected) => found == expected,
        None => !found.contains("failed to"),
    };
    (!right).then(|| format!("{}: expected {expected:?}, found {found:?}", case["id"]))
}

fn evaluated(case: &Value, object: &Value) -> String {
    let current = word(case, "current").unwrap_or_default();
    let rule = Rule::new(current, word(case, "inProgress"), word(case, "failed"));
    match rule.check() {
        Err((_, broken)) => broken.to_string(),
        Ok(()) => match rule.evaluate(object) {
            Ok(status) => status.word().to_owned(),
            Err(error) => error,
        },
    }
}

fn compiled(case: &Value) -> String {
    ["inProgress", "failed", "current", "expression", "expr"]
        .iter()
        .filter_map(|field| word(case, field))
        .find_map(|text| CelExpression::compile(text).err())
        .map_or_else(String::new, |broken| broken.to_string())
}
