//! How often one object may get an Event. Pure: the clock is an argument.

use std::collections::HashMap;
use std::time::Duration;
use tokio::time::Instant;

/// How often an object may get an Event in the long run.
pub(crate) const AT_MOST_EVERY: Duration = Duration::from_mins(1);
/// So many an object has to spare, and earns them back at that pace: who mends something is told soon what is still wrong.
pub(crate) const TO_SPARE: u32 = 2;

/// The objects that have had Events lately, by UID.
#[derive(Debug, Default)]
pub(crate) struct Pace(HashMap<String, Instant>);

impl Pace {
    /// Whether an object may get an Event now; if so it counts as written.
    pub(crate) fn allows(&mut self, uid: &str, now: Instant) -> bool {
        // An object whose Events are earned back is as good as new.
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
