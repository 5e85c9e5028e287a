//! Reads the cases of public test suites. They may not be handed on, so they are not part of this repository.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// Returns the cases of a file, one from each line. The folder is the one that `SLUICE_CORPUS` names, else one beside the workspace. Without the
/// file, prints that the test is skipped and returns `None`.
pub(crate) fn cases(file: &str) -> Option<Vec<Value>> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared/corpus");
    let folder = env::var_os("SLUICE_CORPUS").map_or_else(beside, PathBuf::from);
    let file = folder.join(file);
    let Ok(text) = fs::read_to_string(&file) else {
        eprintln!("skipped: there is no {}", file.display());
        return None;
    };
    let case = |line| serde_json::from_str(line).expect("a file of the corpus has a case a line");
    Some(text.lines().map(case).collect())
}
