//! The queue of Events about objects that tenants write. Namespaces take turns and all share one pace, so no
//! namespace floods etcd or silences another.

use super::backlog::Backlog;
use super::{Note, Regarding, Writer};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::time::Duration;
use tracing::debug;

/// The pause between two Events that one replica writes.
const PACE: Duration = Duration::from_millis(50);

/// Queues notes that are to be written as Events. Clones share the queue.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    notes: Arc<Backlog>,
    dropped: Counter,
}

impl Outbox {
    /// Returns an outbox, and the task that writes its notes as Events, which the caller has to run. `dropped` counts the notes without room.
    pub(crate) fn new(events: Writer, dropped: Counter) -> (Self, impl Future<Output = ()>) {
        let notes = Arc::<Backlog>::default();
        let writer = write(events, Arc::clone(&notes));
        (Self { notes, dropped }, writer)
    }

    /// Queues a note that is to become an Event about `target`. Returns `false`, and counts it as dropped, where too many notes of the namespace,
    /// or in all, are waiting.
    pub(crate) fn add(&self, target: Regarding, note: Note) -> bool {
        let added = self.notes.add(target, note);
        if !added {
            self.dropped.inc();
            debug!("Event dropped: too many are waiting to be written");
        }
        added
    }
}

/// Registers the counter of dropped Events.
pub(crate) fn register(registry: &mut Registry) -> Counter {
    let dropped = Counter::default();
    registry.register(
        "events_dropped",
        "Events that were not written, because too many were waiting to be",
        dropped.clone(),
    );
    dropped
}

async fn write(events: Writer, notes: Arc<Backlog>) {
    loop {
        let (target, note) = notes.next().await;
        events.write(target, note).await;
        tokio::time::sleep(PACE).await;
    }
}
