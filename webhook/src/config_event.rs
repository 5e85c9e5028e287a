//! Warning Events on ConfigMaps that somebody else wrote for us to read.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::ObjectMeta;

/// The API's limit for a note, in bytes.
pub(crate) const MAX_NOTE: usize = 1_024;

/// The ConfigMap.
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
