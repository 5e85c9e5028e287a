//! The bounds of each listener, and the memory that they rest on.

use super::metrics::Port;
use crate::connections::Bounds;
use std::time::Duration;

// The shares below are 64ths of the memory. The rest of the memory is for the objects that the replica knows.
/// The share of the status port, in 64ths of the memory: with 256 MiB it fits 10 240 questions of gates.
const STATUS: u64 = 40;
/// The share of admission's port, in 64ths of the memory.
const ADMISSION: u64 = 8;
/// The share of the port for probes and metrics, in 64ths of the memory.
const ADMIN: u64 = 1;
const _: () = assert!(STATUS + ADMISSION + ADMIN < 64);

/// The part of the places, one in so many, that stays free of held requests, for clients that are not known yet.
const UNKNOWN: usize = 64;

/// The most bytes of one connection beside its read-ahead buffer and its buffer for TLS: its TLS session and half of a record.
const EACH: u64 = 48 * 1024;

/// The bounds of one listener.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// The bounds on the number of the listener's connections.
    pub connections: Bounds,
    /// The most bytes that are read ahead of a connection, which is also the longest request head.
    pub read_ahead: usize,
    /// The most bytes that TLS takes from the kernel at a time. 0 means no buffer, so TLS reads a quarter of a
    /// record.
    pub ciphertext: usize,
    /// The bytes that the kernel buffers for a connection in each direction. The kernel takes twice as much, which
    /// counts as ours.
    pub buffered: u32,
    /// The time from the TCP connection to the end of the TLS handshake.
    pub handshake: Duration,
    /// The time from the TCP connection to the end of the first request's head.
    pub first: Duration,
    /// The time from the first byte of a request head to its last.
    pub header: Duration,
    /// The time from the end of the head to the beginning of the answer, with the reading of the body.
    pub request: Duration,
    /// The time from the moment when the client stops reading an answer to the end of that answer.
    pub answer: Duration,
    /// The longest pause between two requests of a connection.
    pub idle: Duration,
    /// The greatest age of a connection: an older one ends with its next answer. Each connection draws its own age between half of it and all, so
    /// that clients spread over replicas again and leave a replica that is gone (kubernetes/kubernetes#127335).
    pub age: Duration,
}

impl ServerLimits {
    /// Returns the bounds of a port, for a process with so many bytes of memory: the number of connections has to fit into the port's share. `None`
    /// means unlimited memory.
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

    /// The bounds for the API server, which sends an admission request and waits a few seconds.
    pub const fn admission() -> Self {
        Self {
            connections: Bounds {
                all: 1024,
                per_client: 256,
                sharing: 1,
            },
            // Bodies of reviews are long.
            read_ahead: 64 * 1024,
            ciphertext: 16 * 1024,
            buffered: 64 * 1024,
            handshake: Duration::from_secs(5),
            // Go's client keeps connections that it opened and did not need yet. Closing such a connection at the
            // moment of its first use would cost an admission. Where there are too many connections, these are cut
            // first.
            first: Duration::from_secs(120),
            header: Duration::from_secs(5),
            request: Duration::from_secs(10),
            answer: Duration::from_secs(10),
            // Longer than the 90 s after which Go's client closes an idle connection by itself.
            idle: Duration::from_secs(120),
            age: Duration::from_secs(120),
        }
    }

    /// The bounds for gates: one connection each, mostly in a long poll.
    pub const fn status() -> Self {
        Self {
            connections: Bounds {
                all: 8192,
                // Pods on the host's network share the host's address.
                per_client: 512,
                // A waiting connection has sent its head, so four of them share a place of 64 KiB. Ten thousand
                // waiting connections take 19.3 KiB each, and 225 MB in all while they connect. The memory beside the
                // shares covers what exceeds 16 KiB each.
                sharing: 4,
            },
            // The head of a gate's request is mostly its token, which has less than 4 KiB.
            read_ahead: 16 * 1024,
            ciphertext: 0,
            buffered: 16 * 1024,
            first: Duration::from_secs(5),
            request: Duration::from_secs(90),
            idle: Duration::from_secs(60),
            // A request stays open for minutes, and a new connection costs more than an answer.
            age: Duration::from_secs(30 * 60),
            ..Self::admission()
        }
    }

    /// Returns the limits of the listener for probes and scrapes: its own for connections, requests and age, else those of the status port.
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

    /// Returns the most requests that are held open at a time. The remaining places are for clients that are not known yet: without
    /// them a gate could not even ask for the place of another.
    pub fn waits(&self) -> usize {
        let waits = self.connections.all * self.connections.sharing;
        waits - waits.div_ceil(UNKNOWN)
    }

    /// Lowers the number of places to those that fit into `bytes` of memory, but not below one.
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
