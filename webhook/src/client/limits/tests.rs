//! Tests of the bounds on answers of the API server, with a server that sends long answers in parts.

use super::*;
use futures::{StreamExt, stream};
use rules::kept::is_too_large;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use tower::{ServiceExt, service_fn};

/// A pod with a text of `bytes` bytes.
fn pod(bytes: usize) -> Value {
    json!({"metadata": {"namespace": "a", "name": "x", "resourceVersion": "7"}, "spec": {"env": "<".repeat(bytes)}})
}

/// Sends a request within `limits` to a server that answers with the text `said`, in parts. `watches`: the request begins a watch.
async fn answer(
    said: String,
    watches: bool,
    bound: Option<Bound>,
    limits: &Limits,
) -> Result<Response<Answer>, BoxError> {
    let service = service_fn(move |_: Request<Body>| {
        let parts: Vec<_> = said
            .as_bytes()
            .chunks(100_000)
            .map(Bytes::copy_from_slice)
            .collect();
        let parts = stream::iter(parts).map(Ok::<_, Infallible>);
        async { Ok::<_, Infallible>(Response::new(Answer::from_stream(parts))) }
    });
    let uri = if watches {
        "/api/v1/pods?watch=true"
    } else {
        "/api/v1/pods"
    };
    let mut request = Request::get(uri).body(Body::empty()).unwrap();
    if let Some(bound) = bound {
        request.extensions_mut().insert(bound);
    }
    limits.layer(service).oneshot(request).await
}

fn bound(beyond: Beyond) -> Bound {
    Bound {
        most: LONGEST,
        beyond,
        room: Arc::default(),
    }
}

async fn text(answer: Response<Answer>) -> Vec<u8> {
    answer
        .into_body()
        .collect()
        .await
        .unwrap()
        .to_bytes()
        .into()
}

#[tokio::test]
async fn an_event_that_is_too_long_comes_as_the_metadata_of_its_object() {
    let event = |kind: &str, bytes| json!({"type": kind, "object": pod(bytes)}).to_string();
    let said = [
        event("ADDED", 10),
        event("MODIFIED", 9 << 20),
        event("DELETED", 9 << 20),
        event("ADDED", 7 << 20),
    ];
    let limits = Limits::default();
    let answer = answer(said.join("\n") + "\n", true, None, &limits)
        .await
        .unwrap();
    let text = text(answer).await;
    let events: Vec<Value> = text
        .split(|it| *it == b'\n')
        .filter(|it| !it.is_empty())
        .map(|it| serde_json::from_slice(it).unwrap())
        .collect();
    let told: Vec<_> = events
        .iter()
        .map(|it| {
            (
                it["type"].as_str().unwrap(),
                is_too_large(&it["object"]),
                it["object"]["spec"].is_null(),
            )
        })
        .collect();
    assert_eq!(
        told,
        [
            ("ADDED", false, false),
            ("MODIFIED", true, true),
            ("DELETED", true, true),
            ("ADDED", false, false)
        ]
    );
    assert_eq!(events[1]["object"]["metadata"]["resourceVersion"], "7");
    assert_eq!(limits.room.available_permits(), LONG);
}

#[tokio::test]
async fn an_answer_without_a_bound_of_its_own_is_bounded() {
    let limits = Limits::default();
    let long = answer(pod(9 << 20).to_string(), false, None, &limits).await;
    assert!(long.unwrap_err().is::<TooLong>());
    let refused = answer(
        pod(9 << 20).to_string(),
        false,
        Some(bound(Beyond::Refused)),
        &limits,
    )
    .await;
    assert!(refused.unwrap_err().is::<TooLong>());
    let list = json!({"items": [pod(9 << 20)], "metadata": {"continue": "next"}}).to_string();
    let sieved = answer(list, false, Some(bound(Beyond::Sieved)), &limits)
        .await
        .unwrap();
    let sieved: Value = serde_json::from_slice(&text(sieved).await).unwrap();
    assert!(is_too_large(&sieved["items"][0]) && sieved["metadata"]["continue"] == "next");
}

/// Twelve kinds are listed at once, with a page of 7 MiB each.
#[tokio::test(start_paused = true)]
async fn however_many_lists_there_are_only_a_few_long_pages_are_held() {
    let (limits, held, most) = (Limits::default(), AtomicUsize::new(0), AtomicUsize::new(0));
    let page = async |_| {
        let bound = bound(Beyond::Refused);
        let room = Arc::clone(&bound.room);
        let answer = answer(pod(7 << 20).to_string(), false, Some(bound), &limits)
            .await
            .unwrap();
        let text = text(answer).await;
        let before = held.fetch_add(text.len(), Ordering::Relaxed);
        most.fetch_max(before + text.len(), Ordering::Relaxed);
        tokio::time::sleep(Duration::from_secs(30)).await;
        held.fetch_sub(text.len(), Ordering::Relaxed);
        drop(room);
    };
    futures::future::join_all((0..12).map(page)).await;
    assert!(
        most.load(Ordering::Relaxed) <= LONG * LONGEST,
        "{most:?} bytes"
    );
    assert_eq!(limits.room.available_permits(), LONG);
}
