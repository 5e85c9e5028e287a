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
use answer::{Answered, Cut, Opened, Outcome, Waiting, answer};
use axum::extract::{ConnectInfo, Query, State};
use axum::http::{Extensions, HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Json, Router};
use events::{GatedPod, SETTLE};
use jiff::{SignedDuration, Timestamp};
use questions::{Question, Wait};
use rounds::{Rest, Round};
use rules::judged::Reason;
use rules::lookup::Unavailable;
use serde::Deserialize;
use serde_json::json;
use std::future::pending;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::{debug, info};
use wire::said;

/// The longest that a request is held.
const LONGEST_HOLD: Duration = Duration::from_secs(300);

/// A request is held for so long whatever its token says, and no longer by a replica that hears nothing of the API server:
/// short enough that no sign has been given yet, so the answer can still tell the gate to ask another replica.
const SHORT_HOLD: Duration = Duration::from_secs(15);

/// So long after it was judged a gate is judged anew, whatever has changed: what is only told wakes nobody.
const ANEW: Duration = Duration::from_mins(1);

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
    extensions: Extensions,
    headers: HeaderMap,
) -> Response {
    let bearer = headers
        .get(header::AUTHORIZATION)
        .and_then(|value| value.to_str().ok());
    let identity = async {
        let claimed = service.authenticator.claimed(bearer).await?;
        connections::claims(&extensions);
        let address = from(&extensions);
        service.authenticator.identify(claimed, address).await
    };
    let identity = match identity.await {
        Ok(identity) => identity,
        Err(refusal) => return refused(&service, &refusal),
    };
    let Some(question) = service.questions.begin(&identity) else {
        return refused(&service, &Unidentified::Asking);
    };
    connections::valid(&extensions);
    // What is kept of the request while it is held, and nothing else.
    let held = hold(Arc::clone(&service), identity, ask, question);
    signs::until_told(service, Box::pin(held)).await
}

/// Holds a question until there is something to tell.
async fn hold(
    service: Arc<Service>,
    identity: Identity,
    ask: Ask,
    question: Question,
) -> Result<Told, Unidentified> {
    let _waiting = service.metrics.waiting();
    let mut draining = pin!(service.shutdown.draining());
    let began = Instant::now();
    let accepted = instant(identity.expires, service.clock.now()).unwrap_or(began);
    let most = Duration::from_secs(ask.wait).min(LONGEST_HOLD);
    let mut deadline = (began + most).min(accepted.max(began + SHORT_HOLD));
    loop {
        let turn = service.turns.take(&identity.namespace).await;
        let view = service.known.view();
        let now = service.clock.now();
        let settled = began.elapsed() >= SETTLE;
        let Answered {
            outcome,
            started,
            was_held,
            round,
        } = answer(&identity, &service.rounds, &view, now, !settled);
        drop(turn);
        let subject = GatedPod {
            pod: &identity,
            above: round.as_ref().and_then(|round| round.above()),
        };
        // Who is let through by its first question has not waited here.
        let since = started.filter(|_| !ask.seen.is_empty());
        let waiting = match outcome {
            Outcome::Wait(waiting) => waiting,
            Outcome::Open(answer, why) => {
                let since = since.or(started.filter(|_| was_held));
                service.opened(&subject, &answer, &why, since);
                return Ok(service.told(answer));
            }
            Outcome::Refuse(answer, why) => {
                service.refused(&subject, &answer, why, since);
                service.waits(&identity, why.refusal(), &answer, started.unwrap_or(now));
                return Ok(service.told(answer));
            }
            Outcome::AnotherPod => return Err(Unidentified::AnotherPod),
        };
        let wait = Wait {
            reason: reason(&waiting.answer),
            since: started.unwrap_or(now),
        };
        question.waits(wait);
        let news = waiting.answer.digest != ask.seen && (settled || !waiting.provisional);
        let Waiting { answer, late, .. } = &waiting;
        let tell = (!news && settled).then(|| service.recorder.waiting(&subject, answer, *late));
        if service.is_cut_off() {
            deadline = deadline.min(began + SHORT_HOLD);
        }
        if news {
            service.waits(&identity, wait.reason, answer, wait.since);
        }
        if news || Instant::now() >= deadline {
            if ask.seen.is_empty() {
                begins(&identity, answer);
            }
            return Ok(service.told(waiting.answer));
        }
        let next = [
            (!settled).then_some(began + SETTLE),
            waiting.again.and_then(|at| instant(at, now)),
            Some(service.beat.within(ANEW)),
            tell.flatten(),
        ];
        let next = next.into_iter().flatten().fold(deadline, Instant::min);
        let rest = round.map(Round::rest);
        // Nothing else is kept while the gate waits.
        drop(waiting);
        tokio::select! {
            biased;
            // Each arm only wakes the loop, so losing one to another loses nothing.
            () = &mut draining => deadline = Instant::now(),
            () = view.changed() => {}
            () = view.doubted() => {}
            () = over(rest.as_ref()) => {}
            () = tokio::time::sleep_until(next) => {}
        }
    }
}

/// Returns when what a gate was told rests on something else.
async fn over(rest: Option<&Rest>) {
    match rest {
        Some(rest) => rest.over().await,
        None => pending().await,
    }
}

/// What a gate waits for first, in a word.
fn reason(answer: &wire::Answer) -> &'static str {
    let mut words = Reason::ALL.into_iter().map(Reason::label);
    let first = said::first(answer);
    let word = first.and_then(|first| words.find(|word| *word == first.reason));
    word.unwrap_or("Unread")
}

/// A gate begins to wait.
fn begins(pod: &Identity, answer: &wire::Answer) {
    let waits_for = said::unsatisfied(answer);
    let (namespace, pod) = (&pod.namespace, &pod.pod);
    info!(namespace, pod, waits_for, "Wait begins");
}

/// What a gate is told.
struct Told {
    answer: wire::Answer,
    /// Another replica may know more.
    elsewhere: bool,
}

impl IntoResponse for Told {
    fn into_response(self) -> Response {
        let close = self.elsewhere.then_some([(header::CONNECTION, "close")]);
        (close, Json(self.answer)).into_response()
    }
}

/// The address of whoever asks.
fn from(extensions: &Extensions) -> IpAddr {
    let peer = extensions.get::<ConnectInfo<SocketAddr>>();
    peer.map_or(Ipv4Addr::UNSPECIFIED.into(), |ConnectInfo(peer)| {
        peer.ip().to_canonical()
    })
}

/// The moment of a timeout; `None` beyond the end of time.
fn instant(at: Timestamp, now: Timestamp) -> Option<Instant> {
    let left = Duration::try_from(at.duration_since(now)).unwrap_or_default();
    Instant::now().checked_add(left)
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
            Opened::Satisfied(judged) => {
                let waited = since.map(|started| self.clock.now().duration_since(started));
                self.recorder
                    .released(subject, answer, waited.unwrap_or_default());
                // A marker without a list says nothing about the revision: a list may yet be added to its owner.
                if !answer.dependencies.is_empty() {
                    self.known
                        .memory()
                        .pass(&judged.dependent, self.clock.now());
                }
            }
            Opened::Passed => self
                .recorder
                .released(subject, answer, SignedDuration::ZERO),
            Opened::Cut(cut) => self.cut(subject, answer, *cut),
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
        U::TooMany | U::Asking => StatusCode::TOO_MANY_REQUESTS,
        U::Unreachable => StatusCode::SERVICE_UNAVAILABLE,
    };
    let retry = (code == StatusCode::TOO_MANY_REQUESTS).then_some([(header::RETRY_AFTER, "5")]);
    (code, retry, Json(json!({"error": refusal.to_string()}))).into_response()
}

#[cfg(test)]
mod tests;
