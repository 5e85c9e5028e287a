//! One object as it is kept.

use super::super::kept_whole::{Trimmed, WholePermit};
use super::super::scopes::Standing;
use super::packed::{Packed, pack};
use rules::kept::{is_cut, is_too_large};
use serde_json::Value;
use std::iter;
use std::sync::Arc;

/// The key of an object in a store: its namespace (empty for a cluster-scoped object) and its name.
pub(in crate::known) type Key = (Box<str>, Box<str>);

/// An object as it is kept: trimmed and packed, because a tree takes many times the room and most objects are never asked for.
#[derive(Debug)]
pub(super) struct Snapshot {
    text: Text,
    pub(super) labels: Labels,
    pub(super) place: Option<Box<Standing>>,
    /// Whether only the metadata of the object was read.
    pub(super) too_large: bool,
    /// Whether the object is not kept whole, for want of room.
    pub(super) cut: bool,
    /// The permit to keep the object whole; `None` for a trimmed object.
    permit: Option<Arc<WholePermit>>,
}

impl PartialEq for Snapshot {
    /// Whether the stores keep two objects alike, so that a view sees no difference.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.labels == other.labels && self.place == other.place
    }
}

/// A packed object. The bytes are shared, so no caller has to read them under a lock.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Text(Arc<[u8]>);

/// The labels of an object in one text: each key and each value, with a mark behind it. The node of a pod is one more label, [`NODE`].
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Labels(Box<str>);

const END: char = '\0';

/// The key of the label with the node of a pod. No label that the API server stores has such a key.
pub(in crate::known) const NODE: &str = "@node";

/// A trimmed object, ready to be stored.
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

impl From<Trimmed> for Entry {
    fn from(kept: Trimmed) -> Self {
        Self::from(&kept.object).with(kept.permit)
    }
}

impl Entry {
    /// The entry with the permit to keep so much of its object.
    pub(in crate::known) fn with(mut self, permit: Option<Arc<WholePermit>>) -> Self {
        self.snapshot.permit = permit;
        self
    }

    /// The bytes that a store keeps of the object.
    pub(in crate::known) fn bytes(&self) -> usize {
        self.snapshot.bytes() + self.snapshot.labels.0.len()
    }
}

impl Snapshot {
    pub(super) fn new(object: &Value) -> Self {
        Self {
            text: Text(pack(object).into()),
            labels: Labels::of(object),
            place: Standing::of(object).map(Box::new),
            permit: None,
            too_large: is_too_large(object),
            cut: is_cut(object),
        }
    }

    /// Whether other views may wait for the changed object than for the object before.
    pub(super) fn differs_in_place(&self, other: &Self) -> bool {
        self.labels != other.labels || self.place != other.place
    }

    /// The bytes that the packed object takes.
    pub(super) fn bytes(&self) -> usize {
        self.text.0.len()
    }

    pub(super) fn text(&self) -> Text {
        self.text.clone()
    }
}

impl Labels {
    fn of<'o>(object: &'o Value) -> Self {
        let labels = object["metadata"]["labels"].as_object();
        let mut text = String::new();
        let texts = |(key, value): (&'o String, &'o Value)| Some((key.as_str(), value.as_str()?));
        let node = object["spec"]["nodeName"].as_str().map(|node| (NODE, node));
        let labels = labels.into_iter().flatten().filter_map(texts);
        for (key, value) in labels.chain(node) {
            // No label that the API server stores contains the mark.
            if [key, value].iter().all(|it| !it.contains(END)) {
                text.extend(
                    [key, value]
                        .into_iter()
                        .flat_map(|it| it.chars().chain([END])),
                );
            }
        }
        Self(text.into())
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        let mut texts = self.0.split_terminator(END);
        iter::from_fn(move || Some((texts.next()?, texts.next()?)))
    }

    pub(super) fn get(&self, key: &str) -> Option<&str> {
        let found = self.iter().find(|label| label.0 == key);
        found.map(|(_, value)| value)
    }
}

impl Text {
    /// Unpacks the packed object.
    pub(super) fn read(&self) -> Value {
        #[cfg(test)]
        READ.set(READ.get() + 1);
        Packed(&self.0).value().unwrap_or_default()
    }

    /// Reads `metadata.uid` of the packed object, and copies nothing else.
    pub(super) fn uid(&self) -> Option<String> {
        let uid = Packed(&self.0).text_at(&["metadata", "uid"])?;
        Some(uid.into_owned())
    }
}

#[cfg(test)]
thread_local! {
    /// The number of objects that this thread has unpacked.
    pub(crate) static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

pub(super) fn key(object: &Value) -> Key {
    let text = |name: &str| object["metadata"][name].as_str().unwrap_or_default().into();
    (text("namespace"), text("name"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn each_label_keeps_its_value() {
        let labels =
            json!({"app": "web", "empty": "", "tier": "front", "odd": "a\0b", "number": 1});
        let labels = Labels::of(&json!({"metadata": {"labels": labels}}));
        let all: Vec<_> = labels.iter().collect();
        assert_eq!(all, [("app", "web"), ("empty", ""), ("tier", "front")]);
        assert_eq!([labels.get("empty"), labels.get("web")], [Some(""), None]);
        assert_eq!(Labels::of(&json!({})).iter().count(), 0);
        let pod = json!({"spec": {"nodeName": "one"}});
        assert_eq!(Labels::of(&pod).get(NODE), Some("one"));
    }
}
