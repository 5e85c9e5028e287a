//! The places of held pods and suspended Jobs, the waiters. Only a waiter with a place is judged again and again, and its memory is
//! charged to its namespace. A waiter beyond the share of its namespace stays held, tells its user so, and queues for a place. While
//! waiters of a namespace queue, those with a place give it up after about [`TURN`] looks. So no waiter queues for ever, and no other
//! namespace notices.

use super::wait_registry::{WaitRegistry, Waiter};
use crate::known::{Allotment, ByteBudget, FREE};
use jiff::Timestamp;
use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::time::Instant;

/// The bytes that a waiter (held pod or suspended Job) with a place takes beside its texts: its task, its views, and its places in tables.
pub(super) const EACH: usize = 6 * 1024;

/// The pause between two looks for free places while waiters queue.
pub(super) const LOOK: Duration = Duration::from_secs(1);
/// The number of looks for free places after which, on average, a waiter gives up its place while others of its namespace queue.
const TURN: usize = 30;
/// The time in the queue after which a user is told that a waiter has no place. Most waiters that find no place at once have one sooner.
const TOLD_AFTER: Duration = Duration::from_secs(10);
/// The most waiters of a namespace for which one look tells users that there is no place: the Events and conditions of other waiters need
/// room too.
const TOLD_AT_ONCE: usize = 5;

/// The shortest queue, in waiters, that is searched for waiters whose objects are gone.
const FEW: usize = 64;
/// The longest texts of a waiter that queues, in bytes: its namespace, its name, its UID in the queue and in the set of the waiters
/// that are known, and the digest of an answer. The API server bounds the names, and writes the UID.
const TEXTS: usize = 63 + 253 + 2 * 36 + 64;
/// The most bytes of a waiter that queues. A collection that has grown may have twice the room that it needs.
const QUEUED: usize = 2 * (size_of::<HeldWaiter>() + size_of::<String>()) + TEXTS;
// No budget bounds the queues, because each waiter stands for an object of a store, and a store keeps FREE bytes of each object for which
// no namespace pays. A queue of more than FEW waiters has at most twice as many as there are objects. An object counts for a minute that
// was deleted before it came to the store.
const _: () = assert!(
    2 * QUEUED <= FREE / 2,
    "the waiters that queue would take more than half of what their objects may take without a charge"
);

/// A held pod or a suspended Job, with the facts about it that last from one turn to the next.
#[derive(Debug)]
pub(super) struct HeldWaiter {
    pub(super) waiter: Waiter,
    /// The moment at which a watch first showed the waiter to this replica.
    pub(super) began: Instant,
    /// The moment `began` by the API server's clock.
    pub(super) since: Timestamp,
    /// The digest of the answer that was told last to the waiter's user; empty before the first.
    pub(super) told: String,
    /// Whether the store of the waiter's kind has had the waiter before, so that its absence means that it is gone.
    pub(super) has_arrived: bool,
    /// Whether the user need not be told that the waiter queues: the user was told, or the waiter has had a place.
    is_told: bool,
}

/// A waiter with a place, and the memory that its namespace pays for it. Dropping this frees the place.
#[derive(Debug)]
pub(super) struct HeldPlace {
    pub(super) held: HeldWaiter,
    _room: Allotment,
}

/// The places of held pods, or those of suspended Jobs, and the queues for them. Both sorts share one budget of memory.
#[derive(Debug)]
pub(crate) struct HeldPlaces {
    budget: Arc<ByteBudget>,
    registry: Arc<WaitRegistry>,
    /// The queues of the namespaces with waiters without a place.
    queues: Mutex<BTreeMap<String, HeldQueue>>,
}

/// The waiters of one namespace without a place.
#[derive(Debug, Default)]
struct HeldQueue {
    /// The waiters without a place, in the order of their turns.
    waiters: VecDeque<HeldWaiter>,
    /// The length of the queue after the last search for waiters whose objects are gone.
    left: usize,
}

/// The result of a look for free places.
#[derive(Debug, Default)]
pub(super) struct HeldTurns {
    /// The waiters that have got a place from the queue, and are to be looked after from now on.
    pub(super) begin: Vec<HeldPlace>,
    /// The waiters whose users are to be told that they queue, each with the time at which it was first seen and the share of its namespace, in
    /// bytes.
    pub(super) untold: Vec<(Waiter, Timestamp, usize)>,
    /// The UIDs of the waiters that have left their queues, because their objects are gone.
    pub(super) gone: Vec<String>,
}

impl HeldWaiter {
    /// A waiter that a watch shows for the first time, at `now` by the API server's clock.
    pub(super) fn new(waiter: Waiter, now: Timestamp) -> Self {
        Self {
            waiter,
            began: Instant::now(),
            since: now,
            told: String::new(),
            has_arrived: false,
            is_told: false,
        }
    }

    /// Whether the user is to be told now that the waiter queues: the user was not told before, and the waiter was first seen [`TOLD_AFTER`] ago or
    /// earlier.
    fn is_due(&self) -> bool {
        !self.is_told && self.began.elapsed() >= TOLD_AFTER
    }

    fn told_of(&mut self, share: usize) -> (Waiter, Timestamp, usize) {
        self.is_told = true;
        (self.waiter.clone(), self.since, share)
    }
}

impl HeldPlace {
    /// Frees the place, and returns its waiter to queue again. Its user is not told of the queue any more.
    pub(super) fn give_up(self) -> HeldWaiter {
        HeldWaiter {
            is_told: true,
            ..self.held
        }
    }
}

impl HeldQueue {
    /// Drops the waiters from the queue for which `is_there` is false, since their objects are gone, and adds their UIDs to `gone`. Searches only a
    /// queue of [`FEW`] waiters or more that is at least twice as long as the last search left it, so a waiter that joins costs two looks on average.
    fn drop_gone(&mut self, is_there: impl Fn(&mut HeldWaiter) -> bool, gone: &mut Vec<String>) {
        self.left = self.left.min(self.waiters.len());
        if self.waiters.len() < FEW.max(2 * self.left) {
            return;
        }
        self.waiters.retain_mut(|held| {
            let stays = is_there(held);
            if !stays {
                gone.push(held.waiter.uid.clone());
            }
            stays
        });
        self.left = self.waiters.len();
    }
}

impl HeldPlaces {
    /// Makes places without waiters, whose memory `budget` bounds.
    pub(crate) fn within(budget: Arc<ByteBudget>) -> Arc<Self> {
        Arc::new(Self {
            budget,
            registry: Arc::default(),
            queues: Mutex::default(),
        })
    }

    /// The registry of the waiters that have a place.
    pub(super) fn registry(&self) -> &Arc<WaitRegistry> {
        &self.registry
    }

    /// Calls `visit` with each namespace in which waiters queue, and with their number.
    pub(super) fn each_queue(&self, mut visit: impl FnMut(&str, usize)) {
        for (namespace, queue) in &*self.lock() {
            visit(namespace, queue.waiters.len());
        }
    }

    /// Whether a waiter of any namespace queues for a place.
    pub(super) fn has_queued_waiters(&self) -> bool {
        !self.lock().is_empty()
    }

    /// Queues a waiter, and gives a place to the first waiter in the queue of its namespace, which may be another one. `None` if the namespace has no
    /// room for one more place; the waiter stays in the queue.
    pub(super) fn admit(&self, held: HeldWaiter) -> Option<HeldPlace> {
        let namespace = held.waiter.namespace.clone();
        let mut queues = self.lock();
        let HeldQueue { waiters, .. } = queues.entry(namespace.clone()).or_default();
        waiters.push_back(held);
        let begins = self.next(waiters).ok().flatten();
        if waiters.is_empty() {
            queues.remove(&namespace);
        }
        begins
    }

    /// Gives free places to the waiters that queue. Where waiters of a namespace still queue afterwards, one in [`TURN`] of its waiters with a place
    /// is told to give it up. `is_there` tells whether the object of a waiter may still exist; waiters without an object are dropped from long
    /// queues.
    pub(super) fn take_turns(&self, is_there: impl Fn(&mut HeldWaiter) -> bool) -> HeldTurns {
        let mut turns = HeldTurns::default();
        self.lock().retain(|namespace, queue| {
            queue.drop_gone(&is_there, &mut turns.gone);
            let queue = &mut queue.waiters;
            loop {
                match self.next(queue) {
                    Ok(None) => break,
                    Ok(Some(place)) => turns.begin.push(place),
                    Err(share) => {
                        let due = queue.iter_mut().filter(|held| held.is_due());
                        let told = due.take(TOLD_AT_ONCE).map(|held| held.told_of(share));
                        turns.untold.extend(told);
                        break;
                    }
                }
            }
            self.registry.end_some(namespace, queue.len(), TURN);
            !queue.is_empty()
        });
        turns
    }

    /// Takes the first waiter of a queue out of it, and gives the waiter a place; `None` if the queue is empty.
    ///
    /// # Errors
    ///
    /// The namespace of the waiter has no room: its share, in bytes.
    fn next(&self, queue: &mut VecDeque<HeldWaiter>) -> Result<Option<HeldPlace>, usize> {
        let Some(first) = queue.front() else {
            return Ok(None);
        };
        let room = self.room(&first.waiter)?;
        let begins = queue.pop_front();
        Ok(begins.map(|held| HeldPlace { held, _room: room }))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, HeldQueue>> {
        // Every change is one call, so a panic leaves nothing half done.
        self.queues.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the memory for a waiter with a place out of the share of its namespace.
    ///
    /// # Errors
    ///
    /// The namespace of the waiter has no room: its share, in bytes.
    fn room(&self, waiter: &Waiter) -> Result<Allotment, usize> {
        let Waiter {
            namespace,
            name,
            uid,
        } = waiter;
        let texts = namespace.len() + name.len() + uid.len();
        let mut room = self.budget.part(namespace);
        if room.take(EACH + 4 * texts) {
            Ok(room)
        } else {
            Err(room.share())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory_alarm::MemoryAlarm;
    use crate::status::wait_registry::{WaitEntry, waiter};
    use futures::FutureExt;
    use std::cell::Cell;

    fn held(namespace: &str, number: usize) -> HeldWaiter {
        let namespace = namespace.to_owned();
        let waiter = Waiter {
            namespace,
            ..waiter(&format!("u{number:03}"))
        };
        HeldWaiter::new(waiter, Timestamp::UNIX_EPOCH)
    }

    /// The number of waiters that queue, over all namespaces.
    fn queued(places: &HeldPlaces) -> usize {
        let mut all = 0;
        places.each_queue(|_, count| all += count);
        all
    }

    #[tokio::test(start_paused = true)]
    async fn a_namespace_without_places_keeps_no_other_out_and_takes_turns() {
        let budget = ByteBudget::new("holds", 100 * EACH, 40 * EACH, &MemoryAlarm::default());
        let places = HeldPlaces::within(budget);
        let take_turns = || places.take_turns(|_| true);
        let begin = |place: HeldPlace| {
            let entry = places.registry().begin(&place.held.waiter).unwrap();
            (place, entry)
        };
        let loud = (0..100).filter_map(|number| places.admit(held("loud", number)));
        let mut loud: Vec<(HeldPlace, WaitEntry)> = loud.map(begin).collect();
        assert_eq!(loud.len(), 39, "and their texts");
        assert!(places.admit(held("quiet", 0)).is_some());
        places.each_queue(|namespace, count| assert_eq!((namespace, count), ("loud", 61)));
        assert_eq!(take_turns().untold.len(), 0);
        tokio::time::advance(TOLD_AFTER).await;
        let (mut told, mut turns) = (0, Vec::new());
        for _ in 0..60 {
            let ends = |(_, entry): &(HeldPlace, WaitEntry)| entry.has_to_end().now_or_never();
            let left = loud.extract_if(.., |it| ends(it).is_some());
            let left: Vec<HeldPlace> = left.map(|(place, _)| place).collect();
            for place in left {
                let next = places.admit(place.give_up()).unwrap();
                turns.push(next.held.waiter.uid.clone());
                loud.push(begin(next));
            }
            told += take_turns().untold.len();
        }
        turns.sort_unstable();
        turns.dedup();
        assert_eq!(turns.len(), 60, "each of them once");
        assert!((5..61).contains(&told), "{told}");
        drop(loud);
        assert!(take_turns().begin.len() > 30);
    }

    /// A tenant makes and deletes pods while no place is free: the queue holds each pod that exists, and at most as many that are gone.
    #[test]
    fn a_queue_has_few_waiters_whose_objects_are_gone() {
        const THERE: usize = 100;
        let places = HeldPlaces::within(ByteBudget::new("holds", 2, 1, &MemoryAlarm::default()));
        let (mut gone, looks) = (0, Cell::new(0));
        for number in 0..10_000 {
            assert!(places.admit(held("loud", number)).is_none());
            let first = format!("u{:03}", (number + 1).saturating_sub(THERE));
            let is_there = |held: &mut HeldWaiter| {
                looks.set(looks.get() + 1);
                let uid = &held.waiter.uid;
                (uid.len(), uid) >= (first.len(), &first)
            };
            gone += places.take_turns(is_there).gone.len();
            assert!(queued(&places) <= 2 * THERE, "{number}");
            assert_eq!(queued(&places) + gone, number + 1);
        }
        assert!(looks.get() <= 2 * 10_000 + 2 * THERE, "{}", looks.get());
    }
}
