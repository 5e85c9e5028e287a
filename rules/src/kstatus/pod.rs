//! The rule of kstatus for a Pod.

use super::field::{nested_list, text};
use super::{Evaluation, KstatusError, Observed, instant};
use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

/// How long an unschedulable pod is given before it counts as failed.
const SCHEDULE_WINDOW: SignedDuration = SignedDuration::from_secs(15);

pub(super) fn pod(subject: &Observed<'_>) -> Result<Evaluation, KstatusError> {
    let object = subject.object;
    Ok(match text(object, &["status", "phase"], "") {
        "Succeeded" => Evaluation::current("Pod has completed successfully"),
        "Failed" => Evaluation::current("Pod has completed, but not successfully"),
        "Running" => return running(subject),
        "Pending" => pending(subject),
        "" => Evaluation::in_progress("PodNotObserved", "Pod phase not available"),
        other => return Err(KstatusError(format!("unknown phase {other}"))),
    })
}

fn running(subject: &Observed<'_>) -> Result<Evaluation, KstatusError> {
    if subject.conditions.is_true("Ready") {
        return Ok(Evaluation::current("Pod is Ready"));
    }
    let names = crash_looping(subject.object)?;
    Ok(if names.is_empty() {
        Evaluation::in_progress("PodRunningNotReady", "Pod is running but is not Ready")
    } else {
        let names = names.join(",");
        Evaluation::failed(
            "ContainerCrashLooping",
            format!("Containers in CrashLoop state: {names}"),
        )
    })
}

fn pending(subject: &Observed<'_>) -> Evaluation {
    let unschedulable = subject
        .conditions
        .find("PodScheduled", "False")
        .is_some_and(|condition| condition.reason == "Unschedulable");
    if !unschedulable {
        return Evaluation::in_progress("PodPending", "Pod is in the Pending phase");
    }
    let created = text(subject.object, &["metadata", "creationTimestamp"], "");
    match instant(created) {
        Some(created) if before((subject.now)(), SCHEDULE_WINDOW) < created => {
            Evaluation::in_progress("PodNotScheduled", "Pod has not been scheduled")
        }
        // A creation time that is missing or cannot be read is the year 1.
        _ => Evaluation::failed("PodUnschedulable", "Pod could not be scheduled"),
    }
}

fn before(now: Timestamp, window: SignedDuration) -> DateTime {
    TimeZone::UTC.to_datetime(now).saturating_sub(window)
}

/// The containers (not the init containers) in a crash loop. An entry that is missing or of another type is skipped: the library
/// stops there with a Go panic, which is no answer.
fn crash_looping(object: &Value) -> Result<Vec<&str>, KstatusError> {
    let statuses = nested_list(object, &["status", "containerStatuses"])?;
    let crash_loops = |status: &&Value| status["state"]["waiting"]["reason"] == "CrashLoopBackOff";
    let crashing = statuses.into_iter().flatten().filter(crash_loops);
    Ok(crashing
        .filter_map(|status| status["name"].as_str())
        .collect())
}
