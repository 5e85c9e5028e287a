//! One ConfigMap, and how it is followed.

use super::watch::{WATCH_FOR, signs};
use futures::stream::{self, BoxStream};
use futures::{Stream, StreamExt, TryStreamExt};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Error;
use kube::api::{Api, WatchEvent, WatchParams};
use std::time::Duration;
use tokio::time::Instant;

/// After this long the ConfigMap is read anew, whatever its watches say.
const READ_AGAIN: Duration = Duration::from_secs(290);

/// What the API server says of a ConfigMap.
pub(crate) enum News {
    /// Nothing but that it is there.
    Sign,
    /// Somebody has written it.
    Written(Box<ConfigMap>),
}

/// What becomes of the ConfigMap of this name after `version`, until it is deleted or is to be read anew.
pub(crate) fn follow(
    api: Api<ConfigMap>,
    name: String,
    version: String,
) -> impl Stream<Item = Result<News, Error>> {
    let followed = Followed {
        api,
        name,
        version,
        read: Instant::now(),
        watch: None,
    };
    stream::try_unfold(followed, Followed::next)
}

struct Followed {
    api: Api<ConfigMap>,
    name: String,
    version: String,
    read: Instant,
    watch: Option<BoxStream<'static, Result<WatchEvent<ConfigMap>, Error>>>,
}

impl Followed {
    async fn next(mut self) -> Result<Option<(News, Self)>, Error> {
        let Some(watch) = &mut self.watch else {
            return self.begin().await;
        };
        match watch.try_next().await? {
            None if self.read.elapsed() >= READ_AGAIN => Ok(None),
            None => self.begin().await,
            Some(WatchEvent::Added(stored) | WatchEvent::Modified(stored)) => {
                let version = stored.metadata.resource_version.clone();
                self.version = version.unwrap_or(self.version);
                Ok(Some((News::Written(Box::new(stored)), self)))
            }
            Some(WatchEvent::Bookmark(bookmark)) => {
                self.version = bookmark.metadata.resource_version;
                Ok(Some((News::Sign, self)))
            }
            Some(WatchEvent::Deleted(_)) => Ok(None),
            Some(WatchEvent::Error(status)) => Err(Error::Api(status)),
        }
    }

    /// The next watch, which goes on where the last one ended.
    async fn begin(mut self) -> Result<Option<(News, Self)>, Error> {
        let params = WatchParams::default()
            .fields(&format!("metadata.name={}", self.name))
            .timeout(WATCH_FOR);
        let watch = self.api.watch(&params, &self.version).await?;
        self.watch = Some(signs(watch).boxed());
        Ok(Some((News::Sign, self)))
    }
}
