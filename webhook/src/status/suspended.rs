//! Jobs that admission has created suspended, until what their pods would wait for is satisfied.
//!
//! Each is judged as the pod that it has yet to make would be. Then it is resumed, and nothing else of it changes; the gate of its pod
//! asks again, and says why it refuses where it does. Every replica does so: what it writes tests what it changes, so whoever comes
//! second changes nothing. A Job that somebody else resumes is his from then on.

use super::answer::Waiting;
use super::keeper::{self, End, Held, Keeper, Kept, News, Show, Stands, Written};
use super::questions::Questions;
use super::{Identity, Service};
use crate::known::View;
use kube::Client;
use rules::hold::{self, Note};
use rules::job;
use rules::kinds::{self, Kind};
use rules::lookup::Lookup;
use rules::world::Objects;
use serde_json::Value;
use std::sync::Arc;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tracing::{debug, info, warn};

/// It is his from then on: what is noted on it goes.
const RESUMED_BY_ANOTHER: End = End {
    outcome: "ResumedByAnother",
    timed_out: false,
};

/// Who resumes Jobs.
pub(crate) struct Suspended(Keeper);

/// Who is to be shown all Jobs, and those of them that were suspended here.
pub(crate) fn suspended_jobs() -> (Show, UnboundedReceiver<Identity>) {
    keeper::shown(job::was_held)
}

impl Suspended {
    /// Resumes Jobs that `service` judges; who is held is shown in `held`.
    pub(crate) fn new(service: Arc<Service>, client: Client, held: Arc<Questions>) -> Self {
        Self(Keeper::new(service, client, held))
    }

    /// Looks after each Job that is `seen` to have been suspended here, for as long as the process runs.
    pub(crate) async fn keep(self, seen: UnboundedReceiver<Identity>) {
        keeper::keep(seen, |job| self.look_after(job)).await;
    }

    /// Returns the UID of a Job when it is nobody's any more, or its user's.
    async fn look_after(&self, job: Identity) -> String {
        let held = self.0.service.known.held_jobs();
        held.add(&job.namespace, &job.pod);
        self.0.until_over(&job, self).await;
        held.remove(&job.namespace, &job.pod);
        job.uid
    }
}

impl Kept for Suspended {
    const ALL: &str = "the Jobs";

    fn stored(&self, job: &Identity, view: &View) -> Lookup<Value> {
        view.object(&Kind::Builtin(kinds::JOB), Some(&job.namespace), &job.pod)
    }

    fn stands(&self, job: Value) -> Stands {
        if job::is_held(&job) {
            Stands::Held(job::pod_to_be(&job))
        } else if job::was_held(&job) {
            Stands::Ended(RESUMED_BY_ANOTHER)
        } else {
            Stands::Over
        }
    }

    fn tell(&self, _: &Identity, held: &Held, news: News) -> Option<Instant> {
        let above = held.round.as_ref().and_then(|round| round.above())?;
        let Waiting { answer, late, .. } = &held.waiting;
        let tell = || self.0.service.recorder.held(above, answer, *late);
        news.settled.then(tell).flatten()
    }

    fn url(&self, job: &Identity) -> String {
        let (namespace, name) = (&job.namespace, &job.pod);
        format!("/apis/batch/v1/namespaces/{namespace}/jobs/{name}")
    }

    fn change(&self, job: &Value, end: End) -> Option<Value> {
        let change = match end {
            RESUMED_BY_ANOTHER => hold::disown(job),
            End { timed_out, .. } if timed_out => hold::resume(job, Note::TimedOut),
            End { .. } => hold::resume(job, Note::Gone),
        };
        Some(change.into())
    }

    fn log(&self, job: &Identity, end: End, written: Written) {
        let (namespace, job) = (&job.namespace, &job.pod);
        match written {
            Written::Done => info!(namespace, job, outcome = end.outcome, "Resumed"),
            Written::TooLate(error) => debug!(%error, namespace, job, "Not resumed"),
            Written::Failed(error) => {
                warn!(%error, namespace, job, "Cannot resume; trying again. The chart's value holds.enabled grants it; no policy may deny it");
            }
            Written::FailsStill(error) => debug!(%error, namespace, job, "Cannot resume yet"),
        }
    }
}
