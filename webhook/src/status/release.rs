//! Releases what is held, once the gate of a waiter would wait no longer: a pod with our scheduling gate, or a Job that was created
//! suspended. A held waiter is judged through a view, as its gate would be, so its wait costs the API server nothing.

use super::answer::{PodVerdict, answer_of};
use super::gate_report::GateReport;
use super::hold_writer::{HoldWriter, Trouble, Written};
use super::rounds::Round;
use super::service::Service;
use super::tell::SETTLE;
use super::wait::{ANEW, Look, WaitStep, WaitSubject, instant, reason, wait};
use super::wait_registry::{Wait, WaitEntry, WaitRegistry, Waiter};
use crate::known::View;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use kube::Client;
use rules::lookup::{Lookup, Unavailable};
use rules::verdict::Verdict;
use serde_json::Value;
use std::collections::HashSet;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::Instant;
use wire::Decision;

/// An object that a watch has shown is in its store within this time, if ever: a list that begins anew arrives slowly.
const ARRIVES: Duration = ANEW;

/// Receives each object of a watch as it arrives.
pub(crate) type Show = Arc<dyn Fn(&Value) + Send + Sync>;

/// A receiver of objects, and the waiters among these objects that are held.
pub(super) fn shown(is_held: fn(&Value) -> bool) -> (Show, UnboundedReceiver<Waiter>) {
    let (held, seen) = unbounded_channel();
    let show = move |object: &Value| {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        if is_held(object) {
            // The receiver lives as long as the process.
            let _ = held.send(Waiter {
                namespace: text("namespace").to_owned(),
                name: text("name").to_owned(),
                uid: text("uid").to_owned(),
            });
        }
    };
    (Arc::new(show), seen)
}

/// Looks after each waiter that is `seen`, for as long as the process runs. `look_after` returns the UID of a waiter that is no longer
/// held.
pub(super) async fn keep<F: Future<Output = String>>(
    mut seen: UnboundedReceiver<Waiter>,
    look_after: impl Fn(Waiter) -> F,
) {
    let (mut kept, mut known) = (FuturesUnordered::new(), HashSet::new());
    loop {
        tokio::select! {
            biased;
            // Both arms are cancel-safe: a waiter that is not taken here comes again.
            Some(uid) = kept.next(), if !kept.is_empty() => drop(known.remove(&uid)),
            Some(waiter) = seen.recv() => {
                if known.insert(waiter.uid.clone()) {
                    kept.push(look_after(waiter));
                }
            }
            else => pending().await,
        }
    }
}

/// One sort of hold: that of pods, or that of Jobs.
pub(super) trait Hold {
    /// All objects of this sort, as an answer calls them.
    const ALL: &str;

    /// The object that has the name of the waiter.
    fn stored(&self, waiter: &Waiter, view: &View) -> Lookup<Value>;

    /// Whether a stored object is still held.
    fn state(&self, stored: Value) -> HoldState;

    /// Tells a wait that goes on. Returns the moment at which the wait is told again.
    fn tell(&self, look: &Look<'_>, held: &Held, is_news: bool) -> Option<Instant>;

    /// The path of the held object in the API.
    fn url(&self, waiter: &Waiter) -> String;

    /// The patch that releases the object, and that fails where the object has changed; `None` where there is nothing to release.
    fn patch(&self, stored: &Value, end: HoldEnd) -> Option<Value>;

    /// Logs the result of the patch that ends the hold.
    fn log(&self, waiter: &Waiter, end: HoldEnd, written: Written);
}

/// Whether an object is held that was held when the watch showed it.
pub(super) enum HoldState {
    /// The object is held, and is judged as this pod.
    Held(Value),
    /// The hold has ended, and a patch notes that.
    Ended(HoldEnd),
    /// The object is not held any more.
    Released,
}

/// The end of the hold of a pod or a Job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HoldEnd {
    /// The word for the end of the hold in the log.
    pub(super) outcome: &'static str,
    /// Whether the wait took too long. The patch of a Job notes that, or the gates of its pods would count from the start of their pods.
    /// The patch of a pod notes nothing: the gate of a pod that was held counts from the creation of the pod in any case.
    pub(super) timed_out: bool,
}

/// The wait of a pod or a Job that is held.
pub(super) struct Held {
    pub(super) verdict: Verdict,
    pub(super) since: Timestamp,
    pub(super) round: Option<Arc<Round>>,
}

impl Held {
    /// The wait of the held object, for the registry and for metrics.
    pub(super) fn wait(&self) -> Wait {
        Wait {
            reason: reason(&self.verdict.answer),
            since: self.since,
        }
    }
}

/// Releases the held waiters of one sort, pods or Jobs.
pub(super) struct Releaser {
    pub(super) service: Arc<Service>,
    registry: Arc<WaitRegistry>,
    writer: HoldWriter,
}

impl Releaser {
    /// Releases waiters that `service` judges, and registers them in `registry`.
    pub(super) fn new(service: Arc<Service>, client: Client, registry: Arc<WaitRegistry>) -> Self {
        let writer = HoldWriter::new(client);
        Self {
            service,
            registry,
            writer,
        }
    }

    /// Returns when the waiter is no longer held, or gone.
    pub(super) async fn until_released<H: Hold>(&self, waiter: &Waiter, hold: &H) {
        let mut subject = HeldWait {
            hold,
            entry: self.registry.begin(waiter),
            began: Instant::now(),
            told: String::new(),
            has_arrived: false,
        };
        let mut trouble = Trouble::default();
        while let (Some(end), view) = wait(&self.service, waiter, &mut subject).await {
            self.release(waiter, hold, &view, end, &mut trouble).await;
        }
    }

    /// Ends the hold, unless the waiter has changed since it was judged; returns when this replica sees the end.
    async fn release<H: Hold>(
        &self,
        waiter: &Waiter,
        hold: &H,
        view: &View,
        end: HoldEnd,
        trouble: &mut Trouble,
    ) {
        let patch = || match itself(waiter, hold.stored(waiter, view)) {
            Lookup::Found(stored) if !view.has_changed() => hold.patch(&stored, end),
            _ => None,
        };
        let url = hold.url(waiter);
        let log = |written| hold.log(waiter, end, written);
        let place = (&*waiter.namespace, &*url);
        self.writer.write(view, place, patch, trouble, log).await;
    }
}

/// The wait of a waiter until its hold has to end.
struct HeldWait<'a, H> {
    hold: &'a H,
    /// `None` where the waiter has as many waits as one may have, `MOST` of `wait_registry.rs`.
    entry: Option<WaitEntry>,
    began: Instant,
    /// The digest of the answer that was told last.
    told: String,
    /// Whether the store has shown the waiter before.
    has_arrived: bool,
}

/// The result of one look at a held waiter.
enum HoldJudgement {
    Held(Held),
    Ended(HoldEnd),
    /// The store of the waiter's kind does not have it.
    Absent,
    Released,
}

impl<H: Hold> HeldWait<'_, H> {
    /// Judges the waiter as its gate would be judged.
    fn judge(&self, look: &Look<'_>, stored: Lookup<Value>) -> HoldJudgement {
        let pod = match stored.map(|stored| self.hold.state(stored)) {
            Lookup::Found(HoldState::Held(pod)) => Ok(pod),
            Lookup::Found(HoldState::Ended(end)) => return HoldJudgement::Ended(end),
            Lookup::Found(HoldState::Released) => return HoldJudgement::Released,
            Lookup::NotFound => return HoldJudgement::Absent,
            Lookup::Unavailable(why) => Err(why),
        };
        let unread = |what, why| PodVerdict::from(Verdict::unread(what, why));
        let rounds = &look.service.rounds;
        let judged = match (look.view.silent(), pod) {
            (Some(what), _) => unread(what, Unavailable::Stale),
            (None, Ok(pod)) => {
                // No gate runs yet that could try an address.
                answer_of(
                    &pod,
                    rounds,
                    &GateReport::default(),
                    look.now,
                    !look.settled,
                )
            }
            (None, Err(why)) => unread(H::ALL, why),
        };
        let why = &judged.verdict.why;
        match why.decision() {
            Decision::Wait => HoldJudgement::Held(Held {
                verdict: judged.verdict,
                since: judged.started.unwrap_or(look.now),
                round: judged.round,
            }),
            // The gate of the released pod tells a refusal.
            Decision::Open | Decision::Refuse => HoldJudgement::Ended(HoldEnd {
                outcome: why.label(),
                timed_out: why.is_a_timeout(),
            }),
        }
    }

    fn waits(&mut self, look: &Look<'_>, held: Held) -> WaitStep<Option<HoldEnd>> {
        let Look { now, settled, .. } = *look;
        if let Some(entry) = &self.entry {
            entry.waits(held.wait());
        }
        let Verdict { answer, again, .. } = &held.verdict;
        let is_news = answer.digest != self.told && (settled || !held.verdict.provisional);
        if is_news {
            self.told.clone_from(&answer.digest);
        }
        let next = [
            (!settled).then_some(self.began + SETTLE),
            again.and_then(|at| instant(at, now)),
            self.hold.tell(look, &held, is_news),
        ];
        WaitStep::Rest(next.into_iter().flatten().min(), held.round)
    }
}

impl<H: Hold> WaitSubject for HeldWait<'_, H> {
    /// The end of the hold; `None` where the waiter is no longer held.
    type End = Option<HoldEnd>;

    fn began(&self) -> Instant {
        self.began
    }

    fn look(&mut self, look: &Look<'_>) -> WaitStep<Self::End> {
        let stored = itself(look.waiter, self.hold.stored(look.waiter, look.view));
        self.has_arrived |= matches!(stored, Lookup::Found(_));
        match self.judge(look, stored) {
            HoldJudgement::Held(held) => self.waits(look, held),
            HoldJudgement::Ended(end) => WaitStep::Over(Some(end)),
            HoldJudgement::Absent if !self.has_arrived && self.began.elapsed() < ARRIVES => {
                WaitStep::Rest(Some(self.began + ARRIVES), None)
            }
            HoldJudgement::Absent | HoldJudgement::Released => WaitStep::Over(None),
        }
    }
}

/// The stored object, if it is the waiter and no other object of the same name.
fn itself(waiter: &Waiter, stored: Lookup<Value>) -> Lookup<Value> {
    stored.and_then(|stored| {
        if stored["metadata"]["uid"] == waiter.uid.as_str() {
            Lookup::Found(stored)
        } else {
            Lookup::NotFound
        }
    })
}
