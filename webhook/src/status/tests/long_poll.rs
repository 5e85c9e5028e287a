//! How long a question is held, and the bytes that a gate hears meanwhile.

use super::desk::PLACES;
use super::tokens::{its_own, token};
use super::*;
use crate::known::READ;
use crate::status::long_poll::SHORTEST;
use crate::status::wait_registry::{Waiter, waiter};
use axum::body::{BodyDataStream, Bytes};
use futures::StreamExt;

impl Desk {
    /// The headers and the body of the response to a gate that has seen the answer `seen` and is ready to wait for five minutes.
    async fn hold(&self, seen: &str, token: &str) -> (HeaderMap, BodyDataStream) {
        let uri = format!("{}?seen={seen}&wait=300", wire::PATH);
        let request = Request::get(uri).header("authorization", format!("Bearer {token}"));
        let request = request.body(Body::empty()).unwrap();
        let response = router(Arc::clone(&self.service)).oneshot(request).await;
        let (head, body) = response.unwrap().into_parts();
        assert_eq!(head.status, StatusCode::OK);
        (head.headers, body.into_data_stream())
    }

    /// The pieces of an answer: for each, the whole seconds from the question to the piece, and whether it was more than a blank.
    async fn pieces(&self, seen: &str, token: &str) -> Vec<(u64, bool)> {
        let asked = Instant::now();
        let (_, mut body) = self.hold(seen, token).await;
        let mut pieces = vec![];
        while let Some(piece) = body.next().await {
            let told = piece.unwrap() != Bytes::from_static(b" ");
            pieces.push((asked.elapsed().as_secs(), told));
        }
        pieces
    }
}

#[tokio::test(start_paused = true)]
async fn signs_are_given_until_there_is_news() {
    let desk = Desk::new(&missing());
    let (_, first) = desk.gate(0).await;
    let comes = async {
        tokio::time::sleep(Duration::from_secs(50)).await;
        desk.put("configmap", &config_map());
    };
    let token = its_own();
    let (pieces, ()) = tokio::join!(desk.pieces(&first.digest, &token), comes);
    assert_eq!(pieces, [(20, false), (40, false), (50, true)]);
}

#[tokio::test(start_paused = true)]
async fn a_held_question_is_judged_anew_once_a_minute_while_nothing_changes() {
    let desk = Desk::new(&missing());
    let (_, first) = desk.gate(0).await;
    READ.set(0);
    let held = desk.pieces(&first.digest, &its_own()).await;
    assert_eq!(held.last(), Some(&(300, true)));
    // Its pod is read each time: at first, once it has settled, when its Event is due, each minute, and at the end.
    assert_eq!(READ.get(), 8);
}

#[tokio::test(start_paused = true)]
async fn signs_and_an_answer_are_one_json_text() {
    let desk = Desk::new(&missing());
    let (_, first) = desk.gate(0).await;
    let (_, body) = desk.hold(&first.digest, &its_own()).await;
    let bytes = Body::from_stream(body).collect().await.unwrap().to_bytes();
    let answer: wire::Answer = serde_json::from_slice(&bytes).unwrap();
    assert!(bytes.starts_with(b"  ") && answer == first, "{bytes:?}");
}

#[tokio::test(start_paused = true)]
async fn nothing_is_held_beyond_five_minutes_or_the_end_of_its_token() {
    for (ends, held) in [(100_000, 300), (100, 100), (5, 15)] {
        let desk = Desk::new(&missing());
        let first = desk.ask("").await;
        let token = token(&json!({"exp": ends}));
        let began = desk.began.elapsed().as_secs();
        let last = desk.pieces(&first.digest, &token).await.pop();
        let (after, told) = last.unwrap();
        assert!(told, "{ends}");
        let due = if ends == 100 { held - began } else { held };
        assert!(due.abs_diff(after) <= 1, "{ends}: after {after}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_replica_that_hears_nothing_sends_the_gate_elsewhere() {
    let desk = Desk::new(&missing());
    let (headers, _) = desk.hold("", &its_own()).await;
    assert!(headers.get(header::CONNECTION).is_none());
    desk.connected.store(false, Ordering::Relaxed);
    tokio::time::sleep(Duration::from_secs(40)).await;
    let stale = desk.ask("").await;
    let asked = Instant::now();
    let (headers, _) = desk.hold(&stale.digest, &its_own()).await;
    assert_eq!(headers[header::CONNECTION], "close");
    assert_eq!(asked.elapsed(), SHORTEST);
}

#[tokio::test(start_paused = true)]
async fn what_is_refused_meanwhile_is_broken_off_and_refused_by_the_next_question() {
    let desk = Desk::new(&missing());
    let first = desk.ask("").await;
    let (_, mut body) = desk.hold(&first.digest, &its_own()).await;
    assert_eq!(body.next().await.unwrap().unwrap(), " ");
    let mut other = pod(&missing());
    other["metadata"]["uid"] = json!("u2");
    desk.service.known.gated().replace(&[other]);
    assert!(body.next().await.unwrap().is_err());
    assert!(body.next().await.is_none());
    let uri = format!("{}?seen={}&wait=300", wire::PATH, first.digest);
    let request = Request::get(uri).header("authorization", format!("Bearer {}", its_own()));
    let again = router(Arc::clone(&desk.service)).oneshot(request.body(Body::empty()).unwrap());
    assert_eq!(again.await.unwrap().status(), StatusCode::FORBIDDEN);
}

#[tokio::test(start_paused = true)]
async fn a_wait_is_counted_while_it_lasts_and_when_it_is_over() {
    let desk = Desk::new(&missing());
    let (_, first) = desk.gate(0).await;
    let token = its_own();
    let count = async {
        tokio::time::sleep(Duration::from_secs(50)).await;
        let waiting = desk.metrics();
        desk.put("configmap", &config_map());
        waiting
    };
    let (_, waiting) = tokio::join!(desk.pieces(&first.digest, &token), count);
    let counted = |metrics: &str, line: &str| {
        assert!(metrics.lines().any(|it| it == line), "{line}: {metrics}");
    };
    counted(
        &waiting,
        r#"waiting_gates{namespace="shop",reason="NotFound"} 1"#,
    );
    let over = desk.metrics();
    assert!(!over.contains("waiting_gates{"), "{over}");
    let bucket = |least| format!(r#"wait_seconds_bucket{{le="{least}",outcome="Satisfied"}}"#);
    counted(&over, &format!("{} 0", bucket("15.0")));
    counted(&over, &format!("{} 1", bucket("60.0")));
}

#[tokio::test(start_paused = true)]
async fn who_leaves_while_a_question_is_held_leaves_nothing_behind() {
    let desk = Desk::new(&missing());
    let first = desk.ask("").await;
    let (_, body) = desk.hold(&first.digest, &its_own()).await;
    assert!(
        desk.metrics().contains("gates_asking 1"),
        "{}",
        desk.metrics()
    );
    drop(body);
    assert!(
        desk.metrics().contains("gates_asking 0"),
        "{}",
        desk.metrics()
    );
}

/// The gates of one namespace fill the replica, and then a gate of another namespace asks.
#[tokio::test(start_paused = true)]
async fn a_gate_of_a_crowd_gives_its_place_to_a_gate_of_another_namespace() {
    let desk = Desk::new(&missing());
    let (_, first) = desk.gate(0).await;
    let requests = &desk.service.requests;
    let others = (1..PLACES).map(|number| waiter(&format!("other-{number}")));
    let crowd: Vec<_> = others.map(|pod| requests.begin(&pod).unwrap()).collect();
    let another = async {
        tokio::time::sleep(Duration::from_secs(10)).await;
        let namespace = "quiet".to_owned();
        requests.begin(&Waiter {
            namespace,
            ..waiter("q1")
        })
    };
    let token = its_own();
    let (pieces, another) = tokio::join!(desk.pieces(&first.digest, &token), another);
    assert_eq!(pieces, [(10, true)]);
    assert!(another.is_some());
    // There is no place for its next question, which is answered at once.
    assert_eq!(
        desk.pieces(&first.digest, &token).await,
        [(0, true)],
        "not held"
    );
    assert!(desk.metrics().contains("no_place"));
    desk.put("configmap", &config_map());
    assert_eq!(desk.ask(&first.digest).await.verdict, wire::Decision::Open);
    drop((crowd, another));
}

#[tokio::test(start_paused = true)]
async fn the_wait_of_a_gate_without_a_place_is_told_by_an_event() {
    let desk = Desk::new(&missing());
    let requests = &desk.service.requests;
    let others = (0..PLACES).map(|number| waiter(&format!("other-{number}")));
    let crowd: Vec<_> = others.map(|pod| requests.begin(&pod).unwrap()).collect();
    let mut seen = String::new();
    for _ in 0..12 {
        seen = desk.ask(&seen).await.digest;
        tokio::time::sleep(Duration::from_secs(5)).await;
    }
    let [(_, reason, _)] = desk.told().await.try_into().expect("one Event");
    assert_eq!(reason, "NotFound");
    drop(crowd);
}
