//! Who waits for what.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Arc;
use tokio::sync::Notify;

/// By what they wait for, and by the number of the view.
#[derive(Debug)]
pub(super) struct Waiters<I>(HashMap<I, HashMap<u64, Arc<Notify>>>);

impl<I> Default for Waiters<I> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<I: Eq + Hash> Waiters<I> {
    /// Whether nobody waits for anything.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Notes that `notify` wants to hear of changes; `id` names the waiter.
    pub(super) fn add(&mut self, interest: I, id: u64, notify: &Arc<Notify>) {
        let waiters = self.0.entry(interest).or_default();
        waiters.insert(id, Arc::clone(notify));
    }

    /// The waiter is gone.
    pub(super) fn remove(&mut self, interest: &I, id: u64) {
        if let Some(waiters) = self.0.get_mut(interest) {
            waiters.remove(&id);
            if waiters.is_empty() {
                self.0.remove(interest);
            }
        }
    }

    /// Wakes who waits for this.
    pub(super) fn wake(&self, interest: &I) {
        let waiters = self.0.get(interest).into_iter().flat_map(HashMap::values);
        waiters.for_each(|waiter| waiter.notify_one());
    }

    /// Wakes everybody.
    pub(super) fn wake_all(&self) {
        let waiters = self.0.values().flat_map(HashMap::values);
        waiters.for_each(|waiter| waiter.notify_one());
    }
}
