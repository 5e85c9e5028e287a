//! Objects that ask to be kept whole: `sluice.dev/health` may read any of their fields.
//!
//! A tenant can make many such objects of 64 KiB each, so the objects have a budget. Beyond its share the objects of a namespace
//! are trimmed as if each were longer than 64 KiB, and each is read whole by itself while a gate waits for it.

use super::byte_budget::{Allotment, ByteBudget};
use rules::kept::{length, mark_cut, trim_object_within};
use rules::kinds::Kind;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The budget of the objects that are kept whole (with all of their fields), and the permit of each object that has one.
#[derive(Debug)]
pub(crate) struct WholeBudget {
    budget: Arc<ByteBudget>,
    granted: Mutex<HashMap<Object, Weak<WholePermit>>>,
}

/// The kind, the namespace and the name of an object.
type Object = (Box<str>, Box<str>, Box<str>);

/// The permit of one object to take bytes of a budget. The bytes are returned when no store keeps the object any more.
#[derive(Debug)]
pub(crate) struct WholePermit {
    room: Allotment,
}

/// An object as a store keeps it.
pub(crate) struct Trimmed {
    /// The object: trimmed, or whole if there is a permit.
    pub(crate) object: Value,
    /// The permit to keep the object whole; `None` for an object that was trimmed.
    pub(crate) permit: Option<Arc<WholePermit>>,
}

impl WholeBudget {
    pub(super) fn new(budget: Arc<ByteBudget>) -> Self {
        let granted = Mutex::default();
        Self { budget, granted }
    }

    /// The budget of bytes for the objects that are kept whole.
    pub(super) fn budget(&self) -> &ByteBudget {
        &self.budget
    }

    /// Trims an object that a watch has shown, unless the object asks to be kept whole and gets a permit for that.
    pub(crate) fn trimmed(&self, kind: &Kind, mut object: Value) -> Trimmed {
        let text = |field: &str| {
            object["metadata"][field]
                .as_str()
                .unwrap_or_default()
                .to_owned()
        };
        let (namespace, name) = (text("namespace"), text("name"));
        let mut permit = None;
        trim_object_within(kind, &mut object, |bytes| {
            permit = self.grant(kind.word(), (&namespace, &name), bytes);
            permit.is_some()
        });
        Trimmed { object, permit }
    }

    /// Keeps every field of an object that has a watch of its own, if the budget has room. Else only namespace and name are left, with the
    /// mark of [`rules::kept::is_cut`].
    pub(crate) fn untrimmed(&self, kind: &Kind, object: Value) -> Trimmed {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        let (namespace, name) = (text("namespace"), text("name"));
        let permit = self.grant(kind.word(), (namespace, name), length(&object));
        if permit.is_some() {
            return Trimmed { object, permit };
        }
        let mut object = json!({"metadata": {"namespace": namespace, "name": name}});
        mark_cut(&mut object);
        Trimmed { object, permit }
    }

    /// A permit for an object of so many bytes; `None` if the budget has no room. An object that is listed again, and has not grown, gets the
    /// permit that it has already.
    pub(super) fn grant(
        &self,
        kind: &str,
        (namespace, name): (&str, &str),
        bytes: usize,
    ) -> Option<Arc<WholePermit>> {
        // Every change is one call, so a panic leaves nothing half done.
        let mut granted = self.granted.lock().unwrap_or_else(PoisonError::into_inner);
        if granted.len() == granted.capacity() {
            granted.retain(|_, permit| permit.strong_count() > 0);
        }
        let object = (kind.into(), namespace.into(), name.into());
        let before = granted.get(&object).and_then(Weak::upgrade);
        if let Some(permit) = before.filter(|permit| permit.room.bytes() >= bytes) {
            return Some(permit);
        }
        let mut room = self.budget.part(namespace);
        let permit = room.take(bytes).then(|| Arc::new(WholePermit { room }))?;
        granted.insert(object, Arc::downgrade(&permit));
        Some(permit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::Store;
    use crate::memory_alarm::MemoryAlarm;
    use rules::kept::is_cut;
    use rules::kinds::by_word;
    use rules::selector::Selector;
    use serde_json::json;

    /// A Job with a health expression, and with so many bytes beside the fields that rules read.
    fn job(name: &str, bytes: usize) -> Value {
        json!({
            "metadata": {"namespace": "shop", "name": name, "annotations": {"sluice.dev/health": "/spec/x == y"}},
            "spec": {"template": {"spec": {"x": "y".repeat(bytes)}}},
        })
    }

    /// Beyond the share of a namespace its objects are trimmed, and each is read by itself while a gate waits for it.
    #[test]
    fn many_objects_that_wish_to_be_kept_whole_fill_no_more_than_their_share() {
        let whole_budget = WholeBudget::new(ByteBudget::new(
            "kept_whole",
            1 << 20,
            512 << 10,
            &MemoryAlarm::default(),
        ));
        let kind = by_word("job").map(Kind::Builtin).unwrap();
        let store = Store::new(crate::known::WallClock::STILL);
        for number in 0..400 {
            let kept = whole_budget.trimmed(&kind, job(&number.to_string(), 59_000));
            assert_eq!(kept.permit.is_none(), is_cut(&kept.object));
            store.take(kept.into());
        }
        let all = store.list(Some("shop"), &Selector::default());
        let cut = all.iter().filter(|job| is_cut(job)).count();
        assert_eq!(cut, 400 - 8, "eight have room");
        assert!(store.bytes() < 700 << 10, "{}", store.bytes());
        assert!(whole_budget.budget().taken() <= 512 << 10);
        let again = whole_budget.trimmed(&kind, job("3", 59_000));
        assert!(again.permit.is_some(), "it is listed again");
        for number in 0..400 {
            store.delete(&job(&number.to_string(), 0));
        }
        drop(again);
        assert_eq!(whole_budget.budget().taken(), 0, "there is room again");
    }

    #[test]
    fn a_namespace_has_its_share_and_an_object_that_is_listed_again_its_room() {
        let whole_budget = WholeBudget::new(ByteBudget::new(
            "kept_whole",
            1000,
            100,
            &MemoryAlarm::default(),
        ));
        let grant = |namespace: &str, name: &str, bytes| {
            whole_budget.grant("Job", (namespace, name), bytes)
        };
        let first = grant("shop", "a", 60).expect("there is room");
        assert!(grant("shop", "b", 60).is_none(), "more than its share");
        let again = grant("shop", "a", 50).expect("it is there");
        assert!(Arc::ptr_eq(&first, &again));
        assert!(grant("data", "b", 60).is_some(), "another's share");
        assert_eq!(
            (
                whole_budget.budget().taken(),
                whole_budget.budget().refused()
            ),
            (60, 1)
        );
        drop((first, again));
        assert!(grant("shop", "b", 60).is_some());
        assert_eq!(whole_budget.budget().taken(), 0);
    }
}
