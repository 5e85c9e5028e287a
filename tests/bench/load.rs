//! Many clients that each send the same review again and again, without a pause.

use crate::measure::as_number;
use crate::reviews::{Endpoint, Reviews};
use anyhow::{Context, Result};
use std::sync::Barrier;
use std::thread;
use std::time::{Duration, Instant};

/// The number of clients, and the way in which they connect.
#[derive(Clone, Copy)]
pub(crate) struct Load {
    pub(crate) clients: usize,
    pub(crate) connection: Connection,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Connection {
    /// Each client keeps one connection, as the API server does.
    Kept,
    /// Each review has a new connection, with a whole handshake.
    Fresh,
}

/// The answers and durations that the clients saw, over one run or several.
#[derive(Default)]
pub(crate) struct Seen {
    pub(crate) took: Vec<Duration>,
    pub(crate) time: Duration,
}

impl Seen {
    /// Returns the number of reviews a second over all runs.
    pub(crate) fn rate(&self) -> f64 {
        as_number(self.took.len() as u64) / self.time.as_secs_f64()
    }

    /// Divides a time by the number of reviews.
    pub(crate) fn each(&self, time: Duration) -> Duration {
        time.div_f64(as_number(self.took.len() as u64).max(1.0))
    }
}

impl Load {
    /// Sends the same review by all clients at the same time, again and again for `time`, and adds the duration of each review, and the whole time,
    /// to `seen`. It blocks.
    pub(crate) fn run(
        &self,
        endpoint: &Endpoint,
        review: &str,
        time: Duration,
        seen: &mut Seen,
    ) -> Result<()> {
        let connected = Barrier::new(self.clients + 1);
        let client = || {
            let reviews = connected_to(endpoint, review);
            connected.wait();
            self.client(endpoint, review, reviews?, time)
        };
        thread::scope(|scope| {
            let clients: Vec<_> = (0..self.clients).map(|_| scope.spawn(client)).collect();
            connected.wait();
            let began = Instant::now();
            for client in clients {
                let took = client.join().ok().context("a client panicked")??;
                seen.took.extend(took);
            }
            seen.time += began.elapsed();
            Ok(())
        })
    }

    fn client(
        &self,
        endpoint: &Endpoint,
        review: &str,
        mut kept: Reviews,
        time: Duration,
    ) -> Result<Vec<Duration>> {
        let (end, mut took) = (Instant::now() + time, vec![]);
        while Instant::now() < end {
            match self.connection {
                Connection::Kept => took.push(kept.next()?),
                Connection::Fresh => {
                    let began = Instant::now();
                    Reviews::begin(endpoint, review)?.next()?;
                    took.push(began.elapsed());
                }
            }
        }
        Ok(took)
    }
}

fn connected_to(endpoint: &Endpoint, review: &str) -> Result<Reviews> {
    let mut reviews = Reviews::begin(endpoint, review)?;
    reviews.next()?;
    Ok(reviews)
}
