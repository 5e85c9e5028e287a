//! The memory that all bodies share, and the choice of the body that is cut when the memory is full.
//!
//! A body holds the bytes that have arrived. A client that sends much and then stops, or sends a little now and then,
//! would fill the memory until its bodies reach their deadline. So a body has to keep a pace. When the memory is full
//! and another body grows, the bodies that lag behind are cut first. If all keep the pace, a body of the address that
//! has held the most recently is cut, provided that this address has held more than the growing body's address. An
//! API server sends fast and is answered within milliseconds, so a crowd of slow clients never cuts the API server's
//! bodies, however many it sends.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// The pace that a body has to keep, in bytes a second. A body that lags behind it may be cut for another.
const PACE: f64 = 256.0 * 1024.0;
/// The longest pause between two pieces of a body that keeps the pace, however fast it was before.
const PATIENCE: Duration = Duration::from_millis(250);
/// The time after which memory that an address has given back still counts for a third.
const OF_LATE: Duration = Duration::from_secs(1);

/// The client that sends the body of an admission request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) address: IpAddr,
    /// Whether the client has shown a certificate of an API server. A certified body is never cut for a body without
    /// one.
    pub(super) certified: bool,
}

/// The memory for all bodies that are being read or answered, `bytes` in all. Clones share the memory.
#[derive(Debug, Clone)]
pub(super) struct Room {
    bytes: usize,
    bodies: Arc<Mutex<OpenBodies>>,
}

#[derive(Debug, Default)]
struct OpenBodies {
    held: BTreeMap<u64, Body>,
    loads: HashMap<IpAddr, Load>,
    /// The number that the next body gets.
    next: u64,
}

#[derive(Debug)]
struct Body {
    sender: Sender,
    /// The bytes of memory that the body holds.
    holds: usize,
    /// The moment from which the body lags behind, unless more bytes of it arrive before.
    on_time_until: Instant,
    /// Whether the whole body has arrived, and has had its turn if it is large. Its answer then takes no time, so it is not cut any more.
    whole: bool,
    cut: Arc<Notify>,
}

/// The bytes that the bodies of one client address hold, now and in the recent mean.
#[derive(Debug)]
struct Load {
    now: usize,
    /// The recent mean of the bytes that the bodies of the address hold, as of `changed`.
    mean: f64,
    changed: Instant,
}

/// A body's share of the memory: 0 bytes at first, raised by [`Part::grow`], and taken away when the body is cut. Dropping the part frees the share.
#[derive(Debug)]
pub(super) struct Part {
    room: Room,
    number: u64,
    cut: Arc<Notify>,
}

/// The error of a body that cannot grow: the memory is full and no other body may be cut, or the body was cut itself.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoRoom;

impl Room {
    /// Returns an empty room for `bytes` bytes of bodies in all.
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            bytes,
            bodies: Arc::default(),
        }
    }

    /// Registers a body whose first bytes are about to arrive, and returns its share of the memory, which is 0 bytes yet.
    pub(super) fn enter(&self, sender: Sender, now: Instant) -> Part {
        let cut = Arc::<Notify>::default();
        let body = Body {
            sender,
            holds: 0,
            on_time_until: now + PATIENCE,
            whole: false,
            cut: Arc::clone(&cut),
        };
        let mut bodies = self.lock();
        bodies.forget_idle(now);
        let number = bodies.next;
        bodies.next += 1;
        bodies.held.insert(number, body);
        drop(bodies);
        Part {
            room: self.clone(),
            number,
            cut,
        }
    }

    fn lock(&self) -> MutexGuard<'_, OpenBodies> {
        // A panic under the lock leaves at worst a body with a wrong count, until that body is dropped.
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Part {
    /// Counts `arrived` more bytes of the body towards its pace, and raises its share of the memory to `to` bytes; a larger share stays. Where the
    /// memory is full, cuts other bodies. Fails if none of them may be cut, or if this body was cut itself.
    pub(super) fn grow(&self, arrived: usize, to: usize, now: Instant) -> Result<(), NoRoom> {
        let mut bodies = self.room.lock();
        bodies.came(self.number, arrived, now);
        let Some((sender, holds)) = bodies.held.get(&self.number).map(Body::claim) else {
            return Err(NoRoom); // this body was cut, and its reader is about to be notified
        };
        let more = to.saturating_sub(holds);
        while more > 0 && bodies.held() + more > self.room.bytes {
            // The bytes of the cut body become free a moment later, when its reader is notified.
            let number = bodies.body_to_cut(self.number, sender, now).ok_or(NoRoom)?;
            if let Some(body) = bodies.remove(number, now) {
                body.cut.notify_one();
            }
        }
        bodies.hold(self.number, holds + more, now);
        Ok(())
    }

    /// Marks the body as whole, so it is not cut any more. Returns `false` where the body was cut before.
    pub(super) fn whole(&self) -> bool {
        let mut bodies = self.room.lock();
        let body = bodies.held.get_mut(&self.number);
        body.is_some_and(|body| std::mem::replace(&mut body.whole, true) || body.whole)
    }

    /// Frees the body's bytes in the shared memory: a large body waits for a turn of its own, and is charged to the turn.
    pub(super) fn give_back(&self) {
        self.room.lock().hold(self.number, 0, Instant::now());
    }

    /// Returns the notifier that wakes the body's reader when the body is cut.
    pub(super) fn cut(&self) -> Arc<Notify> {
        Arc::clone(&self.cut)
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        self.room.lock().remove(self.number, Instant::now());
    }
}

impl Load {
    fn of_late(&self, now: Instant) -> f64 {
        let passed = now.saturating_duration_since(self.changed);
        let past = (-passed.div_duration_f64(OF_LATE)).exp();
        self.mean * past + bytes(self.now) * (1.0 - past)
    }
}

#[expect(clippy::cast_precision_loss, reason = "of a few million bytes")]
fn bytes(number: usize) -> f64 {
    number as f64
}

impl Body {
    fn claim(&self) -> (Sender, usize) {
        (self.sender, self.holds)
    }
}

impl OpenBodies {
    fn held(&self) -> usize {
        self.held.values().map(|body| body.holds).sum()
    }

    fn came(&mut self, number: u64, arrived: usize, now: Instant) {
        if let Some(body) = self.held.get_mut(&number) {
            let earned = Duration::from_secs_f64(bytes(arrived) / PACE);
            body.on_time_until = (body.on_time_until.max(now) + earned).min(now + PATIENCE);
        }
    }

    /// Has a body hold `bytes`, and updates the load of the body's address. Does nothing for a body that was cut.
    fn hold(&mut self, number: u64, bytes: usize, now: Instant) {
        let Some(body) = self.held.get_mut(&number) else {
            return;
        };
        let before = std::mem::replace(&mut body.holds, bytes);
        let load = self.loads.entry(body.sender.address).or_insert(Load {
            now: 0,
            mean: 0.0,
            changed: now,
        });
        load.mean = load.of_late(now);
        load.now = (load.now + bytes).saturating_sub(before);
        load.changed = now;
    }

    fn remove(&mut self, number: u64, now: Instant) -> Option<Body> {
        self.hold(number, 0, now);
        self.held.remove(&number)
    }

    /// Drops the loads of addresses that have held nothing for a long time.
    fn forget_idle(&mut self, now: Instant) {
        let idle = |load: &Load| load.now == 0 && now.duration_since(load.changed) > 10 * OF_LATE;
        self.loads.retain(|_, load| !idle(load));
    }

    /// Chooses the body to cut so that body `number` of `sender` can grow; `None` where no other body may be cut. Of the bodies that lag behind the
    /// slowest goes first; else one of the address with the most memory of late, if that is more than the sender's own. A certified sender may cut
    /// any body without a certificate; a certified body is never cut for one without.
    fn body_to_cut(&self, number: u64, sender: Sender, now: Instant) -> Option<u64> {
        let may_go = |(other, body): &(&u64, &Body)| {
            **other != number
                && body.holds > 0
                && !body.whole
                && (sender.certified || !body.sender.certified)
        };
        let others = || self.held.iter().filter(may_go);
        let slowest = |(_, body): &(&u64, &Body)| body.on_time_until;
        let late = others().filter(|(_, body)| body.on_time_until < now);
        if let Some((slowest, _)) = late.min_by_key(slowest) {
            return Some(*slowest);
        }
        let load = |address: IpAddr| self.loads.get(&address).map_or(0.0, |it| it.of_late(now));
        let ours = load(sender.address);
        let beyond = others().filter(|(_, body)| {
            let outranks = sender.certified && !body.sender.certified;
            outranks || load(body.sender.address) > ours
        });
        let most = beyond.max_by(|one, other| {
            let of = |it: &(&u64, &Body)| load(it.1.sender.address);
            let by_load = of(one).total_cmp(&of(other));
            by_load.then_with(|| slowest(other).cmp(&slowest(one)))
        });
        most.map(|(number, _)| *number)
    }
}

#[cfg(test)]
mod tests;
