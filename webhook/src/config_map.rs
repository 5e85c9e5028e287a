//! One ConfigMap: how it is followed, and the Warning Events on one that somebody else wrote for us to read.

use futures::{Stream, TryStreamExt, future};
use jiff::Timestamp;
use k8s_openapi::api::core::v1::{ConfigMap, ObjectReference};
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Error;
use kube::api::{Api, ObjectMeta, WatchEvent, WatchParams};

/// How long one watch lasts, in seconds: below the API server's own limit, so that it ends in order.
const WATCH_FOR: u32 = 290;

/// The API's limit for a note, in bytes.
pub(crate) const MAX_NOTE: usize = 1_024;

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

/// The ConfigMap that an Event is about.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: Option<String>,
}

/// An Event that says `note`, cut to what the API takes. `instance` is the name of our own pod.
pub(crate) fn warning(
    target: Target,
    (action, reason): (&str, &str),
    note: &str,
    instance: &str,
    now: Timestamp,
) -> Event {
    let note = &note[..note.floor_char_boundary(MAX_NOTE)];
    Event {
        metadata: ObjectMeta {
            namespace: Some(target.namespace.clone()),
            name: Some(format!("{}.{:x}", target.name, now.as_microsecond())),
            ..ObjectMeta::default()
        },
        action: Some(action.to_owned()),
        event_time: Some(MicroTime(now)),
        note: Some(note.to_owned()),
        reason: Some(reason.to_owned()),
        regarding: Some(ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some("ConfigMap".to_owned()),
            namespace: Some(target.namespace),
            name: Some(target.name),
            uid: target.uid,
            ..ObjectReference::default()
        }),
        reporting_controller: Some("sluice.dev/sluice".to_owned()),
        reporting_instance: Some(instance.to_owned()),
        type_: Some("Warning".to_owned()),
        ..Event::default()
    }
}
