//! The bounds on the memory and time of admission.

use std::time::Duration;

/// Bounds on the bodies of reviews: alone, and all together.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionLimits {
    /// The longest body, in bytes. A review may hold two objects of 3 MiB each.
    pub body: usize,
    /// The most JSON values in the body of one admission request.
    pub values: usize,
    /// The most bytes that one body may take once it is decoded.
    pub decoded: usize,
    /// A longer body, in bytes, is large: large bodies are read and decoded one at a time.
    pub long: usize,
    /// A body that takes more bytes than this once it is decoded is large too.
    pub heavy: usize,
    /// The bytes that all bodies that are not large may take together.
    pub in_flight: usize,
    /// The first bytes of each body do not count for `in_flight`, so a usual body is always read.
    pub uncharged: usize,
    /// The time within which a body has to arrive.
    pub deadline: Duration,
}

impl Default for AdmissionLimits {
    fn default() -> Self {
        Self {
            body: 7 << 20,
            values: 300_000,
            decoded: 128 << 20,
            long: 1 << 20,
            heavy: 4 << 20,
            in_flight: 64 << 20,
            uncharged: 64 << 10,
            deadline: Duration::from_secs(2),
        }
    }
}

impl AdmissionLimits {
    /// Lowers the bounds to a share of `memory`, the bytes that the whole process has.
    #[must_use]
    pub fn within(self, memory: u64) -> Self {
        let part = |part| usize::try_from(memory / part).unwrap_or(usize::MAX);
        Self {
            decoded: self.decoded.min(part(8)),
            in_flight: self.in_flight.min(part(16)),
            ..self
        }
    }
}
