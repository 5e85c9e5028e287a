//! One object as it is kept.

use super::super::scopes::Standing;
use super::Key;
use serde_json::Value;

/// An object as it is kept: trimmed, and as text, because a parsed tree takes several times the room and most objects
/// of a kind are never asked for.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Snapshot {
    json: Box<[u8]>,
    pub(super) labels: Box<[(Box<str>, Box<str>)]>,
    pub(super) place: Option<Box<Standing>>,
}

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
        let json = serde_json::to_vec(object)
            .unwrap_or_default()
            .into_boxed_slice();
        Self {
            json,
            labels: labels.into_iter().flatten().filter_map(text).collect(),
            place: Standing::of(object).map(Box::new),
        }
    }

    /// Whether others than before wait for it.
    pub(super) fn differs_in_place(&self, other: &Self) -> bool {
        self.labels != other.labels || self.place != other.place
    }

    pub(super) fn value(&self) -> Value {
        serde_json::from_slice(&self.json).unwrap_or_default()
    }

    pub(super) fn label(&self, key: &str) -> Option<&str> {
        let found = self.labels.iter().find(|label| *label.0 == *key);
        found.map(|label| &*label.1)
    }
}

pub(super) fn key(object: &Value) -> Key {
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default().into();
    (text("namespace"), text("name"))
}
