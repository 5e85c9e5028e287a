//! The plain HTTP port for probes and metrics.

use std::sync::Arc;

use axum::{
    Router,
    extract::Request,
    http::{StatusCode, header::CONTENT_TYPE},
    middleware::map_request,
    response::{IntoResponse, Response},
    routing::get,
};
use prometheus_client::{encoding::text::encode, registry::Registry};

use crate::connections::valid;
use crate::readiness::Readiness;

/// The content type that Prometheus asks for. Under another type Prometheus reads the counters' names wrongly.
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// Returns the router of `/live`, `/ready` and `/metrics`. A request to one of them counts as valid, so its connection is not cut before the answer.
/// No trace layer lies around the router, so probes make no spans.
pub(crate) fn router(readiness: Readiness, registry: Arc<Registry>) -> Router {
    Router::new()
        // A process is alive while the runtime schedules this handler. `/ready` says whether work succeeds.
        .route("/live", get(|| async { "alive\n" }))
        .route("/ready", get(move || async move { ready(&readiness) }))
        .route("/metrics", get(move || async move { metrics(&registry) }))
        .route_layer(map_request(async |request: Request| {
            valid(request.extensions());
            request
        }))
}

/// Answers `/ready`: 200 if all conditions of readiness are met, else 503 with a line for each that is not.
fn ready(readiness: &Readiness) -> Response {
    let missing = readiness.missing();
    if missing.is_empty() {
        return "ready\n".into_response();
    }
    let lines: Vec<String> = missing.iter().map(ToString::to_string).collect();
    (StatusCode::SERVICE_UNAVAILABLE, lines.join("\n") + "\n").into_response()
}

fn metrics(registry: &Registry) -> Response {
    let mut text = String::new();
    match encode(&mut text, registry) {
        Ok(()) => ([(CONTENT_TYPE, OPENMETRICS)], text).into_response(),
        Err(error) => (
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("failed to encode the metrics: {error}\n"),
        )
            .into_response(),
    }
}

#[cfg(test)]
mod tests {
    use axum::{body::Body, http::Request};
    use http_body_util::BodyExt;
    use prometheus_client::metrics::counter::Counter;
    use tower::ServiceExt;

    use super::*;

    async fn get(router: &Router, path: &str) -> (StatusCode, String, String) {
        let request = Request::get(path).body(Body::empty()).unwrap();
        let response = router.clone().oneshot(request).await.unwrap();
        let (status, kind) = (
            response.status(),
            response.headers()[CONTENT_TYPE]
                .to_str()
                .unwrap()
                .to_owned(),
        );
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, kind, String::from_utf8(body.to_vec()).unwrap())
    }

    #[tokio::test]
    async fn ready_lists_what_is_missing() {
        let readiness = Readiness::default();
        let pods = readiness.condition("watch pods", "the first list is not complete");
        let bundle = readiness.condition("caBundle", "not seen yet");
        let router = router(readiness, Arc::default());
        let (status, _, body) = get(&router, "/ready").await;
        assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(
            body,
            "caBundle: not seen yet\nwatch pods: the first list is not complete\n"
        );
        assert_eq!(
            get(&router, "/live").await.0,
            StatusCode::OK,
            "not ready is not dead"
        );
        pods.met();
        bundle.met();
        let (status, _, body) = get(&router, "/ready").await;
        assert_eq!((status, body.as_str()), (StatusCode::OK, "ready\n"));
    }

    #[tokio::test]
    async fn metrics_are_openmetrics() {
        let mut registry = Registry::with_prefix("sluice");
        let counter = Counter::<u64>::default();
        registry.register("panics", "Requests that panicked", counter.clone());
        counter.inc();
        let (status, kind, body) = get(
            &router(Readiness::default(), Arc::new(registry)),
            "/metrics",
        )
        .await;
        assert_eq!(status, StatusCode::OK);
        assert_eq!(kind, OPENMETRICS);
        assert!(
            body.contains("sluice_panics_total 1\n") && body.ends_with("# EOF\n"),
            "{body}"
        );
    }
}
