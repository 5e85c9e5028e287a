use super::{UID, annotated, answer, policy, post, review, running, starting, workload};
use axum::body::{Body, Bytes};
use axum::http::StatusCode;
use futures::{StreamExt, stream};
use hyper::body::{Frame, SizeHint};
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;
use webhook::{Admission, AdmissionLimits as Limits, AdmissionMetrics as Metrics};
use webhook::{MemoryAlarm, Options};

const PATH: &str = "/admit/pods";

fn gated_pod() -> Value {
    json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "shop", "annotations": {"sluice.dev/gated": "true"}},
        "spec": {"containers": [{"name": "app"}]},
    })
}

#[tokio::test]
async fn what_is_no_review_is_refused() {
    let admission = running();
    let deep = |open: &str, close: &str| open.repeat(10_000) + &close.repeat(10_000);
    let no_request = json!({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview"});
    let with = |key: &str, value: Value| {
        let mut review = review("CREATE", &gated_pod(), &Value::Null);
        review[key] = value;
        review.to_string()
    };
    let bodies = [
        String::new(),
        "not JSON".to_owned(),
        "null".to_owned(),
        "[]".to_owned(),
        deep("[", "]"),
        deep("{\"a\":", "}"),
        no_request.to_string(),
        with("request", Value::Null),
        with("request", json!([1])),
        with("request", json!({"uid": ""})),
        with("request", json!({"uid": 7})),
        with("apiVersion", json!("admission.k8s.io/v1beta1")),
        with("kind", json!("TokenReview")),
    ];
    for body in bodies {
        let shown: String = body.chars().take(60).collect();
        let (status, text) = post(&admission, PATH, body).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{shown}");
        assert!(!text.is_empty());
    }
    let response = answer(&admission, &review("CREATE", &gated_pod(), &Value::Null)).await;
    assert_eq!(response["allowed"], true, "the process is alive");
}

#[tokio::test]
async fn a_request_that_cannot_be_read_is_denied_by_its_uid() {
    let mut review = review("CREATE", &gated_pod(), &Value::Null);
    review["request"]["operation"] = json!(5);
    let response = answer(&running(), &review).await;
    assert_eq!(response["uid"], UID);
    assert_eq!(response["allowed"], false);
    assert_eq!(response["status"]["code"], 400);
}

#[tokio::test]
async fn a_body_of_8_mib_is_too_large_announced_or_not() {
    let admission = running();
    let body = vec![b' '; 8 << 20];
    let (status, _) = post(&admission, PATH, body.clone()).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    let chunks = body
        .chunks(1 << 16)
        .map(|chunk| Ok::<_, Infallible>(Bytes::copy_from_slice(chunk)));
    let chunks: Vec<_> = chunks.collect();
    let (status, _) = post(&admission, PATH, Body::from_stream(stream::iter(chunks))).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
}

/// Admission reads the whole body before it refuses it as too large: a client that is cut off while it sends sees no answer, and the API server
/// reports a broken connection.
#[tokio::test]
async fn what_is_too_large_is_read_to_its_end() {
    let read = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&read);
    let chunks = stream::repeat(Bytes::from(vec![b' '; 1 << 20]))
        .take(9)
        .map(move |chunk| {
            counted.fetch_add(1, Ordering::Relaxed);
            Ok::<_, Infallible>(chunk)
        });
    let (status, _) = post(&running(), PATH, Body::from_stream(chunks)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(read.load(Ordering::Relaxed), 9);
}

/// A body that announces its size and never sends a byte.
struct Announced(u64);

impl axum::body::HttpBody for Announced {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Poll::Pending
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0)
    }
}

#[tokio::test(start_paused = true)]
async fn an_announcement_of_8_mib_is_waited_for_no_longer_than_a_body() {
    let start = tokio::time::Instant::now();
    let (status, _) = post(&running(), PATH, Body::new(Announced(8 << 20))).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn two_objects_of_3_mib_are_answered() {
    let mut pod = gated_pod();
    pod["spec"]["large"] = json!("x".repeat(3 << 20));
    let mut review = review("CREATE", &pod, &Value::Null);
    review["request"]["oldObject"] = pod;
    let response = answer(&running(), &review).await;
    assert!(response.get("patch").is_some());
}

#[tokio::test]
async fn more_than_the_budget_is_turned_away_and_given_back() {
    let limits = Limits {
        in_flight: 4096,
        uncharged: 0,
        ..Limits::default()
    };
    let admission = starting(limits);
    let (status, _) = post(&admission, PATH, vec![b' '; 4097]).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    for _ in 0..3 {
        let (status, _) = post(&admission, PATH, vec![b' '; 4096]).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "read to its end");
    }
}

/// Admission limits the number of JSON values in a body, and the memory that they would take: values of a few bytes take many more once they are
/// decoded.
#[tokio::test]
async fn a_wide_body_is_too_large_and_nothing_is_built_of_it() {
    let admission = running();
    for (item, says) in [("0", "300000 values"), (r#"{"":0}"#, "300000 values")] {
        let items = vec![item; (6 << 20) / (item.len() + 1)].join(",");
        let mut body = review("CREATE", &gated_pod(), &Value::Null).to_string();
        body.insert_str(1, &format!("\"a\":[{items}],"));
        let (status, text) = post(&admission, PATH, body).await;
        let text = String::from_utf8(text).unwrap();
        assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{text}");
        assert!(text.contains(says), "{text}");
    }
    let few = vec![r#"{"":{"":{}}}"#; 90_000].join(",");
    let limited = starting(Limits::default().within(256 << 20));
    let (status, text) = post(&limited, PATH, format!("[{few}]")).await;
    let text = String::from_utf8(text).unwrap();
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE, "{text}");
    assert!(text.contains("33554432 bytes of memory"), "{text}");
}

#[tokio::test(start_paused = true)]
async fn of_large_bodies_one_is_held_at_a_time_and_usual_ones_go_by() {
    let admission = running();
    let large = || stream::iter([Ok::<_, Infallible>(Bytes::from(vec![b' '; 2 << 20]))]);
    let first = Body::from_stream(large().chain(stream::pending()));
    let first = post(&admission, PATH, first);
    let heavy = format!("[{}]", vec!["[0]"; 20_000].join(","));
    let others = async {
        tokio::time::sleep(Duration::from_millis(1)).await;
        let start = tokio::time::Instant::now();
        let usual = review("CREATE", &gated_pod(), &Value::Null);
        assert_eq!(answer(&admission, &usual).await["allowed"], true);
        assert_eq!(start.elapsed(), Duration::ZERO);
        let waits = Duration::from_millis(1990);
        let early = post(&admission, PATH, Body::from_stream(large()));
        let early = tokio::time::timeout(waits, early);
        assert!(early.await.is_err(), "waits for its turn");
        tokio::join!(
            post(&admission, PATH, Body::from_stream(large())),
            post(&admission, PATH, heavy)
        )
    };
    let ((first, _), ((second, _), (heavy, _))) = tokio::join!(first, others);
    assert_eq!(
        first,
        StatusCode::REQUEST_TIMEOUT,
        "it never came to its end"
    );
    assert_eq!(second, StatusCode::BAD_REQUEST, "read, in its turn");
    assert_eq!(heavy, StatusCode::BAD_REQUEST, "the same");
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_arrive_is_given_up() {
    let start = tokio::time::Instant::now();
    let never =
        stream::iter([Ok::<_, Infallible>(Bytes::from_static(b"{"))]).chain(stream::pending());
    let (status, _) = post(&running(), PATH, Body::from_stream(never)).await;
    assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
    assert!(start.elapsed() < Duration::from_secs(3));
}

#[tokio::test]
async fn operations_and_kinds_that_nobody_asked_for_are_allowed() {
    let admission = running();
    for operation in ["DELETE", "CONNECT", "EXPLODE", ""] {
        for object in [
            gated_pod(),
            annotated(
                workload("apps/v1", "Deployment"),
                "sluice.dev/depends-on",
                "a",
            ),
        ] {
            let response = answer(&admission, &review(operation, &Value::Null, &object)).await;
            assert_eq!(response["allowed"], true);
            assert!(response.get("patch").is_none());
        }
    }
    let odd = json!({"apiVersion": "x.dev/v1", "kind": "Odd", "metadata": {"annotations": {"sluice.dev/depends-on": ""}}});
    let response = answer(&admission, &review("CREATE", &odd, &Value::Null)).await;
    assert_eq!(response["allowed"], true);
    assert_eq!(
        response["auditAnnotations"]["outcome"],
        "skipped-no-template"
    );
}

#[tokio::test]
async fn pods_are_told_to_try_again_until_sluice_knows_what_gates_are_made_of() {
    let metrics = Metrics::register(&mut Registry::default());
    let (admission, spec) = Admission::new(
        Options::default(),
        Limits::default(),
        MemoryAlarm::default(),
        metrics,
    );
    let admission = Arc::new(admission);
    let create = review("CREATE", &gated_pod(), &Value::Null);
    let response = answer(&admission, &create).await;
    assert_eq!(response["allowed"], false);
    assert_eq!(response["status"]["code"], 503);
    let message = response["status"]["message"].as_str().unwrap();
    assert!(
        message.contains("sluice is starting") && message.contains("shop/Pod/p"),
        "{message}"
    );
    let deployment = annotated(
        workload("apps/v1", "Deployment"),
        "sluice.dev/depends-on",
        "job/a",
    );
    let response = answer(&admission, &review("CREATE", &deployment, &Value::Null)).await;
    assert_eq!(response["auditAnnotations"]["outcome"], "marked");

    spec.send_replace(Some(Arc::new(policy().into())));
    let response = answer(&admission, &create).await;
    assert_eq!(response["auditAnnotations"]["outcome"], "injected");
}

#[tokio::test]
async fn a_dry_run_gets_the_same_answer() {
    let mut review = review("CREATE", &gated_pod(), &Value::Null);
    let real = answer(&running(), &review).await;
    review["request"]["dryRun"] = json!(true);
    assert_eq!(answer(&running(), &review).await, real);
}

#[tokio::test]
async fn every_request_is_counted() {
    let mut registry = Registry::with_prefix("sluice");
    let metrics = Metrics::register(&mut registry);
    let (admission, _) = Admission::new(
        Options::default(),
        Limits::default(),
        MemoryAlarm::default(),
        metrics,
    );
    let admission = Arc::new(admission);
    answer(&admission, &review("CREATE", &gated_pod(), &Value::Null)).await;
    post(&admission, PATH, "not JSON").await;
    let mut text = String::new();
    prometheus_client::encoding::text::encode(&mut text, &registry).unwrap();
    let counted = |half: &str, operation: &str, outcome: &str| {
        let labels = format!("half=\"{half}\",operation=\"{operation}\",outcome=\"{outcome}\"");
        assert!(
            text.contains(&format!("sluice_admission_requests_total{{{labels}}} 1")),
            "{text}"
        );
    };
    counted("pods", "create", "denied-starting");
    counted("pods", "none", "unreadable");
    assert!(
        text.contains("sluice_admission_duration_seconds_count{half=\"pods\"} 2"),
        "{text}"
    );
}

#[tokio::test]
async fn only_post_and_only_the_two_paths() {
    let admission = running();
    let (status, _) = post(&admission, "/admit/services", "{}").await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}
