//! The status service: who asks, what it depends on, and what it is told. The HTTP boundary.

mod answer;
mod beat;
mod budget;
mod conditions;
mod events;
mod holds;
mod identity;
mod keeper;
mod questions;
mod request;
mod rounds;
mod signs;
mod suspended;
mod token;
mod turns;
mod waits;

pub(crate) use beat::Beat;
pub(crate) use conditions::Conditions;
pub(crate) use events::Recorder;
pub(crate) use holds::{Holds, held_pods};
pub(crate) use identity::{Authenticator, Identity, Unidentified};
pub(crate) use questions::Questions;
pub(crate) use rounds::Rounds;
pub(crate) use suspended::{Suspended, suspended_jobs};
pub(crate) use token::issuer;
pub(crate) use turns::Turns;
pub(crate) use waits::Waits;

use crate::clock::Clock;
use crate::connections;
use crate::known::Known;
use crate::metrics::StatusMetrics;
use crate::shutdown::Shutdown;
use answer::{Cut, Opened};
use axum::extract::{ConnectInfo, Query, State};
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use events::GatedPod;
use jiff::Timestamp;
use request::{Ask, Told, hold};
use rules::lookup::Unavailable;
use serde_json::json;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use tracing::{debug, info};
use wire::said;

/// What the handlers share.
pub(crate) struct Service {
    /// What is known of the cluster.
    pub known: Arc<Known>,
    /// Who asks.
    pub authenticator: Authenticator,
    /// What they ask at this moment.
    pub questions: Arc<Questions>,
    /// What was judged of those who wait.
    pub rounds: Rounds,
    /// Whose turn it is to be judged.
    pub turns: Turns,
    /// Where Events go.
    pub recorder: Recorder,
    /// Where conditions go, if they are wanted.
    pub conditions: Option<Arc<Conditions>>,
    /// What is counted.
    pub metrics: Arc<StatusMetrics>,
    /// Lets go of held requests when the process ends, so that the gates turn to another replica.
    pub shutdown: Shutdown,
    /// The time, by which timeouts pass.
    pub clock: Clock,
    /// When signs are given, and gates judged anew of which nothing has changed.
    pub beat: Beat,
}

/// The routes of the status service.
pub(crate) fn router(service: Arc<Service>) -> Router {
    Router::new()
        .route(wire::PATH, get(verdict))
        .with_state(service)
}

async fn verdict(
    State(service): State<Arc<Service>>,
    Query(ask): Query<Ask>,
    extensions: Extensions,
    headers: HeaderMap,
) -> Response {
    let identity = async {
        let bearer = headers
            .get(header::AUTHORIZATION)
            .and_then(|value| value.to_str().ok());
        let claimed = service.authenticator.claimed(bearer).await?;
        connections::claims(&extensions);
        let address = from(&extensions);
        service.authenticator.identify(claimed, address).await
    };
    // Boxed, so that the room it takes is given back before the wait.
    let identity = match Box::pin(identity).await {
        Ok(identity) => identity,
        Err(refusal) => return refused(&service, &refusal),
    };
    let Some(question) = service.questions.begin(&identity) else {
        return refused(&service, &Unidentified::Asking);
    };
    connections::valid(&extensions);
    // What is kept of the request while it is held, and nothing else: the token alone is a kilobyte.
    drop((headers, extensions));
    let held = hold(Arc::clone(&service), identity, ask, question);
    signs::until_told(service, Box::pin(held)).await
}

/// The address of whoever asks.
fn from(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(peer)| {
        peer.ip().to_canonical()
    })
}

impl Service {
    /// A gate is told something new about its wait, since its pod was started.
    fn waits(&self, pod: &Identity, reason: &str, answer: &wire::Answer, since: Timestamp) {
        if let Some(conditions) = &self.conditions {
            conditions.waits(pod, reason, said::unsatisfied(answer), since);
        }
    }

    /// A gate waits no more. `since`: when its pod was started; `None` where it has not waited.
    fn ends(&self, pod: &Identity, outcome: &'static str, since: Option<Timestamp>) {
        let (namespace, pod) = (&pod.namespace, &pod.pod);
        let waited = since.map(|since| self.clock.now().duration_since(since));
        let waited = waited.map(|waited| waited.as_secs_f64().max(0.0));
        match waited {
            // Most pods have nothing to wait for: the log is not about them.
            None => debug!(namespace, pod, outcome, "No wait"),
            Some(waited_seconds) => {
                info!(namespace, pod, outcome, waited_seconds, "Wait is over");
            }
        }
        self.metrics.waited(outcome, waited.unwrap_or_default());
    }

    /// `since`: when the pod was started, unless it is told so at once.
    fn opened(
        &self,
        subject: &GatedPod<'_>,
        answer: &wire::Answer,
        why: &Opened,
        since: Option<Timestamp>,
    ) {
        self.ends(subject.pod, why.outcome(), since);
        if let Some(conditions) = &self.conditions {
            conditions.released(subject.pod, why.outcome(), self.clock.now());
        }
        match why {
            Opened::Satisfied(_) | Opened::Absent | Opened::Passed => {
                let waited = since.map(|started| self.clock.now().duration_since(started));
                self.recorder
                    .released(subject, answer, waited.unwrap_or_default());
            }
            Opened::Unlisted => self.recorder.unlisted(subject, answer),
            Opened::Cut(cut) => self.cut(subject, answer, *cut),
        }
        if matches!(why, Opened::Absent) {
            self.recorder.absent(subject, answer);
        }
        // A marker without a list says nothing about the revision: a list may yet be added to its owner.
        if let Opened::Satisfied(judged) = why
            && !answer.dependencies.is_empty()
        {
            let now = self.clock.now();
            self.known.memory().pass(&judged.dependent, now);
        }
    }

    fn refused(
        &self,
        subject: &GatedPod<'_>,
        answer: &wire::Answer,
        why: Cut,
        since: Option<Timestamp>,
    ) {
        // The kubelet starts a gate again that was refused, and it is refused at once: its wait has ended before.
        if since.is_some() {
            self.ends(subject.pod, why.refusal(), since);
        }
        self.cut(subject, answer, why);
    }

    fn cut(&self, subject: &GatedPod<'_>, answer: &wire::Answer, why: Cut) {
        self.metrics.cut(why.label(), answer.verdict);
        self.recorder.cut(subject, answer, why);
    }

    fn told(&self, answer: wire::Answer) -> Told {
        self.metrics.answered(answer.verdict);
        let elsewhere = self.is_cut_off();
        Told { answer, elsewhere }
    }

    /// Whether this replica hears nothing of the API server; another one may.
    fn is_cut_off(&self) -> bool {
        self.known.gated().believed_until() == Err(Unavailable::Stale)
    }
}

fn refused(service: &Service, refusal: &Unidentified) -> Response {
    use Unidentified as U;
    debug!(%refusal, "Refused");
    service.metrics.refused(refusal.label());
    let code = match refusal {
        U::NoToken | U::NotAToken | U::OutOfDate | U::NotAccepted => StatusCode::UNAUTHORIZED,
        U::NotAPod | U::NoPod | U::AnotherPod => StatusCode::FORBIDDEN,
        U::TooMany | U::NoTurn | U::Asking => StatusCode::TOO_MANY_REQUESTS,
        U::Unreachable => StatusCode::SERVICE_UNAVAILABLE,
    };
    let retry = (code == StatusCode::TOO_MANY_REQUESTS).then_some([(header::RETRY_AFTER, "5")]);
    (code, retry, Json(json!({"error": refusal.to_string()}))).into_response()
}

#[cfg(test)]
mod tests;
