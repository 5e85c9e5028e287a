//! Which Jobs may be held before they have a pod: whoever gives slots away looks at these, and not at all Jobs that there are.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// They, by namespace and name. Whether one is held still, only the Job says.
#[derive(Debug, Default)]
pub(crate) struct HeldJobs(Mutex<BTreeSet<(String, String)>>);

impl HeldJobs {
    /// One more.
    pub(crate) fn add(&self, namespace: &str, name: &str) {
        self.lock().insert((namespace.to_owned(), name.to_owned()));
    }

    /// One that is gone, or has been resumed.
    pub(crate) fn remove(&self, namespace: &str, name: &str) {
        self.lock().remove(&(namespace.to_owned(), name.to_owned()));
    }

    /// The names of those in a namespace.
    pub(super) fn of(&self, namespace: &str) -> Vec<String> {
        let first = (namespace.to_owned(), String::new());
        let jobs = self.lock();
        let there = jobs.range(first..).take_while(|(it, _)| it == namespace);
        there.map(|(_, name)| name.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<(String, String)>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_namespace_has_its_own() {
        let jobs = HeldJobs::default();
        for (namespace, name) in [("shop", "b"), ("shop", "a"), ("shop-2", "c")] {
            jobs.add(namespace, name);
        }
        assert_eq!(jobs.of("shop"), ["a", "b"]);
        jobs.remove("shop", "a");
        assert_eq!(jobs.of("shop"), ["b"]);
        assert_eq!(jobs.of("sho"), [""; 0]);
    }
}
