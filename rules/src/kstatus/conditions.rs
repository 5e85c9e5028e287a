//! `status.conditions`, read as apimachinery's `FromUnstructured` reads it into a struct of four texts.

use super::KstatusError;
use super::field::text;
use super::go::kind_name;
use serde_json::Value;

/// One condition; a missing or `null` field is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Condition<'a> {
    pub(crate) kind: &'a str,
    pub(crate) status: &'a str,
    pub(crate) reason: &'a str,
    pub(crate) message: &'a str,
}

/// The conditions of an object, in their order. Borrowed: reading them allocates nothing.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Conditions<'a>(&'a [Value]);

impl<'a> Conditions<'a> {
    /// The conditions, or an error for a `status` that is no map, `conditions` that are no list, or a field that is
    /// no text, such as YAML's bare `status: True`. Missing and `null` is empty, and a `null` entry an empty condition.
    pub(crate) fn read(object: &'a Value) -> Result<Self, KstatusError> {
        Self::of(object.get("status"))
    }

    /// The conditions of a status, or of a part of a status that has conditions of its own. The errors are those of an object's
    /// conditions.
    pub(crate) fn of(status: Option<&'a Value>) -> Result<Self, KstatusError> {
        let status = match status {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Object(status)) => status,
            Some(other) => return Err(not_a_struct(other)),
        };
        let list = match status.get("conditions") {
            None | Some(Value::Null) => return Ok(Self::default()),
            Some(Value::Array(list)) => list,
            Some(other) => {
                let kind = kind_name(other);
                return Err(KstatusError(format!("cannot restore slice from {kind}")));
            }
        };
        list.iter().try_for_each(check)?;
        Ok(Self(list))
    }

    /// Each condition of the object, in the order of the list.
    pub(crate) fn iter(self) -> impl Iterator<Item = Condition<'a>> {
        self.0.iter().map(|entry| Condition {
            kind: text(entry, &["type"], ""),
            status: text(entry, &["status"], ""),
            reason: text(entry, &["reason"], ""),
            message: text(entry, &["message"], ""),
        })
    }

    /// The object's first condition of that type and status; `None` without one.
    pub(crate) fn find(self, kind: &str, status: &str) -> Option<Condition<'a>> {
        self.iter()
            .find(|condition| condition.kind == kind && condition.status == status)
    }

    /// Whether the object has a condition of that type that is `True`.
    pub(crate) fn is_true(self, kind: &str) -> bool {
        self.find(kind, "True").is_some()
    }
}

fn check(entry: &Value) -> Result<(), KstatusError> {
    let fields = match entry {
        Value::Null => return Ok(()),
        Value::Object(fields) => fields,
        other => return Err(not_a_struct(other)),
    };
    // The order of the struct's fields decides which of several errors is told.
    for name in ["type", "status", "reason", "message"] {
        match fields.get(name) {
            None | Some(Value::Null | Value::String(_)) => {}
            // Go converts an integer to a string of one character; the converter has a refusal of its own for that.
            Some(Value::Number(number)) if number.is_i64() => {
                let target = if name == "status" {
                    "v1.ConditionStatus"
                } else {
                    "string"
                };
                return Err(KstatusError(format!("cannot convert int64 to {target}")));
            }
            Some(_) => return Err(KstatusError("unrecognized type: string".to_owned())),
        }
    }
    Ok(())
}

fn not_a_struct(value: &Value) -> KstatusError {
    let kind = kind_name(value);
    KstatusError(format!("cannot restore struct from: {kind}"))
}
