//! Follows one resource: a list, then a watch, into a store, for as long as the API server serves it.
//!
//! Not kube's `watcher`: it keeps to itself whether it is connected, and "stale data opens nothing" needs to know.

mod list;

use crate::known::{Changes, Entry, Freshness, Granted, Kept, Store, Wishes};
use crate::lean::Lean;
use crate::lists::Selection;
use crate::metrics::StatusMetrics;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use kube::api::{WatchEvent, WatchParams};
use kube::core::request::Request;
use kube::discovery::ApiResource;
use kube::{Client, Error};
use list::list;
use rules::kept::{Detail, is_too_large, trim};
use rules::kinds::Kind;
use rules::path::get;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use thiserror::Error as ThisError;
use tokio::time::Instant;
use tracing::{debug, warn};

/// The server ends a watch after this many seconds, and we begin the next one where it ended. So each watch gives a sign
/// well within the time for which its store is believed, whatever lies between us and the API server; the bookmarks, one a
/// minute, would not. The server sends one before it ends a watch, so what is resumed is never too old.
pub(super) const WATCH_FOR: u32 = 20;
/// A watch that gives no sign for longer is dead.
const SILENT_FOR: Duration = Duration::from_secs(25);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// After a refusal, unless somebody changes what we are meant to read: the right may come in a way that we do not see.
const FORBIDDEN_PAUSE: Duration = Duration::from_secs(15);

/// What is followed.
#[derive(Clone)]
pub(super) struct Target {
    /// How the rules name the kind; decides what is kept.
    pub kind: Kind,
    /// How the API server names it.
    pub resource: ApiResource,
    /// A label selector, where not every object is wanted.
    pub selector: Option<String>,
    /// The same by fields.
    pub fields: Option<String>,
    /// Where, unless everywhere.
    pub namespace: Option<Box<str>>,
    /// How much of each object is asked for.
    pub detail: Detail,
    /// Who is shown each object as it arrives, beside the store.
    pub observer: Option<Observer>,
    /// What objects that wish to be kept whole may fill; `None` where there are none.
    pub wishes: Option<Arc<Wishes>>,
}

/// Is shown an object that was listed, added or changed.
pub(crate) type Observer = Arc<dyn Fn(&Value) + Send + Sync>;

/// The API server does not serve the resource (any more).
#[derive(Debug, ThisError)]
#[error("the API server does not serve it")]
pub(super) struct NotServed;

/// An object as it arrives.
trait Arriving: Into<Value> + DeserializeOwned + Clone + Send + 'static {}

impl<T: Into<Value> + DeserializeOwned + Clone + Send + 'static> Arriving for T {}

/// Keeps `store` like the API server's objects. Returns only when the resource is not served, and has not been for a while.
pub(super) async fn follow(
    client: &Client,
    target: &Target,
    store: &Store,
    metrics: &StatusMetrics,
    granted: &Granted,
) -> NotServed {
    let changes = granted.changes();
    match target.detail {
        Detail::Whole => follow_as::<Value>(client, target, store, metrics, changes).await,
        Detail::Metadata | Detail::Object => {
            follow_as::<Lean>(client, target, store, metrics, changes).await
        }
    }
}

async fn follow_as<T: Arriving>(
    client: &Client,
    target: &Target,
    store: &Store,
    metrics: &StatusMetrics,
    mut granted: Changes,
) -> NotServed {
    let mut pause = FIRST_PAUSE;
    let mut lost = false;
    loop {
        granted.mark_seen();
        let error = match list::<T>(client, target).await {
            Ok((objects, version)) => {
                debug!(objects = objects.len(), "Listed");
                let began = Instant::now();
                let error = watch_from::<T>(client, target, store, objects, version).await;
                // Of a list alone nobody knows what comes of it: where the watch is refused, that would go on and on.
                if began.elapsed() >= LONGEST_PAUSE {
                    (pause, lost) = (FIRST_PAUSE, false);
                }
                error
            }
            Err(error) => error,
        };
        let refused = status(&error);
        match refused {
            Some(403) => forbidden(store, &error),
            Some(404) => {
                store.refuse(unserved(target));
            }
            Some(410) => debug!(%error, "Too old; listing again"),
            _ => {
                store.lost();
                if !std::mem::replace(&mut lost, true) {
                    warn!(%error, "Watch interrupted; asking again");
                }
            }
        }
        metrics.watch_restarted();
        let longest = match store.condition() {
            Freshness::NotServed | Freshness::Undiscovered => return NotServed,
            Freshness::Forbidden => FORBIDDEN_PAUSE,
            Freshness::Syncing | Freshness::Live => LONGEST_PAUSE,
        };
        pause = tokio::select! {
            () = tokio::time::sleep(pause) => (pause * 2).min(longest),
            // Whoever answers may hear of it a little later than we.
            () = granted.next(), if refused == Some(403) => FIRST_PAUSE,
        };
    }
}

fn forbidden(store: &Store, error: &Error) {
    if store.refuse(Freshness::Forbidden) {
        warn!(%error, "Forbidden: grant get, list and watch by a ClusterRole with the label sluice.dev/aggregate-to-watch: \"true\", or by the chart's value rbac.kinds");
    }
}

/// What a kind is that the API server does not know. A custom one has a definition here, or had one a moment ago: whether
/// it is gone, only that tells.
fn unserved(target: &Target) -> Freshness {
    match target.kind {
        Kind::Builtin(_) => Freshness::NotServed,
        Kind::Custom { .. } => Freshness::Undiscovered,
    }
}

/// Watches what was listed, each time from where the last watch ended, until that is no longer possible.
async fn watch_from<T: Arriving>(
    client: &Client,
    target: &Target,
    store: &Store,
    objects: Vec<Entry>,
    mut version: String,
) -> Error {
    let mut listed = Some(objects);
    // What may be listed and not watched would be known for a moment, again and again.
    if store.condition() != Freshness::Forbidden {
        store.replace(listed.take().into_iter().flatten());
    }
    let mut pause = FIRST_PAUSE;
    loop {
        let began = Instant::now();
        match watch_once::<T>(client, target, store, &mut listed, version).await {
            Ok(seen) => version = seen,
            Err(error) => return error,
        }
        if began.elapsed() >= LONGEST_PAUSE {
            pause = FIRST_PAUSE;
        } else {
            // The server ends them before their time.
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Watches until the server ends it in order; returns the version that it came to. What was `listed` and not taken in is, once the
/// watch is there.
async fn watch_once<T: Arriving>(
    client: &Client,
    target: &Target,
    store: &Store,
    listed: &mut Option<Vec<Entry>>,
    version: String,
) -> Result<String, Error> {
    let params = WatchParams {
        label_selector: target.selector.clone(),
        field_selector: target.fields.clone(),
        ..WatchParams::default()
    }
    .timeout(WATCH_FOR);
    let request = Request::new(path(target));
    let request = match target.detail {
        Detail::Metadata => request.watch_metadata(&params, &version),
        Detail::Object | Detail::Whole => request.watch(&params, &version),
    };
    let events = client
        .request_events::<T>(request.map_err(Error::BuildRequest)?)
        .await?;
    let mut events = pin!(signs(events));
    let mut seen = version;
    if let Some(objects) = listed.take() {
        store.replace(objects);
    }
    store.heard();
    while let Some(event) = events.try_next().await? {
        store.heard();
        match event {
            WatchEvent::Added(object) | WatchEvent::Modified(object) => {
                let object = object.into();
                note_version(&object, &mut seen);
                store.take(kept(target, object).into());
            }
            WatchEvent::Deleted(object) => {
                let object = object.into();
                note_version(&object, &mut seen);
                store.delete(&object);
            }
            WatchEvent::Bookmark(bookmark) => seen = bookmark.metadata.resource_version,
            WatchEvent::Error(status) => return Err(Error::Api(status)),
        }
    }
    Ok(seen)
}

/// The events of a watch, and an error where they fail to come.
pub(super) fn signs<T>(
    events: impl Stream<Item = Result<T, Error>> + Send + 'static,
) -> impl Stream<Item = Result<T, Error>> + Send {
    stream::try_unfold(
        events.boxed(),
        async |mut events| match tokio::time::timeout(SILENT_FOR, events.try_next()).await {
            Ok(next) => Ok(next?.map(|event| (event, events))),
            Err(_) => Err(Error::Service("the watch gave no sign for too long".into())),
        },
    )
}

fn note_version(object: &Value, seen: &mut String) {
    if let Some(version) = get(object, &["metadata", "resourceVersion"]).and_then(Value::as_str) {
        version.clone_into(seen);
    }
}

/// The object as it is kept: items of a list lack their type, and metadata requests answer with another one.
fn kept(target: &Target, mut object: Value) -> Kept {
    if let Some(map) = object.as_object_mut() {
        map.insert(
            "apiVersion".to_owned(),
            target.resource.api_version.clone().into(),
        );
        map.insert("kind".to_owned(), target.resource.kind.clone().into());
    }
    let kept = match (&target.wishes, target.detail) {
        (_, Detail::Whole) => Kept { object, wish: None },
        (Some(wishes), _) => wishes.trimmed(&target.kind, object),
        (None, _) => {
            trim(&target.kind, &mut object);
            Kept { object, wish: None }
        }
    };
    // Of one that is too large nothing is known that anybody could take note of.
    let observer = target.observer.as_ref();
    if let Some(observer) = observer.filter(|_| !is_too_large(&kept.object)) {
        observer(&kept.object);
    }
    kept
}

/// What is listed of a target.
pub(super) fn selection(target: &Target) -> Selection {
    Selection {
        path: path(target),
        labels: target.selector.clone(),
        fields: target.fields.clone(),
        metadata: target.detail == Detail::Metadata,
    }
}

pub(super) fn path(target: &Target) -> String {
    let resource = &target.resource;
    let root = if resource.group.is_empty() {
        "/api"
    } else {
        "/apis"
    };
    let place = target.namespace.as_ref();
    let place = place.map_or_else(String::new, |it| format!("namespaces/{it}/"));
    format!("{root}/{}/{place}{}", resource.api_version, resource.plural)
}

fn status(error: &Error) -> Option<u16> {
    match error {
        Error::Api(status) => Some(status.code),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
