//! One ConfigMap, and how it is followed.

use super::watch::{WATCH_FOR, signs};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Error;
use kube::api::{Api, WatchEvent, WatchParams};
use std::time::Duration;
use tokio::time::Instant;
use tracing::{debug, warn};

/// After this long the ConfigMap is read anew, whatever its watches say.
const READ_AGAIN: Duration = Duration::from_secs(290);
/// After a failed read or a broken watch.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// While there is no such ConfigMap.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Which ConfigMap.
#[derive(Debug, Clone)]
pub(crate) struct ConfigMapRef {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What the API server says of a ConfigMap.
pub(super) enum Notice {
    /// This is in it, whatever was known before.
    Read(Box<ConfigMap>),
    /// Somebody has written it.
    Written(Box<ConfigMap>),
    /// There is none.
    Absent,
    /// Nobody here may read it.
    Refused,
    /// Nothing but that the API server is there.
    Sign,
}

/// What the API server says of the ConfigMap of this name, without an end. To wait for the next is cancel-safe.
pub(super) fn follow(api: Api<ConfigMap>, name: String) -> impl Stream<Item = Notice> {
    let followed = Followed {
        api,
        name,
        step: Step::Read(Duration::ZERO),
    };
    stream::unfold(followed, async |mut followed| {
        let news = followed.next().await;
        Some((news, followed))
    })
}

struct Followed {
    api: Api<ConfigMap>,
    name: String,
    step: Step,
}

/// What comes next.
enum Step {
    /// It is read, after a pause.
    Read(Duration),
    /// It is watched from what was read or seen last.
    Watch(Seen),
    /// The watch goes on.
    Events(
        Seen,
        BoxStream<'static, Result<WatchEvent<ConfigMap>, Error>>,
    ),
}

/// How far it was followed.
#[derive(Clone)]
struct Seen {
    read: Instant,
    version: String,
}

impl Followed {
    async fn next(&mut self) -> Notice {
        loop {
            // An error of what comes next leaves this behind.
            let news = match std::mem::replace(&mut self.step, Step::Read(TRY_AGAIN)) {
                Step::Read(pause) => {
                    tokio::time::sleep(pause).await;
                    self.read().await
                }
                Step::Watch(seen) => self.watch(seen).await.map(Some),
                Step::Events(seen, events) => self.event(seen, events).await,
            };
            match news {
                Ok(Some(news)) => return news,
                Ok(None) => self.step = Step::Read(Duration::ZERO),
                Err(error) => debug!(%error, name = self.name, "The watch of a ConfigMap ended"),
            }
        }
    }

    async fn read(&mut self) -> Result<Option<Notice>, Error> {
        let news = match self.api.get_opt(&self.name).await {
            Ok(Some(found)) => {
                self.step = Step::Watch(Seen {
                    read: Instant::now(),
                    version: version(&found),
                });
                Notice::Read(Box::new(found))
            }
            Ok(None) => {
                self.step = Step::Read(LOOK_AGAIN);
                Notice::Absent
            }
            Err(error) => {
                warn!(%error, name = self.name, "Cannot read a ConfigMap");
                match error {
                    Error::Api(_) => Notice::Refused,
                    error => return Err(error),
                }
            }
        };
        Ok(Some(news))
    }

    async fn watch(&mut self, seen: Seen) -> Result<Notice, Error> {
        let params = WatchParams::default()
            .fields(&format!("metadata.name={}", self.name))
            .timeout(WATCH_FOR);
        let events = self.api.watch(&params, &seen.version).await?;
        self.step = Step::Events(seen, signs(events).boxed());
        Ok(Notice::Sign)
    }

    /// `None` where it has to be read anew.
    async fn event(
        &mut self,
        mut seen: Seen,
        mut events: BoxStream<'static, Result<WatchEvent<ConfigMap>, Error>>,
    ) -> Result<Option<Notice>, Error> {
        let news = match events.try_next().await? {
            None if seen.read.elapsed() >= READ_AGAIN => return Ok(None),
            None => return self.watch(seen).await.map(Some),
            Some(WatchEvent::Deleted(_)) => return Ok(None),
            Some(WatchEvent::Error(status)) => return Err(Error::Api(status)),
            Some(WatchEvent::Added(stored) | WatchEvent::Modified(stored)) => {
                seen.version = version(&stored);
                Notice::Written(Box::new(stored))
            }
            Some(WatchEvent::Bookmark(bookmark)) => {
                seen.version = bookmark.metadata.resource_version;
                Notice::Sign
            }
        };
        self.step = Step::Events(seen, events);
        Ok(Some(news))
    }
}

fn version(stored: &ConfigMap) -> String {
    let version = stored.metadata.resource_version.clone();
    version.unwrap_or_default()
}
