//! The time of the API server, by which timeouts and certificates are judged.
//!
//! Objects carry times that the API server wrote, and the API server judges our certificate by its own clock, which
//! may differ from the clock of our node. Each answer carries a `Date`, which bounds the difference.

use axum::http::{HeaderMap, header::DATE};
use jiff::fmt::rfc2822::DateTimeParser;
use jiff::{SignedDuration, Timestamp};
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::fmt;
use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tracing::{info, warn};

/// The difference between our own clock and the API server's beyond which a line of the log warns.
const MUCH: SignedDuration = SignedDuration::from_mins(1);
/// The precision of a `Date`, which is a whole second, rounded down.
const SECOND: SignedDuration = SignedDuration::from_secs(1);
/// The number of seconds within which two clocks may drift apart by one second: synchronized clocks drift less.
const DRIFT: i32 = 2_000;

/// The clock of this process, corrected by the API server's `Date`s. Clones share the correction.
#[derive(Clone)]
pub struct Clock(Arc<Corrected>);

struct Corrected {
    local: Box<dyn Fn() -> Timestamp + Send + Sync>,
    learnt: Mutex<Option<Learnt>>,
    offset: Gauge<f64, AtomicU64>,
}

#[derive(Debug, Clone, Copy)]
struct Learnt {
    bounds: OffsetRange,
    /// The time of the last answer with a `Date`, by the local clock.
    at: Timestamp,
}

/// The least and the most that may have to be added to the local time to get the API server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct OffsetRange {
    least: SignedDuration,
    most: SignedDuration,
}

impl Clock {
    /// Returns a clock that follows `local` until the API server's answers correct it.
    pub fn new(local: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self(Arc::new(Corrected {
            local: Box::new(local),
            learnt: Mutex::default(),
            offset: Gauge::default(),
        }))
    }

    /// Registers the gauge of the offset of our own clock from the API server's.
    pub fn register(&self, registry: &mut Registry) {
        registry.register(
            "clock_offset_seconds",
            "By how much this replica's clock is ahead of the API server's; negative where it is behind",
            self.0.offset.clone(),
        );
    }

    /// Returns the time of the API server, as far as its answers have told; before the first, that of our own clock.
    pub fn now(&self) -> Timestamp {
        corrected(self.local(), *self.lock())
    }

    /// Returns the uncorrected time of our own clock.
    pub(crate) fn local(&self) -> Timestamp {
        (self.0.local)()
    }

    /// Learns the offset of our clock from the `Date` among the headers of an answer of the API server, which has just arrived. `sent` is the time
    /// of the request, by the local clock. An answer without a readable `Date` changes nothing.
    pub(crate) fn answered(&self, sent: Timestamp, headers: &HeaderMap) {
        let Some(date) = headers.get(DATE).and_then(|date| date.to_str().ok()) else {
            return;
        };
        let Ok(date) = DateTimeParser::new().parse_timestamp(date) else {
            return;
        };
        let received = self.local();
        let seen = OffsetRange::of(sent, received, date);
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

/// Logs when the clocks begin to differ by more than [`MUCH`], and when they differ by less again.
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

impl OffsetRange {
    /// Returns the offsets that an answer allows: the API server wrote `date` at some moment between `sent` and `received`, which are times of the
    /// local clock.
    fn of(sent: Timestamp, received: Timestamp, date: Timestamp) -> Self {
        Self {
            least: date.duration_since(received),
            most: date.duration_since(sent) + SECOND,
        }
    }

    /// Returns the offsets that both bounds allow. Where there are none, a clock was set in between, and the newer
    /// bounds count.
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

    /// Returns the offset to add to the local time: zero where the clocks may agree, else the middle of the bounds.
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
