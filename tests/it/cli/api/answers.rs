//! The answers of the API server.

use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

/// Returns an object as an answer shows it: whole, or where `metadata` is true, its metadata alone.
pub(super) fn shown(object: &Value, metadata: bool) -> Value {
    if !metadata {
        return object.clone();
    }
    json!({"kind": "PartialObjectMetadata", "apiVersion": "meta.k8s.io/v1", "metadata": object["metadata"]})
}

pub(super) fn failure(code: StatusCode) -> Response {
    let reason = code.canonical_reason().unwrap_or_default().replace(' ', "");
    let status =
        json!({"kind": "Status", "status": "Failure", "reason": reason, "code": code.as_u16()});
    (code, axum::Json(status)).into_response()
}
