//! The parts that the handlers of the status service share, and the beat that wakes its waits.

use super::identity::Authenticator;
use super::rounds::Rounds;
use super::tell::Teller;
use super::turns::Turns;
use super::wait_registry::WaitRegistry;
use crate::clock::Clock;
use crate::known::Known;
use crate::shutdown::Shutdown;
use rules::lookup::Unavailable;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The parts that all handlers of the status service share.
pub(crate) struct Service {
    /// The objects of the cluster that this replica knows.
    pub known: Arc<Known>,
    /// Finds the pod that a gate's token belongs to, by reviews of the API server.
    pub authenticator: Authenticator,
    /// The open requests of gates.
    pub requests: Arc<WaitRegistry>,
    /// The judgements that pods of one workload share.
    pub rounds: Rounds,
    /// The turns of the namespaces at judging: one waiter of a namespace is judged at a time, so that a crowd of waiters of one does not hold up
    /// the others.
    pub turns: Turns,
    /// Tells the outcome of each look at a waiter: by Events, conditions and metrics.
    pub tell: Teller,
    /// The progress of the process's shutdown. Each open request is answered when the process drains, so its gate asks another replica.
    pub shutdown: Shutdown,
    /// The clock that tells the time of the API server, by which timeouts pass.
    pub clock: Clock,
    /// The beat to which signs of life and timed looks are rounded, so that they fall together.
    pub beat: Beat,
}

impl Service {
    /// Whether this replica has not heard of the API server for so long that its knowledge is stale, so that a gate had better ask another replica.
    pub(super) fn is_cut_off(&self) -> bool {
        self.known.gated().believed_until() == Err(Unavailable::Stale)
    }
}

/// The pause between two beats. A second has a whole number of beats.
const BEAT: Duration = Duration::from_millis(100);

/// Rounds moments down to beats. So a replica on which ten thousand gates wait is woken ten times a second, and not once for each
/// gate.
#[derive(Debug)]
pub(crate) struct Beat(Instant);

impl Beat {
    /// Makes the beat whose first moment is `began`.
    pub(crate) fn from(began: Instant) -> Self {
        Self(began)
    }

    /// The moment that is `time` from now, rounded down to a beat.
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
