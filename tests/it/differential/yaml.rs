//! Writes manifests as YAML, in every style and with scalars that readers understand in different ways.

use super::random::Random;
use serde_json::{Map, Value};

/// Scalars that readers of YAML understand in different ways. A text that no reader takes is left out when the library refuses it.
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

/// Keys that are no plain names, which become texts in JSON.
const KEYS: [&str; 12] = [
    "5",
    "0x10",
    "1.50",
    "1e10",
    "1e-7",
    "Off",
    "1_0",
    "'quoted'",
    "\"q\\\"\"",
    "2024-01-01",
    ".5",
    "plain key",
];

impl Random {
    /// Returns a random manifest as one YAML document, without `---` around it.
    pub(super) fn document(&mut self) -> String {
        let manifest = self.manifest();
        match &manifest {
            Value::Object(fields) => self.mapping(fields, 0),
            other => self.after_key(other, 0),
        }
    }

    /// Returns a value as it is written after its key or its dash, up to the end of its last line.
    fn after_key(&mut self, value: &Value, indent: usize) -> String {
        match value {
            Value::Object(fields) if !fields.is_empty() && self.percent(85) => {
                self.mapping(fields, indent)
            }
            Value::Array(items) if !items.is_empty() && self.percent(85) => {
                // A list may stand no deeper than its key.
                let indent = if self.percent(50) {
                    indent
                } else {
                    indent.saturating_sub(2)
                };
                self.sequence(items, indent)
            }
            Value::Object(_) | Value::Array(_) => format!(" {value}\n"),
            scalar => self.scalar(scalar, indent),
        }
    }

    fn mapping(&mut self, fields: &Map<String, Value>, indent: usize) -> String {
        let space = " ".repeat(indent);
        let mut lines = vec!["\n".to_owned()];
        for (key, value) in fields {
            let plain = self.percent(80) && is_name(key);
            let key = if plain { key.clone() } else { quoted(key) };
            let value = self.after_key(value, indent + 2);
            lines.push(format!("{space}{key}:{value}"));
        }
        if indent > 0 && self.percent(2) {
            let (key, value) = (self.pick(&KEYS), self.pick(&ODD));
            lines.push(format!("{space}{key}: {value}\n"));
        }
        if indent > 0 && self.percent(2) {
            lines.push(format!("{space}<<: {{phase: Running, replicas: 1}}\n"));
        }
        lines.concat()
    }

    fn sequence(&mut self, items: &[Value], indent: usize) -> String {
        let space = " ".repeat(indent);
        let mut lines = vec!["\n".to_owned()];
        for item in items {
            let item = self.after_key(item, indent + 2);
            lines.push(format!("{space}-{item}"));
        }
        lines.concat()
    }

    fn scalar(&mut self, value: &Value, indent: usize) -> String {
        if self.percent(8) {
            return format!(" {}\n", self.pick(&ODD));
        }
        match value.as_str() {
            Some(text) if self.percent(20) && is_literal(text) => {
                let space = " ".repeat(indent);
                let style = self.pick(&["|", "|-", ">", ">+"]);
                let lines = text.replace('\n', &format!("\n{space}"));
                format!(" {style}\n{space}{lines}\n")
            }
            Some(text) if self.percent(70) && is_plain(text) => format!(" {text}\n"),
            _ => format!(" {value}{}\n", self.pick(&["", "", " # a comment"])),
        }
    }
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Whether a key is plain and neither a boolean nor null. Two keys that are one boolean are one key that is there twice, of which the library takes
/// the second. A null key is an error, unless a merge replaces its mapping.
fn is_name(key: &str) -> bool {
    let special = ["true", "false", "null"];
    is_plain(key) && !special.iter().any(|word| key.eq_ignore_ascii_case(word))
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
