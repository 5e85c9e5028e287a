//! Holds: pods that no scheduler takes until their gate would open.
//!
//! Each held pod is judged as its gate would be, through a view, so waiting costs the API server nothing. When its gate would wait
//! no longer, its hold is taken away, and nothing else; the gate asks again, and says why it refuses where it does. Every replica
//! does so: what it writes tests what it takes away, so whoever comes second changes nothing.

use super::answer::{Outcome, Waiter, Waiting, answer};
use super::events::{GatedPod, SETTLE};
use super::questions::{Questions, Wait};
use super::rounds::Round;
use super::{ANEW, Identity, Service, instant, over, reason};
use crate::known::View;
use axum::http;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use kube::{Client, Error};
use rules::gate;
use rules::keys;
use rules::lookup::Lookup;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep, sleep_until, timeout, timeout_at};
use tracing::{debug, info, warn};

/// So many holds are being taken away at a time,
const AT_ONCE: usize = 8;
/// each for as long as this, at least: so a replica writes no more than 160 times a second.
const PACE: Duration = Duration::from_millis(50);
/// What was not taken away is tried again after this long.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// Who takes holds away.
pub(crate) struct Holds {
    service: Arc<Service>,
    client: Client,
    /// The pods that are held, and what for.
    held: Arc<Questions>,
    turns: Semaphore,
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

/// What a pod is held for.
struct Held {
    waiting: Waiting,
    since: Timestamp,
    round: Option<Arc<Round>>,
}

/// Is shown each gated pod as it arrives.
pub(super) type Show = Arc<dyn Fn(&Value) + Send + Sync>;

/// Who is to be shown them, and those of them that are held.
pub(crate) fn held_pods() -> (Show, UnboundedReceiver<Identity>) {
    let (held, seen) = unbounded_channel();
    let show = move |pod: &Value| {
        let text = |field: &str| pod["metadata"][field].as_str().unwrap_or_default();
        if gate::is_held(pod) {
            // The receiver lives as long as the process.
            let _ = held.send(Identity {
                namespace: text("namespace").to_owned(),
                pod: text("name").to_owned(),
                uid: text("uid").to_owned(),
                expires: Timestamp::MAX,
            });
        }
    };
    (Arc::new(show), seen)
}

impl Holds {
    /// Takes holds away for whom `service` judges; who is held is shown in `held`.
    pub(crate) fn new(service: Arc<Service>, client: Client, held: Arc<Questions>) -> Self {
        let turns = Semaphore::new(AT_ONCE);
        Self {
            service,
            client,
            held,
            turns,
        }
    }

    /// Looks after each pod that is `seen` to be held, for as long as the process runs.
    pub(crate) async fn keep(self, mut seen: UnboundedReceiver<Identity>) {
        let (mut pods, mut known) = (FuturesUnordered::new(), HashSet::new());
        loop {
            tokio::select! {
                biased;
                // Both arms are cancel-safe: what is not taken here comes again.
                Some(uid) = pods.next(), if !pods.is_empty() => drop(known.remove(&uid)),
                Some(pod) = seen.recv() => {
                    if known.insert(pod.uid.clone()) {
                        pods.push(self.look_after(pod));
                    }
                }
                else => pending().await,
            }
        }
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
            let anew = Instant::now() + ANEW;
            let next = next.into_iter().flatten().fold(anew, Instant::min);
            // Nothing else is kept while the pod is held.
            let rest = held.round.map(Round::rest);
            tokio::select! {
                biased;
                // Each arm only wakes the loop, so losing one to another loses nothing.
                () = view.changed() => {}
                () = view.doubted() => {}
                () = over(rest.as_ref()) => {}
                () = sleep_until(next) => {}
            }
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
        let turn = self.turns.acquire().await;
        let (namespace, name) = (&pod.namespace, &pod.pod);
        let patch = match view.gated_pod(namespace, name) {
            Lookup::Found(stored) if !view.has_changed() => patch(pod, &stored),
            _ => None,
        };
        let Some(patch) = patch else {
            return;
        };
        match self.write(pod, &patch).await {
            Ok(_) => info!(namespace, pod = name, outcome, "Let go"),
            // Another replica was faster, or the pod is gone.
            Err(Error::Api(status)) if matches!(status.code, 404 | 409 | 422) => {
                debug!(%status, namespace, pod = name, "Not let go");
            }
            Err(error) => warn!(%error, namespace, pod = name, "Cannot let go"),
        }
        sleep(PACE).await;
        drop(turn);
        let _ = timeout(TRY_AGAIN, view.changed()).await;
    }

    async fn write(&self, pod: &Identity, patch: &Value) -> Result<Value, Error> {
        let Identity {
            namespace,
            pod: name,
            ..
        } = pod;
        let request = http::Request::patch(format!("/api/v1/namespaces/{namespace}/pods/{name}"))
            .header(http::header::CONTENT_TYPE, "application/json-patch+json")
            .body(patch.to_string().into_bytes());
        let request = request.map_err(|error| Error::Service(error.into()))?;
        self.client.request(request).await
    }
}

impl Held {
    /// As metrics tell it.
    fn wait(&self) -> Wait {
        Wait {
            reason: reason(&self.waiting.answer),
            since: self.since,
        }
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
