//! The places of waiting gates. A replica has as many as its memory allows, and one namespace may take them all while no other
//! namespace needs one. Beyond that, the namespace with the most waits gives one up for the gate of a smaller namespace. A gate of the
//! namespace with the most waits itself is answered at once, and asks again within seconds. So a tenant with thousands of waiting pods
//! holds up only its own, and none of them for ever.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tracing::warn;

/// The places of the waits of one registry.
#[derive(Debug)]
pub(super) struct WaitPlaces {
    most: usize,
    taken: Mutex<TakenWaits>,
}

#[derive(Debug, Default)]
struct TakenWaits {
    in_all: usize,
    of: HashMap<Arc<str>, NamespaceWaits>,
}

/// The waits of one namespace.
#[derive(Debug, Default)]
struct NamespaceWaits {
    count: usize,
    /// Notifies the oldest wait that it has to end.
    ends: Arc<Notify>,
    /// Whether the log has told that the namespace fills the replica.
    told: bool,
}

/// The place of one wait. The place is free again when this is dropped.
#[derive(Debug)]
pub(super) struct WaitPlace {
    places: Arc<WaitPlaces>,
    namespace: Arc<str>,
    ends: Arc<Notify>,
}

impl WaitPlaces {
    /// So many places.
    pub(super) fn new(most: usize) -> Arc<Self> {
        let taken = Mutex::default();
        Arc::new(Self { most, taken })
    }

    /// Takes a place for a wait of this namespace, if need be that of another namespace. `None` if all places are taken, and no
    /// namespace has more waits than this one would have.
    pub(super) fn take(self: &Arc<Self>, namespace: &str) -> Option<WaitPlace> {
        let mut taken = self.lock();
        if taken.in_all >= self.most {
            taken.make_room(namespace)?;
        }
        taken.in_all += 1;
        let namespace = Arc::<str>::from(namespace);
        let waits = taken.of.entry(Arc::clone(&namespace)).or_default();
        waits.count += 1;
        Some(WaitPlace {
            places: Arc::clone(self),
            ends: Arc::clone(&waits.ends),
            namespace,
        })
    }

    fn lock(&self) -> MutexGuard<'_, TakenWaits> {
        // Nothing below panics half way.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TakenWaits {
    /// Ends a wait of the namespace with the most waits. `None` if that has no more waits than `namespace` would have.
    fn make_room(&mut self, namespace: &str) -> Option<()> {
        let own = self.of.get(namespace).map_or(0, |waits| waits.count);
        let (largest, waits) = self.of.iter_mut().max_by_key(|(_, waits)| waits.count)?;
        if !std::mem::replace(&mut waits.told, true) {
            let gates = waits.count;
            warn!(
                namespace = &**largest,
                gates,
                "The waiting gates of a namespace fill this replica: they give way to the gates of others. Raise the memory limit, or the number of replicas"
            );
        }
        if waits.count <= own + 1 {
            return None;
        }
        waits.ends.notify_one();
        Some(())
    }
}

impl WaitPlace {
    /// Returns when the wait has to end, because the gate of a smaller namespace needs the place. Cancel-safe.
    pub(super) async fn has_to_end(&self) {
        self.ends.notified().await;
    }
}

impl Drop for WaitPlace {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.in_all -= 1;
        if let Some(waits) = taken.of.get_mut(&self.namespace) {
            waits.count -= 1;
            if waits.count == 0 {
                taken.of.remove(&self.namespace);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;

    /// The number of waits that have to end now.
    fn ended(waits: &[WaitPlace]) -> usize {
        let ended = |wait: &&WaitPlace| wait.has_to_end().now_or_never().is_some();
        waits.iter().filter(ended).count()
    }

    #[test]
    fn a_namespace_that_fills_a_replica_gives_way_to_others() {
        let places = WaitPlaces::new(100);
        let mut loud: Vec<WaitPlace> = (0..100).map_while(|_| places.take("loud")).collect();
        assert_eq!(loud.len(), 100, "all while no other needs one");
        assert!(places.take("loud").is_none() && ended(&loud) == 0);
        let mut quiet = Vec::new();
        for _ in 0..49 {
            quiet.push(places.take("quiet").unwrap());
            assert_eq!(ended(&loud), 1);
            loud.pop();
        }
        assert!(places.take("loud").is_none(), "it has the most");
        quiet.push(places.take("quiet").unwrap());
        assert_eq!(ended(&loud), 1);
        loud.pop();
        assert!(places.take("quiet").is_none(), "half and half");
        assert!(places.take("other").is_some(), "a third may come");
        drop((loud, quiet));
        let taken = places.lock();
        assert!(taken.in_all == 0 && taken.of.is_empty());
    }
}
