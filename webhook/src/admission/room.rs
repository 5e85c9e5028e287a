//! The room that all bodies share, and which of them has to go where there is none for another.
//!
//! A body holds what has arrived of it. Whoever sends much and then stops, or sends a little now and then, would fill the room for
//! as long as a body may take. So a body has to keep a pace, and where there is no room for what has arrived of another, the bodies
//! go that lag behind; where none does, one of the address that has held the most of late, if that is more than the other address
//! has. So an API server, which sends fast and is answered within milliseconds, makes room for no crowd that sends as slowly as it
//! may, however many bodies it sends at a time.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::time::Instant;

/// So many bytes of a body have to arrive in a second.
const PACE: f64 = 256.0 * 1024.0;
/// So long a body may send nothing, whatever it has sent before.
const PATIENCE: Duration = Duration::from_millis(250);
/// What an address has held so long ago counts for a third.
const OF_LATE: Duration = Duration::from_secs(1);

/// Who sends a body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Sender {
    pub(super) address: IpAddr,
    /// Whether it has shown a certificate of those who may: such a one makes room for no other.
    pub(super) certified: bool,
}

/// All bodies that are being read or answered. Clones are the same room.
#[derive(Debug, Clone)]
pub(super) struct Room {
    bytes: usize,
    bodies: Arc<Mutex<Bodies>>,
}

#[derive(Debug, Default)]
struct Bodies {
    held: BTreeMap<u64, Body>,
    loads: HashMap<IpAddr, Load>,
    /// The number of the next one.
    next: u64,
}

#[derive(Debug)]
struct Body {
    sender: Sender,
    /// What it holds, in bytes.
    holds: usize,
    /// Until when it keeps the pace.
    on_time_until: Instant,
    /// Whether all of it has come, and it need not wait for its turn. It is answered then, which takes no time.
    whole: bool,
    cut: Arc<Notify>,
}

/// What the bodies of one address hold, in bytes.
#[derive(Debug)]
struct Load {
    now: usize,
    /// The mean of late, as it was when that changed.
    mean: f64,
    changed: Instant,
}

/// A body's part of the room; free again when dropped.
#[derive(Debug)]
pub(super) struct Part {
    room: Room,
    number: u64,
    cut: Arc<Notify>,
}

/// There is no room, and no other body has to go.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct NoRoom;

impl Room {
    /// Room for so many bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self {
            bytes,
            bodies: Arc::default(),
        }
    }

    /// A body of this sender begins to arrive.
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

    fn lock(&self) -> MutexGuard<'_, Bodies> {
        // A panic while the lock was held leaves at worst a body that holds more or less than it says, until it is dropped.
        self.bodies.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Part {
    /// So many bytes more have arrived, and in all so many are to be held.
    pub(super) fn grow(&self, arrived: usize, to: usize, now: Instant) -> Result<(), NoRoom> {
        let mut bodies = self.room.lock();
        bodies.came(self.number, arrived, now);
        let Some((sender, holds)) = bodies.held.get(&self.number).map(Body::claim) else {
            return Err(NoRoom); // it has been cut, and is about to hear of that
        };
        let more = to.saturating_sub(holds);
        while more > 0 && bodies.held() + more > self.room.bytes {
            // What it held is free a moment later, when its reader has heard of it.
            let number = bodies.who_goes(self.number, sender, now).ok_or(NoRoom)?;
            if let Some(body) = bodies.remove(number, now) {
                body.cut.notify_one();
            }
        }
        bodies.hold(self.number, holds + more, now);
        Ok(())
    }

    /// All of it has come, and it is answered now. `false` where it has been cut before.
    pub(super) fn whole(&self) -> bool {
        let mut bodies = self.room.lock();
        let body = bodies.held.get_mut(&self.number);
        body.is_some_and(|body| std::mem::replace(&mut body.whole, true) || body.whole)
    }

    /// It holds nothing here any more.
    pub(super) fn give_back(&self) {
        self.room.lock().hold(self.number, 0, Instant::now());
    }

    /// What tells that it has had to go.
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

impl Bodies {
    fn held(&self) -> usize {
        self.held.values().map(|body| body.holds).sum()
    }

    fn came(&mut self, number: u64, arrived: usize, now: Instant) {
        if let Some(body) = self.held.get_mut(&number) {
            let earned = Duration::from_secs_f64(bytes(arrived) / PACE);
            body.on_time_until = (body.on_time_until.max(now) + earned).min(now + PATIENCE);
        }
    }

    /// Has a body hold so many bytes.
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

    /// What is long past counts for nothing.
    fn forget_idle(&mut self, now: Instant) {
        let idle = |load: &Load| load.now == 0 && now.duration_since(load.changed) > 10 * OF_LATE;
        self.loads.retain(|_, load| !idle(load));
    }

    /// The body that makes room for another one, of this sender.
    fn who_goes(&self, number: u64, sender: Sender, now: Instant) -> Option<u64> {
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
