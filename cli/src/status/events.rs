//! Reads the Events that say why a pod does not begin, which images it still lacks, or why a workload gets no pods.

use crate::access::AT_ONCE;
use crate::installation::list;
use futures::{StreamExt, future, stream};
use kube::Client;
use kube::api::ListParams;
use rules::cause::{self, Pull};
use rules::lookup::Lookup;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use wire::said::clean;

/// The number of objects of a namespace from which on the Events of the namespace are read, and not those about each object.
const MANY: usize = 4;

/// The most Events of a namespace that are read.
const LONG: u32 = 1000;

/// The most objects whose Events are read one by one, since each is a request; those of any further object are not read.
const MOST: usize = 20;

/// The longest shown message of an Event, in characters.
const LONGEST: usize = 240;

/// The begin of the component's name in Events that sluice writes: its own Warnings tell of the wait, and not of a failing start.
const OURS: &str = "sluice";

/// The type of Events about trouble.
const WARNING: &str = "Warning";

/// The newest Warning about an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    reason: String,
    message: String,
}

impl Trouble {
    /// The newest Warning among these Events that another program than sluice wrote; `None` where there is none. One about an early pull does not
    /// count, since a failed pull keeps no gate from its start.
    pub(super) fn newest(events: &[Value]) -> Option<Self> {
        let text = |event: &Value, pointer: &str| {
            let text = event.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let counts = |event: &&Value| {
            let by = ["/reportingComponent", "/source/component"].map(|it| text(event, it));
            let is_foreign = !by.iter().any(|it| it.starts_with(OURS));
            is_foreign && event["type"] == WARNING && !cause::is_of_pull(event)
        };
        let when = |event: &&Value| {
            let times = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime"];
            times.map(|it| text(event, it)).into_iter().max()
        };
        let newest = events.iter().filter(counts).max_by_key(when)?;
        Some(Self {
            reason: text(newest, "/reason"),
            message: text(newest, "/message"),
        })
    }

    /// The reason of the refusal alone, out of the message of an Event that a controller has written because its pod was refused.
    pub(super) fn refusal(&self) -> String {
        cause::refusal(&self.message)
    }
}

/// Writes reason and message, such as `FailedMount: MountVolume.SetUp failed for volume "s": secret "client-cert" not found`.
impl fmt::Display for Trouble {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, message } = self;
        write!(out, "{reason}: {}", clean(message, LONGEST))
    }
}

/// An object whose Events may say more than its status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct EventSubject<'a> {
    pub(super) namespace: &'a str,
    pub(super) uid: &'a str,
    /// The images of a pod that are pulled early. Where there are some, all Events about the pod are read, and else the Warnings.
    pub(super) images: &'a [String],
}

impl EventSubject<'_> {
    /// The facts that these Events about the object tell.
    fn facts(&self, events: &[Value]) -> EventFacts {
        EventFacts {
            trouble: Trouble::newest(events),
            pulls: cause::pulls(self.images, events),
        }
    }
}

/// The facts that the Events about one object tell.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct EventFacts {
    /// The newest Warning about the object.
    pub(super) trouble: Option<Trouble>,
    /// The images that are being pulled for the object, or cannot be.
    pub(super) pulls: Vec<Pull>,
}

/// Reads the Events about these objects: returns the facts that they tell, by UID of the object. An object whose Events cannot be read may be
/// missing in the result, and so may one without Events; of those that are read one by one, only the first [`MOST`] of a namespace are.
pub(super) async fn read<'a>(
    client: &Client,
    objects: impl Iterator<Item = EventSubject<'a>>,
) -> BTreeMap<String, EventFacts> {
    let mut subjects: BTreeMap<&str, Vec<EventSubject<'a>>> = BTreeMap::new();
    for subject in objects {
        subjects.entry(subject.namespace).or_default().push(subject);
    }
    let mut found = BTreeMap::new();
    for (namespace, subjects) in subjects {
        let Some(events) = of_namespace(client, namespace, &subjects).await else {
            found.extend(one_by_one(client, &subjects).await);
            continue;
        };
        let mut about: BTreeMap<&str, Vec<Value>> = BTreeMap::new();
        for event in &events {
            let uid = event["involvedObject"]["uid"].as_str().unwrap_or_default();
            about.entry(uid).or_default().push(event.clone());
        }
        let told = subjects.iter().filter_map(|subject| {
            let events = about.get(subject.uid)?;
            Some((subject.uid.to_owned(), subject.facts(events)))
        });
        found.extend(told);
    }
    found
}

/// The Events of a namespace in which [`MANY`] objects or more are asked for, only Warnings where no object has images; `None` where the objects are
/// fewer, the Events are [`LONG`] or more, or the read fails.
async fn of_namespace(
    client: &Client,
    namespace: &str,
    subjects: &[EventSubject<'_>],
) -> Option<Vec<Value>> {
    if subjects.len() < MANY {
        return None;
    }
    let path = format!("/api/v1/namespaces/{namespace}/events");
    let mut all = ListParams::default().limit(LONG);
    if subjects.iter().all(|it| it.images.is_empty()) {
        all = all.fields("type=Warning");
    }
    match list(client, &path, &all).await {
        Ok(Lookup::Found(events)) if events.len() < LONG as usize => Some(events),
        _ => None,
    }
}

async fn one_by_one(
    client: &Client,
    subjects: &[EventSubject<'_>],
) -> BTreeMap<String, EventFacts> {
    let asked = subjects.iter().take(MOST).map(async |subject| {
        let path = format!("/api/v1/namespaces/{}/events", subject.namespace);
        let mut about = format!("involvedObject.uid={}", subject.uid);
        if subject.images.is_empty() {
            about.push_str(",type=Warning");
        }
        let events = list(client, &path, &ListParams::default().fields(&about)).await;
        let Ok(Lookup::Found(events)) = events else {
            return None;
        };
        Some((subject.uid.to_owned(), subject.facts(&events)))
    });
    let found = stream::iter(asked).buffered(AT_ONCE);
    found.filter_map(future::ready).collect().await
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_newest_warning_of_another_program_counts() {
        let event = |by: &str, reason: &str, at: &str| json!({"type": "Warning", "source": {"component": by}, "reason": reason, "message": "secret \"a\" not found", "lastTimestamp": at});
        let events = [
            event("kubelet", "FailedMount", "2026-01-01T00:00:05Z"),
            event(
                "default-scheduler",
                "FailedScheduling",
                "2026-01-01T00:00:01Z",
            ),
            event("sluice", "Waiting", "2026-01-01T00:00:09Z"),
            event("kubelet", "Failed", "2026-01-01T00:00:08Z"),
            json!({"type": "Normal", "reason": "Scheduled", "lastTimestamp": "2026-01-01T00:00:07Z"}),
        ];
        let told = Trouble::newest(&events).map(|it| it.to_string());
        assert_eq!(told.as_deref(), Some("FailedMount: secret \"a\" not found"));
        assert_eq!(Trouble::newest(&events[2..]), None);
        let quota = Trouble {
            reason: "FailedCreate".to_owned(),
            message: "create Pod web-0 in StatefulSet web failed error: pods \"web-0\" is forbidden: exceeded quota: q"
                .to_owned(),
        };
        assert_eq!(quota.refusal(), "exceeded quota: q");
    }
}
