//! The meaning of a condition's type.
//!
//! A type is read word by word (`DaemonServiceHealthy` ends in `healthy`, `FailedCreatePod` contains `failed`), since kinds make
//! their own compounds of a small vocabulary. A step ([`is_step`]) comes true on the way: that it is `True` says nothing of the whole.
//! A type may begin with the name of its kind: `SIPEnvironmentProgressing`.

use crate::profile::custom::words;

/// Last words of condition types that become `True` in the end, when all is well.
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

/// Last words of condition types that tell of trouble when the condition is `True`. Before another word each is the name of a feature, as in
/// `DriftDetectionEnabled`.
const NEGATIVE_LAST: [&str; 6] = [
    "drift",
    "drifted",
    "mismatch",
    "expired",
    "unreachable",
    "abnormal",
];

/// Whole condition types, in lower case, that are `True` while something is being done. A participle in a compound may be the name of a feature.
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

/// Whole condition types that become `True` in the end. In a compound each may be a step, or an unwanted event (`StormActive`).
const WHOLE: [&str; 3] = ["Active", "Serving", "Scheduled"];

/// Last words of condition types that become `True` on the way, before the object is ready.
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

pub(super) fn is_under_way(kind: &str) -> bool {
    let words = words::split(kind);
    BUSY.contains(&words.concat().as_str())
        || words.ends_with(&["in".to_owned(), "progress".to_owned()])
        || words.first().is_some_and(|word| word == "partially")
}

pub(super) fn ends_in(kind: &str, vocabulary: &[&str]) -> bool {
    words::split(kind)
        .last()
        .is_some_and(|last| vocabulary.contains(&last.as_str()))
}

/// The condition type `kind` without the name of the object's kind, `owner`, before it; the whole type where it does not begin with that name.
pub(in crate::profile::custom) fn plain<'t>(owner: &str, kind: &'t str) -> &'t str {
    let rest = kind.strip_prefix(owner).filter(|_| !owner.is_empty());
    rest.filter(|rest| rest.starts_with(|first: char| first.is_ascii_uppercase()))
        .unwrap_or(kind)
}

/// Whether a condition of this type comes true on the way, before the object is ready, so that it tells nothing of the whole.
pub(super) fn is_step(kind: &str) -> bool {
    let words = words::split(kind);
    let first = words.first().map(String::as_str).unwrap_or_default();
    ends_in(kind, &STEPS) || (words.len() > 1 && BEFOREHAND.contains(&first))
}

/// Whether a condition of this type is `True` in the end, as the summary of an object or as a step to it.
pub(in crate::profile::custom) fn is_hoped_for(kind: &str) -> bool {
    (is_positive(kind) || is_step(kind)) && !is_negative(kind)
}

/// Whether a condition of this type, `True`, says that the object is well.
pub(in crate::profile::custom) fn sums_up(kind: &str) -> bool {
    is_positive(kind) && !is_negative(kind) && !is_step(kind)
}

pub(super) fn is_positive(kind: &str) -> bool {
    ends_in(kind, &POSITIVE)
        || WHOLE.contains(&kind)
        || PHRASES.iter().any(|phrase| kind.ends_with(phrase))
}

/// Whether a condition of this type is bad when it is `True`. A `not` or `non` turns the sense: `NotReady`.
pub(in crate::profile::custom) fn is_negative(kind: &str) -> bool {
    let words = words::split(kind);
    let denied = words.first().is_some_and(|first| first == "no");
    let bad = || words.iter().any(|word| NEGATIVE.contains(&word.as_str()));
    (!denied && (bad() || ends_in(kind, &NEGATIVE_LAST)))
        || (words
            .first()
            .is_some_and(|first| first == "not" || first == "non")
            && is_positive(kind))
}
