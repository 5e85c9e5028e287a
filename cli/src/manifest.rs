//! The objects of a manifest, in their order, read as Kubernetes' tools read them.
//!
//! A manifest is a stream of YAML documents and JSON values. Both become JSON: YAML by the rules of the reader under
//! kubectl (see [`scalar`]), so that `yes` is a boolean, `0o17` is 15 and a date is a text.

mod document;
mod list;
mod mended;
mod places;
mod scalar;
mod spelled;
mod yaml;

pub(crate) use list::List;
pub(crate) use places::{Places, lines, token};

use mended::MendedDocuments;
use serde_json::{Map, Value};
use std::collections::VecDeque;
use std::fmt;
use yaml::RawDocument;

/// One object: a document, or an item of a list.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Entry {
    /// The object; a mapping, unless there is a `problem`.
    pub(crate) object: Value,
    /// Why the object of the manifest cannot be judged.
    pub(crate) problem: Option<Fault>,
    /// The keys that stand more than once in one mapping of the object's document. The last one counts, as for kubectl and Helm.
    pub(crate) twice: Vec<Fault>,
    /// The number of the object's document in the input, from 1; empty documents do not count.
    pub(crate) document: usize,
    /// The place of the object in the text of the manifest.
    pub(crate) origin: Origin,
}

/// The place of an object in the text of a manifest.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub(crate) struct Origin {
    /// The byte of the text, from 0, at which the object's document begins.
    pub(crate) at: usize,
    /// The index, from 0, of the object in each list around it, such as a `List` in a `List`, from the outside in; empty for an object that is in
    /// no list.
    pub(crate) items: Vec<usize>,
}

/// A fault in the text of a manifest: the message, and the position. Behind a document that is neither YAML nor JSON nothing more is read.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{place}: {text}")]
pub(crate) struct Fault {
    pub(crate) place: Position,
    /// The message: of the YAML parser, or about a text that is YAML and no object.
    pub(crate) text: String,
}

/// A position in the input; both numbers begin with 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Position {
    /// The position in a manifest right behind this text.
    pub(crate) fn behind(text: &str) -> Self {
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

/// A fault, and the byte of the text, from 0, where it is.
struct Flaw {
    at: usize,
    text: String,
}

/// The objects in the text of a manifest, one after another.
pub(crate) struct Entries<'t> {
    text: &'t str,
    documents: MendedDocuments<'t>,
    /// The number of documents that were read, YAML and JSON, without empty ones.
    count: usize,
    ready: VecDeque<Result<Entry, Fault>>,
    ended: bool,
}

impl<'t> Entries<'t> {
    pub(crate) fn new(bytes: &'t [u8]) -> Self {
        let mut ready = VecDeque::new();
        let text = str::from_utf8(bytes).unwrap_or_else(|error| {
            let before = String::from_utf8_lossy(&bytes[..error.valid_up_to()]);
            ready.push_back(Err(Fault {
                place: Position::behind(&before),
                text: "the text is not UTF-8".to_owned(),
            }));
            ""
        });
        Self {
            text,
            documents: MendedDocuments::new(text),
            count: 0,
            ready,
            ended: false,
        }
    }

    fn read(&mut self) {
        match self.documents.read() {
            // An empty document is skipped, as kubectl does.
            Ok(Some(RawDocument { value, flaw, .. })) if value.is_null() && flaw.is_none() => {}
            Ok(Some(document)) => {
                self.count += 1;
                let flaw = document.flaw.map(|it| self.fault(it));
                let twice = document.twice.into_iter().map(|it| self.fault(it));
                let mut twice = twice.collect();
                let origin = Origin {
                    at: document.at,
                    items: Vec::new(),
                };
                self.expand(document.value, flaw.as_ref(), &mut twice, origin);
            }
            Ok(None) => self.ended = true,
            Err(flaw) => {
                self.ended = true;
                let fault = self.fault(flaw);
                self.ready.push_back(Err(fault));
            }
        }
    }

    fn fault(&self, Flaw { at, text }: Flaw) -> Fault {
        let place = Position::behind(&self.text[..at]);
        Fault { place, text }
    }

    /// Adds an object of a document, or each item where the object is a list. The first object takes the faults in `twice`: the repeated keys of the
    /// document. An entry gets the document's `flaw`, else a fault where it is no mapping.
    fn expand(
        &mut self,
        object: Value,
        flaw: Option<&Fault>,
        twice: &mut Vec<Fault>,
        origin: Origin,
    ) {
        let object = match items(object) {
            Ok(items) => {
                for (index, item) in items.into_iter().enumerate() {
                    let mut origin = origin.clone();
                    origin.items.push(index);
                    self.expand(item, flaw, twice, origin);
                }
                return;
            }
            Err(object) => object,
        };
        let problem = flaw.cloned().or_else(|| {
            let found = type_of(&object)?;
            let mut text = format!("an object is a mapping, this is {found}");
            for index in origin.items.iter().rev() {
                text = format!("item {index}: {text}");
            }
            let at = origin.at;
            Some(self.fault(Flaw { at, text }))
        });
        self.ready.push_back(Ok(Entry {
            object,
            problem,
            twice: std::mem::take(twice),
            document: self.count,
            origin,
        }));
    }
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Fault>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.ready.is_empty() && !self.ended {
            self.read();
        }
        self.ready.pop_front()
    }
}

/// The items of a `List`, or of a list of one kind such as `PodList`; as the error, an object that is no list or whose `items` are none.
fn items(mut object: Value) -> Result<Vec<Value>, Value> {
    let kind = object.get("kind").and_then(Value::as_str);
    let Some(item_kind) = kind.and_then(list_of) else {
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
        adopt(item, &item_kind, version.as_ref());
    }
    Ok(items)
}

/// Gives an item of a list of one kind that `kind` and the list's `apiVersion`, if it has neither: the API server writes the items of such a list
/// without them, and apimachinery reads them back. An empty `kind`, that of the items of a plain `List`, changes nothing.
fn adopt(item: &mut Map<String, Value>, kind: &str, version: Option<&Value>) {
    if !kind.is_empty() && !item.contains_key("kind") && !item.contains_key("apiVersion") {
        item.insert("kind".to_owned(), kind.into());
        item.extend(version.map(|it| ("apiVersion".to_owned(), it.clone())));
    }
}

/// Whether a document is a JSON patch (RFC 6902): a list of operations, which kustomize and kubectl read, and which is no object.
pub(crate) fn is_json_patch(document: &Value) -> bool {
    const OPERATIONS: [&str; 6] = ["add", "remove", "replace", "move", "copy", "test"];
    let is_operation = |item: &Value| {
        let operation = item["op"].as_str();
        operation.is_some_and(|it| OPERATIONS.contains(&it)) && item["path"].is_string()
    };
    let items = document.as_array();
    items.is_some_and(|items| !items.is_empty() && items.iter().all(is_operation))
}

/// The kind of the items of a list: `Pod` for `PodList`, and empty for `List`, whose items may be of any kind. `None` for a kind that is no
/// list.
fn list_of(kind: &str) -> Option<&str> {
    kind.strip_suffix("List")
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
