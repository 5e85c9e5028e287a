//! Watches of what was read, so that whoever shows it reads again only what has changed.

use crate::reader::{Place, Reader};
use futures::stream::{BoxStream, SelectAll};
use futures::{FutureExt, Stream, StreamExt, future, stream};
use kube::Client;
use kube::api::{PartialObjectMeta, WatchEvent, WatchParams};
use kube::core::request::Request;
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

/// One watch for each kind and namespace.
pub(crate) struct Watches {
    client: Client,
    followed: HashSet<Place>,
    changed: SelectAll<BoxStream<'static, Place>>,
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
            let changes = follow(self.client.clone(), path);
            self.changed
                .push(changes.map(move |()| place.clone()).boxed());
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

/// Tells of every change, and after each end of a watch once more, since nobody knows what it would have told.
fn follow(client: Client, path: String) -> impl Stream<Item = ()> {
    stream::repeat(())
        .then(move |()| watch(client.clone(), path.clone()))
        .flatten()
}

/// One watch of the metadata: what an object says is read when it is judged.
async fn watch(client: Client, path: String) -> BoxStream<'static, ()> {
    let end = stream::once(sleep(AGAIN));
    let params = WatchParams::default();
    let Ok(request) = Request::new(path).watch_metadata(&params, "0") else {
        return end.boxed();
    };
    match client.request_events::<PartialObjectMeta>(request).await {
        Ok(events) => {
            let is_change = |event: &Result<WatchEvent<_>, _>| {
                future::ready(!matches!(event, Err(_) | Ok(WatchEvent::Error(_))))
            };
            events.take_while(is_change).map(|_| ()).chain(end).boxed()
        }
        Err(_) => end.boxed(),
    }
}
