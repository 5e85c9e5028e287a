//! The JSON patches that end a hold. Each patch tests the value that it removes, so it changes nothing where another object of
//! that name exists, or where another writer was faster.

use crate::gate;
use crate::keys;
use serde_json::{Value, json};

/// The note that stays on a Job once its wait is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Note {
    /// No note stays on the Job.
    Gone,
    /// The wait took too long; without this note the gates of its pods would start the time anew.
    TimedOut,
}

/// The patch that removes sluice's hold from a pod's scheduling gates, and nothing else; `None` for a pod that is not held.
pub fn let_go(pod: &Value) -> Option<Vec<Value>> {
    let hold = format!("/spec/schedulingGates/{}", gate::hold(pod)?);
    Some(vec![
        same(pod),
        test(&format!("{hold}/name"), keys::HOLD),
        json!({"op": "remove", "path": hold}),
    ])
}

/// The patch that resumes a Job that sluice has suspended.
pub fn resume(job: &Value, note: Note) -> Vec<Value> {
    let mut change = noted(job, true);
    change.push(match note {
        Note::Gone => forget(),
        Note::TimedOut => {
            json!({"op": "replace", "path": annotation(keys::SUSPENDED), "value": keys::TIMED_OUT})
        }
    });
    change.push(json!({"op": "replace", "path": "/spec/suspend", "value": false}));
    change
}

/// The patch that removes sluice's note from a Job that a user or another controller has resumed. It leaves the Job to them.
pub fn disown(job: &Value) -> Vec<Value> {
    let mut change = noted(job, false);
    change.push(forget());
    change
}

/// The operation of a patch that tests that the object still has the UID with which it was read.
pub fn same(object: &Value) -> Value {
    test("/metadata/uid", object["metadata"]["uid"].clone())
}

/// The path of an annotation in a JSON patch, where the slash of its key is spelt `~1`.
pub fn annotation(key: &str) -> String {
    format!("/metadata/annotations/{}", key.replace('/', "~1"))
}

/// The operations of a patch that test that the Job still has the UID with which it was read and sluice's note, and that its `spec.suspend` is
/// `suspended`.
fn noted(job: &Value, suspended: bool) -> Vec<Value> {
    vec![
        same(job),
        test(&annotation(keys::SUSPENDED), keys::GATED_VALUE),
        test("/spec/suspend", suspended),
    ]
}

fn forget() -> Value {
    json!({"op": "remove", "path": annotation(keys::SUSPENDED)})
}

fn test(path: &str, value: impl Into<Value>) -> Value {
    json!({"op": "test", "path": path, "value": value.into()})
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The operation, the path and the value of each operation.
    fn operations(change: &[Value]) -> Vec<String> {
        let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        let told = |it: &Value| {
            let [op, path, value] = ["op", "path", "value"].map(|key| text(&it[key]));
            format!("{op} {path} {value}")
        };
        change.iter().map(told).collect()
    }

    #[test]
    fn a_hold_is_taken_from_where_it_stands() {
        let mut pod = json!({"metadata": {"uid": "u1"}, "spec": {"schedulingGates": [{"name": "example.com/quota"}]}});
        assert_eq!(let_go(&pod), None);
        pod["spec"]["schedulingGates"] =
            json!([{"name": "example.com/quota"}, {"name": keys::HOLD}]);
        let expected = [
            "test /metadata/uid u1",
            "test /spec/schedulingGates/1/name sluice.dev/hold",
            "remove /spec/schedulingGates/1 null",
        ];
        assert_eq!(operations(&let_go(&pod).expect("it is held")), expected);
    }

    #[test]
    fn a_job_keeps_a_note_only_where_its_wait_took_too_long() {
        let job = json!({"metadata": {"uid": "u1"}});
        let note = "/metadata/annotations/sluice.dev~1suspended";
        let of = |suspended: bool, rest: &[String]| {
            let mut all = vec![
                "test /metadata/uid u1".to_owned(),
                format!("test {note} true"),
                format!("test /spec/suspend {suspended}"),
            ];
            all.extend_from_slice(rest);
            all
        };
        let resumed = "replace /spec/suspend false".to_owned();
        let gone = format!("remove {note} null");
        let late = format!("replace {note} timed-out");
        assert_eq!(
            operations(&disown(&job)),
            of(false, std::slice::from_ref(&gone))
        );
        let of_resumed = |note| operations(&resume(&job, note));
        assert_eq!(of_resumed(Note::Gone), of(true, &[gone, resumed.clone()]));
        assert_eq!(of_resumed(Note::TimedOut), of(true, &[late, resumed]));
    }
}
