//! Whether a Job has ended: only its terminal conditions tell, never its counters. And whether it is held before it has a pod.

use crate::keys;
use crate::kstatus::{Condition, Conditions};
use serde_json::{Value, json};

/// The end of a Job: complete or failed.
pub(crate) enum End<'a> {
    /// The Job has done its work.
    Complete,
    /// The Job has failed, for good.
    Failed(Condition<'a>),
}

/// The end of a Job with these conditions; `None` for a Job that has not ended.
pub(crate) fn end(conditions: Conditions<'_>) -> Option<End<'_>> {
    if conditions.is_true("Complete") {
        return Some(End::Complete);
    }
    conditions.find("Failed", "True").map(End::Failed)
}

/// Whether a Job has ended, either way. A suspended Job has not: it could go on at any moment.
pub(crate) fn has_ended(job: &Value) -> bool {
    Conditions::read(job).is_ok_and(|conditions| end(conditions).is_some())
}

/// Whether a Job has done its work.
pub fn is_complete(job: &Value) -> bool {
    Conditions::read(job).is_ok_and(|conditions| matches!(end(conditions), Some(End::Complete)))
}

/// Whether sluice suspended a Job, by the annotation that sluice changes or removes when it resumes the Job. A user may have resumed the Job
/// meanwhile.
pub fn was_held(job: &Value) -> bool {
    job["metadata"]["annotations"][keys::SUSPENDED] == keys::GATED_VALUE
}

/// Whether a Job is suspended, and sluice did it. Only the user may resume a Job that the user suspended.
pub fn is_held(job: &Value) -> bool {
    was_held(job) && job["spec"]["suspend"] == true
}

/// The pod that a held Job will have, as far as the Job tells: held, and waiting since the Job was made.
pub fn pod_to_be(job: &Value) -> Value {
    let metadata = &job["metadata"];
    let template = &job["spec"]["template"]["metadata"];
    let mut labels = template["labels"].as_object().cloned().unwrap_or_default();
    labels.insert(keys::GATED.to_owned(), keys::GATED_VALUE.into());
    json!({
        "metadata": {
            "namespace": metadata["namespace"],
            "labels": labels,
            "annotations": template["annotations"],
            "creationTimestamp": metadata["creationTimestamp"],
            "ownerReferences": [{
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": metadata["name"],
                "uid": metadata["uid"],
                "controller": true,
            }],
        },
        "spec": {"schedulingGates": [{"name": keys::HOLD}]},
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_sluice_suspended_is_held() {
        let of = |note: &str, suspend: bool| {
            let annotations = json!({ keys::SUSPENDED: note });
            let job =
                json!({"metadata": {"annotations": annotations}, "spec": {"suspend": suspend}});
            (was_held(&job), is_held(&job))
        };
        assert_eq!(of("true", true), (true, true));
        assert_eq!(of("true", false), (true, false), "somebody has resumed it");
        assert_eq!(of("timed-out", true), (false, false));
        assert!(
            !is_held(&json!({"spec": {"suspend": true}})),
            "its user has"
        );
    }
}
