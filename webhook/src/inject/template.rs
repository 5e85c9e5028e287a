//! The pod template of a workload: where it stands in the object.

use super::Subject;
use rules::path::get;
use serde_json::Value;

/// Whether the object of a request is a Job.
pub(super) fn is_job(subject: &Subject) -> bool {
    subject.group == "batch" && subject.kind == "Job"
}

/// Returns the path of the pod template in a workload of this kind.
pub(super) fn template_path(subject: &Subject) -> &'static [&'static str] {
    if subject.group == "batch" && subject.kind == "CronJob" {
        &["spec", "jobTemplate", "spec", "template"]
    } else {
        &["spec", "template"]
    }
}

/// Returns the pod template of a workload; `None` also for a pod.
pub(super) fn template<'a>(subject: &Subject, object: &'a Value) -> Option<&'a Value> {
    find(object, template_path(subject))
}

/// Returns the pod template at `path`; `None` where no mapping stands there.
pub(super) fn find<'a>(object: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let found = get(object, path)?;
    found.is_object().then_some(found)
}
