//! A JSON tree in few bytes: a common word takes one byte, a time five and a UID sixteen, and nothing is quoted.

mod words;

use jiff::Timestamp;
use serde_json::{Map, Number, Value};
use std::borrow::Cow;
use std::collections::HashMap;
use std::iter;
use std::sync::LazyLock;
use words::WORDS;

const NULL: u8 = 0;
const FALSE: u8 = 1;
const TRUE: u8 = 2;
/// The code of a list in a packed tree. A count follows the code, as it follows [`MAP`] and [`TEXT`].
const LIST: u8 = 3;
const MAP: u8 = 4;
const TEXT: u8 = 5;
/// The code of a number in a packed tree. A count and the digits follow.
const NUMBER: u8 = 6;
/// The code of a time in a packed tree. Five bytes follow: seconds since 1970.
const TIME: u8 = 7;
const UID: u8 = 8;
/// The code of the first common word in a packed tree.
const WORD: u8 = 16;

/// The codes of the common words in a packed tree.
static CODES: LazyLock<HashMap<&str, u8>> =
    LazyLock::new(|| WORDS.into_iter().zip(WORD..=u8::MAX).collect());

/// Packs a JSON tree into bytes. Equal trees have equal bytes.
#[cfg(test)]
fn pack(value: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    write(value, &mut out);
    out
}

/// The fields of an object's metadata that are not packed, because the object's key in the store holds them.
const NAMES: [&str; 2] = ["name", "namespace"];

/// Packs an object without its name and its namespace. Equal objects of one name have equal bytes. No bytes for a value that is no mapping.
pub(super) fn pack_unnamed(object: &Value) -> Vec<u8> {
    let mut out = Vec::new();
    let Value::Object(fields) = object else {
        return out;
    };
    write_count(MAP, fields.len(), &mut out);
    for (key, value) in fields {
        write_text(key, &mut out);
        match value {
            Value::Object(metadata) if key == "metadata" => {
                let rest = metadata.iter();
                let rest = rest.filter(|(key, _)| !NAMES.contains(&key.as_str()));
                write_fields(rest, &mut out);
            }
            value => write(value, &mut out),
        }
    }
    out
}

fn write_fields<'v>(
    fields: impl Iterator<Item = (&'v String, &'v Value)> + Clone,
    out: &mut Vec<u8>,
) {
    write_count(MAP, fields.clone().count(), out);
    for (key, value) in fields {
        write_text(key, out);
        write(value, out);
    }
}

fn write(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Null => out.push(NULL),
        Value::Bool(false) => out.push(FALSE),
        Value::Bool(true) => out.push(TRUE),
        Value::Number(number) => write_bytes(NUMBER, number.to_string().as_bytes(), out),
        Value::String(text) => write_text(text, out),
        Value::Array(items) => {
            write_count(LIST, items.len(), out);
            for item in items {
                write(item, out);
            }
        }
        Value::Object(fields) => write_fields(fields.iter(), out),
    }
}

fn write_text(text: &str, out: &mut Vec<u8>) {
    if let Some(word) = CODES.get(text) {
        out.push(*word);
    } else if let Some(seconds) = seconds(text) {
        out.push(TIME);
        out.extend_from_slice(&seconds);
    } else if let Some(uid) = uid(text) {
        out.push(UID);
        out.extend_from_slice(&uid);
    } else {
        write_bytes(TEXT, text.as_bytes(), out);
    }
}

fn write_bytes(what: u8, bytes: &[u8], out: &mut Vec<u8>) {
    write_count(what, bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// Writes a code and a count: seven bits in each byte, the lowest first. All bytes but the last have the eighth bit set.
fn write_count(what: u8, mut count: usize, out: &mut Vec<u8>) {
    out.push(what);
    while count >= 0x80 {
        out.push(count.to_le_bytes()[0] | 0x80);
        count >>= 7;
    }
    out.push(count.to_le_bytes()[0]);
}

/// The seconds since 1970 of a time as the API server writes it, `2026-01-02T03:04:05Z`, in five bytes; `None` for any other text.
fn seconds(text: &str) -> Option<[u8; 5]> {
    if text.len() != 20 || !text.ends_with('Z') {
        return None;
    }
    let at: Timestamp = text.parse().ok()?;
    let [0, 0, 0, seconds @ ..] = at.as_second().to_be_bytes() else {
        return None;
    };
    (at.to_string() == text).then_some(seconds)
}

/// The bytes of a UID in lower case, `705ab4f5-6393-11e8-b7cc-42010a800002`; `None` for any other text.
fn uid(text: &str) -> Option<[u8; 16]> {
    let digits = text.len() == 36
        && text
            .bytes()
            .all(|it| matches!(it, b'0'..=b'9' | b'a'..=b'f' | b'-'));
    let number = u128::from_str_radix(&text.replace('-', ""), 16)
        .ok()
        .filter(|_| digits)?;
    (uid_text(number) == text).then_some(number.to_be_bytes())
}

fn uid_text(number: u128) -> String {
    let mut text = format!("{number:032x}");
    for at in [8, 13, 18, 23] {
        text.insert(at, '-');
    }
    text
}

/// A reader of a packed JSON tree, at a place in its bytes. Its methods return `None` for bytes that are no such tree.
#[derive(Debug, Clone, Copy)]
pub(super) struct Packed<'a>(pub(super) &'a [u8]);

impl<'a> Packed<'a> {
    /// Reads the packed tree that begins here as a JSON value, and goes on behind it; `None` for bytes that are no packed tree.
    pub(super) fn value(&mut self) -> Option<Value> {
        Some(match self.byte()? {
            NULL => Value::Null,
            FALSE => Value::Bool(false),
            TRUE => Value::Bool(true),
            LIST => (0..self.count()?)
                .map(|_| self.value())
                .collect::<Option<_>>()?,
            MAP => {
                let mut fields = Map::new();
                for _ in 0..self.count()? {
                    let key = self.text()?.into_owned();
                    fields.insert(key, self.value()?);
                }
                Value::Object(fields)
            }
            NUMBER => {
                let number: Number = serde_json::from_slice(self.counted()?).ok()?;
                Value::Number(number)
            }
            what => Value::String(self.text_of(what)?.into_owned()),
        })
    }

    /// Reads the text at a path of fields, and copies nothing else; `None` if no text stands there.
    pub(super) fn text_at(mut self, path: &[&str]) -> Option<Cow<'a, str>> {
        self.go_to(path)?;
        self.text()
    }

    /// Reads the mapping at a path of fields: the key and the value of each field whose value is a text. Empty if no mapping stands there.
    pub(super) fn texts_at(
        mut self,
        path: &[&str],
    ) -> impl Iterator<Item = (Cow<'a, str>, Cow<'a, str>)> {
        let fields = self.go_to(path).and_then(|()| self.fields());
        let mut left = fields.unwrap_or_default();
        let next = move || {
            left = left.checked_sub(1)?;
            let (key, mut value) = (self.text()?, self);
            self.skip()?;
            Some((key, value.text()))
        };
        iter::from_fn(next).filter_map(|(key, value)| Some((key, value?)))
    }

    /// Goes on to the value at a path of fields; `None` if there is no such field.
    fn go_to(&mut self, path: &[&str]) -> Option<()> {
        let [field, rest @ ..] = path else {
            return Some(());
        };
        for _ in 0..self.fields()? {
            if self.text()? == *field {
                return self.go_to(rest);
            }
            self.skip()?;
        }
        None
    }

    /// Reads the number of fields of the mapping that begins here; `None` if no mapping does.
    fn fields(&mut self) -> Option<usize> {
        (self.byte()? == MAP).then(|| self.count()).flatten()
    }

    fn skip(&mut self) -> Option<()> {
        match self.byte()? {
            LIST => (0..self.count()?).try_for_each(|_| self.skip())?,
            MAP => (0..self.count()?.saturating_mul(2)).try_for_each(|_| self.skip())?,
            TEXT | NUMBER => drop(self.counted()?),
            // Nothing is made of a time or a UID on the way.
            TIME => drop(self.some::<5>()?),
            UID => drop(self.some::<16>()?),
            // Every other value is one byte: null, a boolean, or a common word.
            _ => {}
        }
        Some(())
    }

    fn text(&mut self) -> Option<Cow<'a, str>> {
        let what = self.byte()?;
        self.text_of(what)
    }

    fn text_of(&mut self, what: u8) -> Option<Cow<'a, str>> {
        Some(match what {
            TEXT => Cow::Borrowed(str::from_utf8(self.counted()?).ok()?),
            TIME => {
                let bytes = self.some::<5>()?.iter();
                let seconds = bytes.fold(0, |all, byte| all << 8 | i64::from(*byte));
                Cow::Owned(Timestamp::from_second(seconds).ok()?.to_string())
            }
            UID => Cow::Owned(uid_text(u128::from_be_bytes(*self.some()?))),
            word => Cow::Borrowed(*WORDS.get(usize::from(word.checked_sub(WORD)?))?),
        })
    }

    fn counted(&mut self) -> Option<&'a [u8]> {
        let count = self.count()?;
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    fn count(&mut self) -> Option<usize> {
        let mut count = 0;
        for shift in (0..usize::BITS).step_by(7) {
            let byte = self.byte()?;
            count |= usize::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(count);
            }
        }
        None
    }

    fn byte(&mut self) -> Option<u8> {
        self.some::<1>().map(|[byte]| *byte)
    }

    fn some<const COUNT: usize>(&mut self) -> Option<&'a [u8; COUNT]> {
        let (bytes, rest) = self.0.split_first_chunk()?;
        self.0 = rest;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests;
