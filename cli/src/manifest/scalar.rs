//! YAML's scalars, as go-yaml 2 takes them: the reader under kubectl, Helm, Argo CD and Flux.
//!
//! It is neither YAML 1.1 nor 1.2: `yes` and `on` are booleans, `0o17` and `017` are 15, `1_000` is 1000, and a date
//! stays a text. What it makes of a float then goes through JSON, where `2.0` is written `2` and read as an integer.

use granit_parser::{ScalarStyle, Tag};
use serde_json::{Number, Value};

/// A scalar with its type.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Scalar<'t> {
    Null,
    Bool(bool),
    Int(i64),
    /// Beyond [`i64::MAX`].
    Large(u64),
    Float(f64),
    Text(&'t str),
}

impl<'t> Scalar<'t> {
    /// What a scalar of this style and tag is, or why it is nothing.
    pub(super) fn resolve(
        text: &'t str,
        style: ScalarStyle,
        tag: Option<&Tag>,
    ) -> Result<Self, String> {
        let Some(tag) = tag else {
            let plain = style == ScalarStyle::Plain;
            return Ok(if plain {
                Self::plain(text)
            } else {
                Self::Text(text)
            });
        };
        match (tag.core_suffix(), Self::plain(text)) {
            (Some("int"), scalar @ (Self::Int(_) | Self::Large(_)))
            | (Some("float"), scalar @ Self::Float(_))
            | (Some("bool"), scalar @ Self::Bool(_))
            | (Some("null"), scalar @ Self::Null) => Ok(scalar),
            #[expect(clippy::cast_precision_loss, reason = "as Go converts it")]
            (Some("float"), Self::Int(number)) => Ok(Self::Float(number as f64)),
            (Some(name @ ("int" | "float" | "bool" | "null")), _) => {
                Err(format!("{text:?} does not have its type, !!{name}"))
            }
            (Some("binary"), _) => Err("the tag !!binary is not supported".to_owned()),
            _ => Ok(Self::Text(text)),
        }
    }

    fn plain(text: &'t str) -> Self {
        match text {
            "" | "~" | "null" | "Null" | "NULL" => Self::Null,
            "y" | "Y" | "yes" | "Yes" | "YES" | "on" | "On" | "ON" | "true" | "True" | "TRUE" => {
                Self::Bool(true)
            }
            "n" | "N" | "no" | "No" | "NO" | "off" | "Off" | "OFF" | "false" | "False"
            | "FALSE" => Self::Bool(false),
            ".nan" | ".NaN" | ".NAN" => Self::Float(f64::NAN),
            ".inf" | ".Inf" | ".INF" | "+.inf" | "+.Inf" | "+.INF" => Self::Float(f64::INFINITY),
            "-.inf" | "-.Inf" | "-.INF" => Self::Float(f64::NEG_INFINITY),
            _ => number(text).unwrap_or(Self::Text(text)),
        }
    }

    /// The value in JSON; JSON has no infinity, and Go refuses it.
    pub(super) fn value(self) -> Result<Value, String> {
        Ok(match self {
            Self::Null => Value::Null,
            Self::Bool(flag) => flag.into(),
            Self::Int(number) => number.into(),
            Self::Large(number) => number.into(),
            Self::Text(text) => text.into(),
            Self::Float(number) => {
                // Go writes whole floats below 1e21 without a point, so that they are read as integers.
                let whole = number.fract() == 0.0 && number.abs() < 1e21;
                let integer = whole.then(|| format!("{number}").parse::<i64>().ok());
                match integer.flatten() {
                    Some(integer) => integer.into(),
                    None => Number::from_f64(number)
                        .ok_or_else(|| format!("{number} is no number in JSON"))?
                        .into(),
                }
            }
        })
    }

    /// The key in JSON, where every key is a text.
    pub(super) fn key(self) -> Result<String, String> {
        Ok(match self {
            Self::Null => return Err("a key is not null".to_owned()),
            Self::Bool(flag) => flag.to_string(),
            Self::Int(number) => number.to_string(),
            Self::Large(number) => return Err(format!("the key {number} is too large")),
            Self::Float(number) => float_key(number),
            Self::Text(text) => text.to_owned(),
        })
    }
}

/// A number in any of Go's spellings: `strconv.ParseInt` with base 0, and floats in the decimal form of YAML.
fn number<'t>(text: &str) -> Option<Scalar<'t>> {
    let finite = |text: &str| text.parse().ok().filter(|it: &f64| it.is_finite());
    match text.as_bytes().first()? {
        b'.' => return finite(text).map(Scalar::Float),
        b'+' | b'-' | b'0'..=b'9' => {}
        _ => return None,
    }
    let plain = text.replace('_', "");
    let unsigned = plain.strip_prefix(['+', '-']);
    let sign = if plain.starts_with('-') { "-" } else { "" };
    let (digits, base) = based(unsigned.unwrap_or(&plain));
    if digits.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        if let Ok(number) = i64::from_str_radix(&format!("{sign}{digits}"), base) {
            return Some(Scalar::Int(number));
        }
        if unsigned.is_none()
            && let Ok(number) = u64::from_str_radix(digits, base)
        {
            return Some(Scalar::Large(number));
        }
    }
    if plain.bytes().all(|byte| b"+-.eE0123456789".contains(&byte)) {
        return finite(&plain).map(Scalar::Float);
    }
    None
}

/// The digits and their base: `0x1f`, `0o17`, `017`, `0b11`.
fn based(text: &str) -> (&str, u32) {
    match text.as_bytes() {
        [b'0', b'x' | b'X', _, ..] => (&text[2..], 16),
        [b'0', b'o' | b'O', _, ..] => (&text[2..], 8),
        [b'0', b'b' | b'B', _, ..] => (&text[2..], 2),
        [b'0', _, ..] => (&text[1..], 8),
        _ => (text, 10),
    }
}

/// Go's `FormatFloat(number, 'g', -1, 32)`, and YAML's words for what is not finite.
fn float_key(number: f64) -> String {
    #[expect(clippy::cast_possible_truncation, reason = "Go prints keys so")]
    let short = number as f32;
    if number.is_nan() {
        return ".nan".to_owned();
    }
    if short.is_infinite() {
        return if short > 0.0 { ".inf" } else { "-.inf" }.to_owned();
    }
    let scientific = format!("{short:e}");
    let (digits, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or_default();
    if (-4..6).contains(&exponent) {
        return format!("{short}");
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{digits}e{sign}{:02}", exponent.unsigned_abs())
}
