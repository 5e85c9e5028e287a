//! How Go names and prints the values that it decodes JSON into; the library's error texts quote them.

use serde_json::{Number, Value};
use std::fmt;

/// The name of a value's type as Go's `%T` prints it. An integer that is no signed one of 64 bits is a float there.
pub(super) fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "<nil>",
        Value::Bool(_) => "bool",
        Value::Number(number) if number.is_i64() => "int64",
        Value::Number(_) => "float64",
        Value::String(_) => "string",
        Value::Array(_) => "[]interface {}",
        Value::Object(_) => "map[string]interface {}",
    }
}

/// The name of the value's type in Go's `reflect.Kind`.
pub(super) fn kind_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "invalid",
        Value::Array(_) => "slice",
        Value::Object(_) => "map",
        scalar => type_name(scalar),
    }
}

/// A value as Go's `%v` prints it: `map[a:1 b:<nil>]`, `[x y]`, `1e+06`.
pub(crate) struct Printed<'a>(pub(crate) &'a Value);

impl fmt::Display for Printed<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Value::Null => out.write_str("<nil>"),
            Value::Bool(flag) => write!(out, "{flag}"),
            Value::Number(number) => print_number(number, out),
            Value::String(text) => out.write_str(text),
            Value::Array(items) => {
                out.write_str("[")?;
                for (index, item) in items.iter().enumerate() {
                    let space = if index == 0 { "" } else { " " };
                    write!(out, "{space}{}", Printed(item))?;
                }
                out.write_str("]")
            }
            Value::Object(map) => {
                let mut entries: Vec<_> = map.iter().collect();
                entries.sort_unstable_by_key(|(key, _)| *key);
                out.write_str("map[")?;
                for (index, (key, value)) in entries.into_iter().enumerate() {
                    let space = if index == 0 { "" } else { " " };
                    write!(out, "{space}{key}:{}", Printed(value))?;
                }
                out.write_str("]")
            }
        }
    }
}

/// Prints a number as Go's `%v` does. Like Rust, Go prints the shortest digits that read back, but it takes the exponent form outside
/// 1e-4..1e6 and writes the exponent with a sign and two digits.
fn print_number(number: &Number, out: &mut fmt::Formatter<'_>) -> fmt::Result {
    if let Some(integer) = number.as_i64() {
        return write!(out, "{integer}");
    }
    let float = number.as_f64().unwrap_or_default();
    let scientific = format!("{float:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    let precision = digits.split_once('.').map_or(0, |(_, rest)| rest.len());
    if (-4..6).contains(&exponent) {
        let precision = i32::try_from(precision).unwrap_or_default();
        let decimals = usize::try_from(precision - exponent).unwrap_or_default();
        let text = even(float, format!("{float:.decimals$}"), float.to_string());
        return out.write_str(&text);
    }
    let text = even(float, format!("{float:.precision$e}"), scientific);
    let digits = text.split_once('e').map_or(&*text, |(digits, _)| digits);
    let sign = if exponent < 0 { '-' } else { '+' };
    write!(out, "{digits}e{sign}{:02}", exponent.unsigned_abs())
}

/// The digits of a float. Where two texts of the shortest length are equally near, Go takes the even one. Rust does so only when
/// it is given the number of digits, and otherwise takes the larger one. A power of two can have a shortest text that is not the
/// nearest.
fn even(float: f64, nearest: String, shortest: String) -> String {
    if nearest.parse() == Ok(float) {
        nearest
    } else {
        shortest
    }
}
