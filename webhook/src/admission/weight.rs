//! Estimates the memory of a decoded JSON text from the text alone, without building the tree.
//!
//! A text of 7 MiB may become a tree of hundreds of MiB: `0,` is two bytes and a value of 32, and an object of one
//! key takes the space of eleven. So an excessive text is refused before it is decoded.

/// The most bytes of a value with its place: in a list that has just doubled its capacity, or in a half-full node of an object.
const VALUE: usize = 112;
/// The bytes that an object takes at once when it is not empty: room for eleven entries.
const OBJECT: usize = 656;
/// The bytes that a list takes at once when it is not empty: room for four values.
const LIST: usize = 144;
/// The bytes of memory that a string takes beside its text.
const TEXT: usize = 32;

/// An upper bound on the number of values and the memory that a JSON text decodes to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Weight {
    /// The number of JSON values of all types.
    pub(super) values: usize,
    /// The bytes of memory that the decoded JSON takes.
    pub(super) bytes: usize,
}

/// The most bytes of tree that one byte of text can add: a bracket that opens a list in a list.
const BYTE: usize = VALUE + LIST;

impl Weight {
    /// Returns an upper bound for any text of `length` bytes, so a short text need not be weighed.
    pub(super) fn at_most(length: usize) -> Self {
        Self {
            values: length + 1,
            bytes: VALUE + length.saturating_mul(BYTE),
        }
    }
}

/// Returns the number of JSON values in a text, and an upper bound on the memory that they take once decoded. For a text that is no JSON both are
/// meaningless, because no tree will be built.
pub(super) fn weigh(text: &[u8]) -> Weight {
    let mut weight = Weight {
        values: 1,
        bytes: VALUE,
    };
    let mut opened = 0;
    let mut rest = text.iter();
    while let Some(byte) = rest.next() {
        // A list or an object that is closed at once holds no values and takes no space.
        let (first, room) = match opened {
            0 => (false, 0),
            room => (!b"]} \n\r\t".contains(byte), room),
        };
        if first {
            weight.values += 1;
            weight.bytes += VALUE + room;
        }
        match byte {
            b' ' | b'\n' | b'\r' | b'\t' => continue,
            b'{' => opened = OBJECT,
            b'[' => opened = LIST,
            _ => opened = 0,
        }
        match byte {
            b',' => {
                weight.values += 1;
                weight.bytes += VALUE;
            }
            b'"' => weight.bytes += TEXT + string(&mut rest),
            _ => {}
        }
    }
    weight
}

/// Skips the rest of a string and returns its escaped length, which is at least the length of its text.
fn string<'a>(rest: &mut impl Iterator<Item = &'a u8>) -> usize {
    let mut length = 0;
    while let Some(byte) = rest.next() {
        match byte {
            b'"' => break,
            b'\\' => {
                rest.next();
                length += 2;
            }
            _ => length += 1,
        }
    }
    length
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    /// The memory that a tree holds, as far as it can be told; nodes of objects count as half full.
    fn taken(value: &Value) -> usize {
        const ENTRY: usize = size_of::<String>() + size_of::<Value>();
        match value {
            Value::String(text) => text.capacity() + 16,
            Value::Array(items) => {
                let room = items.capacity() * size_of::<Value>();
                room + items.iter().map(taken).sum::<usize>()
            }
            Value::Object(entries) => {
                let nodes = match entries.len() {
                    0 => 0,
                    1..=11 => 1,
                    more => more.div_ceil(6) + more.div_ceil(36),
                };
                let keys = entries.iter();
                let inner = keys.map(|(key, it)| key.capacity() + 16 + taken(it));
                nodes * (11 * ENTRY + 16) + inner.sum::<usize>()
            }
            _ => 0,
        }
    }

    fn count(value: &Value) -> usize {
        1 + match value {
            Value::Array(items) => items.iter().map(count).sum(),
            Value::Object(entries) => entries.values().map(count).sum(),
            _ => 0,
        }
    }

    #[test]
    fn no_tree_is_heavier_than_its_text_says() {
        let wide = |item: &str| format!("[{}]", vec![item; 20_000].join(","));
        let keys: Vec<String> = (0..20_000).map(|it| format!("\"k{it}\":0")).collect();
        let texts = [
            "0".to_owned(),
            "[]".to_owned(),
            " { } ".to_owned(),
            wide("0"),
            wide("[]"),
            wide("[0]"),
            wide("{}"),
            wide("{\"a\":0}"),
            wide("{\"\":[\"\"]}"),
            wide("\"\""),
            wide(r#""a\"],[{\\""#),
            wide("{ \"a\" : [ 1 , [ ] ] }"),
            format!("{{{}}}", keys.join(",")),
            "[".repeat(100) + &"]".repeat(100),
        ];
        for text in texts {
            let value: Value = serde_json::from_str(&text).unwrap();
            let weight = weigh(text.as_bytes());
            let shown = &text[..text.len().min(40)];
            assert_eq!(weight.values, count(&value), "{shown}");
            let taken = taken(&value) + size_of::<Value>();
            assert!(weight.bytes >= taken, "{shown}: {weight:?} and {taken}");
            let most = Weight::at_most(text.len());
            assert!(most.values >= weight.values, "{shown}");
            assert!(most.bytes >= weight.bytes, "{shown}");
        }
    }

    #[test]
    fn what_people_apply_is_far_below_what_is_refused() {
        let limits = super::super::AdmissionLimits::default().within(256 << 20);
        let text = |length| "x".repeat(length);
        let field = |number: usize| {
            let says = json!({"description": text(110), "type": "string"});
            (format!("field-{number}"), says)
        };
        let definition: serde_json::Map<_, _> = (0..18_000).map(field).collect();
        let env = |number: usize| json!({"name": format!("VARIABLE_{number}"), "value": text(100)});
        let pod =
            json!({"spec": {"containers": [{"env": (0..7_000).map(env).collect::<Vec<_>>()}]}});
        for (object, times, megabytes) in [
            (json!({"data": {"a": text(3 << 20)}}), 2, 3),
            (json!({"schema": definition}), 1, 3),
            (pod, 2, 1),
        ] {
            let body = object.to_string();
            assert!(body.len() > megabytes * 900_000, "{}", body.len());
            let weight = weigh(body.as_bytes());
            assert!(weight.values * 4 < limits.values, "{weight:?}");
            assert!(weight.bytes * times < limits.decoded, "{weight:?}");
        }
    }

    #[test]
    fn what_is_no_json_is_passed_over() {
        for text in ["", "\"", "\"\\", "]]]", "{\"a", ",,,"] {
            weigh(text.as_bytes());
        }
    }
}
