//! Writes Events about objects.

mod backlog;
mod masked;
mod outbox;
mod pace;

pub(crate) use masked::masked;
pub(crate) use outbox::{Outbox, register};
pub(crate) use pace::{AT_MOST_EVERY, Pace, TO_SPARE};

use crate::clock::Clock;
use crate::digest::short;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::api::{Api, ObjectMeta, Patch, PatchParams, PostParams};
use kube::{Client, Error};
use serde_json::json;
use tracing::debug;

/// The longest note (text) of an Event that the API server takes, in bytes.
const MAX_NOTE: usize = 1_024;
/// The most bytes of the object's name that go into the Event's name: that name has an ending, and no more bytes than a name of an object.
const MAX_NAME: usize = 230;

/// The object that a Kubernetes Event is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Regarding {
    /// The `apiVersion` of the object; `None` where only its group is known.
    pub(crate) api_version: Option<String>,
    pub(crate) kind: String,
    /// Empty for a cluster-scoped object. Its Events lie in the namespace `default`, where the API server expects them.
    pub(crate) namespace: String,
    pub(crate) name: String,
    pub(crate) uid: Option<String>,
}

impl Regarding {
    /// The namespace of the object's Events: `default` for a cluster-scoped object.
    fn home(&self) -> &str {
        match self.namespace.as_str() {
            "" => "default",
            namespace => namespace,
        }
    }
}

/// The contents of a Kubernetes Event.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    /// The type of the Event: `Normal` or `Warning`.
    pub(crate) severity: &'static str,
    pub(crate) action: &'static str,
    pub(crate) reason: &'static str,
    /// The note's text, cut to the API server's limit.
    pub(crate) text: String,
    /// The name of the wait that the Event belongs to, where an object has one wait after another: each wait gets an Event of its own. `None` where
    /// the object has one wait.
    pub(crate) wait: Option<String>,
    pub(crate) telling: Telling,
}

/// How often equal notes about one object become an Event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Telling {
    /// A new Event each time that the note is written.
    Anew,
    /// One Event, however many replicas write the note.
    Once,
    /// One Event; a later note sets the count of this Event's series to the given number.
    Still(i32),
}

/// Writes Kubernetes Events to the API server.
#[derive(Clone)]
pub(crate) struct Writer {
    pub(crate) client: Client,
    /// The name of sluice's own pod, which Events name as their reporter.
    pub(crate) instance: String,
    pub(crate) clock: Clock,
}

impl Writer {
    /// Writes a note as an Event into the namespace of its object, or counts it in the Event of an equal note, as its [`Telling`] says. A failure
    /// is only logged, because nothing depends on an Event.
    pub(crate) async fn write(&self, target: Regarding, note: Note) {
        let events = Api::<Event>::namespaced(self.client.clone(), target.home());
        let telling = note.telling;
        let now = self.clock.now();
        let event = event(target, note, &self.instance, now);
        let written = match (events.create(&PostParams::default(), &event).await, telling) {
            (Err(Error::Api(status)), Telling::Still(count)) if status.code == 409 => {
                let name = event.metadata.name.unwrap_or_default();
                let series =
                    json!({"series": {"count": count, "lastObservedTime": MicroTime(now)}});
                let patched = events
                    .patch(&name, &PatchParams::default(), &Patch::Merge(series))
                    .await;
                patched.map(drop)
            }
            // Another replica has written this Event.
            (Err(Error::Api(status)), Telling::Once) if status.code == 409 => Ok(()),
            (created, _) => created.map(drop),
        };
        if let Err(error) = written {
            debug!(%error, "Event not written");
        }
    }
}

fn event(target: Regarding, mut note: Note, instance: &str, now: Timestamp) -> Event {
    let end = note.text.floor_char_boundary(MAX_NOTE);
    note.text.truncate(end);
    let ending = match note.telling {
        Telling::Anew => format!("{:x}", now.as_microsecond()),
        Telling::Once | Telling::Still(_) => digest(&target, &note),
    };
    let stem = &target.name[..target.name.floor_char_boundary(MAX_NAME)];
    Event {
        metadata: ObjectMeta {
            namespace: Some(target.home().to_owned()),
            name: Some(format!("{}.{ending}", stem.trim_end_matches(['.', '-']))),
            ..ObjectMeta::default()
        },
        action: Some(note.action.to_owned()),
        event_time: Some(MicroTime(now)),
        note: Some(note.text),
        reason: Some(note.reason.to_owned()),
        regarding: Some(ObjectReference {
            api_version: target.api_version,
            kind: Some(target.kind),
            namespace: Some(target.namespace).filter(|it| !it.is_empty()),
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

/// Returns the ending of an Event's name, which every replica gives to equal notes about one wait of an object. Notes are equal if they differ in
/// addresses, times and identifiers alone. The API server refuses another type for an Event that is there, so a Warning has an ending of its own.
fn digest(target: &Regarding, note: &Note) -> String {
    let uid = target.uid.as_deref().unwrap_or_default();
    let wait = note.wait.as_deref().unwrap_or_default();
    let text = masked(&note.text);
    let words = [&*target.kind, uid, note.severity, note.reason, &*text, wait];
    let words = words.join("\0");
    format!("{:x}", short(words))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn target(name: &str) -> Regarding {
        Regarding {
            api_version: Some("v1".to_owned()),
            kind: "Pod".to_owned(),
            namespace: "shop".to_owned(),
            name: name.to_owned(),
            uid: Some("u1".to_owned()),
        }
    }

    fn note(text: &str, telling: Telling) -> Note {
        Note {
            severity: "Normal",
            action: "Gate",
            reason: "Waiting",
            text: text.to_owned(),
            wait: None,
            telling,
        }
    }

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    #[test]
    fn a_long_note_is_cut_between_two_letters() {
        let text = format!("{}\u{fc}\u{fc}", "x".repeat(MAX_NOTE - 1));
        let event = event(target("api"), note(&text, Telling::Anew), "sluice-0", at(0));
        assert_eq!(event.note.map(|it| it.len()), Some(MAX_NOTE - 1));
    }

    #[test]
    fn the_same_words_have_the_same_name_in_every_replica() {
        let name = |text: &str, telling, second| {
            let event = event(target("api"), note(text, telling), "sluice-0", at(second));
            event.metadata.name.unwrap()
        };
        let first = name("a", Telling::Once, 0);
        assert!(first.starts_with("api."), "{first}");
        assert_eq!(first, name("a", Telling::Once, 9));
        assert_eq!(first, name("a", Telling::Still(2), 600));
        assert_ne!(first, name("b", Telling::Once, 0));
        let another = Note {
            wait: Some("new".to_owned()),
            ..note("a", Telling::Once)
        };
        let another = event(target("api"), another, "sluice-0", at(0));
        assert_ne!(Some(first), another.metadata.name, "of another wait");
        assert_ne!(name("a", Telling::Anew, 0), name("a", Telling::Anew, 1));
        let long = event(
            target(&format!("{}.x", "a".repeat(MAX_NAME - 1))),
            note("a", Telling::Once),
            "sluice-0",
            at(0),
        );
        let long = long.metadata.name.unwrap();
        assert!(long.len() <= 253 && !long.contains(".."), "{long}");
    }
}
