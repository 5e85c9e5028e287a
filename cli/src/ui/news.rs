//! The news of one object, read when a user selects it: the last line of its pod's gate, and its Events.

use crate::gate_log::{self, GateWord};
use crate::installation::list;
use anyhow::Result;
use kube::Client;
use kube::api::ListParams;
use rules::lookup::Lookup;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wire::said::clean;

/// The most Events that are told.
const MOST: usize = 12;

/// The longest told message of an Event, in characters.
const LONGEST: usize = 600;

/// The object that a user has selected.
#[derive(Debug, Deserialize)]
pub(super) struct Selected {
    namespace: String,
    kind: String,
    name: String,
    /// The pod of the object, if the last line of the pod's gate and the pod's Events are to be read too.
    pod: Option<String>,
}

/// The news of an object, as JSON.
#[derive(Debug, Default, Serialize)]
pub(super) struct News {
    /// The last line of the gate about its wait.
    #[serde(skip_serializing_if = "Option::is_none")]
    gate: Option<String>,
    /// The Events of the object and of the pod, the newest first.
    events: Vec<EventTold>,
    /// A line for each part that the caller may not read.
    unseen: Vec<String>,
}

/// One Event.
#[derive(Debug, PartialEq, Eq, Serialize)]
struct EventTold {
    /// The time of the last occurrence, as the Event tells it.
    at: String,
    /// `Normal` or `Warning`.
    r#type: String,
    /// The object of the Event, such as `Pod/api-1`.
    about: String,
    reason: String,
    message: String,
    count: u64,
}

impl Selected {
    /// Whether every part may stand in a path and in a field selector.
    pub(super) fn is_plain(&self) -> bool {
        let letter = |it: char| it.is_ascii_alphanumeric() || matches!(it, '-' | '.' | ':' | '_');
        let plain = |it: &String| !it.is_empty() && !it.contains("..") && it.chars().all(letter);
        let parts = [&self.namespace, &self.kind, &self.name];
        parts.into_iter().chain(&self.pod).all(plain)
    }
}

/// Reads the news of an object, by at most three requests. A missing right and an unreadable log are lines in `unseen`; Events that cannot be read
/// for another reason are an error.
pub(super) async fn read(client: &Client, selected: &Selected) -> Result<News> {
    let Selected {
        namespace,
        kind,
        name,
        pod,
    } = selected;
    let mut news = News::default();
    let own = (kind.as_str(), name.as_str());
    let of_pod = pod.as_ref().map(|pod| ("Pod", pod.as_str()));
    let mut events = Vec::new();
    for (kind, name) in [Some(own), of_pod.filter(|it| *it != own)]
        .into_iter()
        .flatten()
    {
        let path = format!("/api/v1/namespaces/{namespace}/events");
        let about = format!("involvedObject.kind={kind},involvedObject.name={name}");
        match list(client, &path, &ListParams::default().fields(&about)).await? {
            Lookup::Found(found) => events.extend(found.iter().map(told)),
            Lookup::NotFound => {}
            Lookup::Unavailable(_) => {
                news.unseen = vec![format!(
                    "that takes the right to list Events in namespace {namespace}"
                )];
            }
        }
    }
    events.sort_by(|one, other| other.at.cmp(&one.at));
    events.truncate(MOST);
    news.events = events;
    if let Some(pod) = pod {
        match gate_log::last(client, namespace, pod).await {
            GateWord::Said(said) => news.gate = Some(said.line),
            GateWord::Nothing => {}
            GateWord::Unheard(why) => news.unseen.push(why),
        }
    }
    Ok(news)
}

fn told(event: &Value) -> EventTold {
    let text = |pointer: &str| {
        let text = event.pointer(pointer).and_then(Value::as_str);
        text.unwrap_or_default()
    };
    let times = [
        "/series/lastObservedTime",
        "/lastTimestamp",
        "/eventTime",
        "/metadata/creationTimestamp",
    ];
    let counts = ["/series/count", "/count"].map(|it| event.pointer(it).and_then(Value::as_u64));
    let (kind, name) = (text("/involvedObject/kind"), text("/involvedObject/name"));
    EventTold {
        at: times
            .map(text)
            .into_iter()
            .max()
            .unwrap_or_default()
            .to_owned(),
        r#type: text("/type").to_owned(),
        about: format!("{kind}/{name}"),
        reason: clean(text("/reason"), LONGEST),
        message: clean(text("/message"), LONGEST),
        count: counts.into_iter().flatten().max().unwrap_or(1),
    }
}
