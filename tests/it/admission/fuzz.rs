//! Every body, however damaged, gets an answer soon and in a form that the API server understands.

use super::laws::any::{any_pod, json};
use super::{post, review, running};
use axum::http::StatusCode;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::TestCaseResult;
use serde_json::{Value, json};
use std::time::Duration;

/// The time limit of an answer, far beyond the time that any takes on a busy machine.
const SOON: Duration = Duration::from_secs(20);

/// A damage to the text of a review.
#[derive(Debug, Clone)]
enum Harm {
    Cut(Index),
    Overwrite(Index, u8),
    Insert(Index, Vec<u8>),
    /// Inserts so many opened brackets at a place, closed again or not.
    Nest(Index, usize, bool),
    /// Replaces an annotation by a text of this length.
    Bloat(usize),
}

fn harm() -> impl Strategy<Value = Harm> {
    let at = any::<Index>;
    prop_oneof![
        4 => at().prop_map(Harm::Cut),
        4 => (at(), any::<u8>()).prop_map(|(at, byte)| Harm::Overwrite(at, byte)),
        4 => (at(), prop::collection::vec(any::<u8>(), 1..20))
            .prop_map(|(at, bytes)| Harm::Insert(at, bytes)),
        2 => (at(), 1..20_000_usize, any::<bool>())
            .prop_map(|(at, depth, close)| Harm::Nest(at, depth, close)),
        1 => select(&[9 << 10, 1 << 20, 8 << 20][..]).prop_map(Harm::Bloat),
    ]
}

fn harmed(review: &Value, harm: &Harm) -> Vec<u8> {
    let mut body = review.to_string().into_bytes();
    match harm {
        Harm::Cut(at) => body.truncate(at.index(body.len())),
        Harm::Overwrite(at, byte) => {
            let at = at.index(body.len());
            body[at] = *byte;
        }
        Harm::Insert(at, bytes) => {
            let at = at.index(body.len());
            body.splice(at..at, bytes.iter().copied());
        }
        Harm::Nest(at, depth, close) => {
            let at = at.index(body.len());
            let closed = if *close {
                "]".repeat(*depth)
            } else {
                String::new()
            };
            body.splice(at..at, ("[".repeat(*depth) + &closed).into_bytes());
        }
        Harm::Bloat(size) => {
            let mut review = review.clone();
            review["request"]["object"]["metadata"]["annotations"]["sluice.dev/depends-on"] =
                json!("x".repeat(*size));
            body = review.to_string().into_bytes();
        }
    }
    body
}

/// Sends a body to a path of admission. Fails unless the answer comes soon, and is a refusal with words, or a review with the right UID, a patch with
/// its type or none, and warnings of at most 256 letters.
fn is_answered(path: &str, body: Vec<u8>) -> TestCaseResult {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let sent: Option<Value> = serde_json::from_slice(&body).ok();
    let answer =
        runtime.block_on(async { tokio::time::timeout(SOON, post(&running(), path, body)).await });
    let (status, answer) = answer.expect("an answer comes");
    let refused = [StatusCode::BAD_REQUEST, StatusCode::PAYLOAD_TOO_LARGE];
    if refused.contains(&status) {
        prop_assert!(!answer.is_empty());
        return Ok(());
    }
    prop_assert_eq!(status, StatusCode::OK);
    let answer: Value = serde_json::from_slice(&answer).unwrap();
    let response = &answer["response"];
    // The controller passes over what it does not need, so it reads deeper texts than this test.
    if let Some(sent) = sent {
        prop_assert_eq!(&response["uid"], &sent["request"]["uid"]);
    }
    prop_assert_eq!(
        response.get("patch").is_some(),
        response.get("patchType").is_some()
    );
    prop_assert!(response["allowed"] == true || response["status"]["message"] != "");
    let warnings = response["warnings"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    for warning in warnings {
        prop_assert!(warning.as_str().unwrap().chars().count() <= 256);
    }
    Ok(())
}

fn path() -> impl Strategy<Value = &'static str> {
    select(&["/admit/pods", "/admit/workloads"][..])
}

fn operation() -> impl Strategy<Value = &'static str> {
    select(&["CREATE", "UPDATE", "DELETE", "CONNECT", "create", ""][..])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn any_bytes(path in path(), body in prop::collection::vec(any::<u8>(), 0..200)) {
        is_answered(path, body)?;
    }

    #[test]
    fn a_review_of_anything(
        path in path(),
        operation in operation(),
        kind in select(&["Pod", "Deployment", "Job", "CronJob", "Odd"][..]),
        (object, old, metadata, spec) in (json(), json(), json(), json()),
        shaped in any::<bool>(),
        (field, rubbish) in (select(&["operation", "name", "kind", "uid", "dryRun", "future"][..]), json()),
        uid in "[a-z]{1,8}",
    ) {
        let shape = json!({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec});
        let mut review = review(operation, &shape, &Value::Null);
        review["request"]["oldObject"] = old;
        if !shaped {
            review["request"]["object"] = object;
        }
        review["request"]["uid"] = json!(uid);
        review["request"][field] = rubbish;
        is_answered(path, review.to_string().into_bytes())?;
    }

    #[test]
    fn a_review_that_was_harmed(path in path(), operation in operation(), pod in any_pod(), harm in harm()) {
        is_answered(path, harmed(&review(operation, &pod, &Value::Null), &harm))?;
    }
}
