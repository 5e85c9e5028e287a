//! Processes that wait until they may go on: gates, and their peers.

use anyhow::{Context, Result, bail};
use harness::machine;
use std::time::{Duration, Instant};
use tokio::process::Child;
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The longest time until the last process exits.
const LIMIT: Duration = Duration::from_mins(1);

/// Waiting processes. They are killed when this is dropped, if they were started with `kill_on_drop`.
pub(crate) struct Running(pub(crate) Vec<Child>);

impl Running {
    /// Waits for all processes, each in a task of its own, which returns the moment of the exit. An exit code that is not 0, or a minute without an
    /// exit, is an error.
    pub(crate) fn exits(self) -> JoinSet<Result<Instant>> {
        let exit = |mut waiter: Child| async move {
            let status = timeout(LIMIT, waiter.wait())
                .await
                .context("one that waits does not end")??;
            let at = Instant::now();
            if status.success() {
                Ok(at)
            } else {
                bail!("one that waited ended with {status}")
            }
        };
        self.0.into_iter().map(exit).collect()
    }

    /// Returns the mean private memory of a process, in bytes, each with its child processes of this moment.
    pub(crate) fn memory(&self) -> Result<u64> {
        let pids = self.0.iter().filter_map(Child::id);
        let sizes = pids.map(|pid| {
            let own = private(pid)?;
            // One may end meanwhile.
            let others = machine::children(pid).into_iter().map(private);
            Ok(own + others.filter_map(Result::ok).sum::<u64>())
        });
        Ok(sizes.sum::<Result<u64>>()? / self.0.len() as u64)
    }

    /// Kills the processes, and waits until they have ended. A process that has ended by itself is no error.
    pub(crate) async fn stop(mut self) {
        for waiter in &mut self.0 {
            // One that has ended by itself is fine too.
            let _ = waiter.kill().await;
        }
    }
}

fn private(pid: u32) -> Result<u64> {
    machine::bytes(pid, "smaps_rollup", "Private_Dirty")
}
