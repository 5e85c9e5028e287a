//! The time of the API server, by which timeouts and certificates pass.
//!
//! Objects carry times that the API server wrote, and it judges our certificate by its clock; the clock of our node may be
//! another one. So each of its answers, which carries a `Date`, bounds by how much the two differ.

use axum::http::{HeaderMap, header::DATE};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracing::{info, warn};

/// A difference beyond this is worth a warning.
const MUCH: SignedDuration = SignedDuration::from_mins(1);
/// A `Date` is a whole second, rounded down.
const SECOND: SignedDuration = SignedDuration::from_secs(1);
/// In so many seconds two clocks may drift apart by one: no clock that is kept by anything drifts faster.
const DRIFT: i32 = 2_000;

/// The clock of this process, corrected by what the API server says. Clones share what was learnt.
#[derive(Clone)]
pub struct Clock(Arc<Corrected>);

struct Corrected {
    local: Box<dyn Fn() -> Timestamp + Send + Sync>,
    learnt: Mutex<Option<Learnt>>,
    offset: Gauge<f64, AtomicU64>,
}

#[derive(Debug, Clone, Copy)]
struct Learnt {
    bounds: Bounds,
    /// By the local clock.
    at: Timestamp,
}

/// What has to be added to the local time to have the API server's: no less and no more than this.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Bounds {
    least: SignedDuration,
    most: SignedDuration,
}

impl Clock {
    /// A clock that goes by `local` until the API server says otherwise.
    pub fn new(local: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(Corrected {
            local: Box::new(local),
            learnt: Mutex::default(),
            offset: Gauge::default(),
        }))
    }

    /// Shows by how much the local clock is ahead.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "clock_offset_seconds",
            "By how much this replica's clock is ahead of the API server's; negative where it is behind",
            self.0.offset.clone(),
        );
    }

    /// The time of the API server, as far as it is known.
    pub fn now(&self) -> Timestamp {
        corrected(self.local(), *self.lock())
    }

    /// The time that our own clock shows.
    pub(crate) fn local(&self) -> Timestamp {
        (self.0.local)()
    }

    /// An answer to what was asked at `sent`, by the local clock, has arrived with these headers.
    pub(crate) fn answered(&self, sent: Timestamp, headers: &HeaderMap) {
        let Some(date) = headers.get(DATE).and_then(|date| date.to_str().ok()) else {
            return;
        };
        let Ok(date) = DateTimeParser::new().parse_timestamp(date) else {
            return;
        };
        let received = self.local();
        let seen = Bounds::of(sent, received, date);
        let learnt = &mut *self.lock();
        let before = learnt.map_or(SignedDuration::ZERO, |learnt| learnt.bounds.offset());
        let bounds = learnt.map_or(seen, |learnt| {
            let old = received.duration_since(learnt.at).abs();
            learnt.bounds.widened(old / DRIFT).narrowed(seen)
        });
        *learnt = Some(Learnt {
            bounds,
            at: received,
        });
        let offset = bounds.offset();
        self.0.offset.set(-offset.as_secs_f64());
        tell(before, offset);
    }

    fn lock(&self) -> MutexGuard<'_, Option<Learnt>> {
        self.0.learnt.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Says when the clocks begin to differ by much, and when they no longer do.
fn tell(before: SignedDuration, offset: SignedDuration) {
    match (before.abs() > MUCH, offset.abs() > MUCH) {
        (false, true) => warn!(
            ahead_seconds = -offset.as_secs(),
            "The clock of this node is not the API server's, whose time counts here; set it right: others go by it"
        ),
        (true, false) => info!("The clock of this node is the API server's again"),
        _ => {}
    }
}

fn corrected(local: Timestamp, learnt: Option<Learnt>) -> Timestamp {
    let offset = learnt.map_or(SignedDuration::ZERO, |learnt| learnt.bounds.offset());
    local.checked_add(offset).unwrap_or(local)
}

impl Bounds {
    /// The API server wrote `date` at some moment between `sent` and `received`.
    fn of(sent: Timestamp, received: Timestamp, date: Timestamp) -> Self {
        Self {
            least: date.duration_since(received),
            most: date.duration_since(sent) + SECOND,
        }
    }

    /// What both allow; where they exclude each other, a clock was set since, and the newer counts.
    fn narrowed(self, newer: Self) -> Self {
        let both = Self {
            least: self.least.max(newer.least),
            most: self.most.min(newer.most),
        };
        if both.least <= both.most { both } else { newer }
    }

    fn widened(self, by: SignedDuration) -> Self {
        Self {
            least: self.least - by,
            most: self.most + by,
        }
    }

    /// The best guess: none where the clocks may well agree.
    fn offset(self) -> SignedDuration {
        let agree = self.least <= SignedDuration::ZERO && self.most >= SignedDuration::ZERO;
        if agree {
            SignedDuration::ZERO
        } else {
            self.least + (self.most - self.least) / 2
        }
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Clock").field(&*self.lock()).finish()
    }
}

#[cfg(test)]
mod tests;
