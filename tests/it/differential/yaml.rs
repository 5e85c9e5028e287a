//! Manifests as YAML: every style, and the scalars at which readers differ.

use super::random::Random;
use serde_json::Value;

/// What stands for one value. Texts that no YAML reader takes are left to the library to sort out.
const ODD: [&str; 64] = [
    "yes",
    "No",
    "on",
    "OFF",
    "y",
    "N",
    "true",
    "True",
    "tRUE",
    "null",
    "Null",
    "~",
    "",
    "0",
    "-0",
    "+1",
    "007",
    "08",
    "0o17",
    "0x1F",
    "0X1f",
    "-0x10",
    "0b101",
    "-0b11",
    "0b2",
    "1_000",
    "_1",
    "1__0",
    "12e03",
    "1e3",
    "1E-7",
    "1.0",
    "-1.50",
    ".5",
    "5.",
    "+.5",
    ".",
    "1e400",
    "1e20",
    "1e21",
    "123456789012345678901",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775809",
    "2024-01-01",
    "2024-01-01T00:00:00Z",
    "2024-1-1 1:2:3",
    "12:30:45",
    "1.2.3",
    "=",
    "<<",
    "!!str 5",
    "!!int '7'",
    "!!float 7",
    "!!bool 'yes'",
    "!!null ''",
    "!mine x",
    "! 5",
    "!!int x",
    "\"\\x41\\u00e9\\n\"",
    "'it''s'",
    "plain with spaces",
    "a#b",
    "&anchor shared",
];

/// Keys that become texts.
const KEYS: [&str; 12] = [
    "5",
    "0x10",
    "1.50",
    "1e10",
    "1e-7",
    "yes",
    "~",
    "'quoted'",
    "\"q\\\"\"",
    "2024-01-01",
    ".5",
    "plain key",
];

impl Random {
    /// One document, without the marks around it.
    pub(super) fn document(&mut self) -> String {
        let manifest = self.manifest();
        let mut text = String::new();
        self.block(&manifest, 0, &mut text);
        text
    }

    /// A value after its key or its dash, up to the end of the line.
    fn block(&mut self, value: &Value, indent: usize, text: &mut String) {
        let space = " ".repeat(indent);
        match value {
            Value::Object(fields) if !fields.is_empty() && (indent == 0 || self.percent(85)) => {
                text.push('\n');
                for (key, value) in fields {
                    let key = if self.percent(80) && is_name(key) {
                        key.clone()
                    } else {
                        quoted(key)
                    };
                    text.push_str(&format!("{space}{key}:"));
                    self.block(value, indent + 2, text);
                }
                if indent > 0 && self.percent(2) {
                    let (key, value) = (self.pick(&KEYS), self.pick(&ODD));
                    text.push_str(&format!("{space}{key}: {value}\n"));
                }
                if indent > 0 && self.percent(2) {
                    text.push_str(&format!("{space}<<: {{phase: Running, replicas: 1}}\n"));
                }
            }
            Value::Array(items) if !items.is_empty() && self.percent(85) => {
                // A list may stand as deep as its key.
                let space = " ".repeat(if self.percent(50) {
                    indent
                } else {
                    indent.saturating_sub(2)
                });
                text.push('\n');
                for item in items {
                    text.push_str(&format!("{space}-"));
                    self.block(item, space.len() + 2, text);
                }
            }
            Value::String(content) if self.percent(20) && is_literal(content) => {
                let style = self.pick(&["|", "|-", ">", ">+"]);
                let lines = content.replace('\n', &format!("\n{space}"));
                text.push_str(&format!(" {style}\n{space}{lines}\n"));
            }
            _ if !value.is_object() && !value.is_array() && self.percent(8) => {
                text.push_str(&format!(" {}\n", self.pick(&ODD)));
            }
            Value::String(content) if self.percent(70) && is_plain(content) => {
                text.push_str(&format!(" {content}\n"));
            }
            _ => {
                let comment = self.pick(&["", "", " # a comment"]);
                text.push_str(&format!(" {value}{comment}\n"));
            }
        }
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Two keys that are one boolean would be a key that is there twice, of which the library takes the second.
fn is_name(key: &str) -> bool {
    is_plain(key) && !key.eq_ignore_ascii_case("true")
}

fn is_plain(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text
            .chars()
            .all(|it| it.is_ascii_alphanumeric() || "./ -".contains(it))
        && !text.ends_with(' ')
}

fn is_literal(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text.chars().all(|it| it.is_ascii_graphic() || it == '\n')
}
