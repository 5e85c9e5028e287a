//! Events on the waiting pod: what `kubectl describe pod` says while a gate waits.
//!
//! Written from the answers that gates get, never from admission. At most one a minute for each pod, again every ten
//! minutes while nothing changes, and no more than a trickle in all, so that a thousand waiting pods do not flood etcd.

use super::Identity;
use dashmap::DashMap;
use jiff::Timestamp;
use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Client;
use kube::api::{Api, ObjectMeta, PostParams};
use rules::wire::Answer;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tracing::debug;

/// How often a pod may get an Event.
const AT_MOST_EVERY: Duration = Duration::from_mins(1);
/// How often an unchanged wait is told again; Events live for an hour.
const AGAIN_AFTER: Duration = Duration::from_mins(10);
/// "Not found" in the first seconds of an installation is no news.
const NOT_FOUND_IS_NEWS: Duration = Duration::from_secs(10);
/// The pause between two writes of one replica.
const PACE: Duration = Duration::from_millis(50);
/// Notes that wait to be written; one more is dropped, and the next poll of that gate tells it again.
const BACKLOG: usize = 1_000;
/// The API's limit for a note.
const MAX_NOTE: usize = 1_024;

/// The closed set of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Waiting,
    Released,
    DependencyFailed,
    NotFound,
    NotPermitted,
}

impl Reason {
    fn word(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::Released => "Released",
            Self::DependencyFailed => "DependencyFailed",
            Self::NotFound => "NotFound",
            Self::NotPermitted => "NotPermitted",
        }
    }

    fn severity(self) -> &'static str {
        match self {
            Self::Waiting | Self::Released => "Normal",
            Self::DependencyFailed | Self::NotFound | Self::NotPermitted => "Warning",
        }
    }
}

#[derive(Debug)]
struct Note {
    pod: Identity,
    reason: Reason,
    text: String,
}

#[derive(Debug)]
struct Told {
    since: Instant,
    last: Instant,
    text: String,
}

/// Decides which answers are worth an Event, and hands them to the writer.
#[derive(Debug)]
pub struct Recorder {
    told: DashMap<String, Told>,
    notes: mpsc::Sender<Note>,
}

impl Recorder {
    /// A recorder and the writer that must run beside it.
    pub fn new(client: Client, instance: String) -> (Self, impl Future<Output = ()>) {
        let (notes, backlog) = mpsc::channel(BACKLOG);
        (
            Self {
                told: DashMap::new(),
                notes,
            },
            write(client, instance, backlog),
        )
    }

    /// A gate was told to wait.
    pub fn waiting(&self, pod: &Identity, answer: &Answer) {
        let now = Instant::now();
        let text = summary(answer);
        let mut told = self.told.entry(pod.uid.clone()).or_insert_with(|| {
            let long_ago = now.checked_sub(AGAIN_AFTER).unwrap_or(now);
            Told {
                since: now,
                last: long_ago,
                text: String::new(),
            }
        });
        let quiet = now.duration_since(told.last);
        let first = told.text.is_empty();
        if !first && (quiet < AT_MOST_EVERY || (quiet < AGAIN_AFTER && told.text == text)) {
            return;
        }
        let reason = reason(answer, now.duration_since(told.since));
        told.last = now;
        told.text.clone_from(&text);
        self.send(Note {
            pod: pod.clone(),
            reason,
            text,
        });
    }

    /// A gate was told to open. Worth an Event only after one that said that it waits.
    pub fn released(&self, pod: &Identity, answer: &Answer) {
        if self.told.remove(&pod.uid).is_some() {
            let text = format!(
                "all {} dependencies are satisfied",
                answer.dependencies.len()
            );
            self.send(Note {
                pod: pod.clone(),
                reason: Reason::Released,
                text,
            });
        }
    }

    /// Forgets pods that have not asked for a while: they are gone, or another replica serves them.
    pub fn prune(&self) {
        let now = Instant::now();
        self.told
            .retain(|_, told| now.duration_since(told.last) < 2 * AGAIN_AFTER);
    }

    fn send(&self, note: Note) {
        if self.notes.try_send(note).is_err() {
            debug!("Event dropped: too many are waiting to be written");
        }
    }
}

fn reason(answer: &Answer, waited: Duration) -> Reason {
    use rules::verdict::Reason as Why;
    let unmet = || {
        answer
            .dependencies
            .iter()
            .filter(|report| !report.satisfied)
    };
    let any = |why: Why| unmet().any(|report| report.reason == why.label());
    if any(Why::NotPermitted) {
        Reason::NotPermitted
    } else if any(Why::JobFailed) {
        Reason::DependencyFailed
    } else if any(Why::NotFound) && waited >= NOT_FOUND_IS_NEWS {
        Reason::NotFound
    } else {
        Reason::Waiting
    }
}

/// The note, or the first unsatisfied dependency by name and how many others there are.
fn summary(answer: &Answer) -> String {
    if let Some(note) = &answer.note {
        return format!("waiting for {note}");
    }
    let unmet = || {
        answer
            .dependencies
            .iter()
            .filter(|report| !report.satisfied)
    };
    let Some(first) = unmet().min_by(|a, b| a.name.cmp(&b.name)) else {
        return "nothing".to_owned();
    };
    let message = first
        .message
        .as_deref()
        .map(|text| format!(": {text}"))
        .unwrap_or_default();
    let met = answer.dependencies.len() - unmet().count();
    let total = answer.dependencies.len();
    format!(
        "waiting for {} ({}{message}); {met} of {total} dependencies satisfied",
        first.dependency, first.reason
    )
}

async fn write(client: Client, instance: String, mut backlog: mpsc::Receiver<Note>) {
    while let Some(note) = backlog.recv().await {
        let event = event(note, &instance, Timestamp::now());
        let namespace = event.metadata.namespace.clone().unwrap_or_default();
        let events = Api::<Event>::namespaced(client.clone(), &namespace);
        if let Err(error) = events.create(&PostParams::default(), &event).await {
            debug!(%error, "Event not written");
        }
        tokio::time::sleep(PACE).await;
    }
}

fn event(note: Note, instance: &str, now: Timestamp) -> Event {
    let Note {
        pod,
        reason,
        mut text,
    } = note;
    let end = text.floor_char_boundary(MAX_NOTE);
    text.truncate(end);
    let regarding = ObjectReference {
        api_version: Some("v1".to_owned()),
        kind: Some("Pod".to_owned()),
        namespace: Some(pod.namespace.clone()),
        name: Some(pod.pod.clone()),
        uid: Some(pod.uid),
        ..ObjectReference::default()
    };
    let metadata = ObjectMeta {
        namespace: Some(pod.namespace),
        name: Some(format!("{}.{:x}", pod.pod, now.as_microsecond())),
        ..ObjectMeta::default()
    };
    Event {
        metadata,
        action: Some("Gate".to_owned()),
        event_time: Some(MicroTime(now)),
        note: Some(text),
        reason: Some(reason.word().to_owned()),
        regarding: Some(regarding),
        reporting_controller: Some("sluice.dev/sluice".to_owned()),
        reporting_instance: Some(instance.to_owned()),
        type_: Some(reason.severity().to_owned()),
        ..Event::default()
    }
}
