//! Conditions whose meaning their type tells.
//!
//! A type is read word by word (`DaemonServiceHealthy` ends in `healthy`, `FailedCreatePod` contains `failed`), since
//! kinds make their own compounds of a small vocabulary. `Progressing` is no part of it: a Deployment that is done
//! keeps it `True`, an operator that is done sets it `False`. Nor is `Running`, which a thing that has completed sets
//! `False`, nor `Upgradeable`, `Paused` and the like, which tell nothing of health. Two families of operators document
//! what they mean by them, and are known by what else they write: those of OpenShift, who report `Available`,
//! `Progressing` and `Degraded` together, and the Ansible operators, whose `Running` has the reason `Running` while
//! a playbook runs and `Successful` after it.

use super::Hindrance;
use super::words;
use crate::kstatus::{Condition, Conditions, int};
use crate::path::get;
use serde_json::Value;

/// `True` in the end: the last word of the type, or the last of [`PHRASES`].
const POSITIVE: [&str; 45] = [
    "ready",
    "available",
    "established",
    "accepted",
    "programmed",
    "synced",
    "healthy",
    "succeeded",
    "successful",
    "deployed",
    "reconciled",
    "installed",
    "initialized",
    "provisioned",
    "complete",
    "completed",
    "valid",
    "bound",
    "resolved",
    "issued",
    "admitted",
    "discoverable",
    "applied",
    "compliant",
    "registered",
    "validated",
    "enforced",
    "synchronized",
    "connected",
    "joined",
    "launched",
    "success",
    "imported",
    "discovered",
    "assigned",
    "attached",
    "reachable",
    "downloaded",
    "configured",
    "satisfied",
    "adopted",
    "published",
    "successfully",
    "loaded",
    "approved",
];

/// `True` in the end, of several words: `ResourcesUpToDate`.
const PHRASES: [&str; 2] = ["UpToDate", "ResolvedRefs"];

/// `True` is trouble: any word of the type.
const NEGATIVE: [&str; 20] = [
    "degraded",
    "failed",
    "failure",
    "failing",
    "error",
    "errors",
    "errored",
    "invalid",
    "stalled",
    "unhealthy",
    "unavailable",
    "rejected",
    "conflicted",
    "irreconcilable",
    "blocked",
    "revoked",
    "conflict",
    "misconfigured",
    "halted",
    "bad",
];

/// `True` while something is being done: the whole type. A participle in a compound may be the name of a feature.
const BUSY: [&str; 13] = [
    "updating",
    "upgrading",
    "installing",
    "creating",
    "provisioning",
    "deploying",
    "pending",
    "initializing",
    "restarting",
    "scaling",
    "deleting",
    "terminating",
    "inprogress",
];

/// `True` in the end, where it is the whole type: in a compound it may be a step, or what nobody wishes for (`StormActive`).
const WHOLE: [&str; 3] = ["Active", "Serving", "Scheduled"];

/// `True` of what completes while it has not: it has not ended with any of these.
const UNDER_WAY: [&str; 8] = [
    "Active",
    "Created",
    "Executing",
    "Initialized",
    "Processing",
    "Progressing",
    "Running",
    "Started",
];

/// What is over, which does not tell how it went: there the reason has to be read too.
const OVER: [&str; 4] = ["complete", "completed", "succeeded", "finished"];

/// What is over and went well.
const DONE: [&str; 3] = ["success", "successful", "ready"];

/// Whether the latest spec was taken over: these contradict even `Ready`, which then tells of the spec before.
pub(in crate::profile) const OF_THE_SPEC: [&str; 3] = ["Synced", "Reconciled", "Accepted"];

/// What comes true once, and is not looked at again for a later spec: of Crunchy's PostgresCluster, whose data was restored or backed up
/// by hand.
const ONCE: [&str; 2] = [
    "PostgresDataInitialized",
    "PGBackRestManualBackupSuccessful",
];

/// The first condition of a known type that tells of an older generation.
pub(super) fn outdated(object: &Value) -> Option<Hindrance> {
    let generation = get(object, &["metadata", "generation"]).and_then(Value::as_i64);
    outdated_of(get(object, &["status", "conditions"]), generation)
}

/// The same of any list of conditions.
pub(super) fn outdated_of(
    conditions: Option<&Value>,
    generation: Option<i64>,
) -> Option<Hindrance> {
    let (list, generation) = (conditions?.as_array()?, generation?);
    let summed_up = list.iter().any(|condition| {
        condition["type"] == "Ready"
            && condition["status"] == "True"
            && int(condition, &["observedGeneration"], 0) >= generation
    });
    // Some write a condition when what it is about happens, and not again for a later spec: who sums up that one has looked at it.
    let counts = |kind: &str| {
        if summed_up {
            OF_THE_SPEC.contains(&kind)
        } else {
            is_positive(kind) && !ONCE.contains(&kind)
        }
    };
    list.iter().find_map(|condition| {
        let kind = condition.get("type")?.as_str()?;
        let observed = int(condition, &["observedGeneration"], generation);
        (observed < generation && counts(kind)).then(|| {
            Hindrance::Stale(format!(
                "condition {kind} is of generation {observed}, the object of {generation}"
            ))
        })
    })
}

/// The spec was refused, or is not known to be applied.
pub(super) fn unapplied(conditions: Conditions<'_>) -> Option<Hindrance> {
    conditions
        .iter()
        .find(|condition| OF_THE_SPEC.contains(&condition.kind) && condition.status == "False")
        .map(|condition| Hindrance::Busy(describe(&condition)))
}

/// The worst that a condition of a known type reports.
pub(super) fn known(conditions: Conditions<'_>) -> Option<Hindrance> {
    let reports = |kind: &str| conditions.iter().any(|it| it.kind == kind);
    let of_openshift = reports("Available") && reports("Degraded");
    let mut busy = None;
    for condition in conditions.iter() {
        let (kind, status) = (condition.kind, condition.status);
        let message = || describe(&condition);
        let bad_reason = words::is_bad(condition.reason);
        let bad = match status {
            "True" => is_negative(kind) || (ends_in(kind, &OVER) && bad_reason),
            // Whatever the type is about, it did not come true, and the reason says why.
            "False" => bad_reason && !is_negative(kind) && kind != "Upgradeable",
            _ => false,
        };
        if bad {
            return Some(Hindrance::Bad(message()));
        }
        let waits = match status {
            "True" => is_busy(&condition, of_openshift),
            // Gardener has a word of its own beside the three.
            "False" | "Unknown" | "Progressing" => is_positive(kind) && !is_negative(kind),
            _ => false,
        };
        if waits && busy.is_none() {
            busy = Some(Hindrance::Busy(message()));
        }
    }
    busy
}

/// `of_openshift`: the others are there that `Progressing` has its meaning from.
fn is_busy(condition: &Condition<'_>, of_openshift: bool) -> bool {
    match condition.kind {
        "Progressing" => of_openshift,
        "Running" => condition.reason == "Running",
        kind => {
            let words = words::split(kind);
            BUSY.contains(&words.concat().as_str())
                || words.ends_with(&["in".to_owned(), "progress".to_owned()])
                || words.first().is_some_and(|word| word == "partially")
        }
    }
}

/// What has begun and is not over, of a kind that comes to an end.
pub(super) fn unfinished(kind: &str, conditions: Conditions<'_>) -> Option<Hindrance> {
    let is_over = |condition: &Condition<'_>| {
        condition.status == "True"
            && (ends_in(condition.kind, &OVER) || ends_in(condition.kind, &DONE))
    };
    if !words::completes(kind) || conditions.iter().any(|condition| is_over(&condition)) {
        return None;
    }
    let begun = conditions
        .iter()
        .find(|condition| condition.status == "True" && UNDER_WAY.contains(&condition.kind))?;
    let text = format!("{}, and {kind} has to complete", describe(&begun));
    Some(Hindrance::Busy(text))
}

fn ends_in(kind: &str, vocabulary: &[&str]) -> bool {
    words::split(kind)
        .last()
        .is_some_and(|last| vocabulary.contains(&last.as_str()))
}

fn is_positive(kind: &str) -> bool {
    ends_in(kind, &POSITIVE)
        || WHOLE.contains(&kind)
        || PHRASES.iter().any(|phrase| kind.ends_with(phrase))
}

/// A `not` or `non` turns the polarity: `NotReady`.
fn is_negative(kind: &str) -> bool {
    let words = words::split(kind);
    let denied = words.first().is_some_and(|first| first == "no");
    (!denied && words.iter().any(|word| NEGATIVE.contains(&word.as_str())))
        || (words
            .first()
            .is_some_and(|first| first == "not" || first == "non")
            && is_positive(kind))
}

/// What a condition says, in one line.
pub(super) fn describe(condition: &Condition<'_>) -> String {
    let mut text = format!("condition {} is {}", condition.kind, condition.status);
    for more in [condition.reason, condition.message] {
        if !more.is_empty() {
            text.push_str(": ");
            text.push_str(more);
        }
    }
    text
}
