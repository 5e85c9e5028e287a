//! JSON values one after another.

use serde_json::{Deserializer, Value};

/// Passes each value, and the byte where it begins, to `take`; returns the byte where JSON ends.
///
/// Where that is not the end of the text the rest is YAML's: it takes more than JSON (`{"a": 1,}`, a comment behind the
/// value), and says where it gives up.
pub(super) fn values(text: &str, mut take: impl FnMut(Value, usize)) -> usize {
    // A comment or a separator before the value.
    let mut at = text
        .split_inclusive('\n')
        .take_while(|line| !line.trim_start().starts_with('{'))
        .map(str::len)
        .sum();
    let mut values = Deserializer::from_str(&text[at..]).into_iter();
    let start = at;
    while let Some(Ok(value)) = values.next() {
        let white = text[at..].len() - text[at..].trim_start().len();
        take(value, at + white);
        at = start + values.byte_offset();
    }
    at
}
