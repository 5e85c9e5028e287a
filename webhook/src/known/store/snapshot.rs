//! One object as a store keeps it.

use super::super::kept_whole::{Trimmed, WholePermit};
use super::super::scopes::Standing;
use super::packed::{Packed, pack_unnamed};
use rules::kept::{is_cut, is_too_large};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::Arc;

/// The key of an object in a store: its namespace (empty for a cluster-scoped object) and its name.
pub(in crate::known) type Key = (Box<str>, Box<str>);

/// An object as a store keeps it: trimmed and packed, because a tree takes many times the room and most objects are never asked for.
#[derive(Debug)]
pub(super) struct Snapshot {
    text: Text,
    pub(super) place: Option<Box<Standing>>,
    /// Whether only the metadata of the object is kept, because the object is too long to be read or found no room.
    pub(super) too_large: bool,
    /// Whether less of the object is kept than was asked for, because it found no room in its namespace's share.
    pub(super) cut: bool,
    /// The permit for the bytes of an object that is kept whole, or is large; `None` for any other object.
    permit: Option<Arc<WholePermit>>,
}

impl PartialEq for Snapshot {
    /// Whether two objects are equal as stores keep them, so that a view sees no difference.
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text && self.place == other.place
    }
}

/// A packed object without its name and its namespace. The bytes are shared, so no caller has to read them under a lock.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Text(Arc<[u8]>);

/// A packed object with its key.
#[derive(Debug)]
pub(super) struct Named(pub(super) Key, pub(super) Text);

/// The key under which the node of a pod counts as one more label. No label that the API server stores has such a key.
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
    /// The entry with the permit for the bytes that a store keeps of its object.
    pub(in crate::known) fn with(mut self, permit: Option<Arc<WholePermit>>) -> Self {
        self.snapshot.permit = permit;
        self
    }

    /// The bytes that a store keeps of the object, with its key.
    pub(crate) fn bytes(&self) -> usize {
        let Self { key, snapshot } = self;
        size_of::<(Key, Snapshot)>() + key.0.len() + key.1.len() + snapshot.bytes()
    }
}

impl Snapshot {
    pub(super) fn new(object: &Value) -> Self {
        Self {
            text: Text(pack_unnamed(object).into()),
            place: Standing::of(object).map(Box::new),
            permit: None,
            too_large: is_too_large(object),
            cut: is_cut(object),
        }
    }

    /// Whether a view may wait for the changed object that did not wait for the object before, or the reverse: its labels, its node or its place
    /// in scopes have changed.
    pub(super) fn differs_in_place(&self, other: &Self) -> bool {
        self.place != other.place || self.labels().ne(other.labels())
    }

    /// The labels of the object, each with its value. The node of a pod is one more label, [`NODE`].
    pub(super) fn labels(&self) -> impl Iterator<Item = (Cow<'_, str>, Cow<'_, str>)> {
        let node = self.label(NODE).map(|node| (Cow::Borrowed(NODE), node));
        let labels = self.text.packed().texts_at(&["metadata", "labels"]);
        labels.chain(node)
    }

    /// The value of one label of the object, or for [`NODE`] the node of the pod; `None` if the object has none.
    pub(super) fn label(&self, key: &str) -> Option<Cow<'_, str>> {
        #[cfg(test)]
        LOOKED.set(LOOKED.get() + 1);
        match key {
            NODE => self.text.packed().text_at(&["spec", "nodeName"]),
            key => self.text.packed().text_at(&["metadata", "labels", key]),
        }
    }

    /// The bytes that the packed object takes.
    pub(super) fn bytes(&self) -> usize {
        self.text.0.len()
    }

    pub(super) fn text(&self) -> Text {
        self.text.clone()
    }
}

impl Named {
    /// Unpacks the object, with its name and its namespace.
    pub(super) fn read(self) -> Value {
        #[cfg(test)]
        READ.set(READ.get() + 1);
        let Self((namespace, name), text) = self;
        let mut object = text.packed().value().unwrap_or_default();
        if let Some(Value::Object(metadata)) = object.get_mut("metadata") {
            for (field, text) in [("namespace", namespace), ("name", name)] {
                if !text.is_empty() {
                    metadata.insert(field.to_owned(), String::from(text).into());
                }
            }
        }
        object
    }
}

impl Text {
    /// Reads `metadata.uid` of the packed object, and copies nothing else.
    pub(super) fn uid(&self) -> Option<String> {
        let uid = self.packed().text_at(&["metadata", "uid"])?;
        Some(uid.into_owned())
    }

    fn packed(&self) -> Packed<'_> {
        Packed(&self.0)
    }
}

#[cfg(test)]
thread_local! {
    /// The number of objects that this thread has unpacked.
    pub(crate) static READ: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
    /// The number of labels that this thread has looked up.
    pub(super) static LOOKED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
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
        let uid = "705ab4f5-6393-11e8-b7cc-42010a800002";
        let labels = json!({"app": "web", "empty": "", "tier": "front", "number": 1, "by": uid});
        let of = |object: Value| Snapshot::new(&object);
        let pod = of(json!({"metadata": {"labels": labels}, "spec": {"nodeName": "one"}}));
        let all: Vec<_> = pod.labels().collect();
        let expected = [
            ("app", "web"),
            ("by", uid),
            ("empty", ""),
            ("tier", "front"),
            (NODE, "one"),
        ];
        assert_eq!(all, expected.map(|(key, value)| (key.into(), value.into())));
        for (key, value) in expected {
            assert_eq!(pod.label(key).as_deref(), Some(value));
        }
        assert_eq!([pod.label("web"), pod.label("number")], [None, None]);
        let bare = of(json!({"metadata": {}}));
        assert_eq!(bare.labels().count(), 0);
        assert!(pod.differs_in_place(&bare) && !pod.differs_in_place(&pod));
    }
}
