//! Tests kstatus on `fixtures/kstatus/KIND/CASE.yaml`, manifests under a comment with the expected result.
//!
//! ```yaml
//! # expect: InProgress LessReplicas "Replicas: 0/1"
//! # condition: "the message of the synthetic condition, where it is another"
//! # now: 2024-01-01T00:00:00Z
//! ```

use super::{judge, some_time};
use crate::settle;
use jiff::Timestamp;
use rules::kstatus::Evaluation;
use std::path::Path;
use std::{fs, io};

#[test]
fn every_rule_has_a_fixture_that_holds() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/kstatus");
    let mut cases = 0;
    let mut complaints = Vec::new();
    for folder in sorted(&root).unwrap() {
        for file in sorted(&folder).unwrap() {
            cases += 1;
            let text = fs::read_to_string(&file).unwrap();
            let name = file.strip_prefix(&root).unwrap().display();
            complaints.extend(check(&text).map(|complaint| format!("{name}: {complaint}")));
        }
    }
    settle(cases, &complaints);
}

fn sorted(folder: &Path) -> io::Result<Vec<std::path::PathBuf>> {
    let mut entries = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<io::Result<Vec<_>>>()?;
    entries.sort();
    Ok(entries)
}

fn check(text: &str) -> Option<String> {
    let object = serde_saphyr::from_str(text).unwrap();
    let now = head(text, "now").map_or_else(some_time, |now| now.parse::<Timestamp>().unwrap());
    let evaluation = judge(&object, now);

    let expected = head(text, "expect").unwrap_or("nothing");
    let found = describe(&evaluation);
    if found != expected {
        return Some(format!("expected {expected}, found {found}"));
    }
    let expected = head(text, "condition")?.trim_matches('"');
    let found = evaluation.condition()?.message;
    (found != expected).then(|| format!("expected condition {expected:?}, found {found:?}"))
}

fn head<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines()
        .take_while(|line| line.starts_with('#'))
        .find_map(|line| {
            line.strip_prefix("# ")?
                .strip_prefix(key)?
                .strip_prefix(": ")
        })
}

/// Writes a result in the form of the comments: `InProgress LessReplicas "Replicas: 0/1"`.
fn describe(evaluation: &Evaluation) -> String {
    let Evaluation {
        status,
        reason,
        message,
        ..
    } = evaluation;
    let space = if reason.is_empty() { "" } else { " " };
    format!("{status}{space}{reason} \"{message}\"")
}
