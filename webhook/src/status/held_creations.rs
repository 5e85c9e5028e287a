//! Held creations: objects that a client tries to create, and that may not be created before their lists are satisfied.
//!
//! The object does not exist, so it is judged as the dependent that it would be, in the same way as a gate. Admission answers each try by
//! the result. A creation that no client tries any more is forgotten.

use super::rounds::Round;
use super::service::Service;
use super::tell::{SETTLE, Uncreated};
use super::wait::{Look, WaitStep, WaitSubject, instant, reason, wait};
use super::wait_registry::{Wait, WaitEntry, WaitRegistry, Waiter};
use crate::event::Regarding;
use crate::known::HeldCreation;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use rules::creation::{Standing, Tries};
use rules::kinds::Kind;
use rules::lookup::{Lookup, Unavailable};
use rules::verdict::Verdict;
use std::sync::Arc;
use tokio::time::Instant;
use wire::{Decision, said};

/// Judges the creations that admission holds, again and again while their clients try. Admission answers by the standing that it notes.
pub(crate) struct CreationKeeper {
    service: Arc<Service>,
    registry: Arc<WaitRegistry>,
}

impl CreationKeeper {
    /// Makes a keeper that judges creations by the objects that `service` knows, and registers those that wait in `registry`.
    pub(crate) fn new(service: Arc<Service>, registry: Arc<WaitRegistry>) -> Self {
        Self { service, registry }
    }

    /// Looks after each held creation while its clients try. Never returns.
    pub(crate) async fn keep(self) {
        let mut kept = FuturesUnordered::new();
        let creations = self.service.known.creations();
        loop {
            tokio::select! {
                biased;
                // Both arms are cancel-safe: a creation that is not taken here comes again.
                Some(()) = kept.next(), if !kept.is_empty() => {}
                creation = creations.begun() => kept.push(self.look_after(creation)),
            }
        }
    }

    /// Looks at a held creation until it has ended: its client was told that it may be created or is refused, or no client tries any more.
    async fn look_after(&self, creation: Arc<HeldCreation>) {
        let waiter = Waiter {
            namespace: creation.dependent.namespace.clone(),
            name: creation.dependent.name(),
            uid: creation.key.clone(),
        };
        self.service.tell.creation_begins(&creation.key);
        let mut subject = CreationWait {
            entry: self.registry.begin(&waiter),
            about: about(&creation),
            creation: &creation,
            began: Instant::now(),
        };
        wait(&self.service, &waiter, &mut subject).await;
    }
}

/// Returns the object whose creation is held, with the times of its tries, for Events.
fn about(creation: &HeldCreation) -> Uncreated {
    let dependent = &creation.dependent;
    let owner = dependent.owners.last();
    let kind = owner.map(|owner| &owner.kind);
    Uncreated {
        object: Regarding {
            api_version: kind.and_then(Kind::api_version),
            kind: kind.map_or("", Kind::word).to_owned(),
            namespace: dependent.namespace.clone(),
            name: owner.map(|owner| owner.name.clone()).unwrap_or_default(),
            uid: None,
        },
        key: creation.key.clone(),
        tries: Tries {
            first: creation.first,
            began: creation.began(),
        },
    }
}

/// The wait of one held creation, as the loop of all waits runs it.
struct CreationWait<'a> {
    creation: &'a HeldCreation,
    about: Uncreated,
    /// The entry of the wait in the registry; `None` where the key has as many waits as one may have, since looks at earlier tries go on.
    entry: Option<WaitEntry>,
    began: Instant,
}

impl CreationWait<'_> {
    fn judge(&self, look: &Look<'_>) -> (Verdict, Arc<Round>) {
        let round = look
            .service
            .rounds
            .of_creation(&self.creation.dependent, look.now);
        let verdict = match (look.view.silent(), &round.judged) {
            (Some(what), _) => Verdict::unread(what, Unavailable::Stale),
            (None, Lookup::Found(judged)) => {
                let first = Some(self.creation.first);
                judged.found.decided(first, look.now, !look.settled)
            }
            (None, Lookup::NotFound | Lookup::Unavailable(_)) => {
                Verdict::awaiting("sluice to read its list")
            }
        };
        (verdict, round)
    }
}

impl WaitSubject for CreationWait<'_> {
    type End = ();

    fn began(&self) -> Instant {
        self.began
    }

    fn look(&mut self, look: &Look<'_>) -> WaitStep<()> {
        if look.service.known.creations().forget(self.creation) {
            return WaitStep::Over(());
        }
        let (verdict, round) = self.judge(look);
        if let Some(entry) = &self.entry {
            entry.waits(Wait {
                reason: reason(&verdict.answer),
                since: self.creation.first,
            });
        }
        self.about.tries.began = self.creation.began();
        let tell = &look.service.tell;
        let is_news = self.creation.stand(standing(&verdict, look.settled));
        let told = match verdict.why.decision() {
            Decision::Wait => {
                let is_late = verdict.why.is_late();
                let event = || tell.creation_waiting(&self.about, &verdict.answer, is_late);
                look.settled.then(event).flatten()
            }
            Decision::Open | Decision::Refuse => {
                if is_news {
                    tell.creation_ended(&self.about, &verdict);
                }
                None
            }
        };
        let next = [
            (!look.settled).then_some(self.began + SETTLE),
            verdict.again.and_then(|at| instant(at, look.now)),
            told,
        ];
        WaitStep::Rest(next.into_iter().flatten().min(), Some(round))
    }

    async fn interrupted(&mut self, _: &Service) {
        self.creation.turns().await;
    }
}

/// Returns the standing of a creation, by which admission answers its client, from a verdict. While a kind is still being read and the wait is
/// young (`settled` is false), it is [`Standing::Unread`].
fn standing(verdict: &Verdict, settled: bool) -> Standing {
    let text = || said::unsatisfied(&verdict.answer).unwrap_or_else(|| "nothing".to_owned());
    match verdict.why.decision() {
        Decision::Open => Standing::Open,
        Decision::Refuse => Standing::Refused(text()),
        Decision::Wait if verdict.provisional && !settled => Standing::Unread,
        Decision::Wait => Standing::Waits {
            why: text(),
            again: verdict.again,
        },
    }
}
