//! Reads a file, or standard input for `-`.

use anyhow::{Context, Result, ensure};
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// Whether a path means standard input, which can be read only once.
pub(crate) fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

/// Reads a file, or standard input for `-`: its name for messages, and its bytes. An input that is packed with gzip is an error.
pub(crate) fn read(path: &Path) -> Result<(String, Vec<u8>)> {
    let (name, text) = bytes(path)?;
    // RFC 1952, 2.3.1: how every gzip file begins.
    ensure!(
        !text.starts_with(&[0x1f, 0x8b]),
        "{name} is packed with gzip, as a chart of `helm package` is; unpack it (tar -xzf FILE, or helm pull --untar) and name what was in it"
    );
    Ok((name, text))
}

fn bytes(path: &Path) -> Result<(String, Vec<u8>)> {
    if is_stdin(path) {
        let mut text = Vec::new();
        let read = io::stdin().lock().read_to_end(&mut text);
        read.context("cannot read standard input")?;
        return Ok(("standard input".to_owned(), text));
    }
    let name = path.display().to_string();
    let text = fs::read(path).with_context(|| format!("cannot open {name}"))?;
    Ok((name, text))
}

/// The paths of the files and folders directly in a folder, sorted by name.
pub(crate) fn inside(folder: &Path) -> Result<Vec<PathBuf>> {
    let read = || format!("cannot read the folder {}", folder.display());
    let mut inside = Vec::new();
    for entry in fs::read_dir(folder).with_context(read)? {
        inside.push(entry.with_context(read)?.path());
    }
    inside.sort();
    Ok(inside)
}
