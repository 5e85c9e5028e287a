//! Objects that are kept whole by their own wish: `sluice.dev/health` may look at any of their fields.
//!
//! Everybody can make many of them, of 64 KiB each. So they have a budget, and beyond its share a namespace has its objects trimmed as
//! if they were larger than that: each is read whole by itself while somebody waits for it.

use super::shares::{Allotment, Shares};
use rules::kept::trim_within;
use rules::kinds::Kind;
use serde_json::Value;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// What they may fill, and what they do.
#[derive(Debug)]
pub(crate) struct Wishes {
    shares: Arc<Shares>,
    granted: Mutex<HashMap<Object, Weak<Wish>>>,
}

/// The kind, the namespace and the name.
type Object = (Box<str>, Box<str>, Box<str>);

/// The room of one object. It is given back once nobody keeps the object any more.
#[derive(Debug)]
pub(crate) struct Wish {
    room: Allotment,
}

/// An object as it is kept.
pub(crate) struct Kept {
    /// Trimmed, unless it has room to be whole.
    pub(crate) object: Value,
    /// That room.
    pub(crate) wish: Option<Arc<Wish>>,
}

impl Wishes {
    pub(super) fn new(shares: Arc<Shares>) -> Self {
        let granted = Mutex::default();
        Self { shares, granted }
    }

    /// What is shared.
    pub(super) fn shares(&self) -> &Shares {
        &self.shares
    }

    /// The object trimmed, unless it wishes to be kept whole and there is room for that.
    pub(crate) fn trimmed(&self, kind: &Kind, mut object: Value) -> Kept {
        let text = |field: &str| {
            object["metadata"][field]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let (namespace, name) = (text("namespace"), text("name"));
        let mut wish = None;
        trim_within(kind, &mut object, |bytes| {
            wish = self.grant(kind.word(), (&namespace, &name), bytes);
            wish.is_some()
        });
        Kept { object, wish }
    }

    /// The room for an object of so many bytes, if there is any. One that is kept already has its own, whenever it is listed again.
    fn grant(
        &self,
        kind: &str,
        (namespace, name): (&str, &str),
        bytes: usize,
    ) -> Option<Arc<Wish>> {
        // Every change is one call, so a panic leaves nothing half done.
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        if granted.len() == granted.capacity() {
            granted.retain(|_, wish| wish.strong_count() > 0);
        }
        let object = (kind.into(), namespace.into(), name.into());
        let before = granted.get(&object).and_then(Weak::upgrade);
        if let Some(wish) = before.filter(|wish| wish.room.bytes() >= bytes) {
            return Some(wish);
        }
        let mut room = self.shares.part(namespace);
        let wish = room.take(bytes).then(|| Arc::new(Wish { room }))?;
        granted.insert(object, Arc::downgrade(&wish));
        Some(wish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Store;
    use rules::kept::is_cut;
    use rules::kinds::by_word;
    use rules::selector::Selector;
    use serde_json::json;

    /// A Job that says its health, and has so much beside that.
    fn job(name: &str, bytes: usize) -> Value {
        json!({
            "metadata": {"namespace": "shop", "name": name, "annotations": {"sluice.dev/health": "/spec/x == y"}},
            "spec": {"template": {"spec": {"x": "y".repeat(bytes)}}},
        })
    }

    /// Beyond its share a namespace has its objects trimmed, and read by themselves where somebody waits for them.
    #[test]
    fn many_objects_that_wish_to_be_kept_whole_fill_no_more_than_their_share() {
        let wishes = Wishes::new(Shares::new(1 << 20, 512 << 10));
        let kind = by_word("job").map(Kind::Builtin).unwrap();
        let store = Store::default();
        for number in 0..400 {
            let kept = wishes.trimmed(&kind, job(&number.to_string(), 59_000));
            assert_eq!(kept.wish.is_none(), is_cut(&kept.object));
            store.take(kept.into());
        }
        let all = store.list(Some("shop"), &Selector::default());
        let cut = all.iter().filter(|job| is_cut(job)).count();
        assert_eq!(cut, 400 - 8, "eight have room");
        assert!(store.bytes() < 700 << 10, "{}", store.bytes());
        assert!(wishes.shares().taken() <= 512 << 10);
        let again = wishes.trimmed(&kind, job("3", 59_000));
        assert!(again.wish.is_some(), "it is listed again");
        for number in 0..400 {
            store.delete(&job(&number.to_string(), 0));
        }
        drop(again);
        assert_eq!(wishes.shares().taken(), 0, "there is room again");
    }

    #[test]
    fn a_namespace_has_its_share_and_an_object_that_is_listed_again_its_room() {
        let wishes = Wishes::new(Shares::new(1000, 100));
        let grant =
            |namespace: &str, name: &str, bytes| wishes.grant("Job", (namespace, name), bytes);
        let first = grant("shop", "a", 60).expect("there is room");
        assert!(grant("shop", "b", 60).is_none(), "more than its share");
        let again = grant("shop", "a", 50).expect("it is there");
        assert!(Arc::ptr_eq(&first, &again));
        assert!(grant("data", "b", 60).is_some(), "another's share");
        assert_eq!(
            (wishes.shares().taken(), wishes.shares().refused()),
            (60, 1)
        );
        drop((first, again));
        assert!(grant("shop", "b", 60).is_some());
        assert_eq!(wishes.shares().taken(), 0);
    }
}
