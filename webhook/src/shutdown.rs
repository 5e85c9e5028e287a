//! Leads from the reason to leave, such as a SIGTERM, to the exit, in steps that a client does not notice.
//!
//! 1. **Leaving**: `/ready` turns red. Requests are still answered, with `Connection: close`: endpoints and kube-proxy need a second or
//!    two to learn that this replica is going, and until then requests arrive.
//! 2. **Draining**: no new connections are accepted. Connections with a request that is being answered may finish it.
//! 3. **Aborting**: the connections that are left are cut.
//!
//! A second signal aborts.

use futures::stream::{self, Stream, StreamExt};
use std::io;
use std::time::Duration;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use tracing::warn;

/// The progress of the process's shutdown. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    leaving: CancellationToken,
    draining: CancellationToken,
    aborting: CancellationToken,
}

/// The durations of the steps of the shutdown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// The time from the beginning of the shutdown until no new connections are accepted.
    pub keep_serving: Duration,
    /// The time from the end of accepting connections until the connections that are left are cut. It is longer than the longest request.
    pub drain: Duration,
}

impl Default for Grace {
    fn default() -> Self {
        Self {
            keep_serving: Duration::from_secs(10),
            drain: Duration::from_secs(6),
        }
    }
}

impl Shutdown {
    /// Returns whether the shutdown has begun. Requests may still be answered then.
    pub fn is_leaving(&self) -> bool {
        self.leaving.is_cancelled()
    }

    /// Waits until the shutdown begins, while requests are still answered. Background work that writes to the cluster ends then.
    pub async fn leaving(&self) {
        self.leaving.cancelled().await;
    }

    /// Waits until the shutdown ends the accepting of connections. An open long poll is answered at that moment.
    pub async fn draining(&self) {
        self.draining.cancelled().await;
    }

    /// Waits until the shutdown cuts the connections that are left.
    pub async fn aborting(&self) {
        self.aborting.cancelled().await;
    }

    /// Begins the shutdown: answers close their connections from now on, and new connections are still accepted. [`Shutdown::conduct`] begins with
    /// this step.
    pub fn leave(&self) {
        self.leaving.cancel();
    }

    /// Begins the shutdown, and ends the accepting of connections at once. Open connections may finish their request.
    pub fn drain(&self) {
        self.leave();
        self.draining.cancel();
    }

    /// Takes every step of the shutdown at once: no connection is accepted, and the open ones are cut.
    pub fn abort(&self) {
        self.drain();
        self.aborting.cancel();
    }

    /// Takes the steps of the shutdown one after the other, with the pauses of `Grace` between them. A signal in between takes all of them at
    /// once. Returns after the last step; the process may end earlier, when nothing is left to drain.
    pub async fn conduct(
        &self,
        mut signals: impl Stream<Item = &'static str> + Unpin,
        Grace {
            keep_serving,
            drain,
        }: Grace,
    ) {
        self.leave();
        let steps = async {
            sleep(keep_serving).await;
            self.drain();
            sleep(drain).await;
            warn!("Requests are left after the time to drain, they are cut");
        };
        tokio::select! {
            biased;
            // Cancel-safe: a signal that is not received here is not needed later.
            Some(name) = signals.next() => warn!(signal = name, "Second signal, aborting"),
            () = steps => {}
        }
        self.abort();
    }
}

/// Returns the SIGTERMs and SIGINTs of this process, by name, as they arrive.
///
/// # Errors
///
/// A handler cannot be installed.
pub(crate) fn signals() -> io::Result<impl Stream<Item = &'static str> + Unpin> {
    let each = |kind, name| {
        let signals = stream::unfold(signal(kind)?, move |mut signals| async move {
            signals.recv().await.map(|()| (name, signals))
        });
        io::Result::Ok(signals.boxed())
    };
    Ok(stream::select(
        each(SignalKind::terminate(), "SIGTERM")?,
        each(SignalKind::interrupt(), "SIGINT")?,
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures::FutureExt;
    use tokio::time::Instant;

    #[tokio::test(start_paused = true)]
    async fn the_steps_come_one_after_the_other() {
        let (shutdown, start) = (Shutdown::default(), Instant::now());
        let seconds = async || {
            shutdown.leaving().await;
            let leaving = start.elapsed().as_secs();
            shutdown.draining().await;
            let draining = start.elapsed().as_secs();
            shutdown.aborting().await;
            [leaving, draining, start.elapsed().as_secs()]
        };
        let conducted = shutdown.conduct(stream::pending(), Grace::default());
        let ((), seconds) = tokio::join!(conducted, seconds());
        assert_eq!(seconds, [0, 10, 16]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_signal_aborts() {
        let (shutdown, start) = (Shutdown::default(), Instant::now());
        let again = stream::once(async { "SIGTERM" }).boxed();
        shutdown.conduct(again, Grace::default()).await;
        assert!(shutdown.draining().now_or_never().is_some());
        assert!(shutdown.aborting().now_or_never().is_some());
        assert_eq!(start.elapsed().as_secs(), 0);
    }
}
