//! Waiting for something that the cluster does in its own time.

use std::time::Duration;
use tokio::time::{Instant, sleep};

/// How long a step may take. Generous: only a failing test waits for so long.
pub const LIMIT: Duration = Duration::from_mins(5);

/// Often enough to see a gate open in time, seldom enough to leave the API server alone.
const PAUSE: Duration = Duration::from_millis(250);

/// Looks until `look` finds what it looks for, and returns that. `what` completes "waited 60 s until ..."; an `Err` of
/// `look` says what is there instead, and the last one is part of the failure.
pub async fn await_until<T>(
    what: &str,
    limit: Duration,
    mut look: impl AsyncFnMut() -> Result<T, String>,
) -> T {
    let start = Instant::now();
    loop {
        match look().await {
            Ok(found) => return found,
            Err(seen) if start.elapsed() >= limit => {
                panic!("waited {limit:?} until {what}; what is there instead: {seen}")
            }
            Err(_) => sleep(PAUSE).await,
        }
    }
}
