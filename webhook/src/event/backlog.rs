//! Notes that wait to be written as Events.

use super::{Note, Regarding};
use crate::fair_queue::{FairQueue, Queued};
use std::sync::{Mutex, PoisonError};
use tokio::sync::Notify;

/// The most notes of one namespace that wait to be written as Events.
const SHARE: usize = 1_000;
/// The most notes of all namespaces that wait. Beyond them, the newest note of the namespace with the most notes makes room.
const MOST: usize = 5_000;

/// The notes that wait to be written as Events, by namespace.
#[derive(Debug)]
pub(super) struct Backlog {
    notes: Mutex<FairQueue<(Regarding, Note)>>,
    added: Notify,
}

impl Default for Backlog {
    fn default() -> Self {
        Self {
            notes: Mutex::new(FairQueue::new(SHARE, MOST)),
            added: Notify::new(),
        }
    }
}

impl Backlog {
    /// Adds a note behind the others of its namespace. Returns `false` where the namespace has its share of notes, or where the backlog is full and
    /// no namespace has more notes.
    pub(super) fn add(&self, regarding: Regarding, note: Note) -> bool {
        let namespace = regarding.namespace.clone();
        let queued = self.with(|notes| notes.add(&namespace, (regarding, note)));
        let added = !matches!(queued, Queued::Refused(_));
        if added {
            self.added.notify_one();
        }
        added
    }

    /// Takes the next note, by turns of the namespaces, and the object that it is about. Waits while there is none. Cancel-safe.
    pub(super) async fn next(&self) -> (Regarding, Note) {
        loop {
            if let Some(next) = self.with(FairQueue::next) {
                return next;
            }
            self.added.notified().await;
        }
    }

    fn with<T>(&self, act: impl FnOnce(&mut FairQueue<(Regarding, Note)>) -> T) -> T {
        // A panic under the lock leaves at worst a note out of turn.
        act(&mut self.notes.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
