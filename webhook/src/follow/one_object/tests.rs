use super::*;
use crate::telemetry::tests::Lines;
use axum::body::{Body as Answer, Bytes};
use axum::http::{Request, Response};
use kube::Client;
use kube::client::Body;
use serde_json::{Value, json};
use std::convert::Infallible;
use std::sync::{Arc, Mutex};

fn object(version: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "one", "resourceVersion": version}})
}

fn event(sort: &str, object: &Value) -> Value {
    json!({"type": sort, "object": object})
}

/// Follows an object that was written long ago for the time `after`, and returns the notices and the requests about it, as words. A watch
/// from now on, or from version 9, shows the events `shown`, and then ends, or is silent unless `ends`. Any other watch is too old.
async fn followed(shown: Vec<Value>, ends: bool, after: Duration) -> (Vec<String>, Vec<String>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let requests = Arc::clone(&asked);
    let service = tower::service_fn(move |request: Request<Body>| {
        let query = request.uri().query().unwrap_or_default().to_owned();
        let text = if query.contains("watch=true") {
            let from = query
                .split('&')
                .find_map(|it| it.strip_prefix("resourceVersion="));
            let from = from.unwrap_or_default();
            requests
                .lock()
                .unwrap()
                .push(format!("watch from {from:?}"));
            if from.is_empty() || from == "9" {
                lines(&shown)
            } else {
                let expired = json!({"kind": "Status", "status": "Failure", "message": "too old", "reason": "Expired", "code": 410});
                lines(&[event("ERROR", &expired)])
            }
        } else {
            requests.lock().unwrap().push("get".to_owned());
            object("5").to_string()
        };
        let mut parts = vec![stream::iter([Ok::<_, Infallible>(Bytes::from(text))]).boxed()];
        if query.contains("watch=true") && !ends {
            parts.push(stream::pending().boxed());
        }
        let answer = Response::new(Answer::from_stream(stream::iter(parts).flatten()));
        async move { Ok::<_, Infallible>(answer) }
    });
    let api = Api::<ConfigMap>::namespaced(Client::new(service, "x"), "x");
    let mut notices = Box::pin(follow(api, "one".to_owned()));
    let mut said = Vec::new();
    let _ = tokio::time::timeout(after, async {
        while let Some(notice) = notices.next().await {
            said.push(word(&notice));
        }
    })
    .await;
    let asked = asked.lock().unwrap().clone();
    (said, asked)
}

fn lines(events: &[Value]) -> String {
    let lines: Vec<_> = events.iter().map(|it| format!("{it}\n")).collect();
    lines.concat()
}

fn word(notice: &Notice) -> String {
    match notice {
        Notice::Read(it) => format!("read {}", version(it.as_ref())),
        Notice::Written(it) => format!("written {}", version(it.as_ref())),
        Notice::Absent => "absent".to_owned(),
        Notice::Refused => "refused".to_owned(),
        Notice::Sign => "sign".to_owned(),
    }
}

#[tokio::test(start_paused = true)]
async fn what_was_written_long_ago_is_read_once_and_watched() {
    let shown = vec![event("ADDED", &object("5"))];
    let (said, asked) = followed(shown, false, Duration::from_secs(20)).await;
    assert_eq!(said, ["read 5", "sign", "sign"]);
    assert_eq!(asked, ["get", "watch from \"\""]);
}

#[tokio::test(start_paused = true)]
async fn what_is_written_after_it_was_read_is_heard_of() {
    let shown = vec![
        event("ADDED", &object("8")),
        event("MODIFIED", &object("9")),
    ];
    let (said, _) = followed(shown, false, Duration::from_secs(20)).await;
    assert_eq!(said, ["read 5", "sign", "written 8", "written 9"]);
}

#[tokio::test(start_paused = true)]
async fn what_is_deleted_after_it_was_read_is_read_anew() {
    let (said, asked) = followed(vec![], true, Duration::from_secs(3)).await;
    assert_eq!(said, ["read 5", "sign", "sign", "read 5", "sign", "sign"]);
    assert_eq!(asked, ["get", "watch from \"\"", "get", "watch from \"\""]);
}

#[tokio::test(start_paused = true)]
async fn what_cannot_be_read_is_told_once_with_where_it_is() {
    let service = tower::service_fn(|_: Request<Body>| {
        let status = json!({"kind": "Status", "status": "Failure", "message": "no", "reason": "no", "code": 503});
        let answer = Response::builder().status(503);
        let answer = answer.body(Answer::from(status.to_string())).unwrap();
        std::future::ready(Ok::<_, Infallible>(answer))
    });
    let (log, _listens) = Lines::listen();
    let api = Api::<ConfigMap>::namespaced(Client::new(service, "x"), "x");
    let notices = follow(api, "one".to_owned()).map(|it| word(&it));
    let refused: Vec<_> = notices.take(30).collect().await;
    assert_eq!(refused, ["refused"; 30]);
    let (log, at) = (log.text(), "/api/v1/namespaces/x/configmaps/one");
    assert_eq!(log.lines().count(), 1, "{log}");
    assert!(log.contains(at), "{log}");
}
