//! Objects that are read whole, each by itself, because an expression looks at more than is kept of their kind.
//!
//! One may hold more than a megabyte, so few are read at a time, and they take turns: whoever waits for one that is not as it should be
//! does not keep out those whose objects are. What was read of an object in its last turn is believed for as long as anything is, so
//! what rests on more objects than are read at a time comes together all the same.

use super::store::{Freshness, Store};
use super::stores::Forgotten;
use rules::kinds::Kind;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::oneshot;
use tokio::time::Instant;

/// So many objects are read at a time,
const AT_MOST: usize = 100;
/// and of these so many of one namespace.
pub(super) const OF_A_NAMESPACE: usize = 20;
/// So many of one namespace wait for their turn. A place takes some hundred bytes.
const WAITING: usize = 200;
/// A turn takes so long where others of the namespace wait: long enough to be judged by what was read,
const TURN: Duration = Duration::from_secs(3);
/// and so long where the API server has not answered.
const SLOW_TURN: Duration = Duration::from_secs(15);
/// So many bytes are kept of the objects of a namespace whose turn is over; of those that were read last.
const KEPT_OF_A_NAMESPACE: usize = 4 << 20;
/// An object that nobody has asked for so long is forgotten; a gate asks again within half of it.
const UNASKED_FOR: Duration = Duration::from_mins(1);

/// One object.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Named {
    /// Its kind.
    pub kind: Kind,
    /// Its namespace; empty for a cluster-scoped object.
    pub namespace: Box<str>,
    /// `metadata.name`
    pub name: Box<str>,
}

/// `ConfigMap shop/phase`
impl fmt::Display for Named {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {}/{}", self.kind, self.namespace, self.name)
    }
}

/// A store for each of them, which holds that object alone.
#[derive(Debug, Default)]
pub(super) struct Whole(Mutex<Places>);

#[derive(Debug, Default)]
struct Places {
    by_object: HashMap<Named, Place>,
    /// How often somebody has begun to wait for a turn, or to have one.
    turns: u64,
}

#[derive(Debug)]
struct Place {
    store: Arc<Store>,
    /// Goes at the end of a turn, which its follower hears; `None` while nobody follows it.
    follower: Option<oneshot::Sender<()>>,
    /// Since when it has its turn; `None` while it waits for one.
    reads: Option<Instant>,
    /// The number of that turn, or of the wait for it: the lower comes first.
    number: u64,
    /// How often it had been asked for, and since when it has not been any more; `None` while somebody waits for it.
    unasked: Option<(u64, Instant)>,
}

/// What is known of an object that is read whole.
pub(super) struct Reading {
    /// What was read in this turn, or in the last.
    pub(super) store: Arc<Store>,
    /// Whether it has its turn.
    pub(super) is_its_turn: bool,
    /// Whether that has begun just now, and nobody follows it yet.
    pub(super) begins: bool,
}

/// How many objects there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Crowd {
    /// That are read.
    pub(super) read: usize,
    /// That wait for their turn.
    pub(super) waiting: usize,
}

impl Whole {
    /// What is known of an object; `None` where too many of the namespace wait already.
    pub(super) fn of(&self, named: &Named) -> Option<Reading> {
        let places = &mut *self.lock();
        let before = places.by_object.len();
        if !places.by_object.contains_key(named) {
            let waiting = places
                .of(&named.namespace)
                .filter(|(_, it)| it.reads.is_none());
            if waiting.count() >= WAITING {
                return None;
            }
            let place = Place::new(places.next());
            places.by_object.insert(named.clone(), place);
        }
        let begins = before < places.by_object.len() && places.has_room(&named.namespace);
        let number = places.next();
        let place = places.by_object.get_mut(named)?;
        place.unasked = None;
        if begins {
            place.begin(number, Instant::now());
        }
        Some(Reading {
            store: Arc::clone(&place.store),
            is_its_turn: place.reads.is_some(),
            begins,
        })
    }

    /// The store of an object for who follows it from now on, until its turn is over; `None` where somebody does, or it is over.
    pub(super) fn begin(&self, named: &Named) -> Option<(Arc<Store>, Forgotten)> {
        let places = &mut *self.lock();
        let place = places.by_object.get_mut(named)?;
        if place.follower.is_some() || place.reads.is_none() {
            return None;
        }
        let (follower, forgotten) = oneshot::channel();
        place.follower = Some(follower);
        Some((Arc::clone(&place.store), forgotten))
    }

    /// Lets the next ones have their turn, and forgets what nobody asks for. Returns those that are to be followed now.
    pub(super) fn take_turns(&self) -> Vec<Named> {
        let (places, now) = (&mut *self.lock(), Instant::now());
        places.forget(now);
        let mut begun = Vec::new();
        // Whose turn ends here waits from now on, and not for this time.
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

    /// How many there are.
    pub(super) fn crowd(&self) -> Crowd {
        let places = self.lock();
        let read: usize = places.read_of_each().values().sum();
        Crowd {
            read,
            waiting: places.by_object.len() - read,
        }
    }

    fn lock(&self) -> MutexGuard<'_, Places> {
        // A panic half way leaves a place that waits, which is looked at again.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Places {
    fn next(&mut self) -> u64 {
        self.turns += 1;
        self.turns
    }

    fn of(&self, namespace: &str) -> impl Iterator<Item = (&Named, &Place)> {
        let places = self.by_object.iter();
        places.filter(move |(named, _)| *named.namespace == *namespace)
    }

    fn has_room(&self, namespace: &str) -> bool {
        let read = self.read_of_each();
        let own = read.get(namespace).copied().unwrap_or_default();
        own < OF_A_NAMESPACE && read.values().sum::<usize>() < AT_MOST
    }

    /// Forgets what nobody has asked for for long.
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

    /// How many are read of each namespace that has a place.
    fn read_of_each(&self) -> HashMap<&str, usize> {
        let mut read = HashMap::new();
        for (named, place) in &self.by_object {
            *read.entry(&*named.namespace).or_default() += usize::from(place.reads.is_some());
        }
        read
    }

    /// Whose turn is next of those who have waited since `before`, once there is room for it: namespaces that read few come first, and
    /// of each the one that has waited the longest.
    fn next_turn(&mut self, before: u64, now: Instant) -> Option<Named> {
        let read = self.read_of_each();
        let mut longest: HashMap<&str, (u64, &Named)> = HashMap::new();
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
            if own < OF_A_NAMESPACE && !is_full {
                return Some((named.clone(), None));
            }
            // Whoever reads more than its part gives way at once.
            let over = match most.filter(|(_, read)| own < OF_A_NAMESPACE && *read > own + 1) {
                Some((most, _)) => self.last(most, |_| true),
                None => self.last(&named.namespace, |place| place.is_over(now)),
            };
            over.map(|over| (named.clone(), Some(over)))
        });
        let (next, over) = found?;
        if let Some(over) = over {
            self.end_turn(&over);
        }
        Some(next)
    }

    /// Of those of a namespace that are read the one that gives way first: that nobody waits for, else that was begun first.
    fn last(&self, namespace: &str, gives_way: impl Fn(&Place) -> bool) -> Option<Named> {
        let read = self.of(namespace);
        let read = read.filter(|(_, place)| place.reads.is_some() && gives_way(place));
        let last = read.min_by_key(|(_, place)| (place.unasked.is_none(), place.number));
        last.map(|(named, _)| named.clone())
    }

    fn end_turn(&mut self, named: &Named) {
        let number = self.next();
        if let Some(place) = self.by_object.get_mut(named) {
            (place.follower, place.reads, place.number) = (None, None, number);
        }
    }

    /// Of those whose turn is over, what was read is kept while it is believed, and up to a bound.
    fn keep_the_last(&self) {
        let resting = self.by_object.iter().filter(|(_, it)| it.reads.is_none());
        let mut resting: Vec<_> = resting.collect();
        resting.sort_by_key(|(_, it)| std::cmp::Reverse(it.number));
        let mut kept: HashMap<&str, usize> = HashMap::new();
        for (named, Place { store, .. }) in resting {
            let bytes = kept.entry(&named.namespace).or_default();
            *bytes += store.bytes();
            let is_kept = *bytes <= KEPT_OF_A_NAMESPACE && store.believed_until().is_ok();
            if !is_kept && store.condition() != Freshness::Syncing {
                store.clear(Freshness::Syncing);
            }
        }
    }
}

impl Place {
    fn new(number: u64) -> Self {
        Self {
            store: Arc::default(),
            follower: None,
            reads: None,
            number,
            unasked: None,
        }
    }

    fn begin(&mut self, number: u64, now: Instant) {
        (self.reads, self.number) = (Some(now), number);
    }

    /// Whether somebody waits for its turn.
    fn waits(&self) -> bool {
        self.reads.is_none() && self.unasked.is_none()
    }

    /// Whether it has had its turn.
    fn is_over(&self, now: Instant) -> bool {
        let long = if self.unasked.is_some() {
            Duration::ZERO
        } else if self.store.condition() == Freshness::Syncing {
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
