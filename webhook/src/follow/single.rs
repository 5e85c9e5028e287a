//! One object, most often a ConfigMap, and how it is followed.

use super::watch::{WATCH_FOR, signs};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::api::{Api, WatchEvent, WatchParams};
use kube::{Error, Resource, ResourceExt};
use serde::de::DeserializeOwned;
use std::fmt::Debug;
use std::time::Duration;
use tokio::time::Instant;
use tracing::{debug, warn};

/// After this long it is read anew, whatever its watches say.
const READ_AGAIN: Duration = Duration::from_secs(290);
/// After a failed read or a broken watch.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// While there is no such object.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// Which ConfigMap.
#[derive(Debug, Clone)]
pub(crate) struct ConfigMapRef {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
}

/// What the API server says of an object.
pub(super) enum Notice<K = ConfigMap> {
    /// This is in it, whatever was known before.
    Read(Box<K>),
    /// Somebody has written it.
    Written(Box<K>),
    /// There is none.
    Absent,
    /// Nobody here may read it.
    Refused,
    /// Nothing but that the API server is there.
    Sign,
}

/// A kind that can be followed.
pub(super) trait Followable:
    Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static
{
}

impl<K> Followable for K where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static
{
}

/// What the API server says of the object of this name, without an end. To wait for the next is cancel-safe.
pub(super) fn follow<K: Followable>(api: Api<K>, name: String) -> impl Stream<Item = Notice<K>> {
    let followed = Followed {
        api,
        name,
        step: Step::Read(Duration::ZERO),
        told: false,
    };
    stream::unfold(followed, async |mut followed| {
        let news = followed.next().await;
        Some((news, followed))
    })
}

struct Followed<K> {
    api: Api<K>,
    name: String,
    step: Step<K>,
    /// Whether it was told that it cannot be read, since it last could.
    told: bool,
}

/// What comes next.
enum Step<K> {
    /// It is read, after a pause.
    Read(Duration),
    /// It is watched from what was read or seen last.
    Watch(Seen),
    /// The watch goes on.
    Events(Seen, BoxStream<'static, Result<WatchEvent<K>, Error>>),
}

/// How far it was followed.
#[derive(Clone)]
struct Seen {
    read: Instant,
    version: String,
    /// Whether a watch has shown it since it was read.
    watched: bool,
}

impl Seen {
    /// Where a watch begins. The version of an object may be older than what the API server can watch from, and no list is made
    /// that would tell a newer one: so the first watch begins with the object as it is (the API's "Get State and Start at Most
    /// Recent").
    fn version(&self) -> &str {
        if self.watched { &self.version } else { "" }
    }
}

impl<K: Followable> Followed<K> {
    async fn next(&mut self) -> Notice<K> {
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
                Err(error) => {
                    debug!(%error, object = self.url(), "The watch of an object ended");
                }
            }
        }
    }

    /// `/api/v1/namespaces/sluice-system/configmaps/sluice-memory-0`
    fn url(&self) -> String {
        format!("{}/{}", self.api.resource_url(), self.name)
    }

    async fn read(&mut self) -> Result<Option<Notice<K>>, Error> {
        let found = self.api.get_opt(&self.name).await;
        let told = std::mem::replace(&mut self.told, found.is_err());
        let news = match found {
            Ok(Some(found)) => {
                self.step = Step::Watch(Seen {
                    read: Instant::now(),
                    version: version(&found),
                    watched: false,
                });
                Notice::Read(Box::new(found))
            }
            Ok(None) => {
                self.step = Step::Read(LOOK_AGAIN);
                Notice::Absent
            }
            Err(error) => {
                if !told {
                    warn!(%error, object = self.url(), "Cannot read an object; asking again. The chart's roles grant get and watch of it");
                }
                match error {
                    Error::Api(_) => Notice::Refused,
                    error => return Err(error),
                }
            }
        };
        Ok(Some(news))
    }

    async fn watch(&mut self, seen: Seen) -> Result<Notice<K>, Error> {
        let params = WatchParams::default()
            .fields(&format!("metadata.name={}", self.name))
            .timeout(WATCH_FOR);
        let events = self.api.watch(&params, seen.version()).await?;
        self.step = Step::Events(seen, signs(events).boxed());
        Ok(Notice::Sign)
    }

    /// `None` where it has to be read anew.
    async fn event(
        &mut self,
        mut seen: Seen,
        mut events: BoxStream<'static, Result<WatchEvent<K>, Error>>,
    ) -> Result<Option<Notice<K>>, Error> {
        let news = match events.try_next().await? {
            // It was deleted after it was read.
            None | Some(WatchEvent::Bookmark(_)) if !seen.watched => {
                self.step = Step::Read(TRY_AGAIN);
                return Ok(Some(Notice::Sign));
            }
            None if seen.read.elapsed() >= READ_AGAIN => return Ok(None),
            None => return self.watch(seen).await.map(Some),
            Some(WatchEvent::Deleted(_)) => return Ok(None),
            Some(WatchEvent::Error(status)) => return Err(Error::Api(status)),
            Some(WatchEvent::Added(stored) | WatchEvent::Modified(stored)) => {
                let known = std::mem::replace(&mut seen.version, version(&stored));
                if !std::mem::replace(&mut seen.watched, true) && known == seen.version {
                    Notice::Sign
                } else {
                    Notice::Written(Box::new(stored))
                }
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

fn version(stored: &impl ResourceExt) -> String {
    stored.resource_version().unwrap_or_default()
}

#[cfg(test)]
mod tests;
