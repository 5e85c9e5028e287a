//! Field access with the library's two kinds of leniency.
//!
//! [`int`], [`text`] and [`flag`] never fail: a value that is missing or of another type, a float included, is the default.
//! [`nested_int`] and [`nested_text`] insist: a missing or `null` parent is "not found", but a value of the wrong type, and an
//! explicit `null` at the end of the path, is an error (apimachinery `NestedFieldNoCopy`).

use super::KstatusError;
use super::go::{Printed, type_name};
use crate::path::get;
use serde_json::Value;

/// The integer of at most 64 bits at a path of an object, else the default, also for the float `1.0`.
pub(crate) fn int(object: &Value, path: &[&str], default: i64) -> i64 {
    get(object, path).and_then(Value::as_i64).unwrap_or(default)
}

/// The text at a path of an object, else the default.
pub(crate) fn text<'a>(object: &'a Value, path: &[&str], default: &'a str) -> &'a str {
    get(object, path).and_then(Value::as_str).unwrap_or(default)
}

/// The boolean at a path of an object, else false.
pub(crate) fn flag(object: &Value, path: &[&str]) -> bool {
    get(object, path).and_then(Value::as_bool).unwrap_or(false)
}

/// Group and kind as the library takes them from an object: without `apiVersion` the core group, and neither of the
/// two where `apiVersion` has more than one slash.
pub(crate) fn group_and_kind(object: &Value) -> (&str, &str) {
    let version = text(object, &["apiVersion"], "");
    let kind = text(object, &["kind"], "");
    match version.split_once('/') {
        None => ("", kind),
        Some((_, rest)) if rest.contains('/') => ("", ""),
        Some((group, _)) => (group, kind),
    }
}

/// The value at a path of an object; `None` where it is missing, or a value on the way is `null`. Any other value on the way that is no map is an
/// error, as in Go's library.
pub(super) fn nested<'a>(
    object: &'a Value,
    path: &[&str],
) -> Result<Option<&'a Value>, KstatusError> {
    let mut value = object;
    for (depth, field) in path.iter().enumerate() {
        let next = match value {
            Value::Null => None,
            Value::Object(map) => map.get(*field),
            other => {
                return Err(wrong_type(&path[..=depth], other, "map[string]interface{}"));
            }
        };
        match next {
            Some(next) => value = next,
            None => return Ok(None),
        }
    }
    Ok(Some(value))
}

/// The integer of at most 64 bits at a path of an object; `None` where it is missing. Any other value there, also `null`, is an error.
pub(super) fn nested_int(object: &Value, path: &[&str]) -> Result<Option<i64>, KstatusError> {
    insist(object, path, Value::as_i64, "int64").map_err(|error| looking_up(path, &error))
}

/// The text at a path of an object; `None` where it is missing. Any other value there, also `null`, is an error.
pub(super) fn nested_text<'a>(
    object: &'a Value,
    path: &[&str],
) -> Result<Option<&'a str>, KstatusError> {
    insist(object, path, Value::as_str, "string").map_err(|error| looking_up(path, &error))
}

/// The list at a path of an object; `None` where it is missing. Any other value there, also `null`, is an error.
pub(super) fn nested_list<'a>(
    object: &'a Value,
    path: &[&str],
) -> Result<Option<&'a Vec<Value>>, KstatusError> {
    insist(object, path, Value::as_array, "[]interface{}")
}

fn insist<'a, T>(
    object: &'a Value,
    path: &[&str],
    read: impl Fn(&'a Value) -> Option<T>,
    expected: &str,
) -> Result<Option<T>, KstatusError> {
    let Some(value) = nested(object, path)? else {
        return Ok(None);
    };
    match read(value) {
        Some(found) => Ok(Some(found)),
        None => Err(wrong_type(path, value, expected)),
    }
}

fn wrong_type(path: &[&str], value: &Value, expected: &str) -> KstatusError {
    let path = path.join(".");
    let found = type_name(value);
    let value = Printed(value);
    KstatusError(format!(
        ".{path} accessor error: {value} is of the type {found}, expected {expected}"
    ))
}

fn looking_up(path: &[&str], error: &KstatusError) -> KstatusError {
    KstatusError(format!(
        "looking up {} from resource: {error}",
        path.join(".")
    ))
}
