//! The lines of the answer, as JSON or as a table.

use super::judge::ObjectVerdict;
use crate::output::{Output, WIDEST_COLUMN, printable};
use crate::style::{Style, Tone};
use rules::kstatus::Status;
use std::io::{self, BufWriter, Write};

/// Writes lines and counts them: JSON at once, a table at the end, when the widths of its columns are known.
///
/// [`Printer::finish`] returns the first error of writing; nothing is written after it.
pub(super) struct Printer<W: Write> {
    out: BufWriter<W>,
    output: Output,
    style: Style,
    table: Vec<[String; COLUMNS]>,
    result: io::Result<()>,
    pub(super) printed: usize,
    /// How many of the judged objects are `Current`.
    pub(super) current: usize,
}

const COLUMNS: usize = 6;

/// The index of the column with the status.
const STATUS: usize = 3;

impl<W: Write> Printer<W> {
    pub(super) fn new(out: W, output: Output, style: Style) -> Self {
        Self {
            out: BufWriter::new(out),
            output,
            style,
            table: Vec::new(),
            result: Ok(()),
            printed: 0,
            current: 0,
        }
    }

    pub(super) fn print(&mut self, line: ObjectVerdict) {
        self.printed += 1;
        self.current += usize::from(line.status == Status::Current.word());
        match self.output {
            Output::Json if self.result.is_ok() => self.result = write_json(&mut self.out, &line),
            Output::Json => {}
            Output::Text => self.table.push(row(line)),
        }
    }

    pub(super) fn finish(&mut self) -> io::Result<()> {
        std::mem::replace(&mut self.result, Ok(()))?;
        let heading = ["KIND", "NAMESPACE", "NAME", "STATUS", "REASON", "MESSAGE"];
        if !self.table.is_empty() {
            self.table.insert(0, heading.map(str::to_owned));
        }
        let mut widths = [0; COLUMNS];
        for row in &self.table {
            for (width, cell) in widths.iter_mut().zip(row) {
                *width = cell.chars().count().min(WIDEST_COLUMN).max(*width);
            }
        }
        for (at, row) in self.table.drain(..).enumerate() {
            let cells = row.iter().zip(widths);
            let mut padded: Vec<_> = cells
                .map(|(cell, width)| format!("{cell:width$}"))
                .collect();
            if at > 0 {
                padded[STATUS] = self.style.painted(tone(&row[STATUS]), &padded[STATUS]);
            }
            writeln!(self.out, "{}", padded.join("  ").trim_end())?;
        }
        self.out.flush()
    }
}

fn tone(status: &str) -> Tone {
    match status {
        _ if status == Status::Current.word() => Tone::Good,
        _ if status == Status::Failed.word() => Tone::Bad,
        _ => Tone::Waiting,
    }
}

fn write_json(out: &mut impl Write, line: &ObjectVerdict) -> io::Result<()> {
    serde_json::to_writer(&mut *out, line)?;
    out.write_all(b"\n")
}

/// The cells of the table's line for one object.
fn row(line: ObjectVerdict) -> [String; COLUMNS] {
    let ObjectVerdict {
        kind,
        namespace,
        name,
        status,
        reason,
        message,
    } = line;
    let or_dash = |text: String| {
        if text.is_empty() {
            "-".to_owned()
        } else {
            printable(&text)
        }
    };
    [
        or_dash(kind),
        or_dash(namespace),
        or_dash(name),
        status.to_owned(),
        or_dash(reason),
        printable(&message),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::style::Color;

    #[test]
    fn a_cell_of_any_length_is_printed() {
        let line = |name: &str, message: String| ObjectVerdict {
            kind: "Job".to_owned(),
            namespace: String::new(),
            name: name.to_owned(),
            status: Status::Current.word(),
            reason: String::new(),
            message,
        };
        let mut out = Vec::new();
        let mut printer = Printer::new(
            &mut out,
            Output::Text,
            Style::new(Color::Never, false, true),
        );
        printer.print(line("a", "x".repeat(100_000)));
        printer.print(line(&"n".repeat(100_000), "done".to_owned()));
        printer.finish().expect("written");
        drop(printer);
        let text = String::from_utf8(out).expect("text");
        let lengths: Vec<usize> = text.lines().map(str::len).collect();
        assert_eq!(lengths.len(), 3);
        assert!((100_000..101_000).contains(&lengths[1]), "{lengths:?}");
        assert!((100_000..101_000).contains(&lengths[2]), "{lengths:?}");
    }
}
