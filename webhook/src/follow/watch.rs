//! Follows one resource: a list, then a watch, into a store, for as long as the API server serves the resource.
//!
//! kube's `watcher` is not used, because it does not tell whether it is connected: stale data must open no gate.

mod list;
mod target;

pub(crate) use target::Observer;
pub(super) use target::{Target, path, selection};

use crate::known::{Entry, Freshness, Granted, GrantedChanges, Store};
use crate::lean::Lean;
use crate::metrics::StatusMetrics;
use futures::{Stream, StreamExt, TryStreamExt, stream};
use kube::api::{WatchEvent, WatchParams};
use kube::core::Status;
use kube::core::request::Request;
use kube::{Client, Error};
use list::list;
use rules::kept::Detail;
use rules::kinds::Kind;
use rules::path::get;
use serde_json::Value;
use std::pin::pin;
use std::time::Duration;
use target::{Arriving, kept};
use thiserror::Error as ThisError;
use tokio::time::Instant;
use tracing::{debug, warn};

/// The seconds after which the server ends a watch; the next watch begins where it ended. So each watch gives a sign well within the time
/// for which its store is believed, through any proxy in between; the bookmarks, one a minute, would not. The server sends a bookmark
/// before it ends a watch, so the version to resume from is never too old.
pub(super) const WATCH_FOR: u32 = 20;
/// The time without a sign of life of the API server (an event, a bookmark or the watch's end) after which a watch counts as dead.
const SILENT_FOR: Duration = Duration::from_secs(25);
/// The least time between two lists of a kind while an object of the kind has no room in its namespace's share.
const LIST_AGAIN: Duration = Duration::from_mins(1);
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const LONGEST_PAUSE: Duration = Duration::from_secs(5);
/// The longest pause after refusals: the pauses double up to this one. A change of the granted kinds ends a pause; a right that comes in
/// another way is found only by asking again.
const FORBIDDEN_PAUSE: Duration = Duration::from_secs(15);

/// The API server does not serve the resource, or no longer serves it.
#[derive(Debug, ThisError)]
#[error("the API server does not serve it")]
pub(super) struct NotServed;

/// Keeps `store` like the objects of the API server, by lists and watches. An error begins a new list after a pause. Returns only when the
/// resource has not been served for a while.
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
        Detail::Metadata | Detail::Object | Detail::Gated => {
            follow_as::<Lean>(client, target, store, metrics, changes).await
        }
    }
}

async fn follow_as<T: Arriving>(
    client: &Client,
    target: &Target,
    store: &Store,
    metrics: &StatusMetrics,
    mut granted: GrantedChanges,
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
                // A list alone proves nothing: if its watch is refused, list and refusal would go on without a pause.
                if began.elapsed() >= LONGEST_PAUSE {
                    (pause, lost) = (FIRST_PAUSE, false);
                }
                error
            }
            Err(error) => error,
        };
        let refused = status(&error);
        match refused {
            Some(403) => forbidden(target, store, &error),
            Some(404) => {
                store.refuse(unserved(target));
            }
            Some(410) => debug!(%error, "Too old; listing again"),
            _ => {
                store.lost();
                if !std::mem::replace(&mut lost, true) {
                    let namespace = target.namespace.as_deref();
                    warn!(%error, namespace, "Watch interrupted; asking again");
                }
            }
        }
        metrics.watch_restarted();
        let longest = match store.freshness() {
            Freshness::NotServed | Freshness::Undiscovered => return NotServed,
            Freshness::Forbidden => FORBIDDEN_PAUSE,
            Freshness::Syncing | Freshness::Live => LONGEST_PAUSE,
        };
        pause = tokio::select! {
            () = tokio::time::sleep(pause) => (pause * 2).min(longest),
            // The API server may learn of a right a little later than sluice does.
            () = granted.next(), if refused == Some(403) => FIRST_PAUSE,
        };
    }
}

fn forbidden(target: &Target, store: &Store, error: &Error) {
    if store.refuse(Freshness::Forbidden) {
        let namespace = target.namespace.as_deref();
        warn!(%error, namespace, "Forbidden: grant get, list and watch by a ClusterRole with the label sluice.dev/aggregate-to-watch: \"true\", or by the chart's value rbac.kinds");
    }
}

/// The freshness of a kind that the API server does not know. The kind is not served, unless it is a custom kind: that has a definition
/// here, or had one a moment ago, and only the definition tells whether the kind is gone.
fn unserved(target: &Target) -> Freshness {
    match target.kind {
        Kind::Builtin(_) => Freshness::NotServed,
        Kind::Custom { .. } => Freshness::Undiscovered,
    }
}

/// Tells whether a new list is due, because objects of the store found no room in the budget of large objects and room was returned since
/// the last list.
struct Crowded<'t> {
    target: &'t Target,
    since: Instant,
    given_back: u64,
}

impl<'t> Crowded<'t> {
    /// Notes how often room was returned to the budget, right after a list.
    fn new(target: &'t Target) -> Self {
        Self {
            target,
            since: Instant::now(),
            given_back: target.large_budget.as_ref().map_or(0, |it| it.given_back()),
        }
    }

    fn may_have_room(&self, store: &Store) -> bool {
        let budget = self.target.large_budget.as_ref();
        let returned = budget.is_some_and(|it| it.given_back() != self.given_back);
        returned && self.since.elapsed() >= LIST_AGAIN && store.lacks_room()
    }
}

/// Puts the listed objects into the store (those of a forbidden kind only once a watch of it has begun) and watches them, each time from where
/// the last watch ended, until that is no longer possible. Returns the error that ended it; code 410 if only a new list is due.
async fn watch_from<T: Arriving>(
    client: &Client,
    target: &Target,
    store: &Store,
    objects: Vec<Entry>,
    mut version: String,
) -> Error {
    let mut listed = Some(objects);
    // A kind that may be listed and not watched would be known for a moment, again and again.
    if store.freshness() != Freshness::Forbidden {
        store.replace(listed.take().into_iter().flatten());
    }
    let mut pause = FIRST_PAUSE;
    let crowded = Crowded::new(target);
    loop {
        let began = Instant::now();
        match watch_once::<T>(client, target, store, &mut listed, version).await {
            Ok(seen) => version = seen,
            Err(error) => return error,
        }
        if crowded.may_have_room(store) {
            let listed = Status::failure("objects may have room now", "Expired");
            return Error::Api(listed.with_code(410).boxed());
        }
        if began.elapsed() >= LONGEST_PAUSE {
            pause = FIRST_PAUSE;
        } else {
            // The server ends watches before their time.
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }
}

/// Runs one watch from `version` into the store until the server ends it in order. Returns the version to go on from. Puts `listed` into the
/// store once the watch has begun, if that has not been done before.
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
        Detail::Object | Detail::Gated | Detail::Whole => request.watch(&params, &version),
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
                store.take(kept(target, object));
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

/// The events of a watch, with an error at the end if no event comes for [`SILENT_FOR`].
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

fn status(error: &Error) -> Option<u16> {
    match error {
        Error::Api(status) => Some(status.code),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
