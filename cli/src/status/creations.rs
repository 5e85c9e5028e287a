//! Finds the objects whose creation is held, in one namespace or in all, from the Events that sluice writes: the objects do not exist yet.

use crate::installation::list;
use jiff::Timestamp;
use kube::Client;
use kube::api::ListParams;
use rules::creation::Tries;
use rules::lookup::Lookup;
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// An object whose creation is held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(super) struct HeldCreation {
    pub(super) namespace: String,
    /// Kind and name of the object: `Issuer/ca`.
    pub(super) name: String,
    /// The time of the first try to create the object.
    pub(super) since: Timestamp,
    /// The most further tries to create the object, of a client that waits between tries as long as the refusal asks it to.
    #[serde(rename = "triesLeft")]
    pub(super) tries_left: usize,
    /// The first dependency that is not satisfied, and why.
    pub(super) why: String,
}

/// Reads the held creations of a namespace, or of all namespaces for `None`, from the Events of sluice. Empty where the Events cannot be read, for
/// any reason.
pub(super) async fn read(
    client: &Client,
    namespace: Option<&str>,
    now: Timestamp,
) -> Vec<HeldCreation> {
    let path = match namespace {
        Some(namespace) => format!("/api/v1/namespaces/{namespace}/events"),
        None => "/api/v1/events".to_owned(),
    };
    let ours = ListParams::default().fields("reportingComponent=sluice.dev/sluice");
    match list(client, &path, &ours).await {
        Ok(Lookup::Found(events)) => held(&events, now),
        Ok(_) | Err(_) => Vec::new(),
    }
}

/// The held creations that these Events tell of, without those whose client has given up by `now`. The newest Event about an object counts: it
/// may tell of the end.
fn held(events: &[Value], now: Timestamp) -> Vec<HeldCreation> {
    let text = |event: &Value, pointer: &str| {
        let text = event.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default().to_owned()
    };
    let mut newest = BTreeMap::<[String; 3], (String, &Value)>::new();
    for event in events.iter().filter(|it| it["action"] == "Create") {
        let about =
            ["namespace", "kind", "name"].map(|it| text(event, &format!("/involvedObject/{it}")));
        let times = ["/series/lastObservedTime", "/lastTimestamp", "/eventTime"];
        let at = times.map(|it| text(event, it)).into_iter().max();
        let at = at.unwrap_or_default();
        if newest.get(&about).is_none_or(|(before, _)| *before <= at) {
            newest.insert(about, (at, event));
        }
    }
    let told = newest.into_iter().filter_map(|(about, (_, event))| {
        let [namespace, kind, name] = about;
        let message = text(event, "/message");
        let (tries, why) = Tries::read(&message)?;
        (now < tries.until()).then(|| HeldCreation {
            namespace,
            name: format!("{kind}/{name}"),
            since: tries.first,
            tries_left: tries.left(now),
            why: why.to_owned(),
        })
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn event(name: &str, at: &str, message: &str) -> Value {
        json!({
            "action": "Create", "message": message, "eventTime": at,
            "involvedObject": {"namespace": "shop", "kind": "Issuer", "name": name},
        })
    }

    #[test]
    fn the_newest_event_tells_whether_a_creation_is_held_still() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let first = at("2026-01-01T00:00:00Z");
        let tries = Tries {
            first,
            began: first,
        };
        let waits = tries.told("Job/seed (NotFound); 0 of 1 dependencies satisfied");
        let events = vec![
            event("ca", "2026-01-01T00:00:02.000000Z", &waits),
            event("done", "2026-01-01T00:00:02.000000Z", &waits),
            event(
                "done",
                "2026-01-01T00:00:09.000000Z",
                "may be created: its dependency is satisfied",
            ),
            json!({"action": "Gate", "message": waits}),
        ];
        let found = held(&events, at("2026-01-01T00:00:31Z"));
        let [one] = found.as_slice() else {
            panic!("{found:?}")
        };
        assert_eq!((one.name.as_str(), one.tries_left), ("Issuer/ca", 5));
        assert_eq!(
            one.why,
            "Job/seed (NotFound); 0 of 1 dependencies satisfied"
        );
        let later = at("2026-01-01T00:05:20Z");
        assert_eq!(held(&events, later), [], "its client has given up");

        let began = at("2026-01-01T00:05:10Z");
        let again = Tries { first, began }.told("Job/seed (NotFound)");
        let events = [events, vec![event("ca", "2026-01-01T00:05:12Z", &again)]].concat();
        let found = held(&events, later);
        let one = found.first().expect("its client has begun again");
        assert_eq!((one.since, one.tries_left), (first, 7));
    }
}
