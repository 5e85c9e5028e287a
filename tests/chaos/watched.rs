//! The memory of the replicas while a trial lasts, and the number of their restarts.

use harness::cluster::sluice;
use harness::machine;
use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::sleep;

/// The name of the controller's program, as `/proc` has it.
pub(crate) const PROGRAM: &str = "sluice-webhook";

const LOOK: Duration = Duration::from_millis(200);

/// A task that looks at the replicas again and again.
pub(crate) struct Watched {
    restarts: BTreeMap<String, u64>,
    highest: Arc<AtomicU64>,
    looks: JoinHandle<()>,
}

impl Watched {
    /// Starts a task that notes the most memory of a replica again and again, and notes the present numbers of restarts. Memory that the replicas
    /// used before does not count.
    pub(crate) async fn start() -> Self {
        for pid in machine::contained(PROGRAM).unwrap_or_default() {
            // Resets VmHWM, the most that it has ever taken (proc(5), clear_refs).
            let _ = fs::write(format!("/proc/{pid}/clear_refs"), "5");
        }
        let highest = Arc::new(AtomicU64::new(0));
        let seen = Arc::clone(&highest);
        let looks = tokio::spawn(async move {
            loop {
                seen.fetch_max(most("VmHWM"), Ordering::Relaxed);
                sleep(LOOK).await;
            }
        });
        Self {
            restarts: restarts().await,
            highest,
            looks,
        }
    }

    /// Ends the task. Returns the number of restarts since the start, the most memory that one replica used at any time since, and the most that one
    /// uses now, in bytes.
    pub(crate) async fn stop(self) -> (u64, u64, u64) {
        self.looks.abort();
        let restarts = restarts().await.into_iter();
        let more = |(name, count)| count - self.restarts.get(&name).unwrap_or(&0).min(&count);
        let highest = self.highest.load(Ordering::Relaxed).max(most("VmHWM"));
        (restarts.map(more).sum(), highest, most("VmRSS"))
    }
}

/// Returns the largest value of a field of `/proc/PID/status` among all replicas, in bytes. A replica that has just ended counts as 0.
fn most(field: &str) -> u64 {
    let replicas = machine::contained(PROGRAM).unwrap_or_default();
    let bytes = |pid| machine::bytes(pid, "status", field).unwrap_or(0);
    replicas.into_iter().map(bytes).max().unwrap_or(0)
}

async fn restarts() -> BTreeMap<String, u64> {
    let replicas = sluice::replicas().await.into_iter();
    let counted = replicas.map(|(name, count)| (name, count.as_u64().unwrap_or(0)));
    counted.collect()
}
