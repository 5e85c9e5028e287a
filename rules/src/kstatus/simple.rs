//! The rules of kstatus for a `PersistentVolumeClaim`, a Job, a Service and a `CustomResourceDefinition`.

use super::field::{flag, int, text};
use super::{Evaluation, Observed};

/// The status of a PersistentVolumeClaim; one that is `Lost` is in progress, too.
pub(super) fn claim(subject: &Observed<'_>) -> Evaluation {
    match text(subject.object, &["status", "phase"], "unknown") {
        "Bound" => Evaluation::current("PVC is Bound"),
        phase => Evaluation::in_progress("NotBound", format!("PVC is not Bound. phase: {phase}")),
    }
}

/// The status of a Job: failed, in progress before it has started, else current, also while it merely runs or is suspended. The step for a suspended
/// Job is that of cli-utils' main branch: neither its release v0.37.2 nor Flux's fork v1.2.1 has it.
pub(super) fn job(subject: &Observed<'_>) -> Evaluation {
    let object = subject.object;
    let parallelism = int(object, &["spec", "parallelism"], 1);
    let completions = int(object, &["spec", "completions"], parallelism);
    let count = |field| int(object, &["status", field], 0);

    for condition in subject.conditions.iter() {
        match (condition.kind, condition.status) {
            ("Complete", "True") => {
                let succeeded = count("succeeded");
                return Evaluation::current(format!(
                    "Job Completed. succeeded: {succeeded}/{completions}"
                ));
            }
            ("Failed", "True") => {
                let failed = count("failed");
                return Evaluation::failed(
                    "JobFailed",
                    format!("Job Failed. failed: {failed}/{completions}"),
                );
            }
            ("Suspended", "True") if flag(object, &["spec", "suspend"]) => {
                return Evaluation::current("Job is suspended");
            }
            _ => {}
        }
    }
    if text(object, &["status", "startTime"], "").is_empty() {
        return Evaluation::in_progress("JobNotStarted", "Job not started");
    }
    Evaluation::current(format!(
        "Job in progress. success:{}, active: {}, failed: {}",
        count("succeeded"),
        count("active"),
        count("failed"),
    ))
}

/// The status of a Service: in progress while one of type `LoadBalancer` has no cluster IP, else current. Neither endpoints nor the address of
/// the load balancer count.
pub(super) fn service(subject: &Observed<'_>) -> Evaluation {
    let field = |name| text(subject.object, &["spec", name], "");
    if field("type") == "LoadBalancer" && field("clusterIP").is_empty() {
        return Evaluation::in_progress(
            "NoIPAssigned",
            "ClusterIP not set. Service type: LoadBalancer",
        );
    }
    Evaluation::current("Service is ready")
}

pub(super) fn definition(subject: &Observed<'_>) -> Evaluation {
    for condition in subject.conditions.iter() {
        match (condition.kind, condition.status) {
            ("NamesAccepted", "False") => {
                return Evaluation::failed(condition.reason, condition.message);
            }
            ("Established", "False") if condition.reason != "Installing" => {
                return Evaluation::failed(condition.reason, condition.message);
            }
            ("Established", "True") => return Evaluation::current("CRD is established"),
            _ => {}
        }
    }
    Evaluation::in_progress("Installing", "Install in progress")
}
