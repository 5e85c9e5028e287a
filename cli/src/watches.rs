//! Watches of what was read, so that whoever shows it reads again only what has changed.

use crate::reader::{Place, Reader};
use futures::stream::{LocalBoxStream, SelectAll};
use futures::{FutureExt, Stream, StreamExt, future, stream};
use kube::Client;
use kube::api::{WatchEvent, WatchParams};
use kube::core::request::Request;
use serde::de::IgnoredAny;
use std::collections::HashSet;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// More places than this are not followed; a tree that rests on so many is looked at by the others' changes.
const MOST: usize = 64;

/// Verdicts change with time too: what is known is judged again so often, and nothing is asked for that.
const TICK: Duration = Duration::from_secs(1);

/// What belongs together arrives together, such as a pod that starts and the endpoints of its Service.
const TOGETHER: Duration = Duration::from_millis(200);

/// After a watch has ended, and for what may not be watched: so often it is read again.
const AGAIN: Duration = Duration::from_secs(5);

/// What happened to some object, but not to which.
type Event = WatchEvent<IgnoredAny>;

/// One watch for each kind and namespace.
pub(crate) struct Watches {
    client: Client,
    followed: HashSet<Place>,
    changed: SelectAll<LocalBoxStream<'static, Place>>,
}

impl Watches {
    pub(crate) fn new(client: Client) -> Self {
        Self {
            client,
            followed: HashSet::new(),
            changed: SelectAll::new(),
        }
    }

    /// Follows whatever was read so far and is not followed yet.
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

    /// Has what changed forgotten, so that it is read again. Whether something did; after a second nothing has.
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

/// Every change of what these labels select, without an end. Each watch begins with what is there, so nothing is missed between
/// two; and what may not be watched counts as changed now and then.
pub(crate) fn changes(client: Client, path: String, labels: String) -> impl Stream<Item = ()> {
    stream::repeat(())
        .then(move |()| watch(client.clone(), path.clone(), labels.clone()))
        .flatten()
}

/// One watch, and a pause after it. No more than the metadata is asked for: of a Secret nothing else is to be read, of others
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
