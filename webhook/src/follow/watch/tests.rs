//! An API server that is a script: one answer for each request, in order.

use super::*;
use axum::body::Body as Answer;
use axum::http::{Request as HttpRequest, Response};
use futures::StreamExt;
use kube::client::Body;
use serde_json::json;
use std::collections::VecDeque;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tower::service_fn;

/// One answer of the script.
enum Reply {
    List(Vec<Value>),
    /// Events, and whether the connection then stays open.
    Watch(Vec<Value>, bool),
    Status(u16),
}

struct Script {
    replies: Mutex<VecDeque<Reply>>,
    asked: Mutex<Vec<String>>,
}

fn widget(name: &str, version: &str) -> Value {
    json!({"metadata": {"namespace": "a", "name": name, "resourceVersion": version}})
}

fn event(kind: &str, object: &Value) -> Value {
    json!({"type": kind, "object": object})
}

fn respond(reply: Reply) -> Response<Answer> {
    let json = |code: u16, value: &Value| {
        let body = Answer::from(value.to_string());
        Response::builder().status(code).body(body).unwrap()
    };
    match reply {
        Reply::List(items) => json(
            200,
            &json!({"metadata": {"resourceVersion": "10"}, "items": items}),
        ),
        Reply::Status(code) => json(
            code,
            &json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "no", "code": code}),
        ),
        Reply::Watch(events, open) => {
            let lines = events
                .into_iter()
                .map(|event| Ok::<_, Infallible>(format!("{event}\n")));
            let lines = futures::stream::iter(lines);
            let body = if open {
                Answer::from_stream(lines.chain(futures::stream::pending()))
            } else {
                Answer::from_stream(lines)
            };
            Response::new(body)
        }
    }
}

/// Follows widgets against a script until it runs out; returns the store, the requests, and what `follow` ended with.
async fn play(replies: Vec<Reply>) -> (Arc<Store>, Vec<String>, Option<NotServed>) {
    let script = Arc::new(Script {
        replies: Mutex::new(replies.into()),
        asked: Mutex::default(),
    });
    let (done, mut finished) = tokio::sync::mpsc::channel::<()>(1);
    let answer = {
        let script = Arc::clone(&script);
        service_fn(move |request: HttpRequest<Body>| {
            let (script, done) = (Arc::clone(&script), done.clone());
            async move {
                let reply = script.replies.lock().unwrap().pop_front();
                if let Some(reply) = reply {
                    script.asked.lock().unwrap().push(request.uri().to_string());
                    return Ok::<_, Infallible>(respond(reply));
                }
                let _ = done.send(()).await;
                std::future::pending().await
            }
        })
    };
    let client = Client::new(answer, "default");
    let store = Arc::new(Store::default());
    let kind = Kind::Custom {
        group: "example.com".into(),
        word: "Widget".into(),
    };
    let resource = ApiResource {
        group: "example.com".into(),
        version: "v1".into(),
        api_version: "example.com/v1".into(),
        kind: "Widget".into(),
        plural: "widgets".into(),
    };
    let target = Target {
        detail: crate::known::detail(&kind),
        kind,
        resource,
        selector: None,
        fields: None,
        observer: None,
    };
    let metrics = Metrics::default();
    let ended = tokio::select! {
        ended = follow(&client, &target, &store, &metrics) => Some(ended),
        _ = finished.recv() => None,
        () = tokio::time::sleep(Duration::from_secs(600)) => None,
    };
    let asked = script.asked.lock().unwrap().clone();
    (store, asked, ended)
}

fn names(store: &Store) -> Vec<String> {
    store
        .list(None, &rules::selector::Selector::default())
        .iter()
        .map(|object| object["metadata"]["name"].as_str().unwrap().to_owned())
        .collect()
}

#[tokio::test(start_paused = true)]
async fn a_list_is_followed_by_its_changes() {
    let events = vec![
        event("ADDED", &widget("y", "11")),
        event("DELETED", &widget("x", "12")),
        json!({"type": "BOOKMARK", "object": {"kind": "Widget", "apiVersion": "v1", "metadata": {"resourceVersion": "15"}}}),
    ];
    let (store, asked, _) = play(vec![
        Reply::List(vec![widget("x", "9")]),
        Reply::Watch(events, false),
    ])
    .await;
    assert_eq!(names(&store), ["y"]);
    assert_eq!(store.get("a", "y").unwrap()["kind"], "Widget");
    assert!(asked[1].contains("resourceVersion=10"), "{asked:?}");
}

#[tokio::test(start_paused = true)]
async fn a_watch_that_ends_is_resumed_where_it_ended() {
    let first = Reply::Watch(vec![event("ADDED", &widget("y", "11"))], false);
    let second = Reply::Watch(vec![event("ADDED", &widget("z", "12"))], false);
    let (store, asked, _) = play(vec![Reply::List(vec![]), first, second]).await;
    assert_eq!(names(&store), ["y", "z"]);
    assert!(asked[2].contains("resourceVersion=11"), "{asked:?}");
    assert_eq!(store.condition(), Condition::Live);
}

#[tokio::test(start_paused = true)]
async fn a_version_that_is_too_old_means_a_new_list() {
    let gone = event(
        "ERROR",
        &json!({"kind": "Status", "status": "Failure", "message": "too old", "reason": "Expired", "code": 410}),
    );
    let replies = vec![
        Reply::List(vec![widget("x", "9")]),
        Reply::Watch(vec![gone], false),
        Reply::List(vec![widget("z", "20")]),
    ];
    let (store, _, _) = play(replies).await;
    assert_eq!(names(&store), ["z"], "what was deleted in between is gone");
}

#[tokio::test(start_paused = true)]
async fn a_silent_watch_is_not_trusted() {
    let replies = vec![
        Reply::List(vec![]),
        Reply::Watch(vec![], true),
        Reply::List(vec![widget("x", "9")]),
    ];
    let (store, _, _) = play(replies).await;
    assert_eq!(names(&store), ["x"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_fails_leaves_the_store_disconnected() {
    let (store, _, _) = play(vec![
        Reply::List(vec![widget("x", "9")]),
        Reply::Status(500),
        Reply::Status(500),
    ])
    .await;
    assert!(matches!(store.condition(), Condition::Disconnected(_)));
    assert_eq!(names(&store), ["x"]);
}

#[tokio::test(start_paused = true)]
async fn a_ban_is_told_apart_and_forgotten_when_it_is_lifted() {
    let (store, _, _) = play(vec![
        Reply::List(vec![widget("x", "9")]),
        Reply::Watch(vec![], false),
        Reply::Status(403),
    ])
    .await;
    assert!(
        matches!(store.condition(), Condition::Disconnected(_)),
        "a ban on the watch is an interruption first"
    );
    let (store, _, _) = play(vec![Reply::Status(403)]).await;
    assert_eq!(store.condition(), Condition::Forbidden);
    let (store, _, _) = play(vec![
        Reply::Status(403),
        Reply::List(vec![]),
        Reply::Watch(vec![], false),
    ])
    .await;
    assert_eq!(store.condition(), Condition::Live);
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_not_served_ends_it() {
    let (_, _, ended) = play(vec![Reply::Status(404)]).await;
    assert!(ended.is_some());
    let (_, _, ended) = play(vec![Reply::List(vec![]), Reply::Status(404)]).await;
    assert!(ended.is_some());
}
