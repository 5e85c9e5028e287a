//! One table, in Markdown, printed when everything is measured or something has failed.

use std::io::Write;

/// What was measured, and how.
#[derive(Debug, Default)]
pub(crate) struct Table {
    machine: String,
    rows: Vec<[String; 3]>,
}

impl Table {
    /// What the figures depend on.
    pub(crate) fn machine(&mut self, machine: &str, version: &str) {
        self.machine = format!("{machine}; API server {version}");
    }

    /// A figure.
    pub(crate) fn row(&mut self, what: &str, value: impl Into<String>, how: &str) {
        let value = value.into();
        eprintln!("    {what}: {value}");
        self.rows.push([what.to_owned(), value, how.to_owned()]);
    }

    /// To standard output. One that nobody reads is no error.
    pub(crate) fn print(&self) {
        let rows = self
            .rows
            .iter()
            .map(|row| format!("| {} |", row.join(" | ")));
        let head = [
            "",
            "| figure | value | how measured |",
            "| --- | --- | --- |",
        ]
        .map(str::to_owned);
        let lines: Vec<String> = [self.machine.clone()]
            .into_iter()
            .chain(head)
            .chain(rows)
            .collect();
        let text = lines.join("\n") + "\n";
        let _ = std::io::stdout().write_all(text.as_bytes());
    }
}

/// `2.3 MB`
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
}
