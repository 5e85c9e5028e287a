//! One request of a gate: answered at once, or held until there is something to tell.

use super::Service;
use super::answer::{Answered, Outcome, Waiting, answer};
use super::events::{GatedPod, SETTLE};
use super::identity::{Identity, Unidentified};
use super::questions::{Question, Wait};
use super::rounds::{Rest, Round};
use axum::Json;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use jiff::Timestamp;
use rules::judged::Reason;
use serde::Deserialize;
use std::future::pending;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::info;
use wire::{Answer, said};

/// The longest that a request is held.
const LONGEST_HOLD: Duration = Duration::from_secs(300);

/// A request is held for so long whatever its token says, and no longer by a replica that hears nothing of the API server:
/// short enough that no sign has been given yet, so the answer can still tell the gate to ask another replica.
pub(super) const SHORT_HOLD: Duration = Duration::from_secs(15);

/// So long after it was judged a gate is judged anew, whatever has changed: what is only told wakes nobody.
pub(super) const ANEW: Duration = Duration::from_mins(1);

#[derive(Debug, Deserialize)]
pub(super) struct Ask {
    /// The digest of the answer that the gate has.
    #[serde(default)]
    seen: String,
    /// Seconds that the gate is ready to wait.
    #[serde(default)]
    wait: u64,
}

/// Holds a question until there is something to tell.
pub(super) async fn hold(
    service: Arc<Service>,
    identity: Identity,
    ask: Ask,
    question: Question,
) -> Result<Told, Unidentified> {
    let _asking = service.metrics.asking();
    let mut draining = pin!(service.shutdown.draining());
    let mut held = Held::new(&service, &identity, &ask, &question);
    loop {
        let turn = service.turns.take(&identity.namespace).await;
        let view = service.known.view();
        let now = service.clock.now();
        let settled = held.began.elapsed() >= SETTLE;
        let answered = answer(&identity, &service.rounds, &view, now, !settled);
        drop(turn);
        // Nothing else is kept while the gate waits.
        let (next, rest) = match held.look(answered, now, settled)? {
            Next::Tell(answer) => return Ok(service.told(answer)),
            Next::Rest(next, rest) => (next, rest),
        };
        tokio::select! {
            biased;
            // Each arm only wakes the loop, so losing one to another loses nothing.
            () = &mut draining => held.deadline = Instant::now(),
            () = view.changed() => {}
            () = view.doubted() => {}
            () = over(rest.as_ref()) => {}
            () = tokio::time::sleep_until(next) => {}
        }
    }
}

/// A question that is held.
struct Held<'a> {
    service: &'a Service,
    identity: &'a Identity,
    ask: &'a Ask,
    question: &'a Question,
    began: Instant,
    /// Then it is answered, whatever there is to tell.
    deadline: Instant,
}

/// What comes of a look at a question.
enum Next {
    Tell(Answer),
    /// It is looked at again then, or when that is over.
    Rest(Instant, Option<Rest>),
}

impl<'a> Held<'a> {
    fn new(
        service: &'a Service,
        identity: &'a Identity,
        ask: &'a Ask,
        question: &'a Question,
    ) -> Self {
        let began = Instant::now();
        let accepted = instant(identity.expires, service.clock.now()).unwrap_or(began);
        let most = Duration::from_secs(ask.wait).min(LONGEST_HOLD);
        Self {
            service,
            identity,
            ask,
            question,
            began,
            deadline: (began + most).min(accepted.max(began + SHORT_HOLD)),
        }
    }

    /// `settled`: the gate has asked for long enough that what is only moments away is waited for no more.
    fn look(
        &mut self,
        answered: Answered,
        now: Timestamp,
        settled: bool,
    ) -> Result<Next, Unidentified> {
        let Self {
            service, identity, ..
        } = *self;
        let Answered {
            outcome,
            started,
            was_held,
            round,
        } = answered;
        let subject = GatedPod {
            pod: identity,
            above: round.as_ref().and_then(|round| round.above()),
        };
        // Who is let through by its first question has not waited here.
        let since = started.filter(|_| !self.ask.seen.is_empty());
        match outcome {
            Outcome::Wait(waiting) => {
                let since = started.unwrap_or(now);
                let next = self.wait(&subject, &waiting, since, now, settled);
                Ok(match next {
                    Some(next) => Next::Rest(next, round.map(Round::rest)),
                    None => Next::Tell(waiting.answer),
                })
            }
            Outcome::Open(answer, why) => {
                let since = since.or(started.filter(|_| was_held));
                service.opened(&subject, &answer, &why, since);
                Ok(Next::Tell(answer))
            }
            Outcome::Refuse(answer, why) => {
                service.refused(&subject, &answer, why, since);
                service.waits(identity, why.refusal(), &answer, started.unwrap_or(now));
                Ok(Next::Tell(answer))
            }
            Outcome::AnotherPod => Err(Unidentified::AnotherPod),
        }
    }

    /// When to look again at a pod that waits since then; `None` where there is something to tell its gate.
    fn wait(
        &mut self,
        subject: &GatedPod<'_>,
        waiting: &Waiting,
        since: Timestamp,
        now: Timestamp,
        settled: bool,
    ) -> Option<Instant> {
        let Self {
            service, identity, ..
        } = *self;
        let Waiting { answer, late, .. } = waiting;
        let reason = reason(answer);
        self.question.waits(Wait { reason, since });
        let news = answer.digest != self.ask.seen && (settled || !waiting.provisional);
        let tell = (!news && settled).then(|| service.recorder.waiting(subject, answer, *late));
        if service.is_cut_off() {
            self.deadline = self.deadline.min(self.began + SHORT_HOLD);
        }
        if news {
            service.waits(identity, reason, answer, since);
        }
        if news || Instant::now() >= self.deadline {
            if self.ask.seen.is_empty() {
                begins(identity, answer);
            }
            return None;
        }
        let next = [
            (!settled).then_some(self.began + SETTLE),
            waiting.again.and_then(|at| instant(at, now)),
            Some(service.beat.within(ANEW)),
            tell.flatten(),
        ];
        let next = next.into_iter().flatten();
        Some(next.fold(self.deadline, Instant::min))
    }
}

/// Returns when what a gate was told rests on something else.
pub(super) async fn over(rest: Option<&Rest>) {
    match rest {
        Some(rest) => rest.over().await,
        None => pending().await,
    }
}

/// What a gate waits for first, in a word.
pub(super) fn reason(answer: &wire::Answer) -> &'static str {
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
pub(super) struct Told {
    pub(super) answer: wire::Answer,
    /// Another replica may know more.
    pub(super) elsewhere: bool,
}

impl IntoResponse for Told {
    fn into_response(self) -> Response {
        let close = self.elsewhere.then_some([(header::CONNECTION, "close")]);
        (close, Json(self.answer)).into_response()
    }
}

/// The moment of a timeout; `None` beyond the end of time.
pub(super) fn instant(at: Timestamp, now: Timestamp) -> Option<Instant> {
    let left = Duration::try_from(at.duration_since(now)).unwrap_or_default();
    Instant::now().checked_add(left)
}
