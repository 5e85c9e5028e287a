//! The changes that release a held object and start it: the end of its hold, and the annotation that the status service reads
//! live.

use rules::hold::{self, Note, annotation};
use rules::keys;
use serde_json::{Value, json};

/// The JSON patch of a pod that takes sluice's scheduling gate from it, if it is held, and opens its gate by the annotation.
pub(super) fn of_pod(pod: &Value, reason: Option<&str>) -> Vec<Value> {
    let mut change = hold::let_go(pod).unwrap_or_else(|| vec![hold::same(pod)]);
    change.extend(open(pod, reason));
    change
}

/// The JSON patch of a Job that resumes it after sluice has suspended it, and opens the gates of its pods by the annotation.
pub(super) fn of_job(job: &Value, reason: Option<&str>) -> Vec<Value> {
    let mut change = hold::resume(job, Note::Gone);
    change.extend(open(job, reason));
    change
}

fn open(object: &Value, reason: Option<&str>) -> impl Iterator<Item = Value> {
    let add = |path: &str, value: Value| json!({"op": "add", "path": path, "value": value});
    let none = object["metadata"]["annotations"].is_null();
    let all = none.then(|| add("/metadata/annotations", json!({})));
    let skip = add(&annotation(keys::SKIP), "true".into());
    let reason = reason.map(|it| add(&annotation(keys::SKIP_REASON), it.into()));
    all.into_iter().chain([skip]).chain(reason)
}
