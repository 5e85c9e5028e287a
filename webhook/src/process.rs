//! The process as a whole: it runs until a signal comes, or until a task ends that has to last.

use crate::readiness::Condition;
use crate::shutdown::{Grace, Shutdown};
use crate::tasks::{Ended, Tasks};
use futures::future::pending;
use futures::{Stream, StreamExt};
use tracing::{error, info};

/// Everything that runs.
#[derive(Debug)]
pub(crate) struct Process {
    /// What answers requests; it ends when the process drains.
    pub servers: Tasks,
    /// What the servers rest on.
    pub background: Tasks,
    /// How far the process has come on its way out.
    pub shutdown: Shutdown,
    /// Met while requests are welcome.
    pub serving: Condition,
}

impl Process {
    /// Returns when the last request is done.
    ///
    /// # Errors
    ///
    /// The reason for leaving was no signal but a task that ended: what it did for the process nobody does any more.
    pub(crate) async fn run(
        mut self,
        mut signals: impl Stream<Item = &'static str> + Unpin,
        grace: Grace,
    ) -> Result<(), Ended> {
        self.serving.met();
        let reason = tokio::select! {
            biased;
            // Each arm is cancel-safe. What a server hands work to ends with it, so a server's end is the reason.
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

    /// Takes the steps of the shutdown until no server is left.
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
            // What is cut off has no more to do.
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

    /// A process with one server, and what starts its background work.
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
