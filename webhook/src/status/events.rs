//! Events on the waiting pod: what `kubectl describe pod` says while a gate waits.
//!
//! Written from the answers that gates get, never from admission. At most one a minute for each pod, again every ten
//! minutes while nothing changes, and no more than a trickle in all, so that a thousand waiting pods do not flood etcd.

use super::Identity;
use super::answer::Cut;
use crate::event::{self, Note, Target};
use dashmap::DashMap;
use kube::Client;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::time::Instant;
use tracing::debug;
use wire::{Answer, Decision};

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

/// The closed set of reasons.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reason {
    Waiting,
    Released,
    Skipped,
    TimedOut,
    DependencyFailed,
    NotFound,
    NotPermitted,
    Cycle,
}

impl Reason {
    fn word(self) -> &'static str {
        match self {
            Self::Waiting => "Waiting",
            Self::Released | Self::Skipped => "Released",
            Self::TimedOut => "TimedOut",
            Self::DependencyFailed => "DependencyFailed",
            Self::NotFound => "NotFound",
            Self::NotPermitted => "NotPermitted",
            Self::Cycle => "Cycle",
        }
    }

    fn severity(self) -> &'static str {
        match self {
            Self::Waiting | Self::Released => "Normal",
            Self::Skipped
            | Self::TimedOut
            | Self::DependencyFailed
            | Self::NotFound
            | Self::NotPermitted
            | Self::Cycle => "Warning",
        }
    }
}

#[derive(Debug)]
struct Told {
    since: Instant,
    last: Instant,
    what: Option<(Decision, Reason)>,
    text: String,
}

/// Decides which answers are worth an Event, and hands them to the writer.
#[derive(Debug)]
pub struct Recorder {
    told: Arc<DashMap<String, Told>>,
    notes: mpsc::Sender<(Target, Note)>,
}

impl Recorder {
    /// A recorder and the writer that must run beside it.
    pub fn new(client: Client, instance: String) -> (Self, impl Future<Output = ()>) {
        let (notes, backlog) = mpsc::channel(BACKLOG);
        let told = Arc::default();
        let writer = write(client, instance, backlog, Arc::clone(&told));
        (Self { told, notes }, writer)
    }

    /// A gate was told to wait. `late`: although its timeout has passed.
    pub(super) fn waiting(&self, pod: &Identity, answer: &Answer, late: bool) {
        let text = format!("waiting for {}", unmet(answer));
        self.tell(pod, answer.verdict, text, |waited| {
            if late {
                Reason::TimedOut
            } else {
                reason(answer, waited)
            }
        });
    }

    /// A gate was told to open. Worth an Event only after one that said that it waits.
    pub(super) fn released(&self, pod: &Identity, answer: &Answer) {
        if self.told.remove(&pod.uid).is_some() {
            let count = answer.dependencies.len();
            let text = format!("all {count} dependencies are satisfied");
            self.send(pod, Reason::Released, text);
        }
    }

    /// A gate was told what its dependencies alone would not have told it.
    pub(super) fn cut(&self, pod: &Identity, answer: &Answer, why: Cut) {
        let reason = match why {
            Cut::Skip => Reason::Skipped,
            Cut::Timeout => Reason::TimedOut,
            Cut::Failure => Reason::DependencyFailed,
        };
        if answer.verdict == Decision::Open {
            self.told.remove(&pod.uid);
            let text = format!("opened without {}", unmet(answer));
            self.send(pod, reason, text);
        } else {
            // The kubelet starts a gate again that was refused, and it asks again.
            let text = format!("refused while waiting for {}", unmet(answer));
            self.tell(pod, answer.verdict, text, |_| reason);
        }
    }

    /// Writes an Event where it is news; `reason` is told for how long the pod has waited.
    fn tell(
        &self,
        pod: &Identity,
        verdict: Decision,
        text: String,
        reason: impl FnOnce(Duration) -> Reason,
    ) {
        let now = Instant::now();
        let mut told = self.told.entry(pod.uid.clone()).or_insert_with(|| Told {
            since: now,
            last: now,
            what: None,
            text: String::new(),
        });
        let reason = reason(now.duration_since(told.since));
        let what = Some((verdict, reason));
        let quiet = now.duration_since(told.last);
        // What somebody has set a time or a policy for shall not come a minute late.
        let urgent = verdict == Decision::Refuse || reason == Reason::TimedOut;
        let due = match told.what {
            None => true,
            before if urgent && before != what => true,
            _ if told.text == text => quiet >= AGAIN_AFTER,
            _ => quiet >= AT_MOST_EVERY,
        };
        if !due {
            return;
        }
        told.last = now;
        told.what = what;
        told.text.clone_from(&text);
        self.send(pod, reason, text);
    }

    fn send(&self, pod: &Identity, reason: Reason, text: String) {
        let pod = Target {
            kind: "Pod",
            namespace: pod.namespace.clone(),
            name: pod.pod.clone(),
            uid: Some(pod.uid.clone()),
        };
        let note = Note {
            severity: reason.severity(),
            action: "Gate",
            reason: reason.word(),
            text,
        };
        if self.notes.try_send((pod, note)).is_err() {
            debug!("Event dropped: too many are waiting to be written");
        }
    }
}

fn reason(answer: &Answer, waited: Duration) -> Reason {
    use rules::judged::Reason as Why;
    let unmet = || {
        answer
            .dependencies
            .iter()
            .filter(|report| !report.satisfied)
    };
    let any = |why: Why| unmet().any(|report| report.reason == why.label());
    if any(Why::NotPermitted) {
        Reason::NotPermitted
    } else if any(Why::Cycle) || any(Why::SelfReference) {
        Reason::Cycle
    } else if any(Why::JobFailed) {
        Reason::DependencyFailed
    } else if any(Why::NotFound) && waited >= NOT_FOUND_IS_NEWS {
        Reason::NotFound
    } else {
        Reason::Waiting
    }
}

/// The first unsatisfied dependency by name and how many are satisfied, and the note; what follows "waiting for".
fn unmet(answer: &Answer) -> String {
    let unmet = || {
        answer
            .dependencies
            .iter()
            .filter(|report| !report.satisfied)
    };
    let first = unmet().min_by(|a, b| a.name.cmp(&b.name)).map(|first| {
        let message = first
            .message
            .as_deref()
            .map(|text| format!(": {text}"))
            .unwrap_or_default();
        let total = answer.dependencies.len();
        let met = total - unmet().count();
        format!(
            "{} ({}{message}); {met} of {total} dependencies satisfied",
            first.dependency, first.reason
        )
    });
    match (first, &answer.note) {
        (Some(first), Some(note)) => format!("{first}; {note}"),
        (Some(first), None) => first,
        (None, Some(note)) => note.clone(),
        (None, None) => "nothing".to_owned(),
    }
}

/// Writes what there is to write, and forgets the pods that have not asked for a while: they are gone, or another replica
/// answers them.
async fn write(
    client: Client,
    instance: String,
    mut backlog: mpsc::Receiver<(Target, Note)>,
    told: Arc<DashMap<String, Told>>,
) {
    let mut forget = tokio::time::interval(AGAIN_AFTER);
    loop {
        tokio::select! {
            biased;
            // Both arms are cancel-safe: a tick or a note that is not taken here comes again.
            _ = forget.tick() => told.retain(|_, told| told.last.elapsed() < 2 * AGAIN_AFTER),
            note = backlog.recv() => {
                let Some((pod, note)) = note else { return };
                event::write(&client, pod, note, &instance).await;
                tokio::time::sleep(PACE).await;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::{Request, Response};
    use kube::client::Body;
    use std::convert::Infallible;
    use tokio::time::sleep;
    use tower::service_fn;

    #[tokio::test(start_paused = true)]
    async fn a_pod_that_asks_no_more_is_forgotten() {
        let deaf =
            service_fn(async |_: Request<Body>| Ok::<_, Infallible>(Response::new(Body::empty())));
        let client = Client::new(deaf, "default");
        let (recorder, writer) = Recorder::new(client, "sluice-0".to_owned());
        tokio::spawn(writer);
        let pod = |name: &str| Identity {
            namespace: "shop".to_owned(),
            pod: name.to_owned(),
            uid: name.to_owned(),
        };
        let answer = Answer {
            verdict: Decision::Wait,
            digest: String::new(),
            dependencies: Vec::new(),
            note: None,
        };
        recorder.waiting(&pod("gone"), &answer, false);
        for _ in 0..35 {
            recorder.waiting(&pod("here"), &answer, false);
            sleep(Duration::from_mins(1)).await;
        }
        let known: Vec<String> = recorder.told.iter().map(|it| it.key().clone()).collect();
        assert_eq!(known, ["here"]);
    }
}
