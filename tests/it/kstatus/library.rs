//! The functions of cli-utils that sluice does not need: with them every case of the public suites can be run.

use jiff::Timestamp;
use rules::kstatus::{Status, Synthetic, compute};
use serde_json::{Value, json};

/// Returns the status of a set of objects (cli-utils `polling/aggregator`): `Failed` if any is, else `Unknown` if any is, else `desired` where every
/// object has it, else `InProgress`. An empty set has the desired status.
pub(super) fn aggregate(statuses: &[Status], desired: Status) -> Status {
    if statuses.contains(&Status::Failed) {
        Status::Failed
    } else if statuses.contains(&Status::Unknown) {
        Status::Unknown
    } else if statuses.iter().all(|status| *status == desired) {
        desired
    } else {
        Status::InProgress
    }
}

/// Returns the status of a `StatefulSet` or `ReplicaSet` together with its pods (cli-utils `statusreaders/pod_controller`): one failed pod makes a
/// set fail that is in progress.
pub(super) fn with_pods(own: Status, pods: &[Status]) -> Status {
    if own == Status::InProgress && pods.contains(&Status::Failed) {
        Status::Failed
    } else {
        own
    }
}

/// Writes the synthetic condition of [`compute`] into the object's conditions: in the place of one of its type, else at the end. An error is that of
/// an object that cannot be judged.
pub(super) fn augment(object: &mut Value, now: Timestamp) -> Result<(), String> {
    let evaluation = compute(object, now).map_err(|error| error.to_string())?;
    let conditions = object["status"]["conditions"].as_array();
    let mut conditions = conditions.cloned().unwrap_or_default();
    if let Some(synthetic) = evaluation.condition() {
        let time = now.strftime("%Y-%m-%dT%H:%M:%SZ").to_string();
        write(&mut conditions, synthetic, &time)?;
    }
    // A missing status is made, and so is a `null` one, at which the library gives up.
    let status = &mut object["status"];
    *status = match status.take() {
        Value::Object(mut fields) => {
            fields.insert("conditions".to_owned(), Value::Array(conditions));
            Value::Object(fields)
        }
        _ => json!({ "conditions": conditions }),
    };
    Ok(())
}

fn write(conditions: &mut Vec<Value>, synthetic: Synthetic<'_>, time: &str) -> Result<(), String> {
    let Synthetic {
        kind,
        reason,
        message,
    } = synthetic;
    let mut present = false;
    for condition in conditions.iter_mut() {
        let Value::Object(fields) = condition else {
            return Err("condition does not have the expected structure".to_owned());
        };
        let Some(Value::String(found)) = fields.get("type") else {
            return Err("condition type does not have the expected type".to_owned());
        };
        if found != kind {
            continue;
        }
        let Some(Value::String(status)) = fields.get("status") else {
            return Err("condition status does not have the expected type".to_owned());
        };
        if status != "True" {
            fields.insert("lastTransitionTime".to_owned(), json!(time));
        }
        for (key, value) in [
            ("status", "True"),
            ("lastUpdateTime", time),
            ("reason", reason),
            ("message", message),
        ] {
            fields.insert(key.to_owned(), json!(value));
        }
        present = true;
    }
    if !present {
        conditions.push(json!({
            "lastTransitionTime": time,
            "lastUpdateTime": time,
            "message": message,
            "reason": reason,
            "status": "True",
            "type": kind,
        }));
    }
    Ok(())
}

#[test]
fn a_failed_pod_fails_a_set_in_progress() {
    use Status::{Current, Failed, InProgress};
    assert_eq!(with_pods(InProgress, &[Current, Failed]), Failed);
    assert_eq!(with_pods(Current, &[Failed]), Current);
    assert_eq!(with_pods(InProgress, &[Current]), InProgress);
}
