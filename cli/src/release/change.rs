//! The changes that let go what is held, as JSON patches: each tests what it takes away, so that it changes nothing where another
//! object of that name is there, or somebody was faster.

use rules::gate;
use rules::keys;
use serde_json::{Value, json};

/// Lets a pod go, where it is held, and opens its gate.
pub(super) fn of_pod(pod: &Value, reason: Option<&str>) -> Vec<Value> {
    let mut change = vec![same(pod)];
    if let Some(at) = gate::hold(pod) {
        let hold = format!("/spec/schedulingGates/{at}");
        change.push(test(&format!("{hold}/name"), keys::HOLD));
        change.push(json!({"op": "remove", "path": hold}));
    }
    change.extend(open(pod, reason));
    change
}

/// Resumes a Job that sluice suspended, and opens the gates of its pods.
pub(super) fn of_job(job: &Value, reason: Option<&str>) -> Vec<Value> {
    let noted = annotation(keys::SUSPENDED);
    let mut change = vec![
        same(job),
        test(&noted, keys::GATED_VALUE),
        json!({"op": "remove", "path": noted}),
        json!({"op": "test", "path": "/spec/suspend", "value": true}),
        json!({"op": "replace", "path": "/spec/suspend", "value": false}),
    ];
    change.extend(open(job, reason));
    change
}

/// By the annotation that the status service reads live.
fn open(object: &Value, reason: Option<&str>) -> impl Iterator<Item = Value> {
    let add = |path: &str, value: Value| json!({"op": "add", "path": path, "value": value});
    let none = object["metadata"]["annotations"].is_null();
    let all = none.then(|| add("/metadata/annotations", json!({})));
    let skip = add(&annotation(keys::SKIP), "true".into());
    let reason = reason.map(|it| add(&annotation(keys::SKIP_REASON), it.into()));
    all.into_iter().chain([skip]).chain(reason)
}

/// That it is the object that was looked at.
fn same(object: &Value) -> Value {
    json!({"op": "test", "path": "/metadata/uid", "value": object["metadata"]["uid"]})
}

fn test(path: &str, value: &str) -> Value {
    json!({"op": "test", "path": path, "value": value})
}

/// The path of an annotation; the slash in a key is spelt `~1` there.
fn annotation(key: &str) -> String {
    format!("/metadata/annotations/{}", key.replace('/', "~1"))
}
