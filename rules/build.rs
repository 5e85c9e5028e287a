//! Puts the library of health rules into the program: every file of `library`, with the named forms written out in CEL.
//! A file that cannot be read stops the build.

#[path = "src/health/library/file.rs"]
#[expect(
    dead_code,
    reason = "where rules were read, and their cases, are for tests"
)]
mod file;

use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

fn main() {
    println!("cargo::rerun-if-changed=library");
    println!("cargo::rerun-if-changed=src/health/library/file.rs");
    if let Err(why) = written() {
        println!("cargo::error={}", why.replace('\n', " "));
    }
}

/// Writes the table of the library's rules as `library.rs` into cargo's folder for the output of a build script.
fn written() -> Result<(), String> {
    let out = env::var("OUT_DIR").map_err(|error| format!("OUT_DIR: {error}"))?;
    let to = Path::new(&out).join("library.rs");
    fs::write(to, table()?).map_err(|error| format!("library.rs: {error}"))
}

/// Returns the Rust source of a table of all rules in `library`, in the order of their files, so that the same files make the same program. A file
/// that cannot be read, or has another ending than `.yaml`, is an error, and so is a folder without a rule.
fn table() -> Result<String, String> {
    let folder = Path::new("library");
    let told = |error| format!("rules/library: {error}");
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(told)? {
        let name = entry.map_err(told)?.file_name();
        names.push(name.to_string_lossy().into_owned());
    }
    names.sort_unstable();
    let mut rows = String::new();
    let mut count = 0;
    for name in names {
        let stem = name
            .strip_suffix(".yaml")
            .ok_or_else(|| format!("rules/library/{name}: a file is called GROUP.yaml"))?;
        let text = fs::read_to_string(folder.join(&name)).map_err(told)?;
        let (_, entries) =
            file::read(&text).map_err(|why| format!("rules/library/{name}: {why}"))?;
        for entry in entries {
            for kind in &entry.kinds {
                let group = file::group(stem);
                let (current, in_progress, failed) =
                    (&entry.current, &entry.in_progress, &entry.failed);
                let row =
                    format!("({group:?}, {kind:?}, {current:?}, {in_progress:?}, {failed:?}),");
                writeln!(rows, "    {row}").map_err(|error| error.to_string())?;
                count += 1;
            }
        }
    }
    if count == 0 {
        return Err("rules/library: there is no rule".to_owned());
    }
    Ok(format!(
        "pub(super) static TABLE: [Row; {count}] = [\n{rows}];\n"
    ))
}
