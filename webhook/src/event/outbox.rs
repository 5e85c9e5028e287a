//! The way out of Events about what tenants write: one queue, by turns of the namespaces, and one pace for all of them. So no
//! namespace floods etcd, and none silences another.

use super::backlog::Backlog;
use super::{Note, Regarding, Writer};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::time::Duration;
use tracing::debug;

/// The pause between two writes of one replica.
const PACE: Duration = Duration::from_millis(50);

/// Takes notes for the writer that runs beside it. Clones are the same one.
#[derive(Debug, Clone)]
pub(crate) struct Outbox {
    notes: Arc<Backlog>,
    dropped: Counter,
}

impl Outbox {
    /// An outbox, and the writer that must run beside it.
    pub(crate) fn new(events: Writer, dropped: Counter) -> (Self, impl Future<Output = ()>) {
        let notes = Arc::<Backlog>::default();
        let writer = write(events, Arc::clone(&notes));
        (Self { notes, dropped }, writer)
    }

    /// Has an Event written in its turn; `false` where too many of its namespace, or in all, wait to be written.
    pub(crate) fn add(&self, target: Regarding, note: Note) -> bool {
        let added = self.notes.add(target, note);
        if !added {
            self.dropped.inc();
            debug!("Event dropped: too many are waiting to be written");
        }
        added
    }
}

/// Registers how many Events were dropped.
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
