//! Holds: pods that no scheduler takes until their gate would open.
//!
//! Each held pod is judged as its gate would be, through a view, so waiting costs the API server nothing. When its gate would wait
//! no longer, its hold is taken away, and nothing else; the gate asks again, and says why it refuses where it does. Every replica
//! does so: what it writes tests what it takes away, so whoever comes second changes nothing.

use super::answer::{Outcome, Waiter, Waiting, answer};
use super::events::{GatedPod, SETTLE};
use super::keeper::{self, Held, Show, Writer};
use super::questions::Questions;
use super::{ANEW, Identity, Service, instant};
use crate::known::View;
use jiff::Timestamp;
use kube::{Client, Error};
use rules::gate;
use rules::keys;
use rules::lookup::Lookup;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::{Instant, timeout_at};
use tracing::{debug, info, warn};

/// Who takes holds away.
pub(crate) struct Holds {
    service: Arc<Service>,
    /// The pods that are held, and what for.
    held: Arc<Questions>,
    writer: Writer,
}

/// What becomes of a held pod.
enum Next {
    /// It is held on.
    Held(Held),
    /// Its gate would not wait, and so its wait ends.
    LetGo(&'static str),
    /// The store does not have it: it is shown here before, and an earlier pod of its name may still stand there.
    Unseen,
    /// It is held no more.
    Over,
}

/// Who is to be shown the gated pods, and those of them that are held.
pub(crate) fn held_pods() -> (Show, UnboundedReceiver<Identity>) {
    keeper::shown(gate::is_held)
}

impl Holds {
    /// Takes holds away for whom `service` judges; who is held is shown in `held`.
    pub(crate) fn new(service: Arc<Service>, client: Client, held: Arc<Questions>) -> Self {
        let writer = Writer::new(client);
        Self {
            service,
            held,
            writer,
        }
    }

    /// Looks after each pod that is `seen` to be held, for as long as the process runs.
    pub(crate) async fn keep(self, seen: UnboundedReceiver<Identity>) {
        keeper::keep(seen, |pod| self.look_after(pod)).await;
    }

    /// Returns the UID of a pod when it is held no more.
    async fn look_after(&self, pod: Identity) -> String {
        let (service, began) = (&self.service, Instant::now());
        let question = self.held.begin(&pod);
        let (mut told, mut stored) = (String::new(), false);
        loop {
            let turn = service.turns.take(&pod.namespace).await;
            let (view, now) = (service.known.view(), service.clock.now());
            let settled = began.elapsed() >= SETTLE;
            let next = self.judge(&pod, &view, now, settled);
            drop(turn);
            let held = match next {
                Next::Held(held) => held,
                Next::LetGo(outcome) => {
                    self.let_go(&pod, &view, outcome).await;
                    continue;
                }
                // A list that begins anew takes its time to arrive.
                Next::Unseen if !stored && began.elapsed() < ANEW => {
                    let _ = timeout_at(began + ANEW, view.changed()).await;
                    continue;
                }
                Next::Unseen | Next::Over => {
                    if let Some(conditions) = &service.conditions {
                        conditions.was_let_go(&pod);
                    }
                    return pod.uid;
                }
            };
            stored = true;
            if let Some(question) = &question {
                question.waits(held.wait());
            }
            let Waiting { answer, again, .. } = &held.waiting;
            if answer.digest != told && (settled || !held.waiting.provisional) {
                told.clone_from(&answer.digest);
                service.waits(&pod, held.wait().reason, answer, held.since);
            }
            let next = [
                (!settled).then_some(began + SETTLE),
                again.and_then(|at| instant(at, now)),
                settled.then(|| self.tell(&pod, &held)).flatten(),
            ];
            held.rest(&view, next.into_iter().flatten()).await;
        }
    }

    /// What its gate would be told, and what that means for its hold.
    fn judge(&self, pod: &Identity, view: &View, now: Timestamp, settled: bool) -> Next {
        match view.gated_pod(&pod.namespace, &pod.pod) {
            Lookup::Found(stored) if stored["metadata"]["uid"] != pod.uid.as_str() => {
                return Next::Unseen;
            }
            Lookup::Found(stored) if !gate::is_held(&stored) => return Next::Over,
            Lookup::NotFound => return Next::Unseen,
            Lookup::Found(_) | Lookup::Unavailable(_) => {}
        }
        let rounds = &self.service.rounds;
        let answered = answer(pod, Waiter::Hold, rounds, view, now, !settled);
        match answered.outcome {
            Outcome::Wait(waiting) => Next::Held(Held {
                waiting,
                since: answered.started.unwrap_or(now),
                round: answered.round,
            }),
            Outcome::Open(_, why) => Next::LetGo(why.outcome()),
            // Its gate says so.
            Outcome::Refuse(_, why) => Next::LetGo(why.refusal()),
            Outcome::AnotherPod => Next::Unseen,
        }
    }

    /// Tells of a wait, and when it is to be told again.
    fn tell(&self, pod: &Identity, held: &Held) -> Option<Instant> {
        let above = held.round.as_ref().and_then(|round| round.above());
        let Waiting { answer, late, .. } = &held.waiting;
        let recorder = &self.service.recorder;
        recorder.waiting(&GatedPod { pod, above }, answer, *late)
    }

    /// Takes the hold away, unless the pod has changed since it was looked at; returns when that is seen here.
    async fn let_go(&self, pod: &Identity, view: &View, outcome: &'static str) {
        let (namespace, name) = (&pod.namespace, &pod.pod);
        let url = format!("/api/v1/namespaces/{namespace}/pods/{name}");
        let change = || match view.gated_pod(namespace, name) {
            Lookup::Found(stored) if !view.has_changed() => patch(pod, &stored),
            _ => None,
        };
        let told = |written| match written {
            Ok(_) => info!(namespace, pod = name, outcome, "Let go"),
            // Another replica was faster, or the pod is gone.
            Err(Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => {
                debug!(%status, namespace, pod = name, "Not let go");
            }
            Err(error) => warn!(%error, namespace, pod = name, "Cannot let go"),
        };
        self.writer.write(view, &url, change, told).await;
    }
}

/// What takes the hold of this pod away, and fails where another pod or another scheduling gate is there; `None` for one that is
/// not held.
fn patch(pod: &Identity, stored: &Value) -> Option<Value> {
    let hold = format!("/spec/schedulingGates/{}", gate::hold(stored)?);
    Some(json!([
        {"op": "test", "path": "/metadata/uid", "value": pod.uid},
        {"op": "test", "path": format!("{hold}/name"), "value": keys::HOLD},
        {"op": "remove", "path": hold},
    ]))
}
