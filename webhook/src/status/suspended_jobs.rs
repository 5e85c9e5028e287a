//! Suspended Jobs: Jobs that admission has created suspended, until the dependencies of their pods are satisfied.
//!
//! A suspended Job is judged as the pod that it is to make would be. Then a patch resumes the Job, and changes nothing else of it. The
//! gate of its pod then asks again, and says why it refuses where it does. Every replica does so: the patch tests the fields that it
//! changes, so the second replica changes nothing. A Job that its user resumes belongs to the user from then on.

use super::held_places::{HeldPlace, HeldPlaces};
use super::hold_writer::Written;
use super::release::{self, Held, Hold, HoldEnd, HoldState, Releaser, Show, TurnEnd};
use super::service::Service;
use super::wait::Look;
use super::wait_registry::Waiter;
use crate::event::Regarding;
use crate::known::{Known, Store, View};
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

/// The end of the hold of a Job that its user or a controller has resumed: a patch removes our note from the Job, and changes nothing else.
const RESUMED_BY_ANOTHER: HoldEnd = HoldEnd {
    outcome: "ResumedByAnother",
    timed_out: false,
};

/// Resumes Jobs that admission has created suspended, once the gates of their pods would wait no longer.
pub(crate) struct JobResumer(Releaser);

/// Returns a function to call with each Job that a watch shows, and the channel on which that function passes on the Jobs that admission has
/// created suspended.
pub(crate) fn suspended_jobs() -> (Show, UnboundedReceiver<Waiter>) {
    release::shown(job::was_held)
}

impl JobResumer {
    /// Makes a resumer of the Jobs that `service` judges, which take their turns in `places`.
    pub(crate) fn new(service: Arc<Service>, client: Client, places: Arc<HeldPlaces>) -> Self {
        Self(Releaser::new(service, client, places))
    }

    /// Looks after each suspended Job that `seen` brings, until it is resumed or gone. Never returns.
    pub(crate) async fn keep(self, seen: UnboundedReceiver<Waiter>) {
        release::keep(seen, &self.0, &self, |job| self.look_after(job)).await;
    }

    /// Looks after a suspended Job until sluice or its user has resumed it, it is gone, or another Job of its namespace needs the place. Notes the
    /// Job as a suspended one in the meantime.
    async fn look_after(&self, place: HeldPlace) -> TurnEnd {
        let job = place.held.waiter.clone();
        let suspended = self.0.service.known.suspended_jobs();
        suspended.add(&job.namespace, &job.name);
        let end = self.0.until_released(place, self).await;
        suspended.remove(&job.namespace, &job.name);
        end
    }
}

impl Hold for JobResumer {
    const ALL: &str = "the Jobs";

    fn store(&self, known: &Known) -> Option<Arc<Store>> {
        known.watched(&Kind::Builtin(kinds::JOB))
    }

    fn stored(&self, job: &Waiter, view: &View) -> Lookup<Value> {
        view.object(&Kind::Builtin(kinds::JOB), Some(&job.namespace), &job.name)
    }

    fn state(&self, job: Value) -> HoldState {
        if job::is_held(&job) {
            HoldState::Held(job::pod_to_be(&job))
        } else if job::was_held(&job) {
            HoldState::Ended(RESUMED_BY_ANOTHER)
        } else {
            HoldState::Released
        }
    }

    fn tell(&self, look: &Look<'_>, held: &Held, _: bool) -> Option<Instant> {
        let above = held.round.as_ref().and_then(|round| round.above())?;
        let verdict = &held.verdict;
        let tell = &look.service.tell;
        let event = || tell.job_waiting(above, &verdict.answer, verdict.why.is_late());
        look.settled.then(event).flatten()
    }

    fn object(&self, job: &Waiter) -> Regarding {
        job.regarding("batch/v1", "Job")
    }

    fn url(&self, job: &Waiter) -> String {
        let (namespace, name) = (&job.namespace, &job.name);
        format!("/apis/batch/v1/namespaces/{namespace}/jobs/{name}")
    }

    fn patch(&self, job: &Value, end: HoldEnd) -> Option<Value> {
        let change = match end {
            RESUMED_BY_ANOTHER => hold::disown(job),
            HoldEnd { timed_out, .. } if timed_out => hold::resume(job, Note::TimedOut),
            HoldEnd { .. } => hold::resume(job, Note::Gone),
        };
        Some(change.into())
    }

    fn log(&self, job: &Waiter, end: HoldEnd, written: Written) {
        let (namespace, job) = (&job.namespace, &job.name);
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
