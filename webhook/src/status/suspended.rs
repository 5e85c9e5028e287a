//! Jobs that admission has created suspended, until what their pods would wait for is satisfied.
//!
//! Each is judged as the pod that it has yet to make would be, through a view, so waiting costs the API server nothing. Then it is resumed,
//! and nothing else of it changes; the gate of its pod asks again, and says why it refuses where it does. Every replica does so: what it
//! writes tests what it changes, so whoever comes second changes nothing. A Job that somebody else resumes is his from then on.

use super::answer::{Answered, Cut, Opened, Outcome, Waiting, answer_of, outcome};
use super::events::SETTLE;
use super::keeper::{self, Held, Show, Writer};
use super::questions::Questions;
use super::{Identity, Service, instant};
use crate::known::View;
use jiff::Timestamp;
use kube::{Client, Error};
use rules::job;
use rules::keys;
use rules::kinds::{self, Kind};
use rules::lookup::{Lookup, Unavailable};
use rules::verdict;
use rules::world::Objects;
use serde_json::{Value, json};
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tracing::{debug, info, warn};

/// Who resumes Jobs.
pub(crate) struct Suspended {
    service: Arc<Service>,
    /// The Jobs that are held, and what for.
    held: Arc<Questions>,
    writer: Writer,
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

/// Who is to be shown all Jobs, and those of them that were suspended here.
pub(crate) fn suspended_jobs() -> (Show, UnboundedReceiver<Identity>) {
    keeper::shown(job::was_held)
}

impl Suspended {
    /// Resumes Jobs that `service` judges; who is held is shown in `held`.
    pub(crate) fn new(service: Arc<Service>, client: Client, held: Arc<Questions>) -> Self {
        let writer = Writer::new(client);
        Self {
            service,
            held,
            writer,
        }
    }

    /// Looks after each Job that is `seen` to have been suspended here, for as long as the process runs.
    pub(crate) async fn keep(self, seen: UnboundedReceiver<Identity>) {
        keeper::keep(seen, |job| self.look_after(job)).await;
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
            held.rest(&view, next.into_iter().flatten()).await;
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
        let (namespace, name) = (&job.namespace, &job.pod);
        let url = format!("/apis/batch/v1/namespaces/{namespace}/jobs/{name}");
        let change = || match stored(job, view) {
            Lookup::Found(_) if !view.has_changed() => patch(job, next),
            _ => None,
        };
        let told = |written| match (written, next) {
            (Ok(_), Next::Resume(End { outcome, .. })) => {
                info!(namespace, job = name, outcome, "Resumed");
            }
            (Ok(_), _) => info!(namespace, job = name, "Somebody else has resumed it"),
            // Another replica was faster, or the Job is gone.
            (Err(Error::Api(status)), _) if matches!(status.code, 404 | 409 | 422) => {
                debug!(%status, namespace, job = name, "Not resumed");
            }
            (Err(error), _) => warn!(%error, namespace, job = name, "Cannot resume"),
        };
        self.writer.write(view, &url, change, told).await;
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
