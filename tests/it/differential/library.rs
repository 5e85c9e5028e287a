//! Builds and runs the Go programs of `tests/differential`.

use harness::process::{json_lines, pipe};
use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// Returns the answers of the program `name` to each case. Without Go, prints that the test is skipped and returns `None`.
pub(super) fn ask(name: &str, cases: &[Value]) -> Option<Vec<Value>> {
    if Command::new("go").arg("version").output().is_err() {
        eprintln!("skipped: there is no Go to build tests/differential/{name}");
        return None;
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let programs = root.join("target/differential");
    std::fs::create_dir_all(&programs).unwrap();
    // Go knows by itself that nothing has changed.
    let built = Command::new("go")
        .current_dir(root.join("tests/differential"))
        .env("CGO_ENABLED", "0")
        .args(["build", "-buildvcs=false", "-o"])
        .args([&programs.join(name), Path::new(&format!("./{name}"))])
        .status();
    assert!(built.unwrap().success(), "go build ./{name} failed");

    let input: Vec<_> = cases.iter().map(Value::to_string).collect();
    let output = pipe(
        &mut Command::new(programs.join(name)),
        input.join("\n").into_bytes(),
    );
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{name}: {error}");
    let answers = json_lines(&output.stdout);
    assert_eq!(answers.len(), cases.len(), "{name} must answer every case");
    Some(answers)
}
