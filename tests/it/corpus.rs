//! The public suites as data. They are not ours to hand on, so they are no part of this repository.

use serde_json::Value;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The cases of one file, a line each: in the folder that `SLUICE_CORPUS` names, else beside the workspace. `None` where it
/// is not there, and that is told.
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
