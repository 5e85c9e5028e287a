//! How much the process is willing to hold.

use std::time::Duration;

/// What becomes of a body that is too much, or that comes while too much is held.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionLimits {
    /// Bytes of one body. A review may hold two objects of 3 MiB each.
    pub body: usize,
    /// Values in one body.
    pub values: usize,
    /// Bytes that one body may take once it is decoded.
    pub decoded: usize,
    /// Beyond so many bytes a body is read and decoded while no other such one is.
    pub long: usize,
    /// The same for one that takes so many decoded.
    pub heavy: usize,
    /// Bytes of all other bodies that are being read or answered,
    pub in_flight: usize,
    /// without the first of each, so that a usual one is always read.
    pub uncharged: usize,
    /// Time for a body to arrive.
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
    /// No more than fits into so many bytes of memory that the whole process has.
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
