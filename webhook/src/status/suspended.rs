//! Jobs that admission has created suspended, until what their pods would wait for is satisfied.
//!
//! Each is judged as the pod that it has yet to make would be, through a view, so waiting costs the API server nothing. Then it is resumed,
//! and nothing else of it changes; the gate of its pod asks again, and says why it refuses where it does. Every replica does so: what it
//! writes tests what it changes, so whoever comes second changes nothing. A Job that somebody else resumes is his from then on.

use super::answer::{Answered, Cut, Opened, Outcome, Waiting, answer_of, outcome};
use super::events::SETTLE;
use super::questions::{Questions, Wait};
use super::rounds::Round;
use super::{ANEW, Identity, Service, instant, over, reason};
use crate::known::View;
use axum::http::{Request, header};
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use kube::{Client, Error};
use rules::job;
use rules::keys;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::verdict;
use rules::world::Objects;
use serde_json::{Value, json};
use std::collections::HashSet;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep, sleep_until, timeout};
use tracing::{debug, info, warn};

/// So many Jobs are being resumed at a time,
const AT_ONCE: usize = 8;
/// each for as long as this, at least: so a replica writes no more than 160 times a second.
const PACE: Duration = Duration::from_millis(50);
/// What was not resumed is tried again after this long.
const TRY_AGAIN: Duration = Duration::from_secs(2);

/// Is shown each Job as it arrives.
pub(crate) type Show = Arc<dyn Fn(&Value) + Send + Sync>;

/// Who resumes Jobs.
pub(crate) struct Suspended {
    service: Arc<Service>,
    client: Client,
    /// The Jobs that are held, and what for.
    held: Arc<Questions>,
    turns: Semaphore,
}

/// What becomes of a Job that was suspended here.
enum Next {
    /// It is held on.
    Held(Held),
    /// Its gate would not wait, and so its wait ends.
    Resume(End),
    /// Somebody else has resumed it: what is noted on it goes.
    Disown,
    /// It was resumed here, or is gone.
    Over,
}

/// How a wait ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct End {
    outcome: &'static str,
    /// The gates of its pods would begin to count anew, unless that is noted.
    timed_out: bool,
}

/// What a Job is held for.
struct Held {
    waiting: Waiting,
    since: Timestamp,
    round: Option<Arc<Round>>,
}

/// Who is to be shown all Jobs, and those of them that were suspended here.
pub(crate) fn suspended_jobs() -> (Show, UnboundedReceiver<Identity>) {
    let (held, seen) = unbounded_channel();
    let show = move |job: &Value| {
        let text = |field: &str| job["metadata"][field].as_str().unwrap_or_default();
        if job::was_held(job) {
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

impl Suspended {
    /// Resumes Jobs that `service` judges; who is held is shown in `held`.
    pub(crate) fn new(service: Arc<Service>, client: Client, held: Arc<Questions>) -> Self {
        let turns = Semaphore::new(AT_ONCE);
        Self {
            service,
            client,
            held,
            turns,
        }
    }

    /// Looks after each Job that is `seen` to have been suspended here, for as long as the process runs.
    pub(crate) async fn keep(self, mut seen: UnboundedReceiver<Identity>) {
        let (mut jobs, mut known) = (FuturesUnordered::new(), HashSet::new());
        loop {
            tokio::select! {
                biased;
                // Both arms are cancel-safe: what is not taken here comes again.
                Some(uid) = jobs.next(), if !jobs.is_empty() => drop(known.remove(&uid)),
                Some(job) = seen.recv() => {
                    if known.insert(job.uid.clone()) {
                        jobs.push(self.look_after(job));
                    }
                }
                else => pending().await,
            }
        }
    }

    /// Returns the UID of a Job when it is nobody's any more, or its user's.
    async fn look_after(&self, job: Identity) -> String {
        let held = self.service.known.held_jobs();
        held.add(&job.namespace, &job.pod);
        self.until_over(&job).await;
        held.remove(&job.namespace, &job.pod);
        job.uid
    }

    async fn until_over(&self, job: &Identity) {
        let (service, began) = (&self.service, Instant::now());
        let question = self.held.begin(job);
        loop {
            let turn = service.turns.take(&job.namespace).await;
            let (view, now) = (service.known.view(), service.clock.now());
            let settled = began.elapsed() >= SETTLE;
            let next = self.judge(job, &view, now, settled);
            drop(turn);
            let held = match next {
                Next::Held(held) => held,
                Next::Over => return,
                ended => {
                    self.end(job, &view, &ended).await;
                    continue;
                }
            };
            if let Some(question) = &question {
                question.waits(held.wait());
            }
            let next = [
                (!settled).then_some(began + SETTLE),
                held.waiting.again.and_then(|at| instant(at, now)),
                settled.then(|| self.tell(&held)).flatten(),
            ];
            let anew = Instant::now() + ANEW;
            let next = next.into_iter().flatten().fold(anew, Instant::min);
            // Nothing else is kept while the Job is held.
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

    /// What the gate of its pod would be told, and what that means for the Job.
    fn judge(&self, job: &Identity, view: &View, now: Timestamp, settled: bool) -> Next {
        let stored = match stored(job, view) {
            Lookup::Found(stored) if !job::was_held(&stored) => return Next::Over,
            Lookup::Found(stored) if !job::is_held(&stored) => return Next::Disown,
            // It is shown here before the store has it.
            Lookup::NotFound if settled => return Next::Over,
            other => other,
        };
        let answered = match (view.silent(), stored) {
            (Some(what), _) => unread(what, Unavailable::Stale),
            (None, Lookup::Found(stored)) => {
                let pod = job::pod_to_be(&stored);
                answer_of(&pod, &self.service.rounds, now, !settled)
            }
            (None, Lookup::NotFound) => {
                outcome(verdict::awaiting("sluice to see this Job"), None).into()
            }
            (None, Lookup::Unavailable(why)) => unread("the Jobs", why),
        };
        match answered.outcome {
            Outcome::Wait(waiting) => Next::Held(Held {
                waiting,
                since: answered.started.unwrap_or(now),
                round: answered.round,
            }),
            Outcome::Open(_, why) => Next::Resume(End {
                outcome: why.outcome(),
                timed_out: matches!(why, Opened::Cut(Cut::Timeout)),
            }),
            // Its gate says so.
            Outcome::Refuse(_, why) => Next::Resume(End {
                outcome: why.refusal(),
                timed_out: why == Cut::Timeout,
            }),
            Outcome::AnotherPod => Next::Over,
        }
    }

    /// Tells of a wait, and when it is to be told again.
    fn tell(&self, held: &Held) -> Option<Instant> {
        let above = held.round.as_ref().and_then(|round| round.above())?;
        let Waiting { answer, late, .. } = &held.waiting;
        self.service.recorder.held(above, answer, *late)
    }

    /// Ends the wait of a Job, unless that has changed since it was looked at; returns when that is seen here.
    async fn end(&self, job: &Identity, view: &View, next: &Next) {
        let turn = self.turns.acquire().await;
        let patch = match stored(job, view) {
            Lookup::Found(_) if view.has_changed() => None,
            Lookup::Found(_) => patch(job, next),
            Lookup::NotFound | Lookup::Unavailable(_) => None,
        };
        let Some(patch) = patch else {
            return;
        };
        let (namespace, name) = (&job.namespace, &job.pod);
        match (self.write(job, &patch).await, next) {
            (Ok(_), Next::Resume(End { outcome, .. })) => {
                info!(namespace, job = name, outcome, "Resumed");
            }
            (Ok(_), _) => info!(namespace, job = name, "Somebody else has resumed it"),
            // Another replica was faster, or the Job is gone.
            (Err(Error::Api(status)), _) if matches!(status.code, 404 | 409 | 422) => {
                debug!(%status, namespace, job = name, "Not resumed");
            }
            (Err(error), _) => warn!(%error, namespace, job = name, "Cannot resume"),
        }
        sleep(PACE).await;
        drop(turn);
        let _ = timeout(TRY_AGAIN, view.changed()).await;
    }

    async fn write(&self, job: &Identity, patch: &Value) -> Result<Value, Error> {
        let (namespace, name) = (&job.namespace, &job.pod);
        let url = format!("/apis/batch/v1/namespaces/{namespace}/jobs/{name}");
        let request = Request::patch(url)
            .header(header::CONTENT_TYPE, "application/json-patch+json")
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

/// The Job itself, and no other of its name.
fn stored(job: &Identity, view: &View) -> Lookup<Value> {
    let kind = Kind::Builtin(kinds::JOB);
    match view.object(&kind, Some(&job.namespace), &job.pod) {
        Lookup::Found(stored) if stored["metadata"]["uid"] != job.uid.as_str() => Lookup::NotFound,
        other => other,
    }
}

fn unread(what: &str, why: Unavailable) -> Answered {
    outcome(verdict::unread(what, why), None).into()
}

/// What ends the wait of this Job, and fails where another Job is there, or somebody was faster; `None` where it goes on.
fn patch(job: &Identity, next: &Next) -> Option<Value> {
    let note = format!(
        "/metadata/annotations/{}",
        keys::SUSPENDED.replace('/', "~1")
    );
    let (suspended, timed_out) = match next {
        Next::Resume(End { timed_out, .. }) => (true, *timed_out),
        Next::Disown => (false, false),
        Next::Held(_) | Next::Over => return None,
    };
    let mut operations = vec![
        json!({"op": "test", "path": "/metadata/uid", "value": job.uid}),
        json!({"op": "test", "path": note, "value": keys::GATED_VALUE}),
        json!({"op": "test", "path": "/spec/suspend", "value": suspended}),
    ];
    operations.push(if timed_out {
        json!({"op": "replace", "path": note, "value": keys::TIMED_OUT})
    } else {
        json!({"op": "remove", "path": note})
    });
    let resume = json!({"op": "replace", "path": "/spec/suspend", "value": false});
    operations.extend(suspended.then_some(resume));
    Some(operations.into())
}
