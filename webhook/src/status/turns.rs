//! Turns of namespaces: each namespace has a few turns at a time, for gates or for objects, so a namespace with many or slow ones holds
//! up only its own.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// A number of turns for each namespace; holds those namespaces in which a turn is taken or waited for.
#[derive(Debug)]
pub(crate) struct Turns {
    each: usize,
    namespaces: Mutex<HashMap<String, Arc<Semaphore>>>,
}

/// A turn of a gate or an object in its namespace. The turn ends when this is dropped.
#[derive(Debug)]
pub(super) struct Turn<'t> {
    turns: &'t Turns,
    namespace: &'t str,
    permit: Option<OwnedSemaphorePermit>,
}

impl Turns {
    /// Allows `each` turns at a time in each namespace.
    pub(crate) fn new(each: usize) -> Self {
        Self {
            each,
            namespaces: Mutex::default(),
        }
    }

    /// Waits for a turn in a namespace. The turns of a namespace are given in the order of the calls.
    pub(super) async fn take<'t>(&'t self, namespace: &'t str) -> Turn<'t> {
        let semaphore = {
            let mut namespaces = self.lock();
            let new = || Arc::new(Semaphore::new(self.each));
            Arc::clone(namespaces.entry(namespace.to_owned()).or_insert_with(new))
        };
        let mut turn = Turn {
            turns: self,
            namespace,
            permit: None,
        };
        // The semaphore is never closed.
        turn.permit = semaphore.acquire_owned().await.ok();
        turn
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Semaphore>>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.namespaces
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.permit = None;
        let mut namespaces = self.turns.lock();
        let unused = namespaces
            .get(self.namespace)
            .is_some_and(|it| Arc::strong_count(it) == 1);
        if unused {
            namespaces.remove(self.namespace);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    #[tokio::test]
    async fn a_namespace_waits_for_itself_alone() {
        let turns = Turns::new(1);
        let first = turns.take("shop").await;
        let mut second = Box::pin(turns.take("shop"));
        assert!((&mut second).now_or_never().is_none());
        assert!(turns.take("other").now_or_never().is_some());
        drop(first);
        let second = second.now_or_never();
        assert!(second.is_some());
        assert!(turns.take("shop").now_or_never().is_none());
        drop(second);
        assert!(turns.lock().is_empty(), "nothing is left behind");
    }
}
