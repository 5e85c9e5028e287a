//! Conditions whose type tells their meaning.
//!
//! A type is read word by word (`DaemonServiceHealthy` ends in `healthy`, `FailedCreatePod` contains `failed`), since kinds make
//! their own compounds of a small vocabulary. `Progressing` is no part of it: a Deployment that is done keeps it `True`, an
//! operator that is done sets it `False`. So it holds an object back only where no summary of the object is `True` beside it, and
//! its reason does not say that the work is done. `Running` is no part of it either, because a completed object sets it `False`,
//! nor are `Upgradeable`, `Paused` and the like, which tell nothing of health. Two families of operators document their meaning
//! of these types, and are known by other conditions: operators of OpenShift report `Available`, `Progressing` and `Degraded`
//! together, and the `Running` of Ansible operators has the reason `Running` while a playbook runs and `Successful` after it.
//!
//! A step ([`is_step`]) comes true on the way: that it is `True` says nothing of the whole. A type may begin with the name of its
//! kind: `SIPEnvironmentProgressing`.

use super::Hindrance;
use super::words;
use crate::kstatus::{Condition, Conditions, int};
use crate::path::get;
use serde_json::Value;
use std::collections::HashSet;

/// `True` in the end: the last word of the type, or the last of [`PHRASES`].
const POSITIVE: [&str; 46] = [
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
    "finished",
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

/// Condition types of several words that become `True` in the end: `ResourcesUpToDate`.
const PHRASES: [&str; 2] = ["UpToDate", "ResolvedRefs"];

/// Words of a condition type that tell of trouble when the condition is `True`.
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

/// `True` is trouble, as the last word of the type: before another word it is the name of a feature, as in
/// `DriftDetectionEnabled`.
const NEGATIVE_LAST: [&str; 6] = [
    "drift",
    "drifted",
    "mismatch",
    "expired",
    "unreachable",
    "abnormal",
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

/// `True` in the end, where it is the whole type: in a compound it may be a step, or an unwanted event (`StormActive`).
const WHOLE: [&str; 3] = ["Active", "Serving", "Scheduled"];

/// `True` on the way, and not at the end: the last word of the type.
const STEPS: [&str; 13] = [
    "initialized",
    "validated",
    "built",
    "created",
    "prepared",
    "scheduled",
    "rendered",
    "parsed",
    "generated",
    "planned",
    "started",
    "requested",
    "submitted",
];

/// The first words of condition types about prerequisites, as in `InputReady`.
const BEFOREHAND: [&str; 8] = [
    "input",
    "source",
    "sources",
    "dependency",
    "dependencies",
    "prerequisite",
    "prerequisites",
    "spec",
];

/// Whole condition types that tell whether work goes on, but not whether it has come out well.
const WORK: [&str; 4] = ["Progressing", "Reconciling", "Processing", "Upgradeable"];

/// Types that are `True` on an object that comes to an end, while it has not: it has not ended with any of these.
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

/// Last words of condition types that tell of an end, good or bad: the condition's reason has to be read too.
const OVER: [&str; 4] = ["complete", "completed", "succeeded", "finished"];

/// Last words of condition types that tell of a good end.
const DONE: [&str; 3] = ["success", "successful", "ready"];

/// Types that tell whether the controller has taken over the latest spec. They contradict even `Ready`, which then tells of the
/// spec before.
pub(in crate::profile) const OF_THE_SPEC: [&str; 3] = ["Synced", "Reconciled", "Accepted"];

/// Types that come true once, and are not updated for a later spec: those of Crunchy's PostgresCluster, whose data was restored
/// or backed up by hand.
const ONCE: [&str; 2] = [
    "PostgresDataInitialized",
    "PGBackRestManualBackupSuccessful",
];

/// The first condition of a known type that tells of an older generation, in an object's status.
pub(super) fn outdated(object: &Value) -> Option<Hindrance> {
    let generation = get(object, &["metadata", "generation"]).and_then(Value::as_i64);
    outdated_of(get(object, &["status", "conditions"]), generation)
}

/// The first condition of a known type that tells of an older generation, in any list of conditions.
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
    // Some controllers write a condition only when its event happens, and not again for a later spec; a current `Ready` tells
    // that such a controller has seen the latest spec.
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

/// Whether there is a condition `Ready`, and each is `True`: a controller that gathers the status of several objects may write
/// several.
pub(in crate::profile) fn is_ready(conditions: Conditions<'_>) -> bool {
    let mut each = conditions.iter().filter(|it| it.kind == "Ready").peekable();
    each.peek().is_some() && each.all(|it| it.status == "True")
}

/// A condition that is `True` and `False` at once: it tells of several objects, and not of all.
pub(super) fn contradicted(conditions: Conditions<'_>) -> Option<Hindrance> {
    let of = |status: &'static str| conditions.iter().filter(move |it| it.status == status);
    let hold: HashSet<&str> = of("True").map(|it| it.kind).collect();
    let condition = of("False").find(|it| is_positive(it.kind) && hold.contains(it.kind))?;
    let told = describe(&condition);
    Some(Hindrance::Busy(format!("{told}, and it is True as well")))
}

/// Whether a condition that sums the object up is `True`.
pub(super) fn is_well(owner: &str, conditions: Conditions<'_>) -> bool {
    let mut all = conditions.iter();
    all.any(|it| it.status == "True" && sums_up(plain(owner, it.kind)))
}

/// Whether any condition tells whether the object is ready: one that is no step, and tells of more than work that goes on.
pub(super) fn tell(owner: &str, conditions: Conditions<'_>) -> bool {
    conditions.iter().any(|it| {
        let kind = plain(owner, it.kind);
        !is_step(kind) && (!WORK.contains(&kind) || words::is_done(it.reason))
    })
}

/// The condition `Available` that is still missing beside `Progressing` and `Degraded`: controllers that report these two report
/// the third.
pub(super) fn unfinished_triple(owner: &str, conditions: Conditions<'_>) -> Option<Hindrance> {
    let reports = |kind: &str| conditions.iter().any(|it| plain(owner, it.kind) == kind);
    let mut types = conditions.iter().map(|it| plain(owner, it.kind));
    let lacks = reports("Progressing") && reports("Degraded") && !types.any(sums_up);
    lacks.then(|| Hindrance::Untold("condition Available has not been written yet".to_owned()))
}

/// The worst that a condition of a known type reports, of a kind that is called `owner`.
pub(super) fn known(owner: &str, conditions: Conditions<'_>) -> Option<Hindrance> {
    let reports = |kind: &str| conditions.iter().any(|it| plain(owner, it.kind) == kind);
    let of_openshift = reports("Available") && reports("Degraded");
    let well = is_well(owner, conditions);
    let mut busy = None;
    for condition in conditions.iter() {
        let (kind, status) = (plain(owner, condition.kind), condition.status);
        let message = || describe(&condition);
        let bad_reason = words::is_bad(condition.reason);
        let bad = match status {
            "True" => is_negative(kind) || (ends_in(kind, &OVER) && bad_reason),
            // Any type with such a reason has not come true, and the reason tells why.
            "False" => bad_reason && !is_negative(kind) && kind != "Upgradeable",
            _ => false,
        };
        if bad {
            return Some(Hindrance::Bad(message()));
        }
        let waits = match status {
            "True" if kind == "Progressing" => {
                of_openshift || !(well || words::is_done(condition.reason))
            }
            "True" => is_busy(kind, condition.reason),
            // Whether there is trouble is not known, and nothing else says that there is none.
            "Unknown" if is_negative(kind) => !well,
            "False" if awaits(kind, condition.reason) => true,
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

fn is_busy(kind: &str, reason: &str) -> bool {
    kind == "Running" && reason == "Running" || is_under_way(kind)
}

fn is_under_way(kind: &str) -> bool {
    let words = words::split(kind);
    BUSY.contains(&words.concat().as_str())
        || words.ends_with(&["in".to_owned(), "progress".to_owned()])
        || words.first().is_some_and(|word| word == "partially")
}

/// Whether a condition is `False` because of an event that is yet to come. A type about work or trouble waits for nothing.
fn awaits(kind: &str, reason: &str) -> bool {
    let idle = is_negative(kind) || is_under_way(kind) || WORK.contains(&kind);
    !idle && words::is_busy(reason)
}

/// The work that has begun and has not ended, for a kind that comes to an end.
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

/// A type without the name of its kind before it.
pub(super) fn plain<'t>(owner: &str, kind: &'t str) -> &'t str {
    let rest = kind.strip_prefix(owner).filter(|_| !owner.is_empty());
    rest.filter(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
        .unwrap_or(kind)
}

/// Whether a condition comes true on the way, so that it tells nothing of the whole.
fn is_step(kind: &str) -> bool {
    let words = words::split(kind);
    let first = words.first().map(String::as_str).unwrap_or_default();
    ends_in(kind, &STEPS) || (words.len() > 1 && BEFOREHAND.contains(&first))
}

/// Whether a condition of this type is `True` in the end, as the summary of an object or as a step to it.
pub(super) fn is_hoped_for(kind: &str) -> bool {
    (is_positive(kind) || is_step(kind)) && !is_negative(kind)
}

/// Whether a condition of this type, `True`, says that the object is well.
pub(super) fn sums_up(kind: &str) -> bool {
    is_positive(kind) && !is_negative(kind) && !is_step(kind)
}

fn is_positive(kind: &str) -> bool {
    ends_in(kind, &POSITIVE)
        || WHOLE.contains(&kind)
        || PHRASES.iter().any(|phrase| kind.ends_with(phrase))
}

/// Whether a condition of this type is bad when it is `True`. A `not` or `non` turns the sense: `NotReady`.
pub(super) fn is_negative(kind: &str) -> bool {
    let words = words::split(kind);
    let denied = words.first().is_some_and(|first| first == "no");
    let bad = || words.iter().any(|word| NEGATIVE.contains(&word.as_str()));
    (!denied && (bad() || ends_in(kind, &NEGATIVE_LAST)))
        || (words
            .first()
            .is_some_and(|first| first == "not" || first == "non")
            && is_positive(kind))
}

/// Writes a condition in one line.
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
