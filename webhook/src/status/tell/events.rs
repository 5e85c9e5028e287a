//! Events on the waiting pod and on the workload above it: `kubectl describe` shows them while a gate waits.
//!
//! Events come from the answers to gates, never from admission. Each object gets one Event a minute in the long run, a few more
//! while its wait goes through its stages, and one every ten minutes while nothing changes. All Events together are a trickle, so a
//! thousand waiting pods do not flood etcd.

mod news;

use crate::event::{Note, Outbox, Regarding, Telling};
use crate::status::rounds::Above;
use crate::status::wait_registry::Waiter;
use dashmap::DashMap;
use jiff::SignedDuration;
pub(in crate::status) use news::SETTLE;
use news::{AGAIN_AFTER, Due, EventReason, News, Told, Whose};
use rules::creation::Tries;
use rules::judged::Reason;
use rules::verdict::{Verdict, Why};
use std::sync::Arc;
use tokio::time::Instant;
use wire::{Answer, Decision, said};

/// The length beyond which a wait is taken to have had an Event, if not of this replica then of another one.
const LONG: SignedDuration = SignedDuration::from_secs(15);

/// The Events that this replica has written about each object, by the UID of the object, or by the key of a held creation.
type Diary = Arc<DashMap<String, Told>>;

/// Decides which answers are worth an Event, and hands the Events to the writer.
#[derive(Debug)]
pub(crate) struct Recorder {
    told: Diary,
    /// The queue of Events to write. An Event without room is dropped, and still counts as written: an unchanged wait is told again after
    /// [`AGAIN_AFTER`].
    outbox: Outbox,
}

/// A pod that waits, and the topmost workload above it, if that is known.
#[derive(Debug)]
pub(in crate::status) struct GatedPod<'a> {
    pub(in crate::status) pod: &'a Waiter,
    pub(in crate::status) above: Option<&'a Above>,
}

/// An object whose creation is held.
#[derive(Debug)]
pub(in crate::status) struct Uncreated {
    /// The object of the Events, which does not exist yet, and so has no UID.
    pub(in crate::status) object: Regarding,
    /// The key of the held creation.
    pub(in crate::status) key: String,
    /// The times of the client's first try, and of its first try since it last gave up.
    pub(in crate::status) tries: Tries,
}

impl Recorder {
    /// Makes a recorder, and a task that forgets objects without recent Events, which the caller has to run.
    pub(crate) fn new(outbox: Outbox) -> (Self, impl Future<Output = ()>) {
        let told = Diary::default();
        let forget = forget(Arc::clone(&told));
        (Self { told, outbox }, forget)
    }

    /// Notes that a gate is told to wait, and writes Events about its pod and the workload above where they are due. `late`: its timeout has
    /// passed. Returns the moment at which an Event is due even if the answer stays the same.
    pub(super) fn waiting(
        &self,
        subject: &GatedPod<'_>,
        answer: &Answer,
        late: bool,
    ) -> Option<Instant> {
        self.tell(subject, of_a_wait(answer, late))
    }

    /// Notes that a suspended Job waits, and writes an Event where one is due, about `job`: the topmost workload, which is the CronJob of the Job if
    /// it has one. `late`: its timeout has passed. Returns the moment at which an Event is due even if the answer stays the same.
    pub(super) fn job_waiting(&self, job: &Above, answer: &Answer, late: bool) -> Option<Instant> {
        let uid = job.object.uid.as_deref().unwrap_or_default();
        let told = self.told.get(uid);
        let long = told.is_some_and(|it| it.is_long(Instant::now()));
        self.tell_workload(job, &of_a_wait(answer, late).of_long(long))
    }

    /// Writes an Event about a held object that waits in the queue for a place, without regard to the pace of its other Events. `answer` names no
    /// dependency.
    pub(super) fn queues(&self, object: Regarding, answer: &Answer) {
        self.send(object, &of_a_wait(answer, false), 1);
    }

    /// Forgets the Events about an earlier wait for the creation with this key. An object without a UID has the key of an earlier object of its
    /// name, whose wait is another.
    pub(super) fn creation_begins(&self, key: &str) {
        self.told.remove(key);
    }

    /// Notes that the creation of an object is held, and writes an Event about it where one is due. `late`: its timeout has passed. Returns the
    /// moment at which an Event is due even if the answer stays the same.
    pub(super) fn creation_waiting(
        &self,
        subject: &Uncreated,
        answer: &Answer,
        late: bool,
    ) -> Option<Instant> {
        // A client that begins again has another end: an Event of its own tells it.
        let news = News {
            text: subject.tries.told(&unmet(answer)),
            wait: Some(subject.tries.began.to_string()),
            ..of_a_wait(answer, late)
        };
        match self.hear(&subject.key, Whose::Pod, &news) {
            (Due::Now(times), long) => {
                let news = news.of_long(long);
                self.send_as("Create", subject.object.clone(), &news, times);
                None
            }
            (Due::Again(at) | Due::Later(at), _) => Some(at),
        }
    }

    /// Writes an Event that the wait of a creation has ended: the object may be created, or is refused. A satisfied list has such an Event only if
    /// an Event has told of the wait.
    pub(super) fn creation_ended(&self, subject: &Uncreated, verdict: &Verdict) {
        let Verdict { answer, why, .. } = verdict;
        let before = self.told.remove(&subject.key);
        let was_told = before.is_some_and(|(_, told)| told.anything());
        let (reason, text) = match why {
            Why::Satisfied | Why::Absent => (EventReason::Released, released(answer)),
            Why::Skipped => (EventReason::Skipped, format!("without {}", unmet(answer))),
            Why::DependencyFailed(_) => (EventReason::DependencyFailed, unmet(answer)),
            _ => (EventReason::TimedOut, unmet(answer)),
        };
        let text = match why.decision() {
            Decision::Refuse => format!("creation refused while waiting for {text}"),
            Decision::Open | Decision::Wait => format!("may be created: {text}"),
        };
        if was_told || reason != EventReason::Released {
            let news = News::opened(reason, text);
            let news = news.of_wait(Some(&subject.tries.first.to_string()));
            self.send_as("Create", subject.object.clone(), &news, 1);
        }
    }

    /// Notes that a gate opens because it has nothing left to wait for. Events about its pod and the workload above say so only if an Event has told
    /// of the wait. A wait longer than [`LONG`] has had such an Event, if not from this replica then from another one.
    pub(super) fn released(&self, subject: &GatedPod<'_>, answer: &Answer, waited: SignedDuration) {
        let before = self.told.remove(&subject.pod.uid);
        if waited > LONG || before.is_some_and(|(_, told)| told.anything()) {
            let opened = |text: String| News::opened(EventReason::Released, text);
            self.send(pod(subject.pod), &opened(released(answer)), 1);
            // The dependencies release one pod of a workload; the other pods may be released because that pod was.
            let above = "the dependencies of its pods are satisfied".to_owned();
            self.tell_above(subject, &opened(above));
        }
    }

    /// Writes an Event about the pod, and one about the workload above it where that is due, that the gate opens without optional dependencies that
    /// are absent. One Event names all of them: a name may be misspelt, or its object may come later.
    pub(super) fn absent(&self, subject: &GatedPod<'_>, answer: &Answer) {
        let news = News::opened(EventReason::Absent, absent(answer));
        self.send(pod(subject.pod), &news, 1);
        self.tell_above(subject, &news);
    }

    /// Writes an Event about the pod, and one about the workload above it where that is due, that the gate opens because no list was found for it.
    /// They reach the author of a list at the wrong place.
    pub(super) fn unlisted(&self, subject: &GatedPod<'_>, answer: &Answer) {
        self.told.remove(&subject.pod.uid);
        let news = News::opened(
            EventReason::NoList,
            format!("opened without {}", unmet(answer)),
        );
        self.send(pod(subject.pod), &news, 1);
        self.tell_above(subject, &news);
    }

    /// Writes Events about the pod and the workload above it that something else than the dependencies has ended a wait: a skip, a timeout or a
    /// failure. The gate opens, or is refused; a refusal that comes again has another Event only after [`AGAIN_AFTER`].
    pub(super) fn cut(&self, subject: &GatedPod<'_>, Verdict { answer, why, .. }: &Verdict) {
        let reason = match why {
            Why::Skipped => EventReason::Skipped,
            Why::DependencyFailed(_) => EventReason::DependencyFailed,
            Why::GivenUp
            | Why::Proceeded(_)
            | Why::EntryTimedOut
            | Why::TimedOut(_)
            | Why::Unmet
            | Why::Unread
            | Why::Late(_)
            | Why::EntryLate
            | Why::Satisfied
            | Why::Absent
            | Why::Passed
            | Why::Unlisted => EventReason::TimedOut,
        };
        if why.decision() == Decision::Open {
            self.told.remove(&subject.pod.uid);
            let news = News::opened(reason, format!("opened without {}", unmet(answer)));
            self.send(pod(subject.pod), &news, 1);
            self.tell_above(subject, &news);
        } else {
            // The kubelet restarts a refused gate, and the gate asks again.
            let text = format!("refused while waiting for {}", unmet(answer));
            self.tell(subject, News::of(answer, reason, text));
        }
    }

    /// Writes an Event about the pod if the news is worth one now. Once the pod has it, writes one about the workload above where that is due.
    /// Returns the moment at which the next Event is due; `None` where none is due by time alone.
    fn tell(&self, subject: &GatedPod<'_>, news: News) -> Option<Instant> {
        let (due, long) = self.hear(&subject.pod.uid, Whose::Pod, &news);
        let news = &news.of_long(long);
        match due {
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

    /// Writes an Event about the workload above the pod, if there is one and the news is worth an Event now; else returns the moment at which it
    /// will be. The pods of one workload mostly wait for the same dependency, so one Event serves all.
    fn tell_above(&self, subject: &GatedPod<'_>, news: &News) -> Option<Instant> {
        self.tell_workload(subject.above?, news)
    }

    fn tell_workload(&self, Above { object, revision }: &Above, news: &News) -> Option<Instant> {
        let news = &news.of_wait(revision.as_deref());
        match self.hear(object.uid.as_deref()?, Whose::Workload, news).0 {
            Due::Now(times) => {
                self.send(object.clone(), news, times);
                None
            }
            Due::Again(at) | Due::Later(at) => Some(at),
        }
    }

    /// Decides when the news about the object with this UID (or key of a held creation) becomes an Event, and tells whether its first news is ten
    /// minutes old. An Event that is due now counts as written.
    fn hear(&self, uid: &str, whose: Whose, news: &News) -> (Due, bool) {
        let now = Instant::now();
        let mut told = self.told.entry(uid.to_owned()).or_default();
        (told.hear(news, whose, now), told.is_long(now))
    }

    fn send(&self, target: Regarding, news: &News, times: i32) {
        self.send_as("Gate", target, news, times);
    }

    fn send_as(&self, action: &'static str, target: Regarding, news: &News, times: i32) {
        let note = Note {
            severity: news.reason.severity(news.long),
            action,
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

fn pod(pod: &Waiter) -> Regarding {
    pod.regarding("v1", "Pod")
}

/// The news that a gate, a Job or a creation waits. `late`: its timeout has passed.
fn of_a_wait(answer: &Answer, late: bool) -> News {
    let reason = if late {
        EventReason::TimedOut
    } else {
        EventReason::of(answer)
    };
    News::of(answer, reason, format!("waiting for {}", unmet(answer)))
}

/// The text of an Event about a gate that opens, or a creation that ends, with its dependencies satisfied. An answer with a note has "opened without"
/// and the note in place of the number of dependencies.
fn released(answer: &Answer) -> String {
    match (&answer.note, answer.dependencies.len()) {
        (Some(note), _) => format!("opened without {note}"),
        (None, 0) => "nothing is left to wait for".to_owned(),
        (None, 1) => "its dependency is satisfied".to_owned(),
        (None, count) => format!("all {count} dependencies are satisfied"),
    }
}

/// The text "opened without" and the names of all optional dependencies that do not exist, each with its message.
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

/// The text after "waiting for" in an Event: the unsatisfied dependency that comes first by name, the number of satisfied ones, and the note;
/// "nothing" where the answer has none of these.
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

/// Forgets, every ten minutes, the objects without recent Events: each is gone, or another replica answers its gates. Never returns.
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
    use crate::status::wait_registry::waiter;
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
            probes: Vec::new(),
            for_good: false,
        };
        let asks = |name: &str| {
            let pod = waiter(name);
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
