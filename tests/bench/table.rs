//! One table: in Markdown to read, in JSON to compare with that of another build.

use anyhow::{Context, Result};
use harness::samples::{Samples, millis};
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::Duration;

/// What was measured, and how.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Table {
    /// What the figures depend on.
    pub(crate) machine: String,
    pub(crate) rows: Vec<Row>,
}

/// A figure of the table.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// What names it in every run.
    pub(crate) what: String,
    how: String,
    #[serde(flatten)]
    pub(crate) measure: Measure,
    /// What its median is to be at most, in its unit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<f64>,
}

/// What came out. Less is better.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Measure {
    /// As people read it.
    pub(crate) text: String,
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    pub(crate) number: Option<Number>,
}

/// The same for a program.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(crate) struct Number {
    pub(crate) unit: Unit,
    pub(crate) median: f64,
    /// What of it says how far it strays by itself; where it was measured once, nothing does.
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
}

impl Measure {
    /// Measured once.
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

    /// `2.3 MB`
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

impl Row {
    /// Says what the median is to be at most, in its unit.
    pub(crate) fn at_most(&mut self, target: f64) {
        self.target = Some(target);
    }

    /// `met` or `not met`; nothing where there is no target.
    fn met(&self) -> Option<String> {
        let (target, number) = (self.target?, self.measure.number?);
        let word = if number.median <= target {
            "met"
        } else {
            "not met"
        };
        let target = match number.unit {
            Unit::Millis => format!("{target} ms"),
            Unit::Bytes => format!("{target} bytes"),
            Unit::Percent => format!("{target} %"),
            Unit::PerMinute => format!("{target} a minute"),
        };
        Some(format!("at most {target}: {word}"))
    }
}

impl Table {
    /// What the figures depend on.
    pub(crate) fn machine(&mut self, machine: &str, version: &str) {
        self.machine = format!("{machine}; API server {version}");
    }

    /// A figure.
    pub(crate) fn row(&mut self, what: &str, measure: impl Into<Measure>, how: &str) -> &mut Row {
        let measure = measure.into();
        eprintln!("    {what}: {}", measure.text);
        let end = self.rows.len();
        self.rows.push(Row {
            what: what.to_owned(),
            how: how.to_owned(),
            measure,
            target: None,
        });
        &mut self.rows[end]
    }

    /// To standard output. One that nobody reads is no error.
    pub(crate) fn print(&self) {
        let mut lines = vec![
            self.machine.clone(),
            String::new(),
            "| figure | value | target | how measured |".to_owned(),
            "| --- | --- | --- | --- |".to_owned(),
        ];
        lines.extend(self.rows.iter().map(|row| {
            let target = row.met().unwrap_or_default();
            format!(
                "| {} | {} | {target} | {} |",
                row.what, row.measure.text, row.how
            )
        }));
        let text = lines.join("\n") + "\n";
        let _ = std::io::stdout().write_all(text.as_bytes());
    }

    /// Into a file, for [`crate::compare`].
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let file = File::create(path).with_context(|| format!("failed to make {}", path.display()));
        Ok(serde_json::to_writer_pretty(file?, self)?)
    }

    /// What [`Self::write`] wrote.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let file =
            File::open(path).with_context(|| format!("failed to open {}", path.display()))?;
        serde_json::from_reader(file)
            .with_context(|| format!("{} is no table of `make bench`", path.display()))
    }
}

/// `2.3 MB`
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
}

#[expect(clippy::cast_precision_loss, reason = "sizes that a machine has")]
pub(crate) fn as_number(count: u64) -> f64 {
    count as f64
}

fn in_millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1000.0
}
