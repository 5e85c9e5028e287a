//! Events: what sluice says of an object to whoever describes it.

use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use tracing::debug;

/// The API's limit for a note, in bytes.
const MAX_NOTE: usize = 1_024;

/// The object that an Event is about; it is of the core group.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) kind: &'static str,
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: Option<String>,
}

/// What is said of it.
#[derive(Debug)]
pub(crate) struct Note {
    /// `Normal` or `Warning`.
    pub(crate) severity: &'static str,
    pub(crate) action: &'static str,
    pub(crate) reason: &'static str,
    /// Cut to what the API takes.
    pub(crate) text: String,
}

/// Writes an Event beside its object. `instance` is the name of our own pod. One that cannot be written is only logged:
/// nothing rests on it.
pub(crate) async fn write(client: &Client, target: Target, note: Note, instance: &str) {
    let events = Api::<Event>::namespaced(client.clone(), &target.namespace);
    let event = event(target, note, instance, Timestamp::now());
    if let Err(error) = events.create(&PostParams::default(), &event).await {
        debug!(%error, "Event not written");
    }
}

fn event(target: Target, mut note: Note, instance: &str, now: Timestamp) -> Event {
    let end = note.text.floor_char_boundary(MAX_NOTE);
    note.text.truncate(end);
    Event {
        metadata: ObjectMeta {
            namespace: Some(target.namespace.clone()),
            name: Some(format!("{}.{:x}", target.name, now.as_microsecond())),
            ..ObjectMeta::default()
        },
        action: Some(note.action.to_owned()),
        event_time: Some(MicroTime(now)),
        note: Some(note.text),
        reason: Some(note.reason.to_owned()),
        regarding: Some(ObjectReference {
            api_version: Some("v1".to_owned()),
            kind: Some(target.kind.to_owned()),
            namespace: Some(target.namespace),
            name: Some(target.name),
            uid: target.uid,
            ..ObjectReference::default()
        }),
        reporting_controller: Some("sluice.dev/sluice".to_owned()),
        reporting_instance: Some(instance.to_owned()),
        type_: Some(note.severity.to_owned()),
        ..Event::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_note_is_cut_between_two_letters() {
        let target = Target {
            kind: "Pod",
            namespace: "shop".to_owned(),
            name: "api".to_owned(),
            uid: None,
        };
        let note = Note {
            severity: "Normal",
            action: "Gate",
            reason: "Waiting",
            text: format!("{}\u{fc}\u{fc}", "x".repeat(MAX_NOTE - 1)),
        };
        let event = event(target, note, "sluice-0", Timestamp::UNIX_EPOCH);
        assert_eq!(event.note.map(|it| it.len()), Some(MAX_NOTE - 1));
    }
}
