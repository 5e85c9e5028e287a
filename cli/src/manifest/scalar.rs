//! YAML's scalars, as go-yaml 2 takes them: the reader under kubectl, Helm, Argo CD and Flux.
//!
//! The rules are neither those of YAML 1.1 nor of 1.2: `yes` and `on` are booleans, `0o17` and `017` are 15, `1_000` is 1000, and
//! a date stays a text. A float then goes through JSON, where `2.0` is written `2` and read as an integer.

use granit_parser::{ScalarStyle, Tag};
use serde_json::{Number, Value};

/// The value of a scalar of this style and tag; without a tag, a scalar that is not plain is a text. An error for a text that does not have the type
/// of its tag, for the tag `!!binary`, and for a number that JSON lacks, such as `.nan`.
pub(super) fn resolve(text: &str, style: ScalarStyle, tag: Option<&Tag>) -> Result<Value, String> {
    let Some(tag) = tag else {
        return match style {
            ScalarStyle::Plain => plain(text),
            _ => Ok(text.into()),
        };
    };
    match (tag.core_suffix(), plain(text)) {
        (Some("int"), Ok(Value::Number(number))) if !number.is_f64() => Ok(number.into()),
        (Some("float"), Ok(number @ Value::Number(_))) => Ok(number),
        (Some("bool"), Ok(flag @ Value::Bool(_))) => Ok(flag),
        (Some("null"), Ok(Value::Null)) => Ok(Value::Null),
        (Some(name @ ("int" | "float" | "bool" | "null")), _) => {
            Err(format!("{text:?} does not have its type, !!{name}"))
        }
        (Some("binary"), _) => Err("the tag !!binary is not supported".to_owned()),
        _ => Ok(text.into()),
    }
}

fn plain(text: &str) -> Result<Value, String> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
            true.into()
        }
        "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False" | "FALSE" => {
            false.into()
        }
        ".nan" | ".NaN" | ".NAN" | ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF"
        | "-.inf" | "-.Inf" | "-.INF" => return Err(format!("{text} is no number in JSON")),
        _ => number(text).map_or_else(|| text.into(), Value::Number),
    })
}

/// The number that a text spells in Go's way, as `strconv.ParseInt` reads it with base 0, or as a decimal float of YAML; `None` for any other
/// text.
fn number(text: &str) -> Option<Number> {
    let float = |text: &str| Number::from_f64(text.parse().ok()?);
    match text.as_bytes().first()? {
        b'.' => return float(text),
        b'+' | b'-' | b'0'..=b'9' => {}
        _ => return None,
    }
    let plain = text.replace('_', "");
    let unsigned = plain.strip_prefix(['+', '-']);
    let sign = if plain.starts_with('-') { "-" } else { "" };
    let (digits, base) = based(unsigned.unwrap_or(&plain));
    if digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        if let Ok(number) = i64::from_str_radix(&format!("{sign}{digits}"), base) {
            return Some(number.into());
        }
        if unsigned.is_none()
            && let Ok(number) = u64::from_str_radix(digits, base)
        {
            return Some(number.into());
        }
    }
    let decimal = plain.bytes().all(|byte| b"+-.eE0123456789".contains(&byte));
    decimal.then(|| float(&plain)).flatten()
}

/// The digits of a number without its prefix, and their base by that prefix: `0x1f`, `0o17`, `017`, `0b11`; base 10 without one.
fn based(text: &str) -> (&str, u32) {
    match text.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (&text[2..], 16),
        [b'0', b'o' | b'O', _, ..] => (&text[2..], 8),
        [b'0', b'b' | b'B', _, ..] => (&text[2..], 2),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    }
}

/// Turns a whole float that fits into 64 bits into an integer: Go writes it into JSON without a point. Any other value stays unchanged.
pub(super) fn json(value: Value) -> Value {
    let float = value.as_f64().filter(|_| value.is_f64());
    let whole = float.and_then(|float| float.to_string().parse::<i64>().ok());
    whole.map_or(value, Value::from)
}

/// The text of a YAML key in JSON, where every key is a text; an error for null, a list or a mapping.
pub(super) fn key(value: Value) -> Result<String, String> {
    match value {
        Value::Null => Err("a key is not null".to_owned()),
        Value::Bool(flag) => Ok(flag.to_string()),
        Value::Number(number) => Ok(match number.as_f64().filter(|_| number.is_f64()) {
            Some(float) => float_key(float),
            None => number.to_string(),
        }),
        Value::String(text) => Ok(text),
        Value::Array(_) | Value::Object(_) => {
            Err("a key is a text, a number or a boolean".to_owned())
        }
    }
}

/// Writes a float as Go's `FormatFloat(number, 'g', -1, 32)`.
fn float_key(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "Go prints keys so")]
    let short = number as f32;
    let scientific = format!("{short:e}");
    let Some((digits, exponent)) = scientific.split_once('e') else {
        return scientific;
    };
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{short}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}
