//! Values to text, as client-go prints the results of a template.

use crate::kstatus::Printed;
use serde_json::Value;
use std::io::{self, Write};

/// The most bytes that are printed; nothing that a user writes to compare it with is as long.
pub const LONGEST: usize = 64 * 1024;

/// What a template prints: texts as they are, lists and maps as JSON, spaces between. `None` where that is too long.
pub fn print(values: &[&Value]) -> Option<String> {
    let mut page = Page(Vec::new());
    for (index, value) in values.iter().enumerate() {
        let space = if index == 0 { "" } else { " " };
        let written = match value {
            Value::Null => page.write_fmt(format_args!("{space}null")),
            Value::Array(_) | Value::Object(_) => page
                .write_all(space.as_bytes())
                .and_then(|()| Ok(serde_json::to_writer(&mut page, value)?)),
            scalar => page.write_fmt(format_args!("{space}{}", Printed(scalar))),
        };
        written.ok()?;
    }
    String::from_utf8(page.0).ok()
}

/// Takes [`LONGEST`] bytes.
struct Page(Vec<u8>);

impl Write for Page {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > LONGEST {
            return Err(io::Error::other("the page is full"));
        }
        self.0.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
