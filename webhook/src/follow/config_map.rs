//! One ConfigMap, and how it is followed.

use futures::{Stream, TryStreamExt, future};
use k8s_openapi::api::core::v1::ConfigMap;
use kube::Error;
use kube::api::{Api, WatchEvent, WatchParams};

/// How long one watch lasts, in seconds: below the API server's own limit, so that it ends in order.
const WATCH_FOR: u32 = 290;

/// What becomes of the ConfigMap of this name after `version`, until it is deleted or the watch ends.
pub(crate) async fn follow(
    api: &Api<ConfigMap>,
    name: &str,
    version: &str,
) -> Result<impl Stream<Item = Result<ConfigMap, Error>> + use<>, Error> {
    let params = WatchParams::default()
        .fields(&format!("metadata.name={name}"))
        .timeout(WATCH_FOR);
    let events = api.watch(&params, version).await?;
    let stays = |event: &WatchEvent<ConfigMap>| !matches!(event, WatchEvent::Deleted(_));
    let stored = |event| match event {
        WatchEvent::Added(stored) | WatchEvent::Modified(stored) => Ok(Some(stored)),
        WatchEvent::Error(status) => Err(Error::Api(status)),
        WatchEvent::Deleted(_) | WatchEvent::Bookmark(_) => Ok(None),
    };
    Ok(events
        .try_take_while(move |event| future::ok(stays(event)))
        .try_filter_map(move |event| future::ready(stored(event))))
}
