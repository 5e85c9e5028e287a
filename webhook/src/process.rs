//! Runs the whole process until a signal arrives, or until a lasting task ends.

use crate::readiness::Condition;
use crate::shutdown::{Grace, Shutdown};
use crate::tasks::{Ended, Tasks};
use futures::future::pending;
use futures::{Stream, StreamExt};
use tracing::{error, info};

/// The parts of a running process.
#[derive(Debug)]
pub(crate) struct Process {
    /// The tasks that answer requests. They end when the process drains.
    pub servers: Tasks,
    /// The tasks that the servers depend on.
    pub background: Tasks,
    /// The progress of the process's shutdown.
    pub shutdown: Shutdown,
    /// The condition of readiness that is met while requests are welcome.
    pub serving: Condition,
}

impl Process {
    /// Serves until a signal arrives or a lasting task ends, then shuts down and returns when the last server has ended.
    ///
    /// # Errors
    ///
    /// A lasting task has ended or panicked, so the process lacks its work and has to leave.
    pub(crate) async fn run(
        mut self,
        mut signals: impl Stream<Item = &'static str> + Unpin,
        grace: Grace,
    ) -> Result<(), Ended> {
        self.serving.met();
        let reason = tokio::select! {
            biased;
            // Each arm is cancel-safe. Servers come first: tasks that a server hands work to end with it, and the
            // server's end is the reason to report.
            ended = self.servers.ended() => Err(ended),
            ended = self.background.ended() => Err(ended),
            Some(signal) = signals.next() => Ok(signal),
        };
        match &reason {
            Ok(signal) => {
                self.serving.unmet("this replica is shutting down");
                info!(signal, "Shutting down");
            }
            Err(ended) => {
                self.serving.unmet(ended.to_string());
                error!(error = %ended, "Shutting down");
            }
        }
        self.leave(signals, grace).await;
        reason.map(drop)
    }

    /// Takes the steps of the shutdown, and returns when no server is left. A further signal takes all steps at once.
    async fn leave(&mut self, signals: impl Stream<Item = &'static str> + Unpin, grace: Grace) {
        let steps = async {
            self.shutdown.conduct(signals, grace).await;
            pending::<()>().await;
        };
        let background = async {
            self.background.finished().await;
            pending::<()>().await;
        };
        tokio::select! {
            biased;
            // Steps and background tasks that are cut off here have nothing left to do.
            () = self.servers.finished() => {}
            () = steps => {}
            () = background => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readiness::Readiness;
    use crate::tasks::Spawner;
    use futures::stream;

    /// Returns a process with one server, and the spawner of its background tasks.
    fn process() -> (Process, Spawner, Readiness) {
        let (shutdown, readiness) = (Shutdown::default(), Readiness::default());
        let (servers, serving) = (Tasks::new(), readiness.condition("serving", "starting"));
        let (spawner, background) = Tasks::new();
        let stop = shutdown.clone();
        servers
            .0
            .keep("server", async move { stop.draining().await });
        let process = Process {
            servers: servers.1,
            background,
            shutdown,
            serving,
        };
        (process, spawner, readiness)
    }

    #[tokio::test(start_paused = true)]
    async fn a_signal_ends_it_in_order() {
        let (process, spawner, readiness) = process();
        let left = process.shutdown.clone();
        spawner.keep("authority", async move { left.leaving().await });
        let signals = Box::pin(stream::once(async { "SIGTERM" }).chain(stream::pending()));
        assert_eq!(process.run(signals, Grace::default()).await, Ok(()));
        let missing = readiness.missing();
        assert_eq!(missing[0].reason, "this replica is shutting down");
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_ends_by_itself_ends_it_with_an_error() {
        let (process, _spawner, _) = process();
        process.shutdown.drain();
        let ended = process.run(stream::pending(), Grace::default()).await;
        let task = "server".to_owned();
        assert_eq!(ended, Err(Ended::Returned { task }));
    }
}
