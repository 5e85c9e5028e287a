//! One table: in Markdown to read, in JSON to compare with that of another build.

use crate::measure::{Measure, Unit};
use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::fs::File;
use std::io::Write;
use std::path::Path;

/// The table of a run: each figure, and how it was measured.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct Table {
    /// The machine and the version of the API server, on which the figures depend.
    pub(crate) machine: String,
    pub(crate) rows: Vec<Row>,
}

/// A figure of the table.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Row {
    /// The name of the figure, which is the same in every run.
    pub(crate) what: String,
    how: String,
    #[serde(flatten)]
    pub(crate) measure: Measure,
    /// The target of the median, in the unit of the figure: its upper limit, or for a rate a second its lower limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    target: Option<f64>,
    /// The figures of peers for the same work in the same run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    peers: Vec<Peer>,
}

/// A peer's figure beside ours.
#[derive(Debug, Serialize, Deserialize)]
struct Peer {
    name: String,
    #[serde(flatten)]
    measure: Measure,
    /// Our figure as a multiple of the peer's, with its target; `None` where the peer was not measured.
    #[serde(default, flatten, skip_serializing_if = "Option::is_none")]
    ratio: Option<Ratio>,
}

/// The ratio of our figure to a peer's: of the 99th percentiles where both have them, else of the medians.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Ratio {
    ratio: f64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ratio_target: Option<f64>,
}

impl Row {
    /// Sets the target of the row's median, in the unit of the figure: its upper limit, or for a rate a second its lower limit.
    pub(crate) fn at_most(&mut self, target: f64) -> &mut Self {
        self.target = Some(target);
        self
    }

    /// Adds another program's figure for the same work in the same run, and the target of our figure as a multiple of it; `None` where there is no
    /// target.
    pub(crate) fn beside(
        &mut self,
        name: &str,
        measure: impl Into<Measure>,
        target: Option<f64>,
    ) -> &mut Self {
        let measure = measure.into();
        let numbers = self.measure.number.zip(measure.number);
        let ratio = numbers.and_then(|(own, other)| own.ratio(&other));
        let peer = Peer {
            name: name.to_owned(),
            measure,
            ratio: ratio.map(|ratio| Ratio {
                ratio,
                ratio_target: target,
            }),
        };
        eprintln!("        {peer}");
        self.peers.push(peer);
        self
    }

    /// Returns the texts of the row's targets, such as `at most 12 ms: met`: first that of the figure, then those of the ratios; empty where there is
    /// none.
    fn targets(&self) -> String {
        let Some(number) = self.measure.number else {
            return String::new();
        };
        let unit = number.unit;
        let said = |figure: f64, target: f64, of: &str| {
            let (bound, met) = if unit.more_is_better() {
                ("at least", figure >= target)
            } else {
                ("at most", figure <= target)
            };
            let word = if met { "met" } else { "not met" };
            format!("{bound} {target}{of}: {word}")
        };
        let of = match unit {
            Unit::Millis => " ms",
            Unit::Bytes => " bytes",
            Unit::Percent => " %",
            Unit::PerMinute => " a minute",
            Unit::PerSecond => " a second",
            Unit::Instructions => " instructions",
        };
        let own = self.target.map(|target| said(number.median, target, of));
        let ratios = self.peers.iter().filter_map(|peer| {
            let ratio = peer.ratio?;
            let of = format!(" times {}", peer.name);
            Some(said(ratio.ratio, ratio.ratio_target?, &of))
        });
        let all: Vec<_> = own.into_iter().chain(ratios).collect();
        all.join("; ")
    }
}

impl fmt::Display for Peer {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.name, self.measure.text)?;
        let Some(ratio) = self.ratio else {
            return Ok(());
        };
        let digits = if ratio.ratio < 0.1 { 4 } else { 2 };
        write!(out, ", ours {:.digits$} times it", ratio.ratio)
    }
}

impl Table {
    /// Notes the machine and the version of the API server, on which the figures depend.
    pub(crate) fn machine(&mut self, machine: &str, version: &str) {
        self.machine = format!("{machine}; API server {version}");
    }

    /// Adds a row with a figure and prints it to standard error. `what` is its name, `how` says how it was measured.
    pub(crate) fn row(&mut self, what: &str, measure: impl Into<Measure>, how: &str) -> &mut Row {
        let measure = measure.into();
        eprintln!("    {what}: {}", measure.text);
        let end = self.rows.len();
        self.rows.push(Row {
            what: what.to_owned(),
            how: how.to_owned(),
            measure,
            target: None,
            peers: vec![],
        });
        &mut self.rows[end]
    }

    /// Prints the table to standard output, as Markdown with a line for each figure. A reader that has gone is no error.
    pub(crate) fn print(&self) {
        let mut lines = vec![
            self.machine.clone(),
            String::new(),
            "| figure | value | beside it | target | how measured |".to_owned(),
            "| --- | --- | --- | --- | --- |".to_owned(),
        ];
        lines.extend(self.rows.iter().map(|row| {
            let peers: Vec<_> = row.peers.iter().map(Peer::to_string).collect();
            let (peers, targets) = (peers.join("; "), row.targets());
            format!(
                "| {} | {} | {peers} | {targets} | {} |",
                row.what, row.measure.text, row.how
            )
        }));
        let text = lines.join("\n") + "\n";
        let _ = std::io::stdout().write_all(text.as_bytes());
    }

    /// Writes the table into a file, for [`crate::compare`].
    pub(crate) fn write(&self, path: &Path) -> Result<()> {
        let file = File::create(path).with_context(|| format!("failed to make {}", path.display()));
        Ok(serde_json::to_writer_pretty(file?, self)?)
    }

    /// Reads a table from a file that [`Self::write`] wrote.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let file =
            File::open(path).with_context(|| format!("failed to open {}", path.display()))?;
        serde_json::from_reader(file)
            .with_context(|| format!("{} is no table of `make bench`", path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use harness::samples::Samples;
    use std::time::Duration;

    #[test]
    fn a_peer_is_compared_by_what_the_target_is_of() {
        let times = |range: std::ops::RangeInclusive<u64>| {
            Samples::new(range.map(Duration::from_millis).collect())
        };
        let mut table = Table::default();
        table.row("time", &times(1..=100), "").at_most(60.0).beside(
            "peer",
            &times(901..=1000),
            Some(0.05),
        );
        assert_eq!(
            table.rows[0].targets(),
            "at most 60 ms: met; at most 0.05 times peer: not met"
        );
        assert_eq!(
            table.rows[0].peers[0].to_string(),
            "peer: p50 950 ms, p99 999 ms, ours 0.0991 times it"
        );
        table
            .row("rate", Measure::per_second(700.0), "")
            .beside("peer", Measure::per_second(100.0), Some(6.0))
            .beside("other", Measure::skipped(&anyhow::anyhow!("no Go")), None);
        assert_eq!(table.rows[1].targets(), "at least 6 times peer: met");
        assert_eq!(table.rows[1].peers[1].to_string(), "other: skipped: no Go");
        let text = serde_json::to_string(&table).expect("JSON");
        let read: Table = serde_json::from_str(&text).expect("the same JSON");
        assert_eq!(read.rows[0].targets(), table.rows[0].targets());
    }
}
