//! Values to text, as client-go prints the results of a template.

use crate::kstatus::Printed;
use serde::Serialize;
use serde_json::Value;
use serde_json::ser::{Formatter, Serializer};
use std::io::{self, Write};

/// The longest text, in bytes, that is made of the values of a JSONPath. A value that a user writes to compare the text with is never as
/// long.
pub const LONGEST: usize = 64 * 1024;

/// The text that client-go prints for these values: texts as they are, lists and maps as JSON, with a space between two values. `None` if
/// the text is longer than [`LONGEST`].
pub fn print(values: &[&Value]) -> Option<String> {
    let mut page = BoundedText(Vec::new());
    for (index, value) in values.iter().enumerate() {
        let space = if index == 0 { "" } else { " " };
        let written = match value {
            Value::Null => page.write_fmt(format_args!("{space}null")),
            Value::Array(_) | Value::Object(_) => page
                .write_all(space.as_bytes())
                .and_then(|()| json(&mut page, value)),
            scalar => page.write_fmt(format_args!("{space}{}", Printed(scalar))),
        };
        written.ok()?;
    }
    String::from_utf8(page.0).ok()
}

fn json(page: &mut BoundedText, value: &Value) -> io::Result<()> {
    Ok(value.serialize(&mut Serializer::with_formatter(page, GoJson))?)
}

/// JSON as Go's encoder writes it: a float without a fraction looks like an integer, and characters with a meaning in HTML or JavaScript
/// are escaped.
struct GoJson;

impl Formatter for GoJson {
    fn write_f64<W: ?Sized + Write>(&mut self, out: &mut W, value: f64) -> io::Result<()> {
        let size = value.abs();
        if size != 0.0 && !(1e-6..1e21).contains(&size) {
            let text = format!("{value:e}");
            return out.write_all(text.replace('e', "e+").replace("e+-", "e-").as_bytes());
        }
        write!(out, "{value}")
    }

    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        out: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let special = |letter| matches!(letter, '<' | '>' | '&' | '\u{2028}' | '\u{2029}');
        let mut rest = fragment;
        while let Some(at) = rest.find(special) {
            let mut letters = rest[at..].chars();
            let letter = letters.next().map_or(0, u32::from);
            write!(out, "{}\\u{letter:04x}", &rest[..at])?;
            rest = letters.as_str();
        }
        out.write_all(rest.as_bytes())
    }
}

/// A buffer of at most [`LONGEST`] bytes.
struct BoundedText(Vec<u8>);

impl Write for BoundedText {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST {
            return Err(io::Error::other("the page is full"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
