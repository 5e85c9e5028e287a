//! The objects of a manifest, in their order, read as Kubernetes' tools read them.
//!
//! A manifest is a stream of YAML documents and JSON values. Both become JSON: YAML by the rules of the reader under
//! kubectl (see [`scalar`]), so that `yes` is a boolean, `0o17` is 15 and a date is a text.

mod chunk;
mod json;
mod scalar;
mod yaml;

use chunk::{Chunk, Chunks};
use serde_json::Value;
use std::collections::VecDeque;
use std::fmt;
use std::io::BufRead;

/// One object: a document, or an item of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// What was read; a mapping unless `problem` says otherwise.
    pub(crate) object: Value,
    /// Why it cannot be judged, and where.
    pub(crate) problem: Option<String>,
    /// The document of the input that it stands in, from 1; empty ones do not count.
    pub(crate) document: usize,
}

/// Where reading ends early: what follows has no meaning.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// The file, or its text.
    #[error(transparent)]
    Read(#[from] std::io::Error),
    /// Neither YAML nor JSON.
    #[error("{place}: {text}")]
    Syntax {
        /// Where.
        place: Place,
        /// What the parser says.
        text: String,
    },
}

/// A place in the input; both numbers begin with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Place {
    line: usize,
    column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { line, column } = self;
        write!(out, "line {line}, column {column}")
    }
}

/// A document before lists are taken apart.
struct Document {
    value: Value,
    /// The first thing in it that can be read and means nothing.
    flaw: Option<Flaw>,
    /// The byte of the chunk's text where it begins.
    at: usize,
}

/// What is wrong, and the byte of the chunk's text where it is.
struct Flaw {
    at: usize,
    text: String,
}

/// The entries of an input; one document is held at a time.
pub(crate) struct Entries<R> {
    chunks: Chunks<R>,
    ready: VecDeque<Result<Entry, Error>>,
    documents: usize,
    ended: bool,
}

impl<R: BufRead> Entries<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            chunks: Chunks::new(input),
            ready: VecDeque::new(),
            documents: 0,
            ended: false,
        }
    }

    fn read(&mut self, chunk: &Chunk) -> Result<(), Error> {
        let text = str::from_utf8(&chunk.text).map_err(|error| Error::Syntax {
            place: chunk.place(error.valid_up_to()),
            text: "the text is not UTF-8".to_owned(),
        })?;
        let mut rest = 0;
        if chunk.json {
            rest = json::values(text, |value, at| {
                let flaw = None;
                self.take(chunk, Document { value, flaw, at });
            });
        }
        for document in yaml::Documents::new(&text[rest..]) {
            match document {
                Ok(mut document) => {
                    document.at += rest;
                    if let Some(flaw) = &mut document.flaw {
                        flaw.at += rest;
                    }
                    self.take(chunk, document);
                }
                Err(Flaw { at, text }) => {
                    let place = chunk.place(rest + at);
                    return Err(Error::Syntax { place, text });
                }
            }
        }
        Ok(())
    }

    /// An empty document is nothing, as it is to kubectl.
    fn take(&mut self, chunk: &Chunk, document: Document) {
        let Document { value, flaw, at } = document;
        if value.is_null() && flaw.is_none() {
            return;
        }
        self.documents += 1;
        let problem = flaw.map(|flaw| format!("{}: {}", chunk.place(flaw.at), flaw.text));
        // Counting lines takes time, so only for what goes wrong.
        self.expand(value, problem.as_ref(), &|| chunk.place(at).to_string());
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
                let document = self.documents;
                self.ready.push_back(Ok(Entry {
                    object,
                    problem,
                    document,
                }));
            }
        }
    }
}

impl<R: BufRead> Iterator for Entries<R> {
    type Item = Result<Entry, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.ended {
            let read = match self.chunks.next() {
                Some(Ok(chunk)) => self.read(&chunk),
                Some(Err(error)) => Err(error.into()),
                None => {
                    self.ended = true;
                    break;
                }
            };
            if let Err(error) = read {
                self.ended = true;
                self.ready.push_back(Err(error));
            }
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
