//! The places of waiting gates. A replica has as many as its memory allows, and one namespace may take them all while no other namespace
//! needs one. Beyond that, the namespace with the most waits gives a place up for the gate of a smaller namespace. A gate of the
//! namespace with the most waits itself is answered at once, and asks again within seconds. So a tenant with thousands of waiting pods
//! holds up only its own gates, and none of them for ever.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::Notify;
use tracing::warn;

/// The places for the waits of one registry, `most` in all, whichever namespaces take them.
#[derive(Debug)]
pub(super) struct WaitPlaces {
    most: usize,
    taken: Mutex<TakenWaits>,
}

#[derive(Debug, Default)]
struct TakenWaits {
    in_all: usize,
    of: HashMap<Arc<str>, NamespaceWaits>,
    /// Whether the log has told that namespaces with equally many waits fill the replica.
    told: bool,
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
    /// Makes `most` places, all free.
    pub(super) fn new(most: usize) -> Arc<Self> {
        let taken = Mutex::default();
        Arc::new(Self { most, taken })
    }

    /// Takes a place for a wait of this namespace; if none is free, a wait of the namespace with the most waits gives its place up.
    /// `None` if all places are taken, and no namespace has more waits than this one would have.
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

    /// Tells the oldest waits of a namespace to end, if it has any: one in `parts` of them, rounded up, and at most `most`.
    pub(super) fn end_some(&self, namespace: &str, most: usize, parts: usize) {
        if let Some(waits) = self.lock().of.get(namespace) {
            let some = waits.count.div_ceil(parts).min(most);
            (0..some).for_each(|_| waits.ends.notify_one());
        }
    }

    fn lock(&self) -> MutexGuard<'_, TakenWaits> {
        // Nothing below panics half way.
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TakenWaits {
    /// Tells the oldest wait of the namespace with the most waits to end. `None` if that namespace has no more waits than `namespace` would have.
    /// The log tells once which namespace fills the replica.
    fn make_room(&mut self, namespace: &str) -> Option<()> {
        let own = self.of.get(namespace).map_or(0, |waits| waits.count);
        let most = self.of.values().map(|waits| waits.count).max()?;
        let gives_way = most > own + 1;
        let is_alike = |waits: &&NamespaceWaits| waits.count + 1 >= most;
        if !gives_way && self.of.values().filter(is_alike).nth(1).is_some() {
            self.tell_of_equals();
            return None;
        }
        let (largest, waits) = self.of.iter_mut().find(|(_, waits)| waits.count == most)?;
        if !std::mem::replace(&mut waits.told, true) {
            let gates = waits.count;
            warn!(
                namespace = &**largest,
                gates,
                "No namespace has more waiting gates than this one, and this replica has no free place: they give way to the gates of others. Raise the memory limit, or the number of replicas"
            );
        }
        gives_way.then(|| waits.ends.notify_one())
    }

    /// Logs once that the replica is full although no namespace has many more waits than others.
    fn tell_of_equals(&mut self) {
        if !std::mem::replace(&mut self.told, true) {
            let (gates, namespaces) = (self.in_all, self.of.len());
            warn!(
                gates,
                namespaces,
                "The waiting gates of many namespaces fill this replica, and none has many more than the others: further gates are answered at once, and ask again. Raise the memory limit, or the number of replicas"
            );
        }
    }
}

impl WaitPlace {
    /// Returns when the wait has to end, because another waiter needs the place. Cancel-safe.
    pub(super) async fn has_to_end(&self) {
        self.ends.notified().await;
    }
}

impl Drop for WaitPlace {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.in_all -= 1;
        // Between two crowds at least half of the places are free.
        taken.told &= taken.in_all > self.places.most / 2;
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
    use crate::telemetry::tests::Lines;
    use futures::FutureExt;

    /// The number of these waits that have to end now.
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

    #[test]
    fn a_namespace_is_blamed_only_where_it_has_more_waits_than_others() {
        let (lines, _guard) = Lines::listen();
        let told = |text: &str| lines.text().matches(text).count();
        let places = WaitPlaces::new(10);
        let few: Vec<WaitPlace> = (0..10)
            .map_while(|number| places.take(&format!("n{number}")))
            .collect();
        for _ in 0..2 {
            assert!(places.take("next").is_none());
        }
        assert_eq!((told("of many namespaces"), told("this one")), (1, 0));
        drop(few);
        let loud: Vec<WaitPlace> = (0..10).map_while(|_| places.take("loud")).collect();
        assert!(places.take("loud").is_none() && places.take("next").is_some());
        assert_eq!((told("of many namespaces"), told("this one")), (1, 1));
        assert!(lines.text().contains("loud"));
        drop(loud);
    }
}
