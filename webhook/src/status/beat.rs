//! A beat for what need not happen at a moment of its own: so a replica on which ten thousand wait is woken ten times a second, and
//! not for each of them.

use std::time::Duration;
use tokio::time::Instant;

/// A second has a whole number of them.
const BEAT: Duration = Duration::from_millis(100);

/// Beats from a moment on.
#[derive(Debug)]
pub(crate) struct Beat(Instant);

impl Beat {
    /// From this moment on.
    pub(crate) fn from(began: Instant) -> Self {
        Self(began)
    }

    /// The last beat so long from now.
    pub(super) fn within(&self, time: Duration) -> Instant {
        let at = Instant::now() + time;
        let since = at.saturating_duration_since(self.0).subsec_nanos() % BEAT.subsec_nanos();
        at - Duration::from_nanos(since.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::time::advance;

    #[tokio::test(start_paused = true)]
    async fn what_is_due_a_little_apart_is_due_at_once() {
        let began = Instant::now();
        let beat = Beat::from(began);
        let second = Duration::from_secs(1);
        assert_eq!(beat.within(second), began + second);
        let mut due = Vec::new();
        for _ in 0..10 {
            advance(Duration::from_millis(15)).await;
            due.push((beat.within(second) - began).as_millis());
        }
        assert_eq!(
            due,
            [1000, 1000, 1000, 1000, 1000, 1000, 1100, 1100, 1100, 1100]
        );
    }
}
