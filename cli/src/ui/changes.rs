//! Hears that something has changed. Only that: what has is read anew.

use futures::stream::{self, LocalBoxStream, SelectAll};
use futures::{FutureExt, Stream, StreamExt};
use kube::Client;
use kube::api::{WatchEvent, WatchParams};
use kube::core::request::Request;
use serde::de::IgnoredAny;
use std::collections::BTreeMap;
use std::time::Duration;

/// After a watch that was refused, or ended too soon.
const AGAIN: Duration = Duration::from_secs(5);

/// What happened to some object, but not to which.
type Event = WatchEvent<IgnoredAny>;

/// Watches of lists, each for as long as this lives.
pub(super) struct Changes {
    client: Client,
    /// The label selector of each by its path.
    lists: BTreeMap<String, String>,
    heard: SelectAll<LocalBoxStream<'static, ()>>,
}

impl Changes {
    pub(super) fn new(client: Client) -> Self {
        Self {
            client,
            lists: BTreeMap::new(),
            heard: SelectAll::new(),
        }
    }

    /// Watches these lists too: label selectors by path.
    pub(super) fn follow(&mut self, lists: BTreeMap<String, String>) {
        for (path, selector) in lists {
            if self.lists.get(&path) != Some(&selector) {
                let watch = watch(self.client.clone(), path.clone(), selector.clone());
                self.heard.push(watch.boxed_local());
                self.lists.insert(path, selector);
            }
        }
    }

    /// Returns once something has changed.
    pub(super) async fn next(&mut self) {
        if self.heard.next().await.is_none() {
            std::future::pending::<()>().await;
        }
    }

    /// Forgets what has been heard until now, as what is read next will show it.
    pub(super) fn forget(&mut self) {
        while let Some(Some(())) = self.heard.next().now_or_never() {}
    }
}

/// A change of anything in a list, without an end. Each watch begins with what is there, so that nothing is missed between two.
fn watch(client: Client, path: String, selector: String) -> impl Stream<Item = ()> {
    stream::unfold(false, move |again| {
        let (client, path, selector) = (client.clone(), path.clone(), selector.clone());
        async move {
            if again {
                tokio::time::sleep(AGAIN).await;
            }
            let heard = open(&client, &path, &selector).await;
            Some((
                heard.unwrap_or_else(|_| stream::empty().boxed_local()),
                true,
            ))
        }
    })
    .flatten()
}

/// No more than the metadata is asked for: of a Secret nothing else is to be read, of others nothing else is needed.
async fn open(
    client: &Client,
    path: &str,
    selector: &str,
) -> kube::Result<LocalBoxStream<'static, ()>> {
    let params = WatchParams::default().labels(selector);
    let request = Request::new(path).watch_metadata(&params, "");
    let request = request.map_err(kube::Error::BuildRequest)?;
    let events = client.request_events(request).await?;
    Ok(heard(events).boxed_local())
}

fn heard(events: impl Stream<Item = kube::Result<Event>>) -> impl Stream<Item = ()> {
    let events = events.take_while(|event| {
        let over = matches!(event, Err(_) | Ok(WatchEvent::Error(_)));
        std::future::ready(!over)
    });
    events.filter_map(|event| {
        let nothing = matches!(event, Ok(WatchEvent::Bookmark(_)));
        std::future::ready((!nothing).then_some(()))
    })
}
