//! The rules alone: `kubectl sluice status -f` of a large file beside the Go library that it follows, and how many instructions
//! an object takes, which no noise alters.

use crate::Paths;
use crate::count;
use crate::measure::Measure;
use crate::step;
use crate::table::Table;
use anyhow::{Context, Result, bail, ensure};
use harness::samples::Samples;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Instant;

/// The number of objects in the file.
const OBJECTS: usize = 20_000;
/// The number of objects in the smaller file whose instructions are counted.
const COUNTED: u64 = 2000;
const ROUNDS: usize = 7;
/// The program of `tests/differential/list`, which judges a file as the Go library does.
const PEER: &str = "kstatus-list";
const NAME: &str = "Go kstatus";

pub(crate) fn measure(paths: &Paths, table: &mut Table) -> Result<()> {
    step(&format!("{OBJECTS} objects of a file"));
    let sluice = paths.webhook.with_file_name("kubectl-sluice");
    let file = list(paths.scratch.path(), OBJECTS)?;
    let own = || judged(Command::new(&sluice).args(status(&file, "kstatus")));
    let other = || judged(Command::new(PEER).arg(&file));
    let mut took = (vec![], vec![]);
    let mut peer = agrees(&own()?, other());
    for _ in 0..ROUNDS {
        took.0.push(timed(own)?);
        if peer.is_ok() {
            match timed(other) {
                Ok(time) => took.1.push(time),
                Err(error) => peer = Err(error),
            }
        }
    }
    let median = |took| Measure::from(Samples::new(took).percentile(50));
    let peer = match peer {
        Ok(()) => median(took.1),
        Err(error) => Measure::skipped(&error),
    };
    let how = format!(
        "from the start to the exit, median of {ROUNDS}, in turns; of a List in JSON, 7 kinds, the same answers"
    );
    table
        .row(
            &format!("`status -f` of {OBJECTS} objects"),
            median(took.0),
            &how,
        )
        .beside(NAME, peer, Some(0.26));

    for profile in ["kstatus", "sluice"] {
        let counted = instructions(&sluice, paths.scratch.path(), profile);
        let how =
            format!("callgrind: `status -f` of {COUNTED} objects less that of one, an object");
        let measure = counted.unwrap_or_else(|error| Measure::skipped(&error));
        table.row(
            &format!("instructions to read and judge an object, profile {profile}"),
            measure,
            &how,
        );
    }
    Ok(())
}

fn timed(run: impl Fn() -> Result<Output>) -> Result<std::time::Duration> {
    let began = Instant::now();
    run()?;
    Ok(began.elapsed())
}

fn status<'a>(file: &'a Path, profile: &'a str) -> [&'a OsStr; 5] {
    let [status, filename, of] = ["status", "--filename", "--profile"].map(OsStr::new);
    [status, filename, file.as_os_str(), of, profile.as_ref()]
}

/// Runs a program that judges a file, and returns its output. Exit codes 0 and 3 are fine: 3 says that an object is not ready. Another code is an
/// error.
fn judged(command: &mut Command) -> Result<Output> {
    let output = command.output().with_context(|| {
        format!(
            "failed to start {}; `make bench` builds it",
            command.get_program().display()
        )
    })?;
    if !matches!(output.status.code(), Some(0 | 3)) {
        bail!(
            "it ended with {}: {}",
            output.status,
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(output)
}

/// Fails unless both outputs have an equal line for each object: kind, namespace, name and status, the first four words.
fn agrees(own: &Output, other: Result<Output>) -> Result<()> {
    let words = |output: &Output| {
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let lines = text.lines().filter(|line| !line.starts_with("KIND "));
        let first = lines.map(|line| {
            line.split_whitespace()
                .take(4)
                .collect::<Vec<_>>()
                .join(" ")
        });
        first.collect::<Vec<_>>()
    };
    let (own, other) = (words(own), words(&other?));
    ensure!(
        own.len() == OBJECTS && own == other,
        "its answers are not ours"
    );
    Ok(())
}

fn instructions(sluice: &Path, folder: &Path, profile: &str) -> Result<Measure> {
    count::each(COUNTED, |objects| {
        let file = list(folder, usize::try_from(objects)?)?;
        let mut command = count::under_callgrind(sluice);
        count::counted(&judged(command.args(status(&file, profile)))?)
    })
}

/// Writes a JSON List of `objects` objects to a file in the folder, and returns the path.
fn list(folder: &Path, objects: usize) -> Result<PathBuf> {
    let file = folder.join(format!("{objects}-objects.json"));
    let items: Vec<_> = (0..objects).map(object).collect();
    fs::write(
        &file,
        json!({"apiVersion": "v1", "kind": "List", "items": items}).to_string(),
    )?;
    Ok(file)
}

/// Returns object `number` of the file, whose kind is one of seven in turn. An object with an even number is current; one with an odd number is not,
/// but by kstatus a ConfigMap, a Service or a Job is current all the same.
fn object(number: usize) -> Value {
    let kinds = [
        ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"),
        ("batch/v1", "Job"),
        ("v1", "Service"),
        ("v1", "Pod"),
        ("v1", "ConfigMap"),
        ("example.com/v1", "Database"),
    ];
    let (version, kind) = kinds[number % kinds.len()];
    let (ready, word) = if number.is_multiple_of(2) {
        (3, "True")
    } else {
        (1, "False")
    };
    let names = ["Available", "Progressing", "Ready", "Complete"];
    let conditions = names.map(|name| {
        json!({
            "type": name, "status": word, "reason": "Bench", "message": "of the bench",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        })
    });
    json!({
        "apiVersion": version,
        "kind": kind,
        "metadata": {
            "name": format!("of-the-bench-{number}"), "namespace": "shop", "generation": 2,
            "creationTimestamp": "2026-01-01T00:00:00Z", "labels": {"app": "of-the-bench"},
        },
        "spec": {"replicas": 3, "selector": {"matchLabels": {"app": "of-the-bench"}}},
        "status": {
            "observedGeneration": 2, "phase": "Running", "startTime": "2026-01-01T00:00:00Z",
            "replicas": 3, "currentReplicas": ready, "readyReplicas": ready, "updatedReplicas": 3, "availableReplicas": ready,
            "conditions": conditions,
        },
    })
}
