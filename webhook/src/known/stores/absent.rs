//! The custom kinds that are not served and whose stores are forgotten.
//!
//! The number of such stores is bounded. If gates name more kinds than that, each kind takes the place of another, and a gate that
//! is judged again names the forgotten kinds again. So eight bytes of each kind are remembered here: naming the kind again begins
//! no search and wakes no view.

use crate::digest::short;
use rules::kinds::Kind;
use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;

/// The most kinds that are remembered as not served.
const AT_MOST: usize = 16_384;

/// The kinds that the API server does not serve, kept until a definition changes. A kind that a list names before that
/// has a store again, and is looked for with all kinds that have one.
#[derive(Debug, Default)]
pub(in crate::known) struct Absent {
    kinds: Mutex<HashSet<u64>>,
    /// Rings when a kind was found not to be served.
    pub(in crate::known) noted: Notify,
}

impl Absent {
    /// Remembers a kind that is not served. Returns `false` if there is no room for it.
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

    /// Forgets all kinds if there is no room for another.
    pub(in crate::known) fn make_room(&self) {
        let mut kinds = self.lock();
        if kinds.len() >= AT_MOST {
            kinds.clear();
        }
    }

    /// Whether a kind was found not to be served since the last change of a definition.
    pub(in crate::known) fn has(&self, kind: &Kind) -> bool {
        self.lock().contains(&name(kind))
    }

    /// Forgets all kinds: any of them may be served by now.
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
