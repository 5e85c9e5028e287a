//! Tells when the process has nearly used up the memory of its container.
//!
//! Each budget and each listener has a part of the memory that fits what one crowd of tenants may need. All parts together are more
//! than the memory, because tenants seldom fill several at once. Parts that always fit together would turn away crowds that the
//! memory has room for. So while the alarm is raised, each gives less, and what it has given before it keeps.

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::time::{MissedTickBehavior, interval};
use tracing::{info, warn};

/// The pause between two looks at the memory. Ten thousand gates that come at once take some 6 MB in this time.
const PAUSE: Duration = Duration::from_millis(200);
/// The part of the memory in use at which the alarm is raised, in percent.
const RAISED_AT: u64 = 90;
/// The part of the memory in use below which the alarm ends, in percent. The allocator returns memory to the kernel only after a while.
const ENDED_BELOW: u64 = 85;

/// The part of the memory, in percent, up to which one large object may fill it together with everything in use.
const FILLED: u64 = 95;

/// Tells whether the memory of the container is nearly used up. Clones are one alarm, and the metric `sluice_memory_alarm` shows it. The default is
/// never raised, and has room for anything.
#[derive(Debug, Clone)]
pub struct MemoryAlarm {
    raised: Gauge,
    /// The bytes that one large object may take at the moment.
    room: Arc<AtomicU64>,
}

impl Default for MemoryAlarm {
    fn default() -> Self {
        Self {
            raised: Gauge::default(),
            room: Arc::new(AtomicU64::new(u64::MAX)),
        }
    }
}

impl MemoryAlarm {
    /// Registers the gauge of the alarm: 1 while it is raised.
    pub(crate) fn register(&self, registry: &mut Registry) {
        let told = "1 while the container's memory is nearly used up, so less of it is given";
        registry.register("memory_alarm", told, self.raised.clone());
    }

    /// Whether the memory is nearly used up.
    pub(crate) fn is_raised(&self) -> bool {
        self.raised.get() > 0
    }

    /// Whether an object of so many bytes fits into the memory beside all that is in use, up to 95 % of the limit. Always true before the first
    /// reading.
    pub(crate) fn has_room(&self, bytes: usize) -> bool {
        bytes as u64 <= self.room.load(Ordering::Relaxed)
    }

    /// Takes a reading of the memory, in bytes: sets the room for one large object, raises the alarm at 90 % of `limit` in use, and ends it below
    /// 85 %. The log tells when the alarm begins or ends.
    pub(crate) fn set(&self, used: u64, limit: u64) {
        let room = (limit / 100 * FILLED).saturating_sub(used);
        self.room.store(room, Ordering::Relaxed);
        let percent = used.saturating_mul(100) / limit.max(1);
        if !self.is_raised() && percent >= RAISED_AT {
            self.raised.set(1);
            warn!(
                used,
                limit,
                "Memory is nearly used up: namespaces and new gates get less; raise resources.limits.memory if this lasts"
            );
        } else if self.is_raised() && percent < ENDED_BELOW {
            self.raised.set(0);
            info!(used, limit, "Memory is no longer nearly used up");
        }
    }

    /// Sets the alarm five times a second, and never returns. `used` returns the bytes that are in use; `None` leaves the alarm as it is.
    pub(crate) async fn follow(self, limit: u64, used: impl Fn() -> Option<u64> + Send) {
        let mut looks = interval(PAUSE);
        looks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            looks.tick().await;
            if let Some(used) = used() {
                self.set(used, limit);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_alarm_lasts_until_there_is_some_room_again() {
        let alarm = MemoryAlarm::default();
        let raised = [0, 89, 90, 86, 85, 84, 89, 91, 200].map(|used| {
            alarm.set(used << 20, 100 << 20);
            alarm.is_raised()
        });
        let ended = [false, false];
        assert_eq!(raised[..2], ended);
        assert_eq!(raised[2..5], [true; 3]);
        assert_eq!(raised[5..7], ended);
        assert_eq!(raised[7..], [true; 2]);
        assert!(!alarm.has_room(1));
        alarm.set(60 << 20, 100 << 20);
        assert!(alarm.has_room(34 << 20) && !alarm.has_room(36 << 20));
    }

    #[tokio::test(start_paused = true)]
    async fn the_memory_is_looked_at_again_and_again() {
        static USED: AtomicU64 = AtomicU64::new(0);
        let alarm = MemoryAlarm::default();
        let looks = || Some(USED.load(Ordering::Relaxed)).filter(|used| *used < 1000);
        let follow = tokio::spawn(alarm.clone().follow(100, looks));
        let later = async |used| {
            USED.store(used, Ordering::Relaxed);
            tokio::time::sleep(PAUSE * 2).await;
            alarm.is_raised()
        };
        assert!(!later(50).await && later(95).await);
        assert!(later(1000).await, "nothing is known");
        assert!(!later(50).await);
        follow.abort();
    }
}
