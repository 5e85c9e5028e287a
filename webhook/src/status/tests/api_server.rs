//! A fake API server: it reviews tokens, keeps the Events, and sends its time with each answer.

use super::tokens::reviewed;
use crate::client::dated;
use crate::clock::Clock;
use axum::extract::Path;
use axum::http::{StatusCode, header};
use axum::response::Response;
use axum::routing::{patch, post};
use axum::{Json, Router};
use jiff::Timestamp;
use jiff::fmt::rfc2822::DateTimePrinter;
use kube::Client;
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use tower::Layer;
use tower::util::MapResponseLayer;

/// The Events that replicas have written to the fake API server.
pub(super) type Events = Arc<Mutex<Vec<Value>>>;

/// A client of the fake API server, which accepts tokens, keeps new Events in `events` (409 for a name that is there), and dates its answers by
/// `time`; `clock` learns that time from each answer.
pub(super) fn api_server(
    events: Events,
    time: impl Fn() -> Timestamp + Copy + Send + Sync + 'static,
    clock: &Clock,
) -> Client {
    let review = |Json(review): Json<Value>| async move {
        Json(json!({
            "apiVersion": "authentication.k8s.io/v1", "kind": "TokenReview", "metadata": {}, "spec": {},
            "status": reviewed(&review),
        }))
    };
    let written = Arc::clone(&events);
    let record = move |Json(event): Json<Value>| async move {
        let mut written = written.lock().unwrap();
        let name = |event: &Value| event["metadata"]["name"].clone();
        if written.iter().any(|other| name(other) == name(&event)) {
            let exists = json!({"kind": "Status", "status": "Failure", "code": 409, "message": "", "reason": "AlreadyExists"});
            return (StatusCode::CONFLICT, Json(exists));
        }
        written.push(event.clone());
        (StatusCode::CREATED, Json(event))
    };
    let go_on = move |Path(name): Path<String>, Json(change): Json<Value>| async move {
        let mut events = events.lock().unwrap();
        let event = events
            .iter_mut()
            .find(|event| event["metadata"]["name"] == name.as_str());
        let event = event.expect("only what is there goes on");
        event["series"] = change["series"].clone();
        Json(event.clone())
    };
    let events = "/apis/events.k8s.io/v1/namespaces/shop/events";
    let router = Router::new()
        .route("/apis/authentication.k8s.io/v1/tokenreviews", post(review))
        .route(events, post(record))
        .route(&format!("{events}/{{name}}"), patch(go_on));
    let date = MapResponseLayer::new(move |mut answer: Response| {
        let date = DateTimePrinter::new().timestamp_to_rfc9110_string(&time());
        let date = date.unwrap().parse().unwrap();
        answer.headers_mut().insert(header::DATE, date);
        answer
    });
    let service = dated(clock.clone()).layer(date.layer(router));
    Client::new(service, "sluice-system")
}
