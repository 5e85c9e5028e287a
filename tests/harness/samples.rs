//! Measured durations, and their percentiles.

use std::fmt;
use std::time::Duration;

/// Measured durations, the shortest first; at least one.
#[derive(Debug, Clone)]
pub struct Samples(Vec<Duration>);

impl Samples {
    /// Sorts measured durations, which may come in any order.
    ///
    /// # Panics
    ///
    /// `durations` is empty.
    pub fn new(mut durations: Vec<Duration>) -> Self {
        assert!(!durations.is_empty(), "nothing was measured");
        durations.sort_unstable();
        Self(durations)
    }

    /// Returns the number of durations.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Returns a percentile by nearest rank: a measured duration, never a value in between.
    pub fn percentile(&self, percent: usize) -> Duration {
        let rank = (self.0.len() * percent).div_ceil(100);
        self.0[rank.max(1) - 1]
    }

    /// Returns the longest duration.
    pub fn longest(&self) -> Duration {
        self.percentile(100)
    }
}

impl fmt::Display for Samples {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (half, most) = (self.percentile(50), self.percentile(99));
        write!(out, "p50 {}, p99 {}", millis(half), millis(most))
    }
}

/// Formats a duration in milliseconds: with two decimals below ten (`0.42 ms`), else with none (`42 ms`).
pub fn millis(duration: Duration) -> String {
    let millis = duration.as_secs_f64() * 1000.0;
    let digits = if millis < 10.0 { 2 } else { 0 };
    format!("{millis:.digits$} ms")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_is_one_of_the_samples() {
        let of = |count: u64| Samples::new((1..=count).rev().map(Duration::from_millis).collect());
        let at = |count, percent| of(count).percentile(percent).as_millis();
        assert_eq!((at(1, 0), at(1, 50), at(1, 100)), (1, 1, 1));
        assert_eq!((at(10, 50), at(10, 99), at(10, 100)), (5, 10, 10));
        assert_eq!((at(200, 50), at(200, 99), at(200, 100)), (100, 198, 200));
        assert_eq!(of(200).to_string(), "p50 100 ms, p99 198 ms");
        assert_eq!(millis(Duration::from_micros(417)), "0.42 ms");
    }
}
