//! Watches the objects at a path, one watch after the other, each from the place where the last one ended.

use futures::stream::BoxStream;
use futures::{Stream, StreamExt, stream};
use kube::api::{WatchEvent, WatchParams};
use kube::core::request::Request;
use kube::{Client, Error};
use serde::Deserialize;
use std::time::Duration;
use tokio::time::sleep;

/// The pause before a new watch, after one has ended.
const AGAIN: Duration = Duration::from_secs(5);

/// The pause before a watch that the API server has refused is tried again: rights seldom change.
const REFUSED: Duration = Duration::from_secs(120);

/// The length of a watch in seconds. The API server ends it then, and a new one is a request.
const LENGTH: u32 = 600;

/// The news of one watched place, a kind in a namespace or in all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// An object was made, changed or deleted, or something may have been missed.
    Change,
    /// The API server refuses the watch: the caller lacks the right, or the kind cannot be watched.
    Refusal,
}

/// An object, of which only the version counts.
#[derive(Clone, Deserialize)]
struct Versioned {
    metadata: Version,
}

#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Version {
    resource_version: Option<String>,
}

type WatchEvents = BoxStream<'static, kube::Result<WatchEvent<Versioned>>>;

/// Every change of the objects at a path that these labels select, without an end, and each refusal of a watch. The first watch begins with the
/// present objects, so nothing is missed before it; each other begins where the last one ended, or after an error with the present objects again.
pub(super) fn changes(client: Client, path: String, labels: String) -> impl Stream<Item = Heard> {
    let follower = Follower {
        client,
        path,
        labels,
        version: None,
        events: None,
        pause: Duration::ZERO,
    };
    stream::unfold(follower, async |mut follower| {
        Some((follower.next().await, follower))
    })
}

struct Follower {
    client: Client,
    path: String,
    labels: String,
    /// The version that the last event told; `None` for the present objects.
    version: Option<String>,
    events: Option<WatchEvents>,
    /// The pause before the next watch.
    pause: Duration,
}

impl Follower {
    async fn next(&mut self) -> Heard {
        loop {
            let Some(events) = &mut self.events else {
                if !self.pause.is_zero() {
                    sleep(self.pause).await;
                }
                self.pause = AGAIN;
                match self.watch().await {
                    Ok(events) => self.events = Some(events),
                    Err(error) => return self.failed(&error),
                }
                continue;
            };
            match events.next().await {
                Some(Ok(WatchEvent::Bookmark(bookmark))) => {
                    self.version = Some(bookmark.metadata.resource_version);
                }
                Some(Ok(
                    WatchEvent::Added(it) | WatchEvent::Modified(it) | WatchEvent::Deleted(it),
                )) => {
                    self.version = it.metadata.resource_version;
                    return Heard::Change;
                }
                // The version is too old, most likely.
                Some(Ok(WatchEvent::Error(_))) => {
                    (self.events, self.version) = (None, None);
                    return Heard::Change;
                }
                // The connection is gone, or the time is over.
                Some(Err(_)) | None => self.events = None,
            }
        }
    }

    /// Begins a watch at the version of the last event. It asks for metadata alone: nothing else of a Secret may be read, and of other objects
    /// nothing else is needed.
    async fn watch(&self) -> kube::Result<WatchEvents> {
        let params = WatchParams::default().labels(&self.labels).timeout(LENGTH);
        let from = self.version.as_deref().unwrap_or("0");
        let request = Request::new(self.path.as_str()).watch_metadata(&params, from);
        let request = request.map_err(Error::BuildRequest)?;
        let events = self.client.request_events::<Versioned>(request).await?;
        Ok(events.boxed())
    }

    fn failed(&mut self, error: &Error) -> Heard {
        self.version = None;
        let refused = matches!(error, Error::Api(status) if matches!(status.code, 403..=405));
        self.pause = if refused { REFUSED } else { AGAIN };
        if refused {
            Heard::Refusal
        } else {
            Heard::Change
        }
    }
}
