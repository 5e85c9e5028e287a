//! Waits for changes that the cluster makes in its own time.

use std::time::Duration;
use tokio::time::{Instant, sleep};

/// The time limit of a step. It is generous, because only a failing test waits for so long, and two clusters on two cores slow each other
/// down: there a chart of many pods takes more than five minutes.
pub const LIMIT: Duration = Duration::from_mins(15);

/// `LIMIT` as Helm and kubectl take it.
pub const TIMEOUT: &str = "--timeout=15m";

/// The pause between two looks: a gate's opening is seen in time, and the API server has little work.
const PAUSE: Duration = Duration::from_millis(250);

/// Calls `look` every 250 ms until it returns `Ok`, and returns that value. Panics after `limit`. `what` completes "waited 60 s until ...". An `Err`
/// of `look` says what is there instead, and the last one is part of the failure.
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
