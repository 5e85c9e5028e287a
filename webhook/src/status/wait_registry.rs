//! The waiters (pods and Jobs) that this replica looks at: how many waits each waiter has, and the reason that each waiter was told last.

use super::wait_places::{WaitPlace, WaitPlaces};
use crate::event::Regarding;
use dashmap::DashMap;
use jiff::Timestamp;
use std::future::pending;
use std::sync::Arc;

/// The most waits of one waiter. A gate has one open request, and an earlier one may not be known to be gone yet. Each replica counts by
/// itself, so a few pods cannot fill a replica.
const MOST: u32 = 4;

/// An object that waits: a pod, a Job that was created suspended, or an object whose creation is held.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Waiter {
    /// `metadata.namespace` of the pod or the Job that waits.
    pub namespace: String,
    /// `metadata.name` of the pod or the Job that waits.
    pub name: String,
    /// `metadata.uid` of the pod or the Job that waits; the key of a held creation, which has no UID.
    pub uid: String,
}

impl Waiter {
    /// The waiter in the form in which an Event names its object, with this `apiVersion` and `kind`.
    pub(super) fn regarding(&self, api_version: &str, kind: &str) -> Regarding {
        Regarding {
            api_version: Some(api_version.to_owned()),
            kind: kind.to_owned(),
            namespace: self.namespace.clone(),
            name: self.name.clone(),
            uid: Some(self.uid.clone()),
        }
    }
}

/// The waiters of one sort, such as pods with an open request, by their UIDs, with the wait that each was told last; and the places for their
/// waits.
#[derive(Debug)]
pub(crate) struct WaitRegistry {
    waits: DashMap<String, Registered>,
    places: Arc<WaitPlaces>,
}

#[derive(Debug)]
struct Registered {
    namespace: String,
    /// The number of open waits of this waiter.
    count: u32,
    /// The reason and the start of the wait as the waiter was told last; `None` before the first time.
    wait: Option<Wait>,
}

/// The wait of one waiter, for metrics: its reason and its start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Wait {
    /// The label of the reason of the waiter's first unsatisfied dependency, by name; `Unread` without one.
    pub(super) reason: &'static str,
    /// The start of the wait: mostly the start of the pod, the creation of the Job, or the first try to create the object.
    pub(super) since: Timestamp,
}

/// One open wait of a waiter. The registry counts the wait until this is dropped, and forgets a waiter without waits.
#[derive(Debug)]
pub(super) struct WaitEntry {
    registry: Arc<WaitRegistry>,
    uid: String,
    /// The place of the wait; `None` if no place was free and no other namespace had to give one up, so that the wait is to end at once.
    place: Option<WaitPlace>,
}

impl Default for WaitRegistry {
    fn default() -> Self {
        Self::within(usize::MAX)
    }
}

impl WaitRegistry {
    /// Makes a registry with this number of places for waits; the default has as many as are asked for. Beyond them, the namespace with the most
    /// waits gives a place up.
    pub(crate) fn within(most: usize) -> Self {
        Self {
            waits: DashMap::new(),
            places: WaitPlaces::new(most),
        }
    }

    /// Tells the oldest waits of a namespace to end, if it has any: one in `parts` of them, rounded up, and at most `most`.
    pub(super) fn end_some(&self, namespace: &str, most: usize, parts: usize) {
        self.places.end_some(namespace, most, parts);
    }

    /// Registers one more wait of a waiter, which may get no place; `None` if the waiter has [`MOST`] waits already.
    pub(super) fn begin(self: &Arc<Self>, waiter: &Waiter) -> Option<WaitEntry> {
        let new = || Registered {
            namespace: waiter.namespace.clone(),
            count: 0,
            wait: None,
        };
        let mut registered = self.waits.entry(waiter.uid.clone()).or_insert_with(new);
        if registered.count >= MOST {
            return None;
        }
        registered.count += 1;
        Some(WaitEntry {
            registry: Arc::clone(self),
            uid: waiter.uid.clone(),
            place: self.places.take(&waiter.namespace),
        })
    }

    /// Calls `visit` with the namespace and the wait of each waiter that was told to wait.
    pub(super) fn each_wait(&self, mut visit: impl FnMut(&str, Wait)) {
        for registered in &self.waits {
            if let Some(wait) = registered.wait {
                visit(&registered.namespace, wait);
            }
        }
    }
}

impl WaitEntry {
    /// Whether there is a place for this wait; if not, it is to end at once.
    pub(super) fn has_place(&self) -> bool {
        self.place.is_some()
    }

    /// Returns when the wait has to end, because another waiter needs its place; never without a place. Cancel-safe.
    pub(super) async fn has_to_end(&self) {
        match &self.place {
            Some(place) => place.has_to_end().await,
            None => pending().await,
        }
    }

    /// Notes the reason and the start of the wait that the waiter is told now, in place of those before.
    pub(super) fn waits(&self, wait: Wait) {
        if let Some(mut registered) = self.registry.waits.get_mut(&self.uid) {
            registered.wait = Some(wait);
        }
    }
}

impl Drop for WaitEntry {
    fn drop(&mut self) {
        self.registry
            .waits
            .remove_if_mut(&self.uid, |_, registered| {
                registered.count -= 1;
                registered.count == 0
            });
    }
}

/// A pod of the namespace `shop` whose name is its UID.
#[cfg(test)]
pub(super) fn waiter(uid: &str) -> Waiter {
    Waiter {
        namespace: "shop".to_owned(),
        name: uid.to_owned(),
        uid: uid.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pod_has_few_open_requests_and_another_pod_its_own() {
        let registry = Arc::<WaitRegistry>::default();
        let mut entries: Vec<_> = (0..MOST)
            .map(|_| registry.begin(&waiter("u1")).unwrap())
            .collect();
        assert!(registry.begin(&waiter("u1")).is_none());
        assert!(registry.begin(&waiter("u2")).is_some());
        entries.pop();
        assert!(registry.begin(&waiter("u1")).is_some());
        entries.clear();
        assert!(
            registry.waits.is_empty(),
            "a waiter without a wait is forgotten"
        );
    }
}
