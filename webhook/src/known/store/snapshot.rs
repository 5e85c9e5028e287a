//! One object as it is kept.

use super::super::scopes::Standing;
use super::Key;
use serde::Deserialize;
use serde_json::Value;
use std::sync::Arc;

/// An object as it is kept: trimmed, and as text, because a parsed tree takes several times the room and most objects
/// of a kind are never asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    text: Text,
    pub(super) labels: Box<[(Box<str>, Box<str>)]>,
    pub(super) place: Option<Box<Standing>>,
}

/// The text of an object. It is shared, so that nobody has to read it under a lock.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Text(Arc<[u8]>);

/// A trimmed object, ready to be kept.
#[derive(Debug)]
pub struct Entry {
    pub(super) key: Key,
    pub(super) snapshot: Snapshot,
}

impl From<&Value> for Entry {
    fn from(object: &Value) -> Self {
        Self {
            key: key(object),
            snapshot: Snapshot::new(object),
        }
    }
}

impl Snapshot {
    pub(super) fn new(object: &Value) -> Self {
        let labels = object
            .pointer("/metadata/labels")
            .and_then(Value::as_object);
        let text =
            |(key, value): (&String, &Value)| Some((key.as_str().into(), value.as_str()?.into()));
        // A tree of strings, numbers and lists always serialises.
        let json = serde_json::to_vec(object).unwrap_or_default();
        Self {
            text: Text(json.into()),
            labels: labels.into_iter().flatten().filter_map(text).collect(),
            place: Standing::of(object).map(Box::new),
        }
    }

    /// Whether others than before wait for it.
    pub(super) fn differs_in_place(&self, other: &Self) -> bool {
        self.labels != other.labels || self.place != other.place
    }

    pub(super) fn text(&self) -> Text {
        self.text.clone()
    }

    pub(super) fn label(&self, key: &str) -> Option<&str> {
        let found = self.labels.iter().find(|label| *label.0 == *key);
        found.map(|label| &*label.1)
    }
}

impl Text {
    /// The object.
    pub(super) fn read(&self) -> Value {
        #[cfg(test)]
        READ.set(READ.get() + 1);
        serde_json::from_slice(&self.0).unwrap_or_default()
    }

    /// Its `metadata.uid`, and nothing else is copied.
    pub(super) fn uid(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Object {
            metadata: Metadata,
        }
        #[derive(Deserialize)]
        struct Metadata {
            uid: String,
        }
        let object: Object = serde_json::from_slice(&self.0).ok()?;
        Some(object.metadata.uid)
    }
}

#[cfg(test)]
thread_local! {
    /// How many objects were read from their texts.
    pub(crate) static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub(super) fn key(object: &Value) -> Key {
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default().into();
    (text("namespace"), text("name"))
}
