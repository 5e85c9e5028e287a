//! From the first SIGTERM to the exit, in steps that a client does not notice.
//!
//! 1. **Leaving**: `/ready` turns red, requests are answered as before but with `Connection: close`. Endpoints and
//!    kube-proxy need a second or two to learn that this replica is going; until then requests still arrive.
//! 2. **Draining**: no new connections; the ones that are in the middle of a request may end it.
//! 3. **Aborting**: whatever is left is cut.
//!
//! A second signal at any time aborts.

use std::{io, time::Duration};

use tokio::{
    signal::unix::{SignalKind, signal},
    sync::mpsc,
    time::sleep,
};
use tokio_util::sync::CancellationToken;
use tracing::{info, warn};

use crate::readiness::Condition;

/// How far the process has come on its way out. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Shutdown {
    leaving: CancellationToken,
    draining: CancellationToken,
    aborting: CancellationToken,
}

/// How long the steps take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace {
    /// From the signal to the end of accepting connections.
    pub keep_serving: Duration,
    /// From there until what is left is cut: longer than the longest request.
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
    /// Whether the first signal has come.
    pub fn is_leaving(&self) -> bool {
        self.leaving.is_cancelled()
    }

    /// Waits for the first signal. Background work that writes to the cluster ends here.
    pub async fn leaving(&self) {
        self.leaving.cancelled().await;
    }

    /// Waits until no new connections are wanted. A long poll answers now.
    pub async fn draining(&self) {
        self.draining.cancelled().await;
    }

    /// Waits until everything has to stop at once.
    pub async fn aborting(&self) {
        self.aborting.cancelled().await;
    }

    /// Takes the first step: [`Shutdown::conduct`] does it on a signal.
    pub fn leave(&self) {
        self.leaving.cancel();
    }

    /// Takes the first two steps.
    pub fn drain(&self) {
        self.leave();
        self.draining.cancel();
    }

    /// Takes every step at once.
    pub fn abort(&self) {
        self.drain();
        self.aborting.cancel();
    }

    /// Waits for a signal and goes through the steps; `serving` is the condition that the first step takes back.
    /// Returns when the last step is taken; the process may end earlier, when nothing is left to drain.
    pub async fn conduct(
        &self,
        mut signals: mpsc::Receiver<&'static str>,
        serving: Condition,
        grace: Grace,
    ) {
        let Some(name) = signals.recv().await else {
            return;
        };
        let Grace {
            keep_serving,
            drain,
        } = grace;
        info!(signal = name, ?keep_serving, ?drain, "Shutting down");
        serving.unmet("this replica is shutting down");
        self.leave();
        let steps = async {
            sleep(keep_serving).await;
            self.drain();
            sleep(drain).await;
            warn!("Requests are left after the time to drain, they are cut");
        };
        tokio::select! {
            biased;
            // Cancel-safe: a signal that is not received here is not needed by anybody later.
            Some(name) = signals.recv() => warn!(signal = name, "Second signal, aborting"),
            () = steps => {}
        }
        self.abort();
    }
}

/// SIGTERM and SIGINT of this process, by name, as they come.
///
/// # Errors
///
/// When a handler cannot be installed.
pub fn signals() -> io::Result<mpsc::Receiver<&'static str>> {
    let (sender, receiver) = mpsc::channel(2);
    for (kind, name) in [
        (SignalKind::terminate(), "SIGTERM"),
        (SignalKind::interrupt(), "SIGINT"),
    ] {
        let mut stream = signal(kind)?;
        let sender = sender.clone();
        tokio::spawn(async move {
            while stream.recv().await.is_some() {
                // Full means that two are waiting already, and a third says nothing new.
                let _ = sender.try_send(name);
            }
        });
    }
    Ok(receiver)
}

#[cfg(test)]
mod tests {
    use tokio::time::Instant;

    use super::*;
    use crate::readiness::Readiness;

    struct Run {
        shutdown: Shutdown,
        readiness: Readiness,
        signals: mpsc::Sender<&'static str>,
        start: Instant,
        conducted: tokio::task::JoinHandle<()>,
    }

    fn run() -> Run {
        let (signals, receiver) = mpsc::channel(2);
        let (shutdown, readiness) = (Shutdown::default(), Readiness::default());
        let serving = readiness.condition("serving", "starting");
        serving.met();
        let conducted = tokio::spawn({
            let shutdown = shutdown.clone();
            async move { shutdown.conduct(receiver, serving, Grace::default()).await }
        });
        Run {
            shutdown,
            readiness,
            signals,
            start: Instant::now(),
            conducted,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_signal_takes_the_steps_one_after_the_other() {
        let Run {
            shutdown,
            readiness,
            signals,
            start,
            conducted,
        } = run();
        assert!(readiness.missing().is_empty());
        signals.send("SIGTERM").await.unwrap();
        shutdown.leaving().await;
        assert_eq!(start.elapsed().as_secs(), 0);
        assert_eq!(
            readiness.missing()[0].to_string(),
            "serving: this replica is shutting down"
        );
        shutdown.draining().await;
        assert_eq!(start.elapsed().as_secs(), 10);
        shutdown.aborting().await;
        assert_eq!(start.elapsed().as_secs(), 16);
        conducted.await.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn a_second_signal_aborts() {
        let Run {
            shutdown,
            signals,
            start,
            conducted,
            ..
        } = run();
        signals.send("SIGTERM").await.unwrap();
        shutdown.leaving().await;
        signals.send("SIGTERM").await.unwrap();
        conducted.await.unwrap();
        shutdown.draining().await;
        shutdown.aborting().await;
        assert_eq!(start.elapsed().as_secs(), 0);
    }
}
