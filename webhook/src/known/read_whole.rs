//! Objects that are read whole, each by a watch of its own, because an expression reads fields that trimming removes from objects of
//! their kind.
//!
//! An object may be longer than a megabyte, so few are read at a time, and objects take turns: an object that is not ready does not keep
//! out the objects of other gates. The reading of a past turn is believed for as long as any data is, so a verdict may depend on more
//! objects than are read at a time. A namespace has a share of the memory for its readings. An object that finds no room there waits for
//! another turn; until it has been read, a turn of the namespace begins only where another one ends.

use super::freshness::{Freshness, WallClock};
use super::store::Store;
use super::stores::Forgotten;
use rules::kinds::Kind;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// The most objects that are read with all of their fields at a time.
const AT_MOST: usize = 100;
/// The most objects of one namespace that are read with all of their fields at a time.
pub(super) const OF_A_NAMESPACE: usize = 20;
/// The most objects of one namespace that wait for their turn. An entry takes some hundred bytes.
const WAITING: usize = 200;
/// The length of a turn while other objects of the namespace wait: long enough to be judged by the reading.
const TURN: Duration = Duration::from_secs(3);
/// The length of a turn in which the API server does not answer.
const SLOW_TURN: Duration = Duration::from_secs(15);
/// The time after which an object is forgotten that no view has asked for. A gate asks again within half of it.
const UNASKED_FOR: Duration = Duration::from_mins(1);

/// The kind, the namespace and the name of one object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ObjectName {
    /// The kind of the object.
    pub kind: Kind,
    /// The namespace of the object; empty for a cluster-scoped object.
    pub namespace: Box<str>,
    /// `metadata.name` of the object.
    pub name: Box<str>,
}

/// Writes the kind and the name, with the namespace: `ConfigMap shop/phase`.
impl fmt::Display for ObjectName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// The objects that are read whole (with all of their fields), each with a store of its own, and their turns.
#[derive(Debug)]
pub(super) struct ReadWhole(Mutex<ObjectTurns>);

#[derive(Debug)]
struct ObjectTurns {
    wall: WallClock,
    /// The most bytes that are kept of a namespace's objects after their turns. The objects that were read last are kept.
    kept_of_a_namespace: usize,
    by_object: HashMap<ObjectName, ObjectTurn>,
    /// The number of turns and of waits for a turn so far.
    turns: u64,
}

#[derive(Debug)]
struct ObjectTurn {
    store: Arc<Store>,
    /// The sender whose drop, at the end of a turn, ends the task that follows the object; `None` while no task follows the object.
    follower: Option<oneshot::Sender<()>>,
    /// The beginning of the turn; `None` between two turns.
    reads: Option<Instant>,
    /// The number of the turn, or of the wait for it. The lowest number comes first.
    number: u64,
    /// The number of interests that views have had in the object so far, and the moment since which no view waits for it; `None` while a
    /// view waits.
    unasked: Option<(u64, Instant)>,
}

/// The reading of one object with all of its fields.
pub(super) struct WholeReading {
    /// The store with the object, as the present or the last turn has read it.
    pub(super) store: Arc<Store>,
    /// Whether the object has its turn to be read whole now.
    pub(super) is_its_turn: bool,
    /// Whether the turn has begun just now, so that no task follows the object yet.
    pub(super) begins: bool,
}

/// The numbers of objects that are read whole now, and of those that wait for their turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct WholeCounts {
    /// The number of objects that have their turn to be read whole.
    pub(super) read: usize,
    /// The number of objects that wait for their turn to be read whole.
    pub(super) waiting: usize,
}

impl ReadWhole {
    /// A table without objects. After their turns, `kept_of_a_namespace` bytes of a namespace's objects are kept. `wall`: the clock by
    /// which these grow old.
    pub(super) fn new(wall: WallClock, kept_of_a_namespace: usize) -> Self {
        Self(Mutex::new(ObjectTurns {
            wall,
            kept_of_a_namespace,
            by_object: HashMap::new(),
            turns: 0,
        }))
    }

    /// The reading of an object, for a view that asks for it. An object that is new gets its turn at once if there is room, else waits for
    /// it. `None` if too many objects of the namespace wait already.
    pub(super) fn of(&self, named: &ObjectName) -> Option<WholeReading> {
        let places = &mut *self.lock();
        let before = places.by_object.len();
        if !places.by_object.contains_key(named) {
            let waiting = places
                .of(&named.namespace)
                .filter(|(_, it)| it.reads.is_none());
            if waiting.count() >= WAITING {
                return None;
            }
            let place = ObjectTurn::new(places.wall, places.next());
            places.by_object.insert(named.clone(), place);
        }
        let begins = before < places.by_object.len() && places.has_room(&named.namespace);
        let number = places.next();
        let place = places.by_object.get_mut(named)?;
        place.unasked = None;
        if begins {
            place.begin(number, Instant::now());
        }
        Some(WholeReading {
            store: Arc::clone(&place.store),
            is_its_turn: place.reads.is_some(),
            begins,
        })
    }

    /// The store of an object for the task that follows the object from now on; `None` if a task follows it already, or if its turn
    /// is over. The receiver resolves when the turn is over.
    pub(super) fn begin(&self, named: &ObjectName) -> Option<(Arc<Store>, Forgotten)> {
        let places = &mut *self.lock();
        let place = places.by_object.get_mut(named)?;
        if place.follower.is_some() || place.reads.is_none() {
            return None;
        }
        let (follower, forgotten) = oneshot::channel();
        place.follower = Some(follower);
        Some((Arc::clone(&place.store), forgotten))
    }

    /// Ends turns that are over and begins the next ones, and forgets the objects that no view has asked for in a while. Returns the objects
    /// whose turns have begun, which are to be followed now.
    pub(super) fn take_turns(&self) -> Vec<ObjectName> {
        let (places, now) = (&mut *self.lock(), Instant::now());
        places.forget(now);
        places.end_turns_without_room(now);
        let mut begun = Vec::new();
        // An object whose turn ends below waits from now on, and gets no turn in this call.
        let before = places.turns;
        while let Some(next) = places.next_turn(before, now) {
            let number = places.next();
            if let Some(place) = places.by_object.get_mut(&next) {
                place.begin(number, now);
            }
            begun.push(next);
        }
        places.keep_the_last();
        begun
    }

    /// How many objects are being read whole, and how many wait for their turn.
    pub(super) fn crowd(&self) -> WholeCounts {
        let places = self.lock();
        let read: usize = places.read_of_each().values().sum();
        WholeCounts {
            read,
            waiting: places.by_object.len() - read,
        }
    }

    fn lock(&self) -> MutexGuard<'_, ObjectTurns> {
        // A panic half way leaves an entry that waits, and the next call begins its turn.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ObjectTurns {
    fn next(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    fn of(&self, namespace: &str) -> impl Iterator<Item = (&ObjectName, &ObjectTurn)> {
        let places = self.by_object.iter();
        places.filter(move |(named, _)| *named.namespace == *namespace)
    }

    fn has_room(&self, namespace: &str) -> bool {
        let read = self.read_of_each();
        let own = read.get(namespace).copied().unwrap_or_default();
        own < OF_A_NAMESPACE && read.values().sum::<usize>() < AT_MOST
    }

    /// Forgets the objects that no view has asked for in [`UNASKED_FOR`].
    fn forget(&mut self, now: Instant) {
        self.by_object.retain(|_, place| {
            place.unasked = match (place.store.asked(), place.unasked) {
                (None, _) => None,
                (Some(asked), Some((before, since))) if asked == before => Some((before, since)),
                (Some(asked), _) => Some((asked, now)),
            };
            let unasked = place.unasked.map(|(_, since)| now.duration_since(since));
            unasked.is_none_or(|it| it < UNASKED_FOR)
        });
    }

    /// The number of objects that have their turn, by namespace. A namespace whose objects all wait is there with zero.
    fn read_of_each(&self) -> HashMap<&str, usize> {
        let mut read = HashMap::new();
        for (named, place) in &self.by_object {
            *read.entry(&*named.namespace).or_default() += usize::from(place.reads.is_some());
        }
        read
    }

    /// Finds the object that gets the next turn, among those whose wait has at most the number `before`, and ends another turn if there is no
    /// room. `None` if no object waits, or no turn may end. The namespace with the fewest turns comes first, and in it the object that has waited
    /// the longest.
    fn next_turn(&mut self, before: u64, now: Instant) -> Option<ObjectName> {
        let read = self.read_of_each();
        let starved = self.starved();
        let mut longest: HashMap<&str, (u64, &ObjectName)> = HashMap::new();
        let waiting = self.by_object.iter().filter(|(_, it)| it.waits());
        for (named, place) in waiting.filter(|(_, it)| it.number <= before) {
            let first = longest
                .entry(&named.namespace)
                .or_insert((place.number, named));
            if place.number < first.0 {
                *first = (place.number, named);
            }
        }
        let mut next: Vec<_> = longest.into_values().collect();
        next.sort_by_key(|(number, named)| (read[&*named.namespace], *number));
        let is_full = read.values().sum::<usize>() >= AT_MOST;
        let most = read.iter().max_by_key(|(_, read)| **read);
        let most = most.map(|(namespace, read)| (*namespace, *read));
        let found = next.into_iter().find_map(|(_, named)| {
            let own = read[&*named.namespace];
            let lacks_room = own > 0 && starved.contains(&*named.namespace);
            if own < OF_A_NAMESPACE && !is_full && !lacks_room {
                return Some((named.clone(), None));
            }
            // A namespace with more than its part gives a turn up at once.
            let over = match most.filter(|(_, read)| own < OF_A_NAMESPACE && *read > own + 1) {
                Some((most, _)) if !lacks_room => self.last(most, |_| true),
                _ => self.last(&named.namespace, |place| place.is_over(now)),
            };
            over.map(|over| (named.clone(), Some(over)))
        });
        let (next, over) = found?;
        if let Some(over) = over {
            self.end_turn(&over);
        }
        Some(next)
    }

    /// The object of a namespace that gives up its turn first: one that no view waits for, else the one whose turn began first. Only
    /// objects that `gives_way` accepts count.
    fn last(&self, namespace: &str, gives_way: impl Fn(&ObjectTurn) -> bool) -> Option<ObjectName> {
        let read = self.of(namespace);
        let read = read.filter(|(_, place)| place.reads.is_some() && gives_way(place));
        let last = read.min_by_key(|(_, place)| (place.unasked.is_none(), place.number));
        last.map(|(named, _)| named.clone())
    }

    fn end_turn(&mut self, named: &ObjectName) {
        let number = self.next();
        if let Some(place) = self.by_object.get_mut(named) {
            (place.follower, place.reads, place.number) = (None, None, number);
        }
    }

    /// The namespaces with an object that found no room in the memory of its namespace.
    fn starved(&self) -> HashSet<&str> {
        let objects = self.by_object.iter();
        let starved = objects.filter(|(_, place)| place.store.has_cut());
        starved.map(|(named, _)| &*named.namespace).collect()
    }

    /// Ends the turns of the objects that found no room in the memory of their namespace, once they have lasted for [`TURN`].
    fn end_turns_without_room(&mut self, now: Instant) {
        let without_room = self.by_object.iter().filter(|(_, place)| {
            let began = place.reads.filter(|_| place.store.has_cut());
            began.is_some_and(|since| now.duration_since(since) >= TURN)
        });
        let names: Vec<_> = without_room.map(|(named, _)| named.clone()).collect();
        for named in names {
            self.end_turn(&named);
        }
    }

    /// Keeps the readings of past turns while they are believed, up to the bound of their namespace. Where an object of the namespace has
    /// found no room, all readings of past turns make room for it.
    fn keep_the_last(&self) {
        let starved = self.starved();
        // An object without room takes none, and its mark tells that others have to make room.
        let resting = self.by_object.iter();
        let resting = resting.filter(|(_, it)| it.reads.is_none() && !it.store.has_cut());
        let mut resting: Vec<_> = resting.collect();
        resting.sort_by_key(|(_, it)| std::cmp::Reverse(it.number));
        let mut kept: HashMap<&str, usize> = HashMap::new();
        for (named, ObjectTurn { store, .. }) in resting {
            let bytes = kept.entry(&named.namespace).or_default();
            *bytes += store.bytes();
            let is_kept = *bytes <= self.kept_of_a_namespace
                && store.believed_until().is_ok()
                && !starved.contains(&*named.namespace);
            if !is_kept && store.freshness() != Freshness::Syncing {
                store.clear(Freshness::Syncing);
            }
        }
    }
}

impl ObjectTurn {
    fn new(wall: WallClock, number: u64) -> Self {
        Self {
            store: Store::new(wall).into(),
            follower: None,
            reads: None,
            number,
            unasked: None,
        }
    }

    fn begin(&mut self, number: u64, now: Instant) {
        (self.reads, self.number) = (Some(now), number);
    }

    /// Whether the object has no turn now, and a view waits for one.
    fn waits(&self) -> bool {
        self.reads.is_none() && self.unasked.is_none()
    }

    /// Whether the object's turn to be read whole has lasted long enough to give way: at once if no view waits for it, else for [`TURN`], or
    /// [`SLOW_TURN`] while it has not been read. `false` for an object that has no turn.
    fn is_over(&self, now: Instant) -> bool {
        let long = if self.unasked.is_some() {
            Duration::ZERO
        } else if self.store.freshness() == Freshness::Syncing {
            SLOW_TURN
        } else {
            TURN
        };
        self.reads
            .is_some_and(|since| now.duration_since(since) >= long)
    }
}

#[cfg(test)]
mod tests;
