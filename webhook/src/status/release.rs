//! Releases a held pod (one with our scheduling gate) or a Job that was created suspended, once the gate of its pod would wait no longer.
//! Such a waiter is judged through a view, as its gate would be, so its wait costs the API server nothing.

use super::answer::{PodVerdict, answer_of};
use super::gate_report::GateReport;
use super::held_places::{HeldPlace, HeldPlaces, HeldTurns, HeldWaiter, LOOK};
use super::hold_writer::{HoldWriter, Trouble, Written};
use super::rounds::Round;
use super::service::Service;
use super::tell::SETTLE;
use super::wait::{ANEW, Look, WaitStep, WaitSubject, instant, reason, wait};
use super::wait_registry::{Wait, WaitEntry, Waiter};
use crate::event::Regarding;
use crate::known::{Known, Store, View};
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
use tokio::time::{Instant, MissedTickBehavior, interval};
use wire::Decision;

/// The longest time between the moment at which a watch shows an object and the moment at which its store has it: a list that begins anew arrives
/// slowly.
const ARRIVES: Duration = ANEW;

/// A function to call with each object that a watch shows, as it arrives.
pub(crate) type Show = Arc<dyn Fn(&Value) + Send + Sync>;

/// Returns a function to call with each object that a watch shows, and the channel on which that function passes on the objects that `is_held`
/// accepts.
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

/// Looks after each waiter that `seen` brings, and never returns: gives it a place, or has it queue for one and tells its user so. `look_after` runs
/// one turn of a waiter with a place, and returns its end. A waiter that is looked after already is not taken once more.
pub(super) async fn keep<H: Hold, F: Future<Output = TurnEnd>>(
    mut seen: UnboundedReceiver<Waiter>,
    releaser: &Releaser,
    hold: &H,
    look_after: impl Fn(HeldPlace) -> F,
) {
    let (mut kept, mut known) = (FuturesUnordered::new(), HashSet::new());
    let (places, service) = (&releaser.places, &*releaser.service);
    let is_there = |held: &mut HeldWaiter| {
        let Waiter {
            namespace,
            name,
            uid,
        } = &held.waiter;
        let store = hold.store(&service.known);
        let is_stored = |it: &Arc<Store>| it.uid(namespace, name).as_ref() == Some(uid);
        let is_stored = store.as_ref().is_some_and(is_stored);
        held.has_arrived |= is_stored;
        // A store that has forgotten its objects may get this one back, and the watch would not show the object again. The store is asked
        // whether it is believed after the object was looked for: it may forget its objects between the two questions.
        let is_believed = || store.as_ref().is_some_and(|it| it.believed_until().is_ok());
        is_stored || may_arrive(held) || !is_believed()
    };
    let mut looks = interval(LOOK);
    looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            // Each arm is cancel-safe: a waiter that is not taken here comes again.
            Some(end) = kept.next(), if !kept.is_empty() => match end {
                TurnEnd::Over(uid) => drop(known.remove(&uid)),
                TurnEnd::Again(again) => kept.extend(places.admit(again).map(&look_after)),
            },
            Some(waiter) = seen.recv() => {
                if known.insert(waiter.uid.clone()) {
                    let new = HeldWaiter::new(waiter, service.clock.now());
                    kept.extend(places.admit(new).map(&look_after));
                }
            }
            _ = looks.tick(), if places.has_queued_waiters() => {
                let HeldTurns { begin, untold, gone } = places.take_turns(is_there);
                kept.extend(begin.into_iter().map(&look_after));
                for uid in gone {
                    known.remove(&uid);
                }
                for (waiter, since, share) in untold {
                    service.tell.queues(hold.object(&waiter), &waiter, since, share);
                }
            }
            else => pending().await,
        }
    }
}

/// The way in which the turn of a held waiter ends.
pub(super) enum TurnEnd {
    /// The waiter with this UID is no longer held, or its object is gone.
    Over(String),
    /// The waiter is still held, gives its place to another waiter of its namespace, and queues again.
    Again(HeldWaiter),
}

/// One sort of hold: that of pods, or that of Jobs.
pub(super) trait Hold {
    /// The words for all objects of this sort in an answer that says that they cannot be read.
    const ALL: &str;

    /// The store of all objects of this sort; `None` while no watch fills it.
    fn store(&self, known: &Known) -> Option<Arc<Store>>;

    /// The stored object with the namespace and the name of the waiter, read through `view`. Its UID may be another.
    fn stored(&self, waiter: &Waiter, view: &View) -> Lookup<Value>;

    /// The state of the stored object of a waiter: whether it is still held.
    fn state(&self, stored: Value) -> HoldState;

    /// Tells the user that a wait goes on, by Events and conditions. `is_news`: the answer is another than before. Returns the moment at which an
    /// Event is due next.
    fn tell(&self, look: &Look<'_>, held: &Held, is_news: bool) -> Option<Instant>;

    /// The held object, in the form in which an Event names its object.
    fn object(&self, waiter: &Waiter) -> Regarding;

    /// The path of the held object in the Kubernetes API.
    fn url(&self, waiter: &Waiter) -> String;

    /// The JSON patch that releases the object, and that fails where the object has changed; `None` where there is nothing to release.
    fn patch(&self, stored: &Value, end: HoldEnd) -> Option<Value>;

    /// Logs the result of the patch that ends the hold.
    fn log(&self, waiter: &Waiter, end: HoldEnd, written: Written);
}

/// The state of an object that was held when the watch showed it.
pub(super) enum HoldState {
    /// The object is held, and is judged as this pod: itself, or the pod that a Job is to make.
    Held(Value),
    /// The hold was ended by another than sluice, and a patch is still needed to note that on the object.
    Ended(HoldEnd),
    /// The object is not held any more.
    Released,
}

/// The manner in which the hold of a pod or a Job ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HoldEnd {
    /// The word for the end of the hold in the log.
    pub(super) outcome: &'static str,
    /// Whether the timeout of the wait has passed. The patch of a Job notes that, or the gates of its pods would count from the start of
    /// their pods. The patch of a pod notes nothing: the gate of a pod that was held counts from the creation of the pod in any case.
    pub(super) timed_out: bool,
}

/// The wait of a held pod or a suspended Job, from one look to the next.
pub(super) struct Held {
    pub(super) verdict: Verdict,
    pub(super) since: Timestamp,
    pub(super) round: Option<Arc<Round>>,
}

impl Held {
    /// The reason and the start of the wait, for the registry and for metrics.
    pub(super) fn wait(&self) -> Wait {
        Wait {
            reason: reason(&self.verdict.answer),
            since: self.since,
        }
    }
}

/// Releases the held waiters of one sort, pods or Jobs, once their dependencies are satisfied or their wait ends otherwise.
pub(super) struct Releaser {
    pub(super) service: Arc<Service>,
    places: Arc<HeldPlaces>,
    writer: HoldWriter,
}

impl Releaser {
    /// Makes a releaser of the waiters that `service` judges, which take their turns in `places`.
    pub(super) fn new(service: Arc<Service>, client: Client, places: Arc<HeldPlaces>) -> Self {
        Self {
            service,
            places,
            writer: HoldWriter::new(client),
        }
    }

    /// Looks at a waiter, and writes the patch when its hold has to end, until the waiter is no longer held, is gone, or has to give its place up.
    pub(super) async fn until_released<H: Hold>(&self, mut place: HeldPlace, hold: &H) -> TurnEnd {
        let waiter = place.held.waiter.clone();
        let mut subject = HeldWait {
            hold,
            entry: self.places.registry().begin(&waiter),
            held: &mut place.held,
            has_to_end: false,
        };
        let mut trouble = Trouble::default();
        loop {
            match wait(&self.service, &waiter, &mut subject).await {
                (HoldResult::Ended(end), view) => {
                    self.release(&waiter, hold, &view, end, &mut trouble).await;
                }
                (HoldResult::Over, _) => return TurnEnd::Over(waiter.uid),
                (HoldResult::GivesWay, _) => {
                    drop(subject);
                    return TurnEnd::Again(place.give_up());
                }
            }
        }
    }

    /// Writes the patch that ends the hold, unless the object is gone or anything that the judgement has read has changed since. Returns when this
    /// replica sees a change, or when the patch is to be tried again.
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

/// The wait of a held pod or a suspended Job, as the loop of all waits runs it.
struct HeldWait<'a, H> {
    hold: &'a H,
    /// The entry of the wait; `None` where the waiter has as many waits as one may have, `MOST` of `wait_registry.rs`.
    entry: Option<WaitEntry>,
    held: &'a mut HeldWaiter,
    /// Whether the wait has to end because another waiter of the namespace needs the place.
    has_to_end: bool,
}

/// The result of the wait of a held waiter.
enum HoldResult {
    /// The waiter may be released, or its hold was ended by another than sluice: a patch is to be written.
    Ended(HoldEnd),
    /// The waiter is no longer held, or its object is gone.
    Over,
    /// The waiter is still held, but gives its place up to another waiter of its namespace, and queues again.
    GivesWay,
}

/// The result of one look at a held waiter.
enum HoldJudgement {
    Held(Held),
    Ended(HoldEnd),
    /// The store of the waiter's kind does not have the waiter.
    Absent,
    Released,
}

impl<H: Hold> HeldWait<'_, H> {
    /// Judges the waiter as its gate would be judged. An opened or a refused one need not be held any more: the gate of the released pod tells the
    /// refusal. A waiter whose object cannot be read stays held.
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

    fn waits(&mut self, look: &Look<'_>, held: Held) -> WaitStep<HoldResult> {
        let Look { now, settled, .. } = *look;
        if let Some(entry) = &self.entry {
            entry.waits(held.wait());
        }
        let Verdict { answer, again, .. } = &held.verdict;
        let is_news = answer.digest != self.held.told && (settled || !held.verdict.provisional);
        if is_news {
            self.held.told.clone_from(&answer.digest);
        }
        let next = [
            (!settled).then_some(self.began() + SETTLE),
            again.and_then(|at| instant(at, now)),
            self.hold.tell(look, &held, is_news),
        ];
        WaitStep::Rest(next.into_iter().flatten().min(), held.round)
    }
}

impl<H: Hold> WaitSubject for HeldWait<'_, H> {
    type End = HoldResult;

    fn began(&self) -> Instant {
        self.held.began
    }

    fn look(&mut self, look: &Look<'_>) -> WaitStep<Self::End> {
        let stored = itself(look.waiter, self.hold.stored(look.waiter, look.view));
        self.held.has_arrived |= matches!(stored, Lookup::Found(_));
        match self.judge(look, stored) {
            HoldJudgement::Held(held) => match self.waits(look, held) {
                WaitStep::Rest(..) if self.has_to_end => WaitStep::Over(HoldResult::GivesWay),
                step => step,
            },
            HoldJudgement::Ended(end) => WaitStep::Over(HoldResult::Ended(end)),
            HoldJudgement::Absent if may_arrive(self.held) => {
                WaitStep::Rest(Some(self.began() + ARRIVES), None)
            }
            HoldJudgement::Absent | HoldJudgement::Released => WaitStep::Over(HoldResult::Over),
        }
    }

    async fn interrupted(&mut self, _: &Service) {
        match &self.entry {
            Some(entry) => entry.has_to_end().await,
            None => pending().await,
        }
        self.has_to_end = true;
    }
}

/// Whether the object of a waiter may still be on its way into the store: the store never had it, and a watch first showed it less than [`ARRIVES`]
/// ago.
fn may_arrive(held: &HeldWaiter) -> bool {
    !held.has_arrived && held.began.elapsed() < ARRIVES
}

/// The stored object, if its UID is the waiter's; `NotFound` for another object of the same name.
fn itself(waiter: &Waiter, stored: Lookup<Value>) -> Lookup<Value> {
    stored.and_then(|stored| {
        if stored["metadata"]["uid"] == waiter.uid.as_str() {
            Lookup::Found(stored)
        } else {
            Lookup::NotFound
        }
    })
}
