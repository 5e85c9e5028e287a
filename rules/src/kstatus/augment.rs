//! The standard conditions, written onto an object.

use super::field::nested_list;
use super::{KstatusError, Synthetic, compute};
use jiff::Timestamp;
use serde_json::{Value, json};

/// Puts the synthetic condition of [`compute`] among the object's conditions: over one of its type, else at the end.
pub fn augment(object: &mut Value, now: Timestamp) -> Result<(), KstatusError> {
    let evaluation = compute(object, now)?;
    let mut conditions = nested_list(object, &["status", "conditions"])?
        .cloned()
        .unwrap_or_default();
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

fn write(
    conditions: &mut Vec<Value>,
    synthetic: Synthetic<'_>,
    time: &str,
) -> Result<(), KstatusError> {
    let Synthetic {
        kind,
        reason,
        message,
    } = synthetic;
    let mut present = false;
    for condition in conditions.iter_mut() {
        let Value::Object(fields) = condition else {
            return Err(unexpected("condition does not have the expected structure"));
        };
        let Some(Value::String(found)) = fields.get("type") else {
            return Err(unexpected("condition type does not have the expected type"));
        };
        if found != kind {
            continue;
        }
        let Some(Value::String(status)) = fields.get("status") else {
            return Err(unexpected(
                "condition status does not have the expected type",
            ));
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

fn unexpected(text: &str) -> KstatusError {
    KstatusError(text.to_owned())
}
