//! Events on the waiting pod and on the workload above it: what `kubectl describe` says while a gate waits.
//!
//! Written from the answers that gates get, never from admission. One a minute for each object in the long run, and a few more
//! while a wait goes through its stages; again every ten minutes while nothing changes; and no more than a trickle in all, so that a
//! thousand waiting pods do not flood etcd.

mod news;

use super::Identity;
use super::answer::Cut;
use super::rounds::Above;
use crate::event::{Note, Outbox, Regarding, Telling};
use dashmap::DashMap;
use jiff::SignedDuration;
pub(super) use news::SETTLE;
use news::{AGAIN_AFTER, Due, EventReason, News, Told, Whose};
use rules::judged::Reason;
use std::sync::Arc;
use tokio::time::Instant;
use wire::{Answer, Decision, said};

/// Whoever has waited for so long has an Event about it, from this replica or from another.
const LONG: SignedDuration = SignedDuration::from_secs(15);

/// What each object has been told, by its UID.
type Diary = Arc<DashMap<String, Told>>;

/// Decides which answers are worth an Event, and hands them to the writer.
#[derive(Debug)]
pub(crate) struct Recorder {
    told: Diary,
    /// One more than there is room for is dropped, and the next poll of that gate tells it again.
    outbox: Outbox,
}

/// Who waits: the pod that asks, and the workload above it.
#[derive(Debug)]
pub(super) struct GatedPod<'a> {
    pub(super) pod: &'a Identity,
    pub(super) above: Option<&'a Above>,
}

impl Recorder {
    /// A recorder, and what must run beside it: it forgets what nobody has asked about for a while.
    pub(crate) fn new(outbox: Outbox) -> (Self, impl Future<Output = ()>) {
        let told = Diary::default();
        let forget = forget(Arc::clone(&told));
        (Self { told, outbox }, forget)
    }

    /// A gate was told to wait. `late`: although its timeout has passed. When there may be something to tell although the
    /// answer stays as it is.
    pub(super) fn waiting(
        &self,
        subject: &GatedPod<'_>,
        answer: &Answer,
        late: bool,
    ) -> Option<Instant> {
        self.tell(subject, &of_a_wait(answer, late))
    }

    /// The same of a Job that has no pod yet.
    pub(super) fn held(&self, job: &Above, answer: &Answer, late: bool) -> Option<Instant> {
        self.tell_workload(job, &of_a_wait(answer, late))
    }

    /// A gate was told to open. Worth an Event only after one that said that it waits; of a long wait another replica has
    /// said so.
    pub(super) fn released(&self, subject: &GatedPod<'_>, answer: &Answer, waited: SignedDuration) {
        let before = self.told.remove(&subject.pod.uid);
        if waited > LONG || before.is_some_and(|(_, told)| told.anything()) {
            let opened = |text: String| News::opened(EventReason::Released, text);
            self.send(pod(subject.pod), &opened(released(answer)), 1);
            // Of its pods one is let through by what it depends on, and others because that one was.
            let above = "the dependencies of its pods are satisfied".to_owned();
            self.tell_above(subject, &opened(above));
        }
    }

    /// A gate was told to open, and a dependency counted as absent: it may be misspelt, or still to come.
    pub(super) fn absent(&self, subject: &GatedPod<'_>, answer: &Answer) {
        let news = News::opened(EventReason::Absent, absent(answer));
        self.send(pod(subject.pod), &news, 1);
        self.tell_above(subject, &news);
    }

    /// A gate was told to open because nothing says what it waits for: whoever wrote a list where nobody finds it hears so.
    pub(super) fn unlisted(&self, subject: &GatedPod<'_>, answer: &Answer) {
        self.told.remove(&subject.pod.uid);
        let news = News::opened(
            EventReason::NoList,
            format!("opened without {}", unmet(answer)),
        );
        self.send(pod(subject.pod), &news, 1);
        self.tell_above(subject, &news);
    }

    /// A gate was told what its dependencies alone would not have told it.
    pub(super) fn cut(&self, subject: &GatedPod<'_>, answer: &Answer, why: Cut) {
        let reason = match why {
            Cut::Skip => EventReason::Skipped,
            Cut::Timeout => EventReason::TimedOut,
            Cut::Failure => EventReason::DependencyFailed,
        };
        if answer.verdict == Decision::Open {
            self.told.remove(&subject.pod.uid);
            let news = News::opened(reason, format!("opened without {}", unmet(answer)));
            self.send(pod(subject.pod), &news, 1);
            self.tell_above(subject, &news);
        } else {
            // The kubelet starts a gate again that was refused, and it asks again.
            let text = format!("refused while waiting for {}", unmet(answer));
            self.tell(subject, &News::of(answer, reason, text));
        }
    }

    /// Writes an Event where it is news; says when else it will be. The workload hears what its pod was told.
    fn tell(&self, subject: &GatedPod<'_>, news: &News) -> Option<Instant> {
        match self.hear(&subject.pod.uid, Whose::Pod, news) {
            Due::Now(times) => {
                self.send(pod(subject.pod), news, times);
                self.tell_above(subject, news)
            }
            Due::Again(at) => Some(
                self.tell_above(subject, news)
                    .map_or(at, |above| above.min(at)),
            ),
            Due::Later(at) => Some(at),
        }
    }

    /// The pods of one workload mostly wait for the same, and then it is told once.
    fn tell_above(&self, subject: &GatedPod<'_>, news: &News) -> Option<Instant> {
        self.tell_workload(subject.above?, news)
    }

    fn tell_workload(&self, Above { object, revision }: &Above, news: &News) -> Option<Instant> {
        let news = &news.of_wait(revision.as_deref());
        match self.hear(object.uid.as_deref()?, Whose::Workload, news) {
            Due::Now(times) => {
                self.send(object.clone(), news, times);
                None
            }
            Due::Again(at) | Due::Later(at) => Some(at),
        }
    }

    fn hear(&self, uid: &str, whose: Whose, news: &News) -> Due {
        let mut told = self.told.entry(uid.to_owned()).or_default();
        told.hear(news, whose, Instant::now())
    }

    fn send(&self, target: Regarding, news: &News, times: i32) {
        let note = Note {
            severity: news.reason.severity(),
            action: "Gate",
            reason: news.reason.word(),
            text: news.text.clone(),
            wait: news.wait.clone(),
            telling: match times {
                1 => Telling::Once,
                times => Telling::Still(times),
            },
        };
        self.outbox.add(target, note);
    }
}

fn pod(pod: &Identity) -> Regarding {
    Regarding {
        api_version: Some("v1".to_owned()),
        kind: "Pod".to_owned(),
        namespace: pod.namespace.clone(),
        name: pod.pod.clone(),
        uid: Some(pod.uid.clone()),
    }
}

/// What is told of a wait. `late`: although its timeout has passed.
fn of_a_wait(answer: &Answer, late: bool) -> News {
    let reason = if late {
        EventReason::TimedOut
    } else {
        EventReason::of(answer)
    };
    News::of(answer, reason, format!("waiting for {}", unmet(answer)))
}

/// Why a gate opens that has waited.
fn released(answer: &Answer) -> String {
    match (&answer.note, answer.dependencies.len()) {
        (Some(note), _) => format!("opened without {note}"),
        (None, 0) => "nothing is left to wait for".to_owned(),
        (None, 1) => "its dependency is satisfied".to_owned(),
        (None, count) => format!("all {count} dependencies are satisfied"),
    }
}

/// What a gate opens without that is not there.
fn absent(answer: &Answer) -> String {
    let label = Reason::OptionalNotFound.label();
    let absent = answer.dependencies.iter().filter(|it| it.reason == label);
    let told = absent.map(|it| match it.message.as_deref() {
        Some(message) => format!("{} ({message})", it.dependency),
        None => it.dependency.clone(),
    });
    let told: Vec<String> = told.collect();
    format!("opened without {}", told.join(", "))
}

/// The first unsatisfied dependency by name and how many are satisfied, and the note; what follows "waiting for".
fn unmet(answer: &Answer) -> String {
    let first = said::first(answer).map(|first| {
        let message = first
            .message
            .as_deref()
            .map(|text| format!(": {text}"))
            .unwrap_or_default();
        let total = answer.dependencies.len();
        let met = answer.dependencies.iter().filter(|it| it.satisfied).count();
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

/// Forgets what nobody has asked about for a while: it is gone, or another replica answers for it.
async fn forget(told: Diary) {
    let mut forget = tokio::time::interval(AGAIN_AFTER);
    loop {
        let now = forget.tick().await;
        told.retain(|_, told| !told.is_old(now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock::Clock;
    use crate::event::Writer;
    use axum::http::{Request, Response};
    use jiff::Timestamp;
    use kube::Client;
    use kube::client::Body;
    use prometheus_client::metrics::counter::Counter;
    use std::convert::Infallible;
    use std::time::Duration;
    use tokio::time::sleep;
    use tower::service_fn;

    #[tokio::test(start_paused = true)]
    async fn a_pod_that_asks_no_more_is_forgotten() {
        let deaf =
            service_fn(async |_: Request<Body>| Ok::<_, Infallible>(Response::new(Body::empty())));
        let writer = Writer {
            client: Client::new(deaf, "default"),
            instance: "sluice-0".to_owned(),
            clock: Clock::new(Timestamp::now),
        };
        let (outbox, writer) = Outbox::new(writer, Counter::default());
        let (recorder, forget) = Recorder::new(outbox);
        tokio::spawn(writer);
        tokio::spawn(forget);
        let answer = Answer {
            verdict: Decision::Wait,
            digest: String::new(),
            dependencies: Vec::new(),
            note: None,
        };
        let asks = |name: &str| {
            let pod = Identity {
                namespace: "shop".to_owned(),
                pod: name.to_owned(),
                uid: name.to_owned(),
                expires: Timestamp::MAX,
            };
            let subject = GatedPod {
                pod: &pod,
                above: None,
            };
            recorder.waiting(&subject, &answer, false);
        };
        asks("gone");
        for _ in 0..35 {
            asks("here");
            sleep(Duration::from_mins(1)).await;
        }
        let known: Vec<String> = recorder.told.iter().map(|it| it.key().clone()).collect();
        assert_eq!(known, ["here"]);
    }
}
