//! Judges whether a Deployment, a `StatefulSet`, a `DaemonSet` or a `ReplicationController` is ready. (A `ReplicaSet` is judged by kstatus alone.)

use super::{Subject, from_kstatus, satisfied, waiting};
use crate::judged::{Judged, Reason};
use crate::kstatus::{Evaluation, Status, flag, int, text};
use crate::path::get;
use serde_json::Value;

fn status(object: &Value, field: &str) -> i64 {
    int(object, &["status", field], 0)
}

fn is_on_delete(object: &Value) -> bool {
    text(object, &["spec", "updateStrategy", "type"], "") == "OnDelete"
}

/// In progress with the message `{label}: {have}/{want}` where `want` is more than `have`, else `None`.
fn fewer(want: i64, have: i64, label: &str) -> Option<Judged> {
    (want > have).then(|| waiting(Reason::InProgress, format!("{label}: {have}/{want}")))
}

fn extra(have: i64, want: i64) -> Option<Judged> {
    (have > want).then(|| {
        let left = have.wrapping_sub(want);
        waiting(Reason::InProgress, format!("Pending termination: {left}"))
    })
}

/// Judges a Deployment by kstatus. A paused one makes no progress by itself, so the message tells of the pause.
pub(super) fn deployment(subject: Subject<'_>) -> Judged {
    let paused = flag(subject.object, &["spec", "paused"]);
    let mut judged = from_kstatus(subject.evaluation);
    if paused && !judged.satisfied {
        judged.message.push_str(", and the Deployment is paused");
    }
    judged
}

/// Judges a Deployment for the state `available`, by condition `Available`: neither the end of the old pods nor a rollout under way holds a
/// dependent back. Without that condition kstatus never says `Current`, and its message names the missing part.
pub(super) fn available(subject: Subject<'_>) -> Judged {
    if subject.conditions.is_true("Available") {
        return satisfied("Deployment is available");
    }
    deployment(subject)
}

/// Judges a StatefulSet by kstatus, and then by three facts that kstatus ignores: under strategy `OnDelete` kstatus is content
/// with no replica at all, it counts a partition from ordinal 0 even where the ordinals start elsewhere, and it takes a ready pod
/// for available.
pub(super) fn stateful_set(subject: Subject<'_>) -> Judged {
    let object = subject.object;
    if subject.evaluation.status != Status::Current {
        return from_kstatus(subject.evaluation);
    }
    let want = int(object, &["spec", "replicas"], 1);
    let unavailable = unavailable(object, want);
    if !is_on_delete(object) {
        let updated = status(object, "updatedReplicas");
        return fewer(due(object, want), updated, "updated")
            .or(unavailable)
            .unwrap_or_else(|| from_kstatus(subject.evaluation));
    }
    let have = status(object, "replicas");
    let ready = status(object, "readyReplicas");
    fewer(want, have, "Replicas")
        .or_else(|| fewer(want, ready, "Ready"))
        .or_else(|| extra(have, want))
        .or(unavailable)
        .unwrap_or_else(|| satisfied(format!("All replicas are ready. Replicas: {have}")))
}

/// How many of `want` pods a partition lets be updated: those whose ordinal is not below it. Without a partition kstatus compares
/// the revisions, so none is due here.
fn due(object: &Value, want: i64) -> i64 {
    let path = ["spec", "updateStrategy", "rollingUpdate", "partition"];
    if get(object, &path).is_none() {
        return 0;
    }
    let start = int(object, &["spec", "ordinals", "start"], 0);
    let below = int(object, &path, 0).saturating_sub(start).max(0);
    want.saturating_sub(below)
}

/// In progress where `spec.minReadySeconds` asks that a pod be ready for a while before it is available, and fewer than `want` pods are available;
/// else `None`.
fn unavailable(object: &Value, want: i64) -> Option<Judged> {
    let stands = int(object, &["spec", "minReadySeconds"], 0) > 0;
    let available = || status(object, "availableReplicas");
    stands
        .then(|| fewer(want, available(), "Available"))
        .flatten()
}

/// Judges a DaemonSet by kstatus, but with strategy `OnDelete` not every pod needs the new revision.
pub(super) fn daemon_set(subject: Subject<'_>) -> Judged {
    let object = subject.object;
    let Evaluation {
        status: word,
        reason,
        ..
    } = &subject.evaluation;
    if *word == Status::InProgress && reason == "LessUpdated" && is_on_delete(object) {
        let want = status(object, "desiredNumberScheduled");
        return fewer(want, status(object, "numberAvailable"), "Available")
            .or_else(|| fewer(want, status(object, "numberReady"), "Ready"))
            .unwrap_or_else(|| satisfied(format!("All replicas are ready. Replicas: {want}")));
    }
    let nobody = get(object, &["status", "desiredNumberScheduled"]) == Some(&Value::from(0));
    match from_kstatus(subject.evaluation) {
        judged if judged.satisfied && nobody => satisfied("0 nodes match"),
        judged => judged,
    }
}

/// Judges a ReplicationController, for which kstatus has no rule, as kstatus judges a ReplicaSet, but without the count of labelled replicas.
pub(super) fn replication_controller(subject: &Subject<'_>) -> Judged {
    let object = subject.object;
    if get(object, &["status", "observedGeneration"]).is_none() {
        return waiting(Reason::NotObserved, Reason::NotObserved.sentence());
    }
    if let Some(condition) = subject.conditions.find("ReplicaFailure", "True") {
        return waiting(
            Reason::InProgress,
            format!("Pods cannot be created: {}", condition.message),
        );
    }
    let want = int(object, &["spec", "replicas"], 1);
    let have = status(object, "replicas");
    fewer(want, status(object, "readyReplicas"), "Ready")
        .or_else(|| extra(have, want))
        .or_else(|| unavailable(object, want))
        .unwrap_or_else(|| satisfied(format!("All replicas are ready. Replicas: {have}")))
}
