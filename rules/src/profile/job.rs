//! Judges whether a Job has started or completed: only its terminal conditions count, never its counters.

use super::{Subject, failed, from_kstatus, kueue, satisfied, waiting};
use crate::job::{self, End};
use crate::judged::{Judged, Reason};
use crate::kstatus::{Status, flag, text};

/// Judges whether a Job has started: it runs, or is complete. A suspended Job has not, even while its controller has not put its pods away yet; and
/// one that failed has failed for good here, too.
pub(super) fn started(subject: Subject<'_>) -> Judged {
    let over = complete(&subject);
    let current = subject.evaluation.status == Status::Current;
    let suspended = matches!(over.reason, Reason::JobSuspended | Reason::JobHeld) && current;
    if suspended || over.reason == Reason::JobFailed {
        return over;
    }
    from_kstatus(subject.evaluation)
}

/// Judges whether a Job has completed. `SuccessCriteriaMet` alone is not enough, since pods may still run. A Job that failed has failed for good.
pub(super) fn complete(subject: &Subject<'_>) -> Judged {
    let Subject {
        object,
        conditions,
        evaluation,
        ..
    } = subject;
    match job::end(*conditions) {
        Some(End::Complete) => return satisfied("Job Completed"),
        Some(End::Failed(condition)) => {
            let told = [condition.reason, condition.message]
                .into_iter()
                .filter(|part| !part.is_empty())
                .fold(String::from("Job Failed"), |text, part| {
                    format!("{text}: {part}")
                });
            return failed(
                Reason::JobFailed,
                format!("{told}; delete the Job and create it again"),
            );
        }
        None => {}
    }
    if job::is_held(object) {
        let told = "job is suspended by sluice until its own list is satisfied";
        return waiting(Reason::JobHeld, told);
    }
    if flag(object, &["spec", "suspend"]) {
        let queued = kueue::queued(object, subject.world);
        let told = queued.map_or_else(
            || "job is suspended; set spec.suspend to false".to_owned(),
            |queued| format!("job is suspended: {queued}"),
        );
        return waiting(Reason::JobSuspended, told);
    }
    for (condition, message) in [
        (
            "SuccessCriteriaMet",
            "job has succeeded, and its last pods are still ending",
        ),
        (
            "FailureTarget",
            "job is failing, and its last pods are still ending",
        ),
    ] {
        if conditions.is_true(condition) {
            return waiting(Reason::JobNotComplete, message);
        }
    }
    // A start time is the only sign that the Job's controller has taken it up.
    if text(object, &["status", "startTime"], "").is_empty() {
        return waiting(Reason::JobNotComplete, "Job not started");
    }
    waiting(Reason::JobNotComplete, evaluation.message.as_str())
}
