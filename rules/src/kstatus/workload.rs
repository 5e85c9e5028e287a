//! The rules of kstatus for workloads. Any writer of an object may set its counters, so their differences wrap, as in Go, and do not
//! overflow.

use super::field::{int, text};
use super::{Evaluation, Observed, generic};
use serde_json::Value;

/// The value of `progressDeadlineSeconds` by which the controller of Deployments means that there is no deadline.
const NO_DEADLINE: i64 = i32::MAX as i64;

fn spec(object: &Value, field: &str, default: i64) -> i64 {
    int(object, &["spec", field], default)
}

fn status(object: &Value, field: &str) -> i64 {
    int(object, &["status", field], 0)
}

/// In progress with the message `{label}: {have}/{want}` where `want` is more than `have`, else `None`.
fn fewer(want: i64, have: i64, reason: &str, label: &str) -> Option<Evaluation> {
    (want > have).then(|| Evaluation::in_progress(reason, format!("{label}: {have}/{want}")))
}

/// In progress while there are more pods than the workload asks for, else `None`.
fn extra(have: i64, want: i64) -> Option<Evaluation> {
    (have > want).then(|| {
        let left = have.wrapping_sub(want);
        Evaluation::in_progress("ExtraPods", format!("Pending termination: {left}"))
    })
}

pub(super) fn deployment(subject: &Observed<'_>) -> Evaluation {
    let object = subject.object;
    let mut progressing = spec(object, "progressDeadlineSeconds", NO_DEADLINE) == NO_DEADLINE;
    let mut available = false;
    for condition in subject.conditions.iter() {
        match condition.kind {
            // The condition's status is not looked at.
            "Progressing" if condition.reason == "ProgressDeadlineExceeded" => {
                return Evaluation {
                    detail: Some(condition.message.to_owned()),
                    ..Evaluation::failed(condition.reason, "Progress deadline exceeded")
                };
            }
            "Progressing" => {
                progressing |=
                    condition.status == "True" && condition.reason == "NewReplicaSetAvailable";
            }
            "Available" => available |= condition.status == "True",
            _ => {}
        }
    }

    let want = spec(object, "replicas", 1);
    let have = status(object, "replicas");
    let updated = status(object, "updatedReplicas");
    fewer(want, have, "LessReplicas", "Replicas")
        .or_else(|| fewer(want, updated, "LessUpdated", "Updated"))
        .or_else(|| extra(have, want))
        .or_else(|| {
            let available = status(object, "availableReplicas");
            fewer(updated, available, "LessAvailable", "Available")
        })
        .or_else(|| fewer(want, status(object, "readyReplicas"), "LessReady", "Ready"))
        .unwrap_or_else(|| match (progressing, available) {
            (false, _) => {
                Evaluation::in_progress("ReplicaSetNotAvailable", "ReplicaSet not Available")
            }
            (true, false) => {
                Evaluation::in_progress("DeploymentNotAvailable", "Deployment not Available")
            }
            (true, true) => {
                Evaluation::current(format!("Deployment is available. Replicas: {have}"))
            }
        })
}

pub(super) fn stateful_set(subject: &Observed<'_>) -> Evaluation {
    let object = subject.object;
    // Before any look at the status: kstatus leaves such a set to its user.
    if text(object, &["spec", "updateStrategy", "type"], "") == "OnDelete" {
        return Evaluation::current("StatefulSet is using the ondelete update strategy");
    }
    let want = spec(object, "replicas", 1);
    let have = status(object, "replicas");
    fewer(want, have, "LessReplicas", "Replicas")
        .or_else(|| fewer(want, status(object, "readyReplicas"), "LessReady", "Ready"))
        .or_else(|| extra(have, want))
        .unwrap_or_else(|| stateful_set_revisions(object, want, have))
}

fn stateful_set_revisions(object: &Value, want: i64, have: i64) -> Evaluation {
    let partition_path = ["spec", "updateStrategy", "rollingUpdate", "partition"];
    let partition = int(object, &partition_path, -1);
    if partition != -1 {
        let updated = status(object, "updatedReplicas");
        // Negative where the partition is above the number of replicas, so that the step never holds.
        let due = want.wrapping_sub(partition);
        return fewer(due, updated, "PartitionRollout", "updated").unwrap_or_else(|| {
            Evaluation::current(format!("Partition rollout complete. updated: {updated}"))
        });
    }
    let current = status(object, "currentReplicas");
    if let Some(evaluation) = fewer(want, current, "LessCurrent", "current") {
        return evaluation;
    }
    let revision = |field| text(object, &["status", field], "");
    if revision("currentRevision") == revision("updateRevision") {
        Evaluation::current(format!(
            "All replicas scheduled as expected. Replicas: {have}"
        ))
    } else {
        Evaluation::in_progress(
            "RevisionMismatch",
            "Waiting for updated revision to match current",
        )
    }
}

pub(super) fn daemon_set(subject: &Observed<'_>) -> Evaluation {
    let object = subject.object;
    if let Some(evaluation) = generic::generation_set(object) {
        return evaluation;
    }
    let want = int(object, &["status", "desiredNumberScheduled"], -1);
    if want == -1 {
        return Evaluation::in_progress(
            "NoDesiredNumber",
            "Missing .status.desiredNumberScheduled",
        );
    }
    [
        ("currentNumberScheduled", "LessCurrent", "Current"),
        ("updatedNumberScheduled", "LessUpdated", "Updated"),
        ("numberAvailable", "LessAvailable", "Available"),
        ("numberReady", "LessReady", "Ready"),
    ]
    .into_iter()
    .find_map(|(field, reason, label)| fewer(want, status(object, field), reason, label))
    .unwrap_or_else(|| {
        Evaluation::current(format!(
            "All replicas scheduled as expected. Replicas: {want}"
        ))
    })
}

pub(super) fn replica_set(subject: &Observed<'_>) -> Evaluation {
    let object = subject.object;
    if subject.conditions.is_true("ReplicaFailure") {
        return Evaluation::in_progress("ReplicaFailure", "Replica Failure condition. Check Pods");
    }
    let want = spec(object, "replicas", 1);
    let have = status(object, "replicas");
    [
        ("fullyLabeledReplicas", "LessLabelled", "Labelled"),
        ("availableReplicas", "LessAvailable", "Available"),
        ("readyReplicas", "LessReady", "Ready"),
    ]
    .into_iter()
    .find_map(|(field, reason, label)| fewer(want, status(object, field), reason, label))
    .or_else(|| extra(have, want))
    .unwrap_or_else(|| Evaluation::current(format!("ReplicaSet is available. Replicas: {have}")))
}
