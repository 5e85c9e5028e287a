//! The Events that say why a pod does not begin, or why a workload gets no pods.

use crate::access::AT_ONCE;
use crate::installation::list;
use futures::{StreamExt, future, stream};
use kube::Client;
use kube::api::ListParams;
use rules::cause;
use rules::lookup::Lookup;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use wire::said::clean;

/// The objects whose Events are read: each is a request.
const MOST: usize = 20;

/// The longest shown message of an Event, in characters.
const LONGEST: usize = 240;

/// Reasons of Warnings that sluice writes itself: they tell of the wait, and not of the start.
const OURS: &str = "sluice";

/// The newest Warning about an object.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Trouble {
    reason: String,
    message: String,
}

impl Trouble {
    /// The newest of some Events that others than sluice wrote.
    pub(super) fn newest(events: &[Value]) -> Option<Self> {
        let text = |event: &Value, pointer: &str| {
            let text = event.pointer(pointer).and_then(Value::as_str);
            text.unwrap_or_default().to_owned()
        };
        let is_foreign = |event: &&Value| {
            let by = ["/reportingComponent", "/source/component"].map(|it| text(event, it));
            !by.iter().any(|it| it.starts_with(OURS))
        };
        let when = |event: &&Value| {
            let times = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime"];
            times.map(|it| text(event, it)).into_iter().max()
        };
        let newest = events.iter().filter(is_foreign).max_by_key(when)?;
        Some(Self {
            reason: text(newest, "/reason"),
            message: text(newest, "/message"),
        })
    }

    /// The words of an Event of a controller whose pod was refused.
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

/// Reads the newest Warning about each of these objects, given by namespace and UID. Without the right to read Events none is known.
pub(super) async fn read<'a>(
    client: &Client,
    objects: impl Iterator<Item = (&'a str, &'a str)>,
) -> BTreeMap<String, Trouble> {
    let asked = objects.take(MOST).map(async |(namespace, uid)| {
        let path = format!("/api/v1/namespaces/{namespace}/events");
        let about = format!("involvedObject.uid={uid},type=Warning");
        let events = list(client, &path, &ListParams::default().fields(&about)).await;
        let Ok(Lookup::Found(events)) = events else {
            return None;
        };
        Some((uid.to_owned(), Trouble::newest(&events)?))
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
        let event = |by: &str, reason: &str, at: &str| json!({"source": {"component": by}, "reason": reason, "message": "secret \"a\" not found", "lastTimestamp": at});
        let events = [
            event("kubelet", "FailedMount", "2026-01-01T00:00:05Z"),
            event(
                "default-scheduler",
                "FailedScheduling",
                "2026-01-01T00:00:01Z",
            ),
            event("sluice", "Waiting", "2026-01-01T00:00:09Z"),
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
