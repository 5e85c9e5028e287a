//! Watches of the objects that were read, so that only changed objects are read again.

use crate::reader::{KindInNamespace, Reader};
use futures::stream::{LocalBoxStream, SelectAll};
use futures::{FutureExt, Stream, StreamExt, future, stream};
use kube::Client;
use kube::api::{WatchEvent, WatchParams};
use kube::core::request::Request;
use serde::de::IgnoredAny;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// The most places that are followed; a tree that rests on more is looked at when one of these changes.
const MOST: usize = 64;

/// The pause between two judgements of the known objects: verdicts change with time too. No request is sent for it.
const TICK: Duration = Duration::from_secs(1);

/// Changes that belong together arrive together, such as a pod that starts and the endpoints of its Service.
const TOGETHER: Duration = Duration::from_millis(200);

/// The pause before a new read, after a watch has ended, and for objects that may not be watched.
const AGAIN: Duration = Duration::from_secs(5);

/// The kind of a change, without the object that changed.
type Event = WatchEvent<IgnoredAny>;

/// One watch for each kind and namespace.
pub(crate) struct Watches {
    client: Client,
    followed: HashSet<KindInNamespace>,
    changed: SelectAll<LocalBoxStream<'static, KindInNamespace>>,
}

impl Watches {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            followed: HashSet::new(),
            changed: SelectAll::new(),
        }
    }

    /// Follows every place that was read and is not followed yet.
    pub(crate) fn cover(&mut self, reader: &Reader) {
        for place in reader.places() {
            if self.followed.len() >= MOST || self.followed.contains(&place) {
                continue;
            }
            let Ok(path) = reader.path(&place.0, place.1.as_deref()) else {
                continue;
            };
            self.followed.insert(place.clone());
            let changes = changes(self.client.clone(), path, String::new());
            self.changed
                .push(changes.map(move |()| place.clone()).boxed_local());
        }
    }

    /// Makes the reader forget the changed places, so that they are read again; returns whether something changed within a
    /// second.
    pub(crate) async fn changes(&mut self, reader: &mut Reader) -> bool {
        let tick = sleep(TICK);
        let Ok(Some(place)) = timeout(TICK, self.changed.next()).await else {
            tick.await;
            return false;
        };
        reader.forget(&place);
        sleep(TOGETHER).await;
        while let Some(Some(place)) = self.changed.next().now_or_never() {
            reader.forget(&place);
        }
        true
    }
}

/// Every change of the objects that these labels select, without an end. Each watch begins with the present objects, so nothing
/// is missed between two; objects that may not be watched count as changed now and then.
pub(crate) fn changes(client: Client, path: String, labels: String) -> impl Stream<Item = ()> {
    stream::repeat(())
        .then(move |()| watch(client.clone(), path.clone(), labels.clone()))
        .flatten()
}

/// One watch, and a pause after it. It asks for metadata alone: nothing else of a Secret may be read, and of other objects
/// nothing else is needed.
async fn watch(client: Client, path: String, labels: String) -> LocalBoxStream<'static, ()> {
    let end = stream::once(sleep(AGAIN));
    let params = WatchParams::default().labels(&labels);
    let Ok(request) = Request::new(path).watch_metadata(&params, "0") else {
        return end.boxed_local();
    };
    match client.request_events::<IgnoredAny>(request).await {
        Ok(events) => heard(events).chain(end).boxed_local(),
        Err(_) => end.boxed_local(),
    }
}

fn heard(events: impl Stream<Item = kube::Result<Event>>) -> impl Stream<Item = ()> {
    let is_change = |event: &kube::Result<Event>| {
        future::ready(!matches!(event, Err(_) | Ok(WatchEvent::Error(_))))
    };
    events.take_while(is_change).map(|_| ())
}
