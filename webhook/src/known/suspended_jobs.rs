//! The Jobs that admission has created suspended. The tasks that give slots away look at these Jobs, and not at all Jobs of the
//! cluster.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The Jobs by namespace and name, with a count: a Job that is made again may be added before the old Job of its name is removed.
/// Only the Job itself tells whether it is still suspended.
#[derive(Debug, Default)]
pub(crate) struct SuspendedJobs(Mutex<BTreeMap<(String, String), usize>>);

impl SuspendedJobs {
    /// Adds a Job that admission has created suspended.
    pub(crate) fn add(&self, namespace: &str, name: &str) {
        let mut jobs = self.lock();
        *jobs
            .entry((namespace.to_owned(), name.to_owned()))
            .or_default() += 1;
    }

    /// Takes back one call of `add`: the Job is gone, or has been resumed.
    pub(crate) fn remove(&self, namespace: &str, name: &str) {
        let mut jobs = self.lock();
        if let Entry::Occupied(mut there) = jobs.entry((namespace.to_owned(), name.to_owned())) {
            *there.get_mut() -= 1;
            if *there.get() == 0 {
                there.remove();
            }
        }
    }

    /// The names of the Jobs of a namespace that were added and not removed. A Job may have been resumed a moment ago.
    pub(super) fn of(&self, namespace: &str) -> Vec<String> {
        let first = (namespace.to_owned(), String::new());
        let jobs = self.lock();
        let there = jobs
            .range(first..)
            .take_while(|((it, _), _)| it == namespace);
        there.map(|((_, name), _)| name.clone()).collect()
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(String, String), usize>> {
        // No change can panic half way.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_namespace_has_its_own() {
        let jobs = SuspendedJobs::default();
        for (namespace, name) in [("shop", "b"), ("shop", "a"), ("shop-2", "c")] {
            jobs.add(namespace, name);
        }
        assert_eq!(jobs.of("shop"), ["a", "b"]);
        jobs.remove("shop", "a");
        assert_eq!(jobs.of("shop"), ["b"]);
        assert_eq!(jobs.of("sho"), [""; 0]);
    }
    #[test]
    fn one_that_was_made_anew_stays_when_the_one_before_it_is_let_go() {
        let jobs = SuspendedJobs::default();
        jobs.add("shop", "a");
        jobs.add("shop", "a");
        jobs.remove("shop", "a");
        assert_eq!(jobs.of("shop"), ["a"]);
        jobs.remove("shop", "a");
        jobs.remove("shop", "a");
        assert_eq!(jobs.of("shop"), [""; 0]);
    }
}
