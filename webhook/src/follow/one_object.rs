//! Follows one object by its name, most often a ConfigMap.

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

/// The time after which the object is read again, even if its watches show no change.
const READ_AGAIN: Duration = Duration::from_secs(290);
/// The pause after a failed read or a broken watch.
const TRY_AGAIN: Duration = Duration::from_secs(2);
/// The pause between two reads of an object that does not exist.
const LOOK_AGAIN: Duration = Duration::from_secs(5);

/// The namespace and the name of a ConfigMap.
#[derive(Debug, Clone)]
pub(crate) struct ConfigMapRef {
    /// `metadata.namespace` of the ConfigMap.
    pub namespace: String,
    /// `metadata.name` of the ConfigMap.
    pub name: String,
}

/// A notice of the API server about the one object that is followed.
pub(super) enum Notice<K = ConfigMap> {
    /// The object was read. It replaces everything that was known before.
    Read(Box<K>),
    /// The followed object was written.
    Written(Box<K>),
    /// The followed object does not exist.
    Absent,
    /// The API server has answered the reading of the followed object with an error, mostly since sluice may not read it.
    Refused,
    /// The API server has given a sign of life, and the object has not changed.
    Sign,
}

/// A kind whose single objects can be followed.
pub(super) trait Followable:
    Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static
{
}

impl<K> Followable for K where
    K: Resource<DynamicType = ()> + Clone + DeserializeOwned + Debug + Send + 'static
{
}

/// Follows the object of this name, without an end. A caller may cancel the wait for the next notice.
pub(super) fn follow<K: Followable>(api: Api<K>, name: String) -> impl Stream<Item = Notice<K>> {
    let followed = Followed {
        api,
        name,
        step: FollowStep::Read(Duration::ZERO),
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
    step: FollowStep<K>,
    /// Whether the log has told that the object cannot be read, so that it is not told again.
    told: bool,
}

/// The next step of the follower of a single object.
enum FollowStep<K> {
    /// Read the followed object after a pause.
    Read(Duration),
    /// Watch the object from the version that was seen last.
    Watch(WatchProgress),
    /// Wait for the next event of the watch.
    Events(
        WatchProgress,
        BoxStream<'static, Result<WatchEvent<K>, Error>>,
    ),
}

/// The progress of the follower of a single object.
#[derive(Clone)]
struct WatchProgress {
    read: Instant,
    version: String,
    /// Whether a watch has shown the object since it was read.
    watched: bool,
}

impl WatchProgress {
    /// The version from which the next watch begins; empty until a watch has shown the object. The version of an object may be older than
    /// the oldest version that the API server can watch from, and no list tells a newer one. So the first watch begins with the object as
    /// it is (the API's "Get State and Start at Most Recent").
    fn version(&self) -> &str {
        if self.watched { &self.version } else { "" }
    }
}

impl<K: Followable> Followed<K> {
    async fn next(&mut self) -> Notice<K> {
        loop {
            // An error of this step leads to the step that is left behind here.
            let news = match std::mem::replace(&mut self.step, FollowStep::Read(TRY_AGAIN)) {
                FollowStep::Read(pause) => {
                    tokio::time::sleep(pause).await;
                    self.read().await
                }
                FollowStep::Watch(seen) => self.watch(seen).await.map(Some),
                FollowStep::Events(seen, events) => self.event(seen, events).await,
            };
            match news {
                Ok(Some(news)) => return news,
                Ok(None) => self.step = FollowStep::Read(Duration::ZERO),
                Err(error) => {
                    debug!(%error, object = self.url(), "The watch of an object ended");
                }
            }
        }
    }

    /// The path of the object in the API: `/api/v1/namespaces/sluice-system/configmaps/sluice-memory-0`.
    fn url(&self) -> String {
        format!("{}/{}", self.api.resource_url(), self.name)
    }

    async fn read(&mut self) -> Result<Option<Notice<K>>, Error> {
        let found = self.api.get_opt(&self.name).await;
        let told = std::mem::replace(&mut self.told, found.is_err());
        let news = match found {
            Ok(Some(found)) => {
                self.step = FollowStep::Watch(WatchProgress {
                    read: Instant::now(),
                    version: version(&found),
                    watched: false,
                });
                Notice::Read(Box::new(found))
            }
            Ok(None) => {
                self.step = FollowStep::Read(LOOK_AGAIN);
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

    async fn watch(&mut self, seen: WatchProgress) -> Result<Notice<K>, Error> {
        let params = WatchParams::default()
            .fields(&format!("metadata.name={}", self.name))
            .timeout(WATCH_FOR);
        let events = self.api.watch(&params, seen.version()).await?;
        self.step = FollowStep::Events(seen, signs(events).boxed());
        Ok(Notice::Sign)
    }

    /// Waits for the next event of the watch, and makes a notice of it. `None`: the object has to be read again.
    async fn event(
        &mut self,
        mut seen: WatchProgress,
        mut events: BoxStream<'static, Result<WatchEvent<K>, Error>>,
    ) -> Result<Option<Notice<K>>, Error> {
        let news = match events.try_next().await? {
            // The object was deleted after it was read.
            None | Some(WatchEvent::Bookmark(_)) if !seen.watched => {
                self.step = FollowStep::Read(TRY_AGAIN);
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
        self.step = FollowStep::Events(seen, events);
        Ok(Some(news))
    }
}

fn version(stored: &impl ResourceExt) -> String {
    stored.resource_version().unwrap_or_default()
}

#[cfg(test)]
mod tests;
