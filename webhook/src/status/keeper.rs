//! What those have in common who let held pods go and resume Jobs: each that is shown is looked after until it is held no more. It is
//! judged through a view, as its gate would be, so waiting costs the API server nothing.

mod writer;

pub(super) use writer::Written;

use super::answer::{Answered, Cut, Opened, Outcome, Waiting, answer_of, outcome};
use super::events::SETTLE;
use super::questions::{Questions, Wait};
use super::request::{ANEW, instant, over, reason};
use super::rounds::Round;
use super::{Identity, Service};
use crate::known::View;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use jiff::Timestamp;
use kube::Client;
use rules::lookup::{Lookup, Unavailable};
use rules::verdict;
use serde_json::Value;
use std::collections::HashSet;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};
use tokio::time::{Instant, sleep_until, timeout_at};
use writer::{Trouble, Writer};

/// What is shown is in the store after this long, if ever: a list that begins anew takes its time to arrive.
const ARRIVES: Duration = ANEW;

/// Is shown each object as it arrives.
pub(crate) type Show = Arc<dyn Fn(&Value) + Send + Sync>;

/// Who is to be shown objects, and those of them that are held.
pub(super) fn shown(is_held: fn(&Value) -> bool) -> (Show, UnboundedReceiver<Identity>) {
    let (held, seen) = unbounded_channel();
    let show = move |object: &Value| {
        let text = |field: &str| object["metadata"][field].as_str().unwrap_or_default();
        if is_held(object) {
            // The receiver lives as long as the process.
            let _ = held.send(Identity {
                namespace: text("namespace").to_owned(),
                pod: text("name").to_owned(),
                uid: text("uid").to_owned(),
                expires: Timestamp::MAX,
            });
        }
    };
    (Arc::new(show), seen)
}

/// Looks after each that is `seen` to be held, for as long as the process runs; who does so returns its UID when it is held no more.
pub(super) async fn keep<F: Future<Output = String>>(
    mut seen: UnboundedReceiver<Identity>,
    look_after: impl Fn(Identity) -> F,
) {
    let (mut kept, mut known) = (FuturesUnordered::new(), HashSet::new());
    loop {
        tokio::select! {
            biased;
            // Both arms are cancel-safe: what is not taken here comes again.
            Some(uid) = kept.next(), if !kept.is_empty() => drop(known.remove(&uid)),
            Some(held) = seen.recv() => {
                if known.insert(held.uid.clone()) {
                    kept.push(look_after(held));
                }
            }
            else => pending().await,
        }
    }
}

/// What is particular to one kind of what is held.
pub(super) trait Kept {
    /// As an answer calls all of them.
    const ALL: &str;

    /// What stands under its name.
    fn stored(&self, held: &Identity, view: &View) -> Lookup<Value>;

    /// What it says itself.
    fn stands(&self, stored: Value) -> Stands;

    /// Tells of a wait that goes on, and when it is to be told again.
    fn tell(&self, held: &Identity, wait: &Held, news: News) -> Option<Instant>;

    /// Where it is written to.
    fn url(&self, held: &Identity) -> String;

    /// The patch that ends its wait so, and fails where something else is there; `None` where there is nothing to end.
    fn change(&self, stored: &Value, end: End) -> Option<Value>;

    /// What became of that.
    fn log(&self, held: &Identity, end: End, written: Written);
}

/// How something stands that was shown to be held.
pub(super) enum Stands {
    /// It is held, and judged as this pod.
    Held(Value),
    /// Its wait has ended, and that is to be written.
    Ended(End),
    /// It is held no more.
    Over,
}

/// How a wait ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct End {
    pub(super) outcome: &'static str,
    /// A gate would begin to count anew, unless that is noted.
    pub(super) timed_out: bool,
}

/// What there is to tell of a wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct News {
    /// It is for something else than it was.
    pub(super) changed: bool,
    /// It has lasted.
    pub(super) settled: bool,
}

/// What something is held for.
pub(super) struct Held {
    pub(super) waiting: Waiting,
    pub(super) since: Timestamp,
    pub(super) round: Option<Arc<Round>>,
}

/// Who looks after what is held.
pub(super) struct Keeper {
    pub(super) service: Arc<Service>,
    /// What is held, and what for.
    held: Arc<Questions>,
    writer: Writer,
}

impl Keeper {
    /// Writes for whom `service` judges; who is held is shown in `held`.
    pub(super) fn new(service: Arc<Service>, client: Client, held: Arc<Questions>) -> Self {
        let writer = Writer::new(client);
        Self {
            service,
            held,
            writer,
        }
    }

    /// Returns when it is held no more, or gone.
    pub(super) async fn until_over<K: Kept>(&self, held: &Identity, kept: &K) {
        let (service, began) = (&self.service, Instant::now());
        let question = self.held.begin(held);
        let (mut told, mut arrived) = (String::new(), false);
        let mut trouble = Trouble::default();
        loop {
            let turn = service.turns.take(&held.namespace).await;
            let (view, now) = (service.known.view(), service.clock.now());
            let settled = began.elapsed() >= SETTLE;
            let stored = itself(held, kept.stored(held, &view));
            arrived |= matches!(stored, Lookup::Found(_));
            let next = self.judge(stored, kept, &view, now, settled);
            drop(turn);
            let wait = match next {
                Next::Held(wait) => wait,
                Next::Ended(end) => {
                    self.end(held, kept, &view, end, &mut trouble).await;
                    continue;
                }
                Next::Absent if !arrived && began.elapsed() < ARRIVES => {
                    let _ = timeout_at(began + ARRIVES, view.changed()).await;
                    continue;
                }
                Next::Absent | Next::Over => return,
            };
            if let Some(question) = &question {
                question.waits(wait.told());
            }
            let Waiting { answer, again, .. } = &wait.waiting;
            let changed = answer.digest != told && (settled || !wait.waiting.provisional);
            if changed {
                told.clone_from(&answer.digest);
            }
            let next = [
                (!settled).then_some(began + SETTLE),
                again.and_then(|at| instant(at, now)),
                kept.tell(held, &wait, News { changed, settled }),
            ];
            wait.rest(&view, next.into_iter().flatten()).await;
        }
    }

    /// What its gate would be told, and what that means for it.
    fn judge<K: Kept>(
        &self,
        stored: Lookup<Value>,
        kept: &K,
        view: &View,
        now: Timestamp,
        settled: bool,
    ) -> Next {
        let pod = match stored.map(|stored| kept.stands(stored)) {
            Lookup::Found(Stands::Held(pod)) => Ok(pod),
            Lookup::Found(Stands::Ended(end)) => return Next::Ended(end),
            Lookup::Found(Stands::Over) => return Next::Over,
            Lookup::NotFound => return Next::Absent,
            Lookup::Unavailable(why) => Err(why),
        };
        let answered = match (view.silent(), pod) {
            (Some(what), _) => unread(what, Unavailable::Stale),
            (None, Ok(pod)) => answer_of(&pod, &self.service.rounds, now, !settled),
            (None, Err(why)) => unread(K::ALL, why),
        };
        match answered.outcome {
            Outcome::Wait(waiting) => Next::Held(Held {
                waiting,
                since: answered.started.unwrap_or(now),
                round: answered.round,
            }),
            Outcome::Open(_, why) => Next::Ended(End {
                outcome: why.outcome(),
                timed_out: matches!(why, Opened::Cut(Cut::Timeout)),
            }),
            // Its gate says so.
            Outcome::Refuse(_, why) => Next::Ended(End {
                outcome: why.refusal(),
                timed_out: why == Cut::Timeout,
            }),
            Outcome::AnotherPod => Next::Absent,
        }
    }

    /// Ends its wait, unless it has changed since it was looked at; returns when that is seen here.
    async fn end<K: Kept>(
        &self,
        held: &Identity,
        kept: &K,
        view: &View,
        end: End,
        trouble: &mut Trouble,
    ) {
        let change = || match itself(held, kept.stored(held, view)) {
            Lookup::Found(stored) if !view.has_changed() => kept.change(&stored, end),
            _ => None,
        };
        let (url, told) = (kept.url(held), |written| kept.log(held, end, written));
        self.writer.write(view, &url, change, trouble, told).await;
    }
}

/// What becomes of something that is looked after.
enum Next {
    /// It is held on.
    Held(Held),
    /// Its wait ends.
    Ended(End),
    /// The store does not have it: it is shown here before, or it is gone.
    Absent,
    /// It is held no more.
    Over,
}

impl Held {
    /// As metrics tell it.
    pub(super) fn told(&self) -> Wait {
        Wait {
            reason: reason(&self.waiting.answer),
            since: self.since,
        }
    }

    /// Until it is to be judged again: at one of these instants, or where what it waits for may have changed.
    async fn rest(self, view: &View, at: impl IntoIterator<Item = Instant>) {
        let next = at.into_iter().fold(Instant::now() + ANEW, Instant::min);
        // Nothing else is kept while it is held.
        let rest = self.round.map(Round::rest);
        tokio::select! {
            biased;
            // Each arm only wakes, so losing one to another loses nothing.
            () = view.changed() => {}
            () = view.doubted() => {}
            () = over(rest.as_ref()) => {}
            () = sleep_until(next) => {}
        }
    }
}

/// What stands there, if it is the one that was shown and no other of its name.
fn itself(held: &Identity, stored: Lookup<Value>) -> Lookup<Value> {
    stored.and_then(|stored| {
        if stored["metadata"]["uid"] == held.uid.as_str() {
            Lookup::Found(stored)
        } else {
            Lookup::NotFound
        }
    })
}

fn unread(what: &str, why: Unavailable) -> Answered {
    outcome(verdict::unread(what, why), None).into()
}
