//! The routes without a socket, in front of an API server that vouches for every token and keeps the Events.
//!
//! Tokio's clock stands still and leaps to the next moment that a task waits for; the wall clock goes by it.

mod api_server;
mod cause;
mod desk;
mod disclosure;
mod events;
mod held_creations;
mod held_pods;
mod long_poll;
mod outside;
mod patience;
mod replicas;
mod stages;
mod stale;
mod suspended_jobs;
mod terms;
mod tokens;

use super::router;
use crate::known::Known;
use api_server::Events;
use axum::body::Body;
use axum::http::{HeaderMap, Request, StatusCode, header};
use desk::Desk;
use http_body_util::BodyExt;
use jiff::{SignedDuration, Timestamp};
use kube::Client;
use rules::kinds::{Kind, by_word};
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::time::Instant;
use tower::ServiceExt;

/// A pod that was made at second 0, with these annotations.
fn pod(annotations: &Value) -> Value {
    json!({"metadata": {
        "namespace": "shop", "name": "api-1", "uid": "u1", "annotations": annotations,
        "creationTimestamp": "1970-01-01T00:00:00Z",
    }})
}

fn waits(on_timeout: &str) -> Value {
    json!({
        "sluice.dev/depends-on": "configmap/go", "sluice.dev/timeout": "40s",
        "sluice.dev/on-timeout": on_timeout,
    })
}

fn config_map() -> Value {
    json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "shop", "name": "go"}})
}

fn failed_job() -> Value {
    json!({
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"namespace": "shop", "name": "seed"},
        "status": {"conditions": [{"type": "Failed", "status": "True", "reason": "BackoffLimitExceeded"}]},
    })
}

fn missing() -> Value {
    json!({"sluice.dev/depends-on": "configmap/go"})
}
