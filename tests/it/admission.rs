//! Tests of admission through its router, without a socket.

#![expect(
    clippy::unwrap_used,
    reason = "a helper that cannot go on fails its test"
)]

/// Admission and `kubectl sluice lint` give the same advice on the same objects.
mod advice;
/// Requests that are no review, and requests that are too large.
mod boundary;
/// Objects whose creation is held.
mod creations;
/// Bodies that no API server sends.
mod fuzz;
/// The objects of `fixtures/admission` get the patches that are stored beside them.
mod goldens;
/// Pods that are held before they take a node.
mod holds;
/// Laws of the patch that hold for every object: property tests.
mod laws;
/// Lists that cannot be read: the refusal has the parser's own message.
mod lists;
mod outside; // variables of addresses outside of the cluster
/// The patch of pods, beyond the stored examples.
mod pods;
/// Images that are pulled before the gate begins.
mod prefetch;
/// Pods that come with a gate of an earlier installation, as from a backup.
mod restored;
mod suspended;
/// The patch of workloads is equal in every version of sluice.
mod upgrade;
/// The marker on workloads, and the warnings, refusals and writes that users and their tools meet.
pub(crate) mod workloads;

use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
pub(crate) use harness::gate::policy;
use prometheus_client::registry::Registry;
use serde_json::{Value, json};
use std::sync::Arc;
use tower::ServiceExt;
use webhook::{Admission, AdmissionLimits as Limits, AdmissionMetrics as Metrics, Certified};
use webhook::{Edit, GateSpec, MemoryAlarm, Options};

const UID: &str = "705ab4f5-6393-11e8-b7cc-42010a800002";

/// Returns the pods of `fixtures/admission`, each with the name of its folder.
pub(crate) fn pod_fixtures() -> Vec<(String, Value)> {
    goldens::objects()
        .into_iter()
        .filter(|(_, object)| object["kind"] == "Pod")
        .collect()
}

fn starting(limits: Limits) -> Arc<Admission> {
    let metrics = Metrics::register(&mut Registry::default());
    Arc::new(Admission::new(Options::default(), limits, MemoryAlarm::default(), metrics).0)
}

fn running() -> Arc<Admission> {
    running_with(Options::default())
}

fn running_with(options: Options) -> Arc<Admission> {
    running_as(options, policy())
}

/// Returns an admission service with these options, which puts gates of this spec into pods.
fn running_as(options: Options, spec: GateSpec) -> Arc<Admission> {
    let metrics = Metrics::register(&mut Registry::default());
    let (admission, sender) =
        Admission::new(options, Limits::default(), MemoryAlarm::default(), metrics);
    sender.send_replace(Some(Arc::new(spec.into())));
    Arc::new(admission)
}

async fn post(
    admission: &Arc<Admission>,
    path: &str,
    body: impl Into<Body>,
) -> (StatusCode, Vec<u8>) {
    send(admission, Request::post(path).body(body.into()).unwrap()).await
}

async fn send(admission: &Arc<Admission>, request: Request<Body>) -> (StatusCode, Vec<u8>) {
    let response = admission.clone().router().oneshot(request).await.unwrap();
    let status = response.status();
    (
        status,
        to_bytes(response.into_body(), 1 << 24)
            .await
            .unwrap()
            .to_vec(),
    )
}

async fn answer(admission: &Arc<Admission>, review: &Value) -> Value {
    answer_at(admission, path(review), review).await
}

/// Sends a review as a client that has shown the API server's certificate, and returns the `response`.
async fn answer_to_api_server(admission: &Arc<Admission>, review: &Value) -> Value {
    let request = Request::post(path(review)).extension(Certified);
    let request = request.body(review.to_string().into()).unwrap();
    let (status, body) = send(admission, request).await;
    response(review, status, &body)
}

fn path(review: &Value) -> &'static str {
    if review["request"]["kind"]["kind"] == "Pod" {
        "/admit/pods"
    } else {
        "/admit/workloads"
    }
}

/// Sends a review to this path, and returns the `response`, checked for the properties that every response must have.
async fn answer_at(admission: &Arc<Admission>, path: &str, review: &Value) -> Value {
    let (status, body) = post(admission, path, review.to_string()).await;
    response(review, status, &body)
}

fn response(review: &Value, status: StatusCode, body: &[u8]) -> Value {
    assert_eq!(status, StatusCode::OK, "{}", String::from_utf8_lossy(body));
    let reply: Value = serde_json::from_slice(body).unwrap();
    assert_eq!(reply["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(reply["kind"], "AdmissionReview");
    let response = reply["response"].clone();
    assert_eq!(response["uid"], review["request"]["uid"]);
    let has = |key: &str| response.get(key).is_some();
    assert_eq!(
        has("patch"),
        has("patchType"),
        "one without the other: {response}"
    );
    assert!(!response.to_string().contains("immutable"));
    response
}

/// Returns a review of one object. Group and kind are those of the object, or at a deletion of `old`.
fn review(operation: &str, object: &Value, old: &Value) -> Value {
    let shown = if object.is_null() { old } else { object };
    let (group, version) = shown["apiVersion"]
        .as_str()
        .unwrap()
        .split_once('/')
        .unwrap_or(("", "v1"));
    let metadata = |key: &str| shown["metadata"].get(key).cloned().unwrap_or(json!(""));
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": UID,
            "kind": {"group": group, "version": version, "kind": shown["kind"]},
            "namespace": metadata("namespace"),
            "name": metadata("name"),
            "operation": operation,
            "object": object,
            "oldObject": old,
            "dryRun": false,
        },
    })
}

/// Returns the operations of a decision as a JSON patch, as a client reads them.
pub(crate) fn patch(edits: &[Edit]) -> json_patch::Patch {
    serde_json::from_str(&serde_json::to_string(edits).unwrap()).unwrap()
}

/// Returns the JSON patch of a response; an empty one where the response has none.
fn operations(response: &Value) -> json_patch::Patch {
    let Some(patch) = response.get("patch") else {
        return json_patch::Patch::default();
    };
    let text = BASE64_STANDARD.decode(patch.as_str().unwrap()).unwrap();
    serde_json::from_slice(&text).unwrap()
}

/// Returns the object after the patch of a response.
fn applied(object: &Value, response: &Value) -> Value {
    let mut object = object.clone();
    json_patch::patch(&mut object, &operations(response)).unwrap();
    object
}

/// Returns a workload of this kind without annotations, with its template in the usual place, `spec.template`.
fn workload(api_version: &str, kind: &str) -> Value {
    json!({
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "api", "namespace": "shop", "annotations": {}},
        "spec": {"template": {
            "metadata": {"labels": {"app": "api"}},
            "spec": {"containers": [{"name": "app", "image": "app:1"}]},
        }},
    })
}

fn annotated(mut object: Value, key: &str, text: &str) -> Value {
    object["metadata"]["annotations"][key] = json!(text);
    object
}
