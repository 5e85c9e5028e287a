//! Compares our kstatus with the library's, on manifests in JSON and in YAML.

use super::{library, run};
use crate::settle;
use harness::process::{binary, json_lines, pipe};
use jiff::Timestamp;
use rules::kstatus::{Synthetic, compute};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::process::Command;

/// The message of the one rule in which the compared library differs: cli-utils takes a suspended Job for current on its main branch, as these rules
/// do, but not in v0.37.2.
const NEWER: &str = "Job is suspended";

/// Returns status and message of the library's answer, an error as `Unknown`; `None` where the library panicked or could not read the object.
fn expected(answer: &Value) -> Option<(String, String)> {
    let text = |key: &str| answer[key].as_str().map(ToOwned::to_owned);
    if text("panic").is_some() || text("unreadable").is_some() {
        return None;
    }
    match text("error") {
        Some(error) => Some(("Unknown".to_owned(), error)),
        None => Some((text("status")?, text("message").unwrap_or_default())),
    }
}

#[test]
fn the_rules_say_what_the_library_says() {
    let (mut random, cases) = run(20_000);
    let objects: Vec<_> = (0..cases).map(|_| random.manifest()).collect();
    let asked: Vec<_> = objects.iter().map(|json| json!({"json": json})).collect();
    let Some(answers) = library::ask("kstatus", &asked) else {
        return;
    };
    let now = Timestamp::now();
    let mut tally = Tally::default();
    for (object, answer) in objects.iter().zip(&answers) {
        tally.compare(object, answer, &rule(object, now));
    }
    tally.settle();

    let input: Vec<_> = objects.iter().map(Value::to_string).collect();
    let mut tally = Tally::default();
    for ((object, answer), line) in objects
        .iter()
        .zip(&answers)
        .zip(command(&input.join("\n"), cases))
    {
        tally.compare(object, answer, &told(&line));
    }
    tally.settle();
}

#[test]
fn the_command_reads_yaml_as_the_library_does() {
    let (mut random, cases) = run(10_000);
    let texts: Vec<_> = (0..cases).map(|_| random.document()).collect();
    let asked: Vec<_> = texts.iter().map(|yaml| json!({"yaml": yaml})).collect();
    let Some(answers) = library::ask("kstatus", &asked) else {
        return;
    };
    // A text that go-yaml refuses might end the run of ours.
    let readable: Vec<_> = texts
        .iter()
        .zip(&answers)
        .filter(|(_, answer)| answer["unreadable"].is_null())
        .collect();
    assert!(
        readable.len() * 10 > cases * 9,
        "{} of {cases} can be read",
        readable.len()
    );
    let input: Vec<_> = readable.iter().map(|(text, _)| text.as_str()).collect();
    let lines = command(&format!("---{}", input.join("---")), readable.len());
    let mut tally = Tally::default();
    for ((text, answer), line) in readable.into_iter().zip(lines) {
        tally.compare(&json!(text), answer, &told(&line));
    }
    tally.settle();
}

/// Returns our result for an object in the form of the library's answer: status, message and conditions, or `error` alone.
fn rule(object: &Value, now: Timestamp) -> Value {
    let evaluation = match compute(object, now) {
        Ok(evaluation) => evaluation,
        Err(error) => return json!({"error": error.to_string()}),
    };
    let condition = |it: Synthetic<'_>| json!({"type": it.kind, "status": "True", "reason": it.reason, "message": it.message});
    let conditions: Vec<_> = evaluation.condition().into_iter().map(condition).collect();
    let (status, message) = (evaluation.status.word(), &evaluation.message);
    json!({"status": status, "message": message, "conditions": conditions})
}

/// Returns status and message of a line that the command has printed; it has no conditions.
fn told(line: &Value) -> Value {
    json!({"status": line["status"], "message": line["message"]})
}

/// Returns the lines that `kubectl sluice status --profile kstatus` prints for a manifest. Fails unless there is one for each of its `objects`
/// objects.
fn command(manifest: &str, objects: usize) -> Vec<Value> {
    let mut command = Command::new(binary("kubectl-sluice"));
    command.args(["status", "-f", "-", "-o", "json", "--profile", "kstatus"]);
    let output = pipe(&mut command, manifest.as_bytes().to_vec());
    let error = String::from_utf8_lossy(&output.stderr);
    let lines = json_lines(&output.stdout);
    assert_eq!(lines.len(), objects, "a line for each object: {error}");
    lines
}

#[derive(Default)]
struct Tally {
    compared: usize,
    /// The number of cases for each status of the library; errors count as `Unknown`.
    statuses: BTreeMap<String, usize>,
    panics: usize,
    newer: usize,
    differences: Vec<String>,
}

impl Tally {
    fn compare(&mut self, case: &Value, answer: &Value, ours: &Value) {
        let Some((status, message)) = expected(answer) else {
            self.panics += 1;
            return;
        };
        self.compared += 1;
        *self.statuses.entry(status.clone()).or_default() += 1;
        let found = expected(ours);
        if found.as_ref().is_some_and(|(_, message)| message == NEWER) {
            self.newer += 1;
            return;
        }
        let told = |verdict: &Value| {
            verdict["conditions"]
                .as_array()
                .cloned()
                .unwrap_or_default()
        };
        let same_conditions = ours["conditions"].is_null() || told(ours) == told(answer);
        if found != Some((status, message)) || !same_conditions {
            self.differences
                .push(format!("{case}\n  library {answer}\n  ours    {ours}"));
        }
    }

    fn settle(&self) {
        let Self {
            compared,
            statuses,
            panics,
            newer,
            differences,
        } = self;
        eprintln!(
            "{compared} compared {statuses:?}, {newer} suspended Jobs and {panics} panics of the library left out"
        );
        settle(*compared, differences);
        for status in ["Current", "InProgress", "Failed", "Terminating", "Unknown"] {
            assert!(
                *compared < 1_000 || statuses.contains_key(status),
                "{status} is never reached"
            );
        }
        assert!(panics * 20 <= *compared, "too few cases are left");
    }
}
