//! Tells the outcome of each look at a waiter: by Events, conditions of pods, metrics and the log. Notes the revisions that have passed
//! in the memory.

mod conditions;
mod events;
mod wait_metrics;

pub(crate) use conditions::PodConditions;
pub(crate) use events::Recorder;
pub(super) use events::{GatedPod, SETTLE, Uncreated};
pub(crate) use wait_metrics::WaitMetrics;

use super::rounds::Above;
use super::unidentified::Unidentified;
use super::wait_registry::Waiter;
use crate::clock::Clock;
use crate::event::Regarding;
use crate::known::memory::Memory;
use crate::metrics::StatusMetrics;
use jiff::Timestamp;
use rules::dependent::Dependent;
use rules::judged::Reason;
use rules::verdict::{Verdict, Why};
use std::sync::Arc;
use tokio::time::Instant;
use tracing::{debug, info};
use wire::{Answer, said};

/// The target of the log lines about waits, as `docs/metrics.md` shows it.
const TARGET: &str = "webhook::status";

/// Tells the outcome of each look at a waiter.
pub(crate) struct Teller {
    /// Writes the Kubernetes Events about waits.
    pub recorder: Recorder,
    /// Writes the condition of pods; `None` where the administrator does not want conditions.
    pub conditions: Option<Arc<PodConditions>>,
    /// Counts the requests of gates, the answers and the waits.
    pub metrics: Arc<StatusMetrics>,
    /// Remembers the revisions whose gates have opened because their dependencies were satisfied.
    pub memory: Arc<Memory>,
    /// The clock that tells the time of the cluster.
    pub clock: Clock,
}

impl Teller {
    /// Queues the condition of a pod that waits, with this reason, where the administrator wants conditions. `since`: the start of the wait.
    pub(super) fn waits(&self, waiter: &Waiter, reason: &str, answer: &Answer, since: Timestamp) {
        if let Some(conditions) = &self.conditions {
            conditions.waits(waiter, reason, said::unsatisfied(answer), since);
        }
    }

    /// Writes an Event about a held `object` that waits in the queue for a place, because the held objects of its namespace fill `share` bytes, and
    /// the condition if it is a pod. `since`: the time at which the object was first seen.
    pub(super) fn queues(
        &self,
        object: Regarding,
        waiter: &Waiter,
        since: Timestamp,
        share: usize,
    ) {
        let reason = Reason::OverBudget.label();
        let note = format!(
            "its turn: the held pods and suspended Jobs of this namespace fill its share of sluice's memory, {} KiB ({reason})",
            share / 1024
        );
        let Verdict { answer, .. } = Verdict::awaiting(&note);
        if object.kind == "Pod" {
            self.waits(waiter, reason, &answer, since);
        }
        self.recorder.queues(object, &answer);
    }

    /// Writes an Event about a pod that goes on waiting, and one about the workload above it, where they are due. `late`: its timeout has passed.
    /// Returns the moment at which the next Event is due; `None` where none is due by time alone.
    pub(super) fn waiting(
        &self,
        subject: &GatedPod<'_>,
        answer: &Answer,
        late: bool,
    ) -> Option<Instant> {
        self.recorder.waiting(subject, answer, late)
    }

    /// Writes an Event that a suspended Job waits, where one is due, about `job`: the topmost workload, which is the CronJob of the Job if it has
    /// one. `late`: its timeout has passed. Returns the moment at which the next Event is due; `None` where none is due by time alone.
    pub(super) fn job_waiting(&self, job: &Above, answer: &Answer, late: bool) -> Option<Instant> {
        self.recorder.job_waiting(job, answer, late)
    }

    /// Forgets the Events about an earlier wait for the creation with this key.
    pub(super) fn creation_begins(&self, key: &str) {
        self.recorder.creation_begins(key);
    }

    /// Writes an Event about an object whose creation is held, where one is due. `late`: its timeout has passed. Returns the moment at which the next
    /// Event is due; `None` where one is written now.
    pub(super) fn creation_waiting(
        &self,
        subject: &Uncreated,
        answer: &Answer,
        late: bool,
    ) -> Option<Instant> {
        self.recorder.creation_waiting(subject, answer, late)
    }

    /// Logs that the wait of a creation has ended: the object may be created, or is refused. An Event tells it too, but for a satisfied list only if
    /// an Event has told of the wait.
    pub(super) fn creation_ended(&self, subject: &Uncreated, verdict: &Verdict) {
        let outcome = verdict.why.label();
        let namespace = &subject.object.namespace;
        info!(target: TARGET, namespace, creation = subject.key, outcome, "Hold is over");
        self.recorder.creation_ended(subject, verdict);
    }

    /// Tells that a gate opens: counts and logs the end of the wait, and queues the condition of the pod and, where it is worth one, an Event. If
    /// `dependent` has a list and all of it is satisfied, its revision counts as passed from now on. `since`: the start of the wait; `None` where the
    /// pod has not waited.
    pub(super) fn opened(
        &self,
        subject: &GatedPod<'_>,
        verdict: &Verdict,
        dependent: Option<&Dependent>,
        since: Option<Timestamp>,
    ) {
        let Verdict { answer, why, .. } = verdict;
        self.ends(subject.pod, why.label(), since);
        if let Some(conditions) = &self.conditions {
            conditions.released(subject.pod, why.label(), self.clock.now());
        }
        match why {
            Why::Satisfied | Why::Absent | Why::Passed => {
                let waited = since.map(|started| self.clock.now().duration_since(started));
                self.recorder
                    .released(subject, answer, waited.unwrap_or_default());
            }
            Why::Unlisted => self.recorder.unlisted(subject, answer),
            // A new reason to open has to say here how it is told.
            Why::Skipped
            | Why::GivenUp
            | Why::Proceeded(_)
            | Why::EntryTimedOut
            | Why::TimedOut(_)
            | Why::DependencyFailed(_)
            | Why::Unmet
            | Why::Unread
            | Why::Late(_)
            | Why::EntryLate => self.cut(subject, verdict),
        }
        if *why == Why::Absent {
            self.recorder.absent(subject, answer);
        }
        // A marker without a list says nothing about the revision: a list may yet be added to its owner.
        if let Some(dependent) = dependent
            && *why == Why::Satisfied
            && !answer.dependencies.is_empty()
        {
            self.memory.pass(dependent, self.clock.now());
        }
    }

    /// Tells, by metrics, the log and Events, that a gate is refused, so the gate's container fails. `since`: the start of the wait; `None` where the
    /// gate has not waited, as after a restart of its container: then no end of a wait is counted or logged.
    pub(super) fn refused(
        &self,
        subject: &GatedPod<'_>,
        verdict: &Verdict,
        since: Option<Timestamp>,
    ) {
        // The kubelet restarts a refused gate, and the gate is refused again at once: its wait has ended before.
        if since.is_some() {
            self.ends(subject.pod, verdict.why.label(), since);
        }
        self.cut(subject, verdict);
    }

    /// Forgets the condition that a pod waits, if it is not written yet, because the pod is no longer held.
    pub(super) fn let_go(&self, waiter: &Waiter) {
        if let Some(conditions) = &self.conditions {
            conditions.was_let_go(waiter);
        }
    }

    /// Counts and logs a request that was refused before it was answered, by the reason.
    pub(super) fn rejected(&self, refusal: &Unidentified) {
        debug!(target: TARGET, %refusal, "Refused");
        self.metrics.refused(refusal.label());
    }

    /// Counts the end of a wait, and logs it. `since`: the start of the wait; `None` where the pod has not waited, which counts as 0 seconds.
    fn ends(&self, waiter: &Waiter, outcome: &'static str, since: Option<Timestamp>) {
        let (namespace, pod) = (&waiter.namespace, &waiter.name);
        let lasted = since.map(|since| self.clock.now().duration_since(since));
        let seconds = lasted.map(|lasted| lasted.as_secs_f64().max(0.0));
        match seconds {
            // Most pods have nothing to wait for: the log is not about them.
            None => debug!(target: TARGET, namespace, pod, outcome, "No wait"),
            Some(waited_seconds) => {
                info!(target: TARGET, namespace, pod, outcome, waited_seconds, "Wait is over");
            }
        }
        self.metrics.waited(outcome, seconds.unwrap_or_default());
    }

    fn cut(&self, subject: &GatedPod<'_>, verdict: &Verdict) {
        if let Some(cut) = verdict.why.cut() {
            self.metrics.cut(cut, verdict.why.decision());
        }
        self.recorder.cut(subject, verdict);
    }
}

/// Logs that the gate of a pod begins to wait, with the unsatisfied dependency that comes first by name, the number of the others, and the note of
/// the answer.
pub(super) fn begins(waiter: &Waiter, answer: &Answer) {
    let waits_for = said::unsatisfied(answer);
    let (namespace, pod) = (&waiter.namespace, &waiter.name);
    info!(target: TARGET, namespace, pod, waits_for, "Wait begins");
}
