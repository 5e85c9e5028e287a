//! Tests kstatus on the public suites: `kstatus.jsonl` of the corpus.

use super::library::{aggregate, augment, with_pods};
use super::{judge, some_time};
use crate::corpus;
use crate::settle;
use jiff::Timestamp;
use rules::kstatus::Status;
use serde_json::Value;
use std::collections::BTreeMap;

#[test]
fn the_corpus_holds() {
    let Some(corpus) = corpus::cases("kstatus.jsonl") else {
        return;
    };
    let mut cases = 0;
    let mut skipped = BTreeMap::<String, usize>::new();
    let mut complaints = Vec::new();
    for case in corpus {
        match check(&case) {
            Outcome::Holds => cases += 1,
            Outcome::Fails(complaint) => {
                cases += 1;
                complaints.push(format!("{}: {complaint}", word(&case, "id")));
            }
            Outcome::Skipped => *skipped.entry(word(&case, "op").to_owned()).or_default() += 1,
        }
    }
    for (op, count) in skipped {
        println!(
            "skipped: {count} cases of {op}: Helm's own readers and waits, which replace kstatus"
        );
    }
    settle(cases, &complaints);
}

enum Outcome {
    Holds,
    Fails(String),
    Skipped,
}

fn check(case: &Value) -> Outcome {
    let complaint = match word(case, "op") {
        "compute" | "message" => check_compute(case),
        "augment" => check_augment(case),
        "aggregate" => {
            let statuses: Vec<_> = list(case, "statuses").iter().map(status).collect();
            same(
                &case["expected_status"],
                aggregate(&statuses, status(&case["desired"])),
            )
        }
        "podctl" => check_pods(case),
        "helm-job" | "helm-pod" | "helm-wait" => return Outcome::Skipped,
        other => Some(format!("unknown op {other:?}")),
    };
    complaint.map_or(Outcome::Holds, Outcome::Fails)
}

fn check_compute(case: &Value) -> Option<String> {
    let evaluation = judge(&case["manifest"], now(case));
    let conditions: Vec<_> = evaluation
        .condition()
        .into_iter()
        .map(|condition| (condition.kind, condition.reason))
        .collect();
    same(&case["expected_status"], evaluation.status)
        .or_else(|| {
            let expected = case.get("expected_message")?.as_str()?;
            let found = &evaluation.message;
            (found != expected).then(|| format!("expected {expected:?}, found {found:?}"))
        })
        .or_else(|| {
            let expected = case.get("expected_conditions")?.as_array()?;
            let missing = expected.iter().find(|condition| {
                let pair = (word(condition, "type"), word(condition, "reason"));
                !conditions.contains(&pair)
            })?;
            Some(format!("no condition {missing}, only {conditions:?}"))
        })
        .or_else(|| {
            let absent = case.get("absent_condition_types")?.as_array()?;
            let extra = absent
                .iter()
                .find(|kind| conditions.iter().any(|(found, _)| *kind == found))?;
            Some(format!("an unexpected condition {extra}"))
        })
}

/// Compares the conditions of an object after [`augment`] with the expected ones, in any order. Returns the complaint; `None` where they agree.
fn check_augment(case: &Value) -> Option<String> {
    fn pairs(conditions: &[Value]) -> Vec<(&str, &str)> {
        let mut pairs: Vec<_> = conditions
            .iter()
            .map(|condition| (word(condition, "type"), word(condition, "reason")))
            .collect();
        pairs.sort_unstable();
        pairs
    }
    let mut object = case["manifest"].clone();
    if let Err(error) = augment(&mut object, now(case)) {
        return Some(error);
    }
    let expected = pairs(list(case, "expected_conditions"));
    let found = pairs(list(&object["status"], "conditions"));
    (found != expected).then(|| format!("expected {expected:?}, found {found:?}"))
}

fn check_pods(case: &Value) -> Option<String> {
    let own = match case.get("own_error") {
        Some(_) => Status::Unknown,
        None => status(&case["own_status"]),
    };
    let pods: Vec<_> = list(case, "pods")
        .iter()
        .map(|pod| status(&pod["status"]))
        .collect();
    same(&case["expected_status"], with_pods(own, &pods))
}

fn same(expected: &Value, found: Status) -> Option<String> {
    (expected != found.word()).then(|| format!("expected {expected}, found {found}"))
}

fn now(case: &Value) -> Timestamp {
    case.get("now")
        .map_or_else(some_time, |now| now.as_str().unwrap().parse().unwrap())
}

fn status(word: &Value) -> Status {
    word.as_str().unwrap().parse().unwrap()
}

fn word<'a>(case: &'a Value, key: &str) -> &'a str {
    case.get(key).and_then(Value::as_str).unwrap_or_default()
}

fn list<'a>(case: &'a Value, key: &str) -> &'a [Value] {
    case[key].as_array().map_or(&[], Vec::as_slice)
}
