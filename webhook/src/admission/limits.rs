//! The bounds on the memory and time of admission.

use std::time::Duration;

/// Bounds on the memory and the time of the bodies of reviews: of each alone, and of all together.
#[derive(Debug, Clone, Copy)]
pub struct AdmissionLimits {
    /// The longest body, in bytes. A review may hold two objects of 3 MiB each.
    pub body: usize,
    /// The most JSON values in the body of one admission request.
    pub values: usize,
    /// The most bytes that one body may take once it is decoded.
    pub decoded: usize,
    /// The length in bytes beyond which a body is large: large bodies are read and decoded one at a time.
    pub long: usize,
    /// The decoded size in bytes beyond which a body is large too.
    pub heavy: usize,
    /// The bytes that all bodies that are not large may take together.
    pub in_flight: usize,
    /// The number of bytes of each body that do not count for `in_flight`, so that a usual body is always read.
    pub uncharged: usize,
    /// The time from the arrival of the request within which its whole body has to arrive.
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
    /// Lowers the bounds on a decoded body and on all bodies together to an eighth and a sixteenth of `memory`, the bytes that the whole process has,
    /// where they are higher.
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
