//! What the listeners put up with, and how much of it there is memory for.

use super::metrics::Port;
use crate::connections::Bounds;
use std::time::Duration;

// How many sixty-fourths of the memory the connections of each port may take; what is left is for everything that is known.
/// Five eighths: with 256 MiB that is room for 10 240 gates that wait.
const STATUS: u64 = 40;
/// An eighth.
const ADMISSION: u64 = 8;
/// One.
const ADMIN: u64 = 1;
const _: () = assert!(STATUS + ADMISSION + ADMIN < 64);

/// What one connection may cost beside what is read ahead of it, in bytes: its TLS session and half of a record.
const EACH: u64 = 48 * 1024;

/// What one listener puts up with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// How many connections there may be.
    pub connections: Bounds,
    /// The most that is read ahead of a connection, in bytes, and so the longest request head.
    pub read_ahead: usize,
    /// The most that TLS takes from the kernel at a time, in bytes; 0 leaves it at a quarter of a record, without a buffer.
    pub ciphertext: usize,
    /// What the kernel holds of a connection in each direction, in bytes; it takes twice as much. It counts as ours.
    pub buffered: u32,
    /// From the TCP connection to the end of the TLS handshake.
    pub handshake: Duration,
    /// From the TCP connection to the end of the first request's head.
    pub first: Duration,
    /// From the first byte of a request head to its last.
    pub header: Duration,
    /// From the end of the head to the beginning of the answer, so the reading of the body is in it.
    pub request: Duration,
    /// From the moment that the client does not take more of an answer, until it has taken all.
    pub answer: Duration,
    /// The longest pause between two requests.
    pub idle: Duration,
    /// The oldest that a connection gets; each draws its own age between half of it and all, so that clients spread over
    /// replicas again and leave one that is gone (kubernetes/kubernetes#127335).
    pub age: Duration,
}

impl ServerLimits {
    /// What a port puts up with of a process that has so many bytes of memory; `None`: as many as it needs.
    pub fn of(port: Port, memory: Option<u64>) -> Self {
        let (limits, share) = match port {
            Port::Status => (Self::status(), STATUS),
            Port::Admission => (Self::admission(), ADMISSION),
            Port::Admin => (Self::admin(), ADMIN),
        };
        match memory {
            Some(memory) => limits.within(memory / 64 * share),
            None => limits,
        }
    }

    /// For the API server, which sends an admission request and waits a few seconds.
    pub const fn admission() -> Self {
        Self {
            connections: Bounds {
                all: 1024,
                per_client: 256,
                sharing: 1,
            },
            // Bodies are long.
            read_ahead: 64 * 1024,
            ciphertext: 16 * 1024,
            buffered: 64 * 1024,
            handshake: Duration::from_secs(5),
            // Go's client keeps what it has connected and did not need: closed in the moment of its first use, that
            // would cost an admission. Where there are too many, these go first.
            first: Duration::from_secs(120),
            header: Duration::from_secs(5),
            request: Duration::from_secs(10),
            answer: Duration::from_secs(10),
            // Longer than the 90 s after which Go's client lets go of a connection by itself.
            idle: Duration::from_secs(120),
            age: Duration::from_secs(120),
        }
    }

    /// For gates: one connection each, mostly in a long poll.
    pub const fn status() -> Self {
        Self {
            connections: Bounds {
                all: 8192,
                // Pods on the host's network share its address.
                per_client: 512,
                // One that waits, be it for its turn, has sent its head. Ten thousand take 18 KiB each, and 222 MB in all while
                // they come, not the 16 KiB of a quarter: what is left of the limit bears that.
                sharing: 4,
            },
            // The head of a gate's request is its token, and that is below 4 KiB.
            read_ahead: 16 * 1024,
            ciphertext: 0,
            buffered: 16 * 1024,
            first: Duration::from_secs(5),
            request: Duration::from_secs(90),
            idle: Duration::from_secs(60),
            // A question is held for minutes, and a new connection costs more than an answer.
            age: Duration::from_secs(30 * 60),
            ..Self::admission()
        }
    }

    /// For probes and scrapes.
    pub const fn admin() -> Self {
        Self {
            connections: Bounds {
                all: 128,
                per_client: 64,
                sharing: 1,
            },
            request: Duration::from_secs(10),
            age: Duration::from_secs(120),
            ..Self::status()
        }
    }

    /// No more places than fit into so many bytes, whatever is done there.
    #[must_use]
    pub fn within(self, bytes: u64) -> Self {
        let fitting = bytes / (EACH + self.read_ahead as u64 + self.ciphertext as u64);
        let fitting = usize::try_from(fitting).unwrap_or(usize::MAX).max(1);
        let connections = Bounds {
            all: self.connections.all.min(fitting),
            ..self.connections
        };
        Self {
            connections,
            ..self
        }
    }
}
