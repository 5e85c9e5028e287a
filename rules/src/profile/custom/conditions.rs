//! The conditions of an object, each of which has a type that tells its meaning.
//!
//! `Progressing` is no part of the vocabulary ([`types`]): a Deployment that is done keeps it `True`, an operator that is done sets
//! it `False`. So it holds an object back only where no summary of the object is `True` beside it, and its reason does not say that
//! the work is done. `Running` is no part of it either, because a completed object sets it `False`, nor are `Upgradeable`, `Paused`
//! and the like, which tell nothing of health. Two families of operators document their meaning of these types, and are known by
//! other conditions: operators of OpenShift report `Available`, `Progressing` and `Degraded` together, and the `Running` of Ansible
//! operators has the reason `Running` while a playbook runs and `Successful` after it.

mod types;

pub(super) use types::{is_hoped_for, is_negative, plain, sums_up};

use super::Hindrance;
use super::words;
use crate::kstatus::{Condition, Conditions, int};
use crate::path::get;
use serde_json::Value;
use std::collections::HashSet;
use types::{ends_in, is_positive, is_step, is_under_way};

/// Condition types that are `True` while an object of a kind that comes to an end works, and so has not ended.
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

/// Whole condition types that tell whether work goes on, but not whether it has come out well.
const WORK: [&str; 4] = ["Progressing", "Reconciling", "Processing", "Upgradeable"];

/// Types that tell whether the controller has taken over the latest spec. They contradict even `Ready`, which then tells of the
/// spec before.
pub(in crate::profile) const OF_THE_SPEC: [&str; 3] = ["Synced", "Reconciled", "Accepted"];

/// Types that come true once, and are not updated for a later spec: those of Crunchy's PostgresCluster, whose data was restored
/// or backed up by hand.
const ONCE: [&str; 2] = [
    "PostgresDataInitialized",
    "PGBackRestManualBackupSuccessful",
];

/// The hindrance by the first condition of a known type, in an object's status, whose `observedGeneration` is below the object's generation.
pub(super) fn outdated(object: &Value) -> Option<Hindrance> {
    let generation = get(object, &["metadata", "generation"]).and_then(Value::as_i64);
    outdated_of(get(object, &["status", "conditions"]), generation)
}

/// The hindrance by the first condition of a known type, in any list of conditions, whose `observedGeneration` is below `generation`. Beside a
/// condition `Ready` that is True and of this generation, only the types of [`OF_THE_SPEC`] count.
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

/// The hindrance by the first condition of [`OF_THE_SPEC`] that is `False`: the latest spec was refused, or is not applied yet.
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

/// The hindrance by a condition that is there twice, `True` and `False`, and should be `True`: it tells of several objects, and not all of them are
/// well.
pub(super) fn contradicted(conditions: Conditions<'_>) -> Option<Hindrance> {
    let of = |status: &'static str| conditions.iter().filter(move |it| it.status == status);
    let hold: HashSet<&str> = of("True").map(|it| it.kind).collect();
    let condition = of("False").find(|it| is_positive(it.kind) && hold.contains(it.kind))?;
    let told = describe(&condition);
    Some(Hindrance::Busy(format!("{told}, and it is True as well")))
}

/// Whether a condition that sums the object up is `True`. `owner` is the name of the object's kind.
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

/// The hindrance of an object with conditions `Progressing` and `Degraded` that has no condition yet that sums it up: controllers that report these
/// two report `Available` too. `owner` is the name of the object's kind.
pub(super) fn unfinished_triple(owner: &str, conditions: Conditions<'_>) -> Option<Hindrance> {
    let reports = |kind: &str| conditions.iter().any(|it| plain(owner, it.kind) == kind);
    let mut types = conditions.iter().map(|it| plain(owner, it.kind));
    let lacks = reports("Progressing") && reports("Degraded") && !types.any(sums_up);
    lacks.then(|| Hindrance::Untold("condition Available has not been written yet".to_owned()))
}

/// The hindrance by the conditions of known types: by the first that reports a failure, else by the first that is still to change. `owner` is the
/// name of the object's kind.
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

/// Whether a condition is `False` because of an event that is yet to come. A type about work or trouble waits for nothing.
fn awaits(kind: &str, reason: &str) -> bool {
    let idle = is_negative(kind) || is_under_way(kind) || WORK.contains(&kind);
    !idle && words::is_busy(reason)
}

/// The hindrance of an object of a kind that comes to an end, where a condition says that its work has begun and none says that it has ended.
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

/// Writes a condition in one line, with its reason and message where it has them: `condition Ready is False: NoQuota: no room`.
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
