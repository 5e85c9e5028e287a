//! The objects of a manifest, in their order, read as Kubernetes' tools read them.
//!
//! A manifest is a stream of YAML documents and JSON values. Both become JSON: YAML by the rules of the reader under
//! kubectl (see [`scalar`]), so that `yes` is a boolean, `0o17` is 15 and a date is a text.

mod document;
mod scalar;
mod yaml;

use document::{Document, Documents};
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;

/// One object: a document, or an item of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The object; a mapping, unless there is a `problem`.
    pub(crate) object: Value,
    /// Why it cannot be judged, and where.
    pub(crate) problem: Option<String>,
    /// The number of its document in the input, from 1; empty documents do not count.
    pub(crate) document: usize,
}

/// A place that is neither YAML nor JSON. Reading ends there.
#[derive(Debug, thiserror::Error)]
#[error("{place}: {text}")]
pub(crate) struct SyntaxError {
    place: Position,
    /// The parser's message.
    text: String,
}

/// A position in the input; both numbers begin with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Position {
    line: usize,
    column: usize,
}

impl Position {
    /// The one behind this text.
    fn behind(text: &str) -> Self {
        let mut lines = text.split('\n');
        let last = lines.next_back().unwrap_or_default();
        Self {
            line: 1 + lines.count(),
            column: 1 + last.chars().count(),
        }
    }
}

impl fmt::Display for Position {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column } = self;
        write!(out, "line {line}, column {column}")
    }
}

/// A fault, and the byte of the text where it is.
struct Flaw {
    at: usize,
    text: String,
}

/// The entries of a text.
pub(crate) struct Entries<'t> {
    text: &'t str,
    documents: Documents<'t>,
    /// How many documents were read.
    count: usize,
    ready: VecDeque<Result<Entry, SyntaxError>>,
    ended: bool,
}

impl<'t> Entries<'t> {
    pub(crate) fn new(bytes: &'t [u8]) -> Self {
        let mut ready = VecDeque::new();
        let text = str::from_utf8(bytes).unwrap_or_else(|error| {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            ready.push_back(Err(SyntaxError {
                place: Position::behind(&before),
                text: "the text is not UTF-8".to_owned(),
            }));
            ""
        });
        Self {
            text,
            documents: Documents::new(text),
            count: 0,
            ready,
            ended: false,
        }
    }

    fn read(&mut self) {
        match self.documents.read() {
            // An empty document is nothing, as it is to kubectl.
            Ok(Some(Document { value, flaw, .. })) if value.is_null() && flaw.is_none() => {}
            Ok(Some(Document { value, flaw, at })) => {
                self.count += 1;
                let problem = flaw.map(|it| format!("{}: {}", self.place(it.at), it.text));
                // Counting lines takes time, so only for what goes wrong.
                let text = self.text;
                let place = || Position::behind(&text[..at]).to_string();
                self.expand(value, problem.as_ref(), &place);
            }
            Ok(None) => self.ended = true,
            Err(Flaw { at, text }) => {
                self.ended = true;
                let place = self.place(at);
                self.ready.push_back(Err(SyntaxError { place, text }));
            }
        }
    }

    fn place(&self, at: usize) -> Position {
        Position::behind(&self.text[..at])
    }

    fn expand(&mut self, object: Value, problem: Option<&String>, place: &dyn Fn() -> String) {
        match items(object) {
            Ok(items) => {
                for (index, item) in items.into_iter().enumerate() {
                    self.expand(item, problem, &|| format!("{}, item {index}", place()));
                }
            }
            Err(object) => {
                let problem = problem.cloned().or_else(|| {
                    let found = type_of(&object)?;
                    let place = place();
                    Some(format!("{place}: an object is a mapping, this is {found}"))
                });
                let document = self.count;
                self.ready.push_back(Ok(Entry {
                    object,
                    problem,
                    document,
                }));
            }
        }
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, SyntaxError>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.ended {
            self.read();
        }
        self.ready.pop_front()
    }
}

/// The items of a `List` or `PodList`, else the object itself.
///
/// As in apimachinery, items that carry neither `apiVersion` nor `kind` have them from their list: the API server
/// writes the items of a typed list so.
fn items(mut object: Value) -> Result<Vec<Value>, Value> {
    let Some(item_kind) = object.get("kind").and_then(list_of) else {
        return Err(object);
    };
    let item_kind = item_kind.to_owned();
    let version = object.get("apiVersion").cloned();
    let mut items = match object.get_mut("items").map(Value::take) {
        Some(Value::Array(items)) => items,
        Some(Value::Null) | None if item_kind.is_empty() => Vec::new(),
        Some(other) => {
            object["items"] = other;
            return Err(object);
        }
        None => return Err(object),
    };
    for item in items.iter_mut().filter_map(Value::as_object_mut) {
        if !item_kind.is_empty() && !item.contains_key("kind") && !item.contains_key("apiVersion") {
            item.insert("kind".to_owned(), item_kind.clone().into());
            item.extend(version.clone().map(|it| ("apiVersion".to_owned(), it)));
        }
    }
    Ok(items)
}

/// `PodList` is a list of `Pod`, and `List` one of anything.
fn list_of(kind: &Value) -> Option<&str> {
    kind.as_str()?.strip_suffix("List")
}

fn type_of(value: &Value) -> Option<&'static str> {
    match value {
        Value::Object(_) => None,
        Value::Null => Some("nothing"),
        Value::Bool(_) => Some("a boolean"),
        Value::Number(_) => Some("a number"),
        Value::String(_) => Some("a text"),
        Value::Array(_) => Some("a list"),
    }
}

#[cfg(test)]
mod tests;
