//! The custom kinds that were found not to be served, though their stores are forgotten.
//!
//! There is room for so many stores. Where gates name more kinds than that, each takes the place of another, and a gate that is judged
//! anew names those again that were forgotten for it. What was found of them is remembered here in eight bytes each, so that this
//! begins no search, and wakes nobody.

use crate::digest::short;
use rules::kinds::Kind;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// So many kinds are remembered.
const AT_MOST: usize = 16_384;

/// The kinds, until a definition changes. One that is named meanwhile has a store again, and is sought with all that have.
#[derive(Debug, Default)]
pub(in crate::known) struct Absent {
    kinds: Mutex<HashSet<u64>>,
    /// A kind was found not to be served.
    pub(in crate::known) noted: Notify,
}

impl Absent {
    /// A kind was found not to be served; `false` where there is no room to remember that.
    pub(in crate::known) fn note(&self, kind: &Kind) -> bool {
        self.noted.notify_one();
        let mut kinds = self.lock();
        let name = name(kind);
        let has_room = kinds.len() < AT_MOST || kinds.contains(&name);
        if has_room {
            kinds.insert(name);
        }
        has_room
    }

    /// Forgets all of them where there is no room for another.
    pub(in crate::known) fn make_room(&self) {
        let mut kinds = self.lock();
        if kinds.len() >= AT_MOST {
            kinds.clear();
        }
    }

    /// Whether a kind was found not to be served since a definition last changed.
    pub(in crate::known) fn has(&self, kind: &Kind) -> bool {
        self.lock().contains(&name(kind))
    }

    /// Any of them may be served by now.
    pub(in crate::known) fn forget(&self) {
        self.lock().clear();
    }

    fn lock(&self) -> MutexGuard<'_, HashSet<u64>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.kinds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn name(kind: &Kind) -> u64 {
    short(kind.to_string())
}
