//! A figure: as a text for readers, and as a number that a program compares.

use harness::samples::{Samples, millis};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// A measured figure, or a text in its place. Less is better, except for a rate a second.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Measure {
    /// The figure as a text for readers.
    pub(crate) text: String,
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) number: Option<Number>,
}

/// The figure as a number that a program compares.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Number {
    pub(crate) unit: Unit,
    pub(crate) median: f64,
    /// The percentiles, which tell how far the figure strays between its samples; `None` where it was measured once.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) spread: Option<Spread>,
}

/// Percentiles beside the median.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Spread {
    pub(crate) p25: f64,
    pub(crate) p75: f64,
    pub(crate) p99: f64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Unit {
    #[serde(rename = "ms")]
    Millis,
    #[serde(rename = "bytes")]
    Bytes,
    #[serde(rename = "% of a core")]
    Percent,
    #[serde(rename = "a minute")]
    PerMinute,
    #[serde(rename = "instructions")]
    Instructions,
    /// A number a second, of which more is better.
    #[serde(rename = "a second")]
    PerSecond,
}

impl Unit {
    /// Whether a bigger figure of this unit is the better one: only of a rate a second.
    pub(crate) fn more_is_better(self) -> bool {
        self == Self::PerSecond
    }
}

impl Number {
    /// Returns our figure divided by a peer's, by their 99th percentiles where both have them, else by their medians; `None` where the peer's is
    /// zero.
    pub(crate) fn ratio(&self, peer: &Self) -> Option<f64> {
        let (own, other) = match (self.spread, peer.spread) {
            (Some(own), Some(other)) => (own.p99, other.p99),
            _ => (self.median, peer.median),
        };
        (other > 0.0).then(|| own / other)
    }
}

impl Measure {
    /// Returns a figure that was measured once, without percentiles: its text, its unit and its number.
    pub(crate) fn once(text: impl Into<String>, unit: Unit, median: f64) -> Self {
        let number = Number {
            unit,
            median,
            spread: None,
        };
        Self {
            text: text.into(),
            number: Some(number),
        }
    }

    /// Returns a rate as a figure, e.g. `13524 a second`.
    pub(crate) fn per_second(rate: f64) -> Self {
        Self::once(format!("{rate:.0} a second"), Unit::PerSecond, rate)
    }

    /// Returns a text without a number: the reason why a figure was not measured.
    pub(crate) fn skipped(reason: &anyhow::Error) -> Self {
        Self::from(format!("skipped: {reason:#}"))
    }

    /// Returns a number of bytes as a figure, e.g. `2.3 MB`.
    pub(crate) fn bytes(bytes: u64) -> Self {
        Self::once(megabytes(bytes), Unit::Bytes, as_number(bytes))
    }
}

impl From<&Samples> for Measure {
    fn from(samples: &Samples) -> Self {
        let at = |percent| in_millis(samples.percentile(percent));
        let number = Number {
            unit: Unit::Millis,
            median: at(50),
            spread: Some(Spread {
                p25: at(25),
                p75: at(75),
                p99: at(99),
            }),
        };
        Self {
            text: samples.to_string(),
            number: Some(number),
        }
    }
}

impl From<Duration> for Measure {
    fn from(duration: Duration) -> Self {
        Self::once(millis(duration), Unit::Millis, in_millis(duration))
    }
}

impl From<String> for Measure {
    fn from(text: String) -> Self {
        Self { text, number: None }
    }
}

/// Writes a number of bytes in megabytes, cut to one decimal: `2.3 MB`.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
}

#[expect(clippy::cast_precision_loss, reason = "sizes that a machine has")]
pub(crate) fn as_number(count: u64) -> f64 {
    count as f64
}

pub(crate) fn in_millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
