//! The sizes of the shipped programs and images, in bytes.

use crate::Paths;
use crate::measure::Measure;
use crate::table::Table;
use anyhow::{Context, Result};
use std::fs;
use std::path::Path;

/// Adds a row for the gate's program and for the archive of each image: the size of the file, in bytes. A missing file is an error.
pub(crate) fn measure(paths: &Paths, table: &mut Table) -> Result<()> {
    let size = |path: &Path| -> Result<u64> {
        let metadata = fs::metadata(path).with_context(|| format!("no {}", path.display()))?;
        Ok(metadata.len())
    };
    let bytes = size(&paths.gate)?;
    table
        .row(
            "gate, static binary",
            Measure::bytes(bytes),
            "`stat`, after `make images`",
        )
        .at_most(2_400_000.0);
    let archives = ["gate", "webhook"].map(|name| paths.images.join(format!("sluice-{name}.tar")));
    for (archive, what) in archives.iter().zip(["gate", "controller"]) {
        let value = Measure::bytes(size(archive)?);
        table.row(
            &format!("{what}, image archive"),
            value,
            "`stat` of the OCI archive",
        );
    }
    Ok(())
}
