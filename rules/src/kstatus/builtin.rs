//! The rule of each built-in kind.

use super::field::group_and_kind;
use super::{Evaluation, KstatusError, Observed, pod, simple, workload};

/// Judges an object by kstatus' rule for its built-in kind, which is final; `None` for a kind without a rule.
pub(super) fn judge(subject: &Observed<'_>) -> Option<Result<Evaluation, KstatusError>> {
    let evaluation = match group_and_kind(subject.object) {
        ("apps" | "extensions", "Deployment") => workload::deployment(subject),
        ("apps" | "extensions", "DaemonSet") => workload::daemon_set(subject),
        ("apps" | "extensions", "ReplicaSet") => workload::replica_set(subject),
        ("apps", "StatefulSet") => workload::stateful_set(subject),
        ("", "Pod") => return Some(pod::pod(subject)),
        ("", "PersistentVolumeClaim") => simple::claim(subject),
        ("", "Service") => simple::service(subject),
        ("", "ConfigMap" | "Secret") | ("batch", "CronJob") => {
            Evaluation::current("Resource is always ready")
        }
        ("batch", "Job") => simple::job(subject),
        ("policy", "PodDisruptionBudget") => {
            Evaluation::current("AllowedDisruptions has been computed.")
        }
        ("apiextensions.k8s.io", "CustomResourceDefinition") => simple::definition(subject),
        _ => return None,
    };
    Some(Ok(evaluation))
}
