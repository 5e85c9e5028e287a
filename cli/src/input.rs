//! What is read: a file, or standard input for `-`.

use anyhow::{Context, Result};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

/// Whether a path stands for standard input, which can be read once.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// What an input is called in an error, and its text as it comes.
pub(crate) fn open(path: &Path) -> Result<(String, Box<dyn BufRead>)> {
    if is_stdin(path) {
        return Ok(("standard input".to_owned(), Box::new(io::stdin().lock())));
    }
    let name = path.display().to_string();
    let file = File::open(path).with_context(|| format!("cannot open {name}"))?;
    Ok((name, Box::new(BufReader::new(file))))
}

/// The same, with the whole text.
pub(crate) fn read(path: &Path) -> Result<(String, String)> {
    let (name, mut input) = open(path)?;
    let mut text = String::new();
    input
        .read_to_string(&mut text)
        .with_context(|| format!("cannot read {name}"))?;
    Ok((name, text))
}
