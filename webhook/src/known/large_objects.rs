//! Objects that are long even as a store keeps them, most often custom resources, of which every field is kept.
//!
//! A tenant can make many objects of a megabyte each. So the bytes of an object beyond an ordinary size are charged to its
//! namespace. Beyond the share, only the metadata of an object is kept, and a dependent that needs the rest waits.

use super::byte_budget::ByteBudget;
use super::kept_whole::{Trimmed, WholeBudget};
use super::store::Entry;
use rules::kept::{length, mark_cut, mark_too_large};
use rules::kinds::Kind;
use serde_json::json;
use std::sync::Arc;

/// The bytes of each object that are charged to no namespace: an ordinary object has a few hundred.
pub(crate) const FREE: usize = 4 << 10;

/// The budget of the bytes that objects take beyond [`FREE`].
#[derive(Debug)]
pub(crate) struct LargeBudget(WholeBudget);

impl LargeBudget {
    pub(super) fn new(budget: Arc<ByteBudget>) -> Self {
        Self(WholeBudget::new(budget))
    }

    /// The budget of bytes for large objects.
    pub(super) fn budget(&self) -> &ByteBudget {
        self.0.budget()
    }

    /// The number of times that bytes were returned to the budget. An object that found no room may find some when this number has grown.
    pub(crate) fn given_back(&self) -> u64 {
        self.0.budget().given_back()
    }

    /// Makes the entry of an object for a store. The first [`FREE`] bytes of an object cost nothing; the rest of a longer one is charged
    /// to its namespace. Without room for the rest, only the metadata is kept, or of long metadata the name and the UID, with the mark of
    /// [`rules::kept::is_too_large`]. An object without a namespace is never charged, since no tenant makes one; nor is one with a permit.
    pub(crate) fn entry(&self, kind: &Kind, kept: Trimmed) -> Entry {
        let metadata = &kept.object["metadata"];
        let text = |field: &str| metadata[field].as_str().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let paid = kept.permit.is_some() || namespace.is_empty();
        let entry = Entry::from(&kept.object);
        let rest = entry.bytes().saturating_sub(FREE);
        if paid || rest == 0 {
            return entry.with(kept.permit);
        }
        if let Some(permit) = self.0.grant(kind.word(), (namespace, name), rest) {
            return entry.with(Some(permit));
        }
        let metadata = if length(metadata) > FREE {
            json!({"namespace": namespace, "name": name, "uid": metadata["uid"]})
        } else {
            metadata.clone()
        };
        let identity = ["apiVersion", "kind"].map(|field| (field, &kept.object[field]));
        let mut object = json!({"metadata": metadata});
        for (field, value) in identity {
            object[field] = value.clone();
        }
        mark_too_large(&mut object);
        mark_cut(&mut object);
        Entry::from(&object)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Store;
    use crate::memory_alarm::MemoryAlarm;
    use rules::selector::Selector;

    #[test]
    fn large_objects_fill_no_more_than_the_share_of_their_namespace() {
        let large = LargeBudget::new(ByteBudget::new(
            "large",
            1 << 20,
            512 << 10,
            &MemoryAlarm::default(),
        ));
        let kind = Kind::Custom {
            group: "example.com".into(),
            word: "Widget".into(),
        };
        let store = Store::new(crate::known::WallClock::STILL);
        let keep = |namespace: &str, name: usize, bytes: usize| {
            let object = json!({
                "metadata": {"namespace": namespace, "name": name.to_string(), "labels": {"app": "a"}},
                "spec": {"text": "y".repeat(bytes)},
            });
            let permit = None;
            store.take(large.entry(&kind, Trimmed { object, permit }));
        };
        for name in 0..400 {
            keep("loud", name, 100_000);
        }
        assert!(store.bytes() < 700 << 10, "{}", store.bytes());
        assert_eq!(store.too_large(), 400 - 5, "five have room");
        assert!(large.budget().refused() > 0 && store.has_cut());
        keep("quiet", 0, 100_000);
        assert_eq!(store.too_large(), 400 - 5, "another's share");
        for name in 0..100 {
            keep("loud", 1_000 + name, 3_000);
        }
        assert_eq!(store.too_large(), 400 - 5, "those are not large");
        let there = store.list(Some("loud"), &Selector::label("app", "a"));
        assert_eq!(there.len(), 500, "each is there, if only by its metadata");
        for name in 0..400 {
            keep("loud", name, 10);
        }
        assert_eq!(store.too_large(), 0);
        let quiet = large.budget().taken();
        assert!((95_000..97_000).contains(&quiet), "{quiet}");
    }
}
