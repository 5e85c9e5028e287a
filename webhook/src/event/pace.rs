//! Limits the Events of one object. Pure: the clock is an argument.

use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// The mean time between two Events of one object in the long run.
pub(crate) const AT_MOST_EVERY: Duration = Duration::from_mins(1);
/// The Events that an object may get early, beside the one that is due: a user soon learns whether a fix has worked.
pub(crate) const TO_SPARE: u32 = 2;

/// The objects with recent Events, by UID. The time is the one from which the mean pace of one Event in each [`AT_MOST_EVERY`] holds again for the
/// Events of the object.
#[derive(Debug, Default)]
pub(crate) struct Pace(HashMap<String, Instant>);

impl Pace {
    /// Returns whether the object with this UID may get an Event now: three may come at once, and one a minute in the long run. If it may, the Event
    /// counts as written.
    pub(crate) fn allows(&mut self, uid: &str, now: Instant) -> bool {
        // Drop objects whose Events are paid for: they are as good as new.
        self.0.retain(|_, even| *even > now);
        let even = self.0.get(uid).map_or(now, |even| (*even).max(now));
        let allowed = even.duration_since(now) <= TO_SPARE * AT_MOST_EVERY;
        if allowed {
            self.0.insert(uid.to_owned(), even + AT_MOST_EVERY);
        }
        allowed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_object_has_three_at_once_and_one_a_minute() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let mut allowed = |uid: &str, second: u64| {
            let now = start + Duration::from_secs(second);
            pace.allows(uid, now)
        };
        let first: Vec<bool> = (0..5).map(|second| allowed("a", second)).collect();
        assert_eq!(first, [true, true, true, false, false]);
        assert!(allowed("b", 4), "of another object");
        let later = (5..600).filter(|second| allowed("a", *second)).count();
        assert!((9..=10).contains(&later), "{later} in ten minutes");
        assert!(allowed("c", 10_000));
        assert_eq!(pace.0.len(), 1, "the others are forgotten");
    }
}
