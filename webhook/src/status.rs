//! The status service: who asks, what it depends on, and what it is told. The HTTP boundary.

mod answer;
mod events;
mod identity;

pub use events::Recorder;
pub use identity::{Authenticator, Identity, Refusal};

use crate::cache::Cache;
use crate::metrics::Metrics;
use crate::shutdown::Shutdown;
use answer::{Outcome, answer};
use axum::extract::{Query, State};
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use jiff::Timestamp;
use rules::dependent::Dependent;
use rules::verdict::CrossNamespace;
use rules::wire;
use serde::Deserialize;
use serde_json::json;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::{debug, info};

/// The longest that a request is held: below the idle timeouts of common load balancers.
const LONGEST_HOLD: Duration = Duration::from_secs(30);
/// A wait that is over sooner than this is worth neither an Event nor a line that says "still reading".
const SETTLE: Duration = Duration::from_secs(2);

/// What decides, beside the cluster's state.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    /// Which namespaces may depend on which without the target's consent.
    pub cross_namespace: CrossNamespace,
    /// Whether `config.kubernetes.io/depends-on` counts.
    pub honor_config_depends_on: bool,
    /// Custom kinds that a controller reference is followed through, `(group, kind)`.
    pub workloads: Vec<(String, String)>,
}

/// What the handlers share.
pub struct Service {
    /// What is known of the cluster.
    pub cache: Arc<Cache>,
    /// Who asks.
    pub authenticator: Authenticator,
    /// What decides.
    pub settings: Arc<Settings>,
    /// Where Events go.
    pub recorder: Recorder,
    /// What is counted.
    pub metrics: Arc<Metrics>,
    /// Lets go of held requests when the process ends, so that the gates turn to another replica.
    pub shutdown: Shutdown,
}

/// The routes of the status service.
pub fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route(wire::PATH, get(verdict))
        .with_state(service)
}

#[derive(Debug, Deserialize)]
struct Ask {
    /// The digest of the answer that the gate has.
    #[serde(default)]
    seen: String,
    /// Seconds that the gate is ready to wait.
    #[serde(default)]
    wait: u64,
}

async fn verdict(
    State(service): State<Arc<Service>>,
    Query(ask): Query<Ask>,
    headers: HeaderMap,
) -> Response {
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let identity = match service.authenticator.identify(bearer).await {
        Ok(identity) => identity,
        Err(refusal) => return refused(&service, &refusal),
    };
    let _waiting = service.metrics.waiting();
    let mut draining = pin!(service.shutdown.draining());
    let began = Instant::now();
    let mut deadline = began + Duration::from_secs(ask.wait).min(LONGEST_HOLD);
    loop {
        let view = service.cache.view();
        let outcome = answer(&identity, &service.settings, &view, Timestamp::now());
        let settled = began.elapsed() >= SETTLE;
        let (answer, news, again) = match outcome {
            Outcome::Open(answer, dependent) => {
                service.opened(&identity, &answer, &dependent);
                return told(&service, answer);
            }
            Outcome::Wait(answer, again) => {
                let news = answer.digest != ask.seen;
                (answer, news, again)
            }
            Outcome::Provisional(answer) => {
                let news = settled && answer.digest != ask.seen;
                (answer, news, None)
            }
            Outcome::AnotherPod => return refused(&service, &Refusal::AnotherPod),
        };
        if !news && settled {
            service.recorder.waiting(&identity, &answer);
        }
        if news || Instant::now() >= deadline {
            return told(&service, answer);
        }
        let mut next = if settled {
            deadline
        } else {
            deadline.min(began + SETTLE)
        };
        if let Some(again) = again {
            let left = again.duration_since(Timestamp::now()).unsigned_abs();
            next = next.min(Instant::now() + left);
        }
        tokio::select! {
            biased;
            // Each arm only wakes the loop, so losing one to another loses nothing.
            () = &mut draining => deadline = Instant::now(),
            () = view.changed() => {}
            () = tokio::time::sleep_until(next) => {}
        }
    }
}

impl Service {
    fn opened(&self, pod: &Identity, answer: &wire::Answer, dependent: &Dependent) {
        info!(namespace = pod.namespace, pod = pod.pod, "Opened");
        self.recorder.released(pod, answer);
        // A marker without a list says nothing about the revision: a list may yet be added to its owner.
        if !answer.dependencies.is_empty() {
            self.cache.memory().pass(dependent, Timestamp::now());
        }
    }
}

fn told(service: &Service, answer: wire::Answer) -> Response {
    service.metrics.answered(answer.verdict);
    Json(answer).into_response()
}

fn refused(service: &Service, refusal: &Refusal) -> Response {
    debug!(%refusal, "Refused");
    service.metrics.refused(refusal.label());
    let code = match refusal {
        Refusal::NoToken | Refusal::NotAccepted => StatusCode::UNAUTHORIZED,
        Refusal::NotAPod | Refusal::AnotherPod => StatusCode::FORBIDDEN,
        Refusal::Unreachable => StatusCode::SERVICE_UNAVAILABLE,
    };
    (code, Json(json!({"error": refusal.to_string()}))).into_response()
}
