//! Counts the instructions of a piece of work by callgrind, since other work of the machine does not alter them. The bench starts itself under
//! callgrind, once for one piece and once for many, so that neither its start nor its end counts.

use crate::measure::{Measure, Unit, as_number};
use crate::reviews::review;
use crate::scope::Scope;
use crate::table::Table;
use anyhow::{Context, Result, bail, ensure};
use axum::body::Body;
use axum::http::Request;
use harness::gate::policy;
use harness::unscheduled::pod;
use prometheus_client::registry::Registry;
use rules::annotation::parse_depends_on;
use rules::keys::DEPENDS_ON;
use serde_json::json;
use std::hint::black_box;
use std::process::{Command, Output};
use std::sync::Arc;
use tower::ServiceExt;
use webhook::{Admission, AdmissionLimits, AdmissionMetrics, GateSpec, MemoryAlarm, Options};

/// The pieces of work, each with its name, its row of the table, and the number of repetitions that are counted.
const WORKS: [(&str, &str, u64); 3] = [
    (
        "review",
        "instructions of a review of a Pod of 4 kB, from its text to that of the answer",
        200,
    ),
    ("list", "instructions to read a list of three entries", 1000),
    (
        "gate",
        "instructions to judge a gate that waits for a wave of ten",
        200,
    ),
];

pub(crate) fn measure(table: &mut Table) {
    for (work, what, times) in WORKS {
        let measure = each(times, |times| {
            let mut command = under_callgrind(std::env::current_exe()?);
            counted(&done(command.args(["count", work]).arg(times.to_string()))?)
        });
        let how = format!("callgrind: {times} less one, each; in one process");
        table.row(
            what,
            measure.unwrap_or_else(|error| Measure::skipped(&error)),
            &how,
        );
    }
}

/// Does the piece of work with this name `times` times. An unknown name is an error.
pub(crate) async fn work(name: &str, times: u64) -> Result<()> {
    match name {
        "review" => reviewed(times).await,
        "list" => (0..times).try_for_each(|_| {
            let list = "deployment/db, service/cache, job/migrate:complete";
            Ok(parse_depends_on(black_box(list)).map(drop)?)
        }),
        "gate" => {
            let scope = Scope::new(10)?;
            (0..times).try_for_each(|_| scope.judge_first())
        }
        _ => bail!("no work is called {name:?}"),
    }
}

async fn reviewed(times: u64) -> Result<()> {
    let metrics = AdmissionMetrics::register(&mut Registry::default());
    let (admission, gates) = Admission::new(
        Options::default(),
        AdmissionLimits::default(),
        MemoryAlarm::default(),
        metrics,
    );
    gates.send_replace(Some(Arc::new(spec().into())));
    let router = Arc::new(admission).router();
    let body = review(&pod(&json!({DEPENDS_ON: "configmap/dependency"}), 4000));
    for _ in 0..times {
        let request = Request::post("/admit/pods").body(Body::from(body.clone()))?;
        let response = router.clone().oneshot(request).await?;
        ensure!(response.status().is_success(), "it is refused");
    }
    Ok(())
}

/// The spec of a gate, with names and a bundle as long as those of an installation.
fn spec() -> GateSpec {
    GateSpec {
        image: format!("ghcr.io/sluice-dev/sluice-gate:0.1.0@sha256:{:064}", 0),
        image_pull_policy: Some("IfNotPresent".to_owned()),
        ca_bundle: "MIIBdzCCAR2gAwIBAgIUPx7N3kq0X0b7bq1m1F1k5m0m1cMwCgYIKoZIzj0EAwIw\n".repeat(10),
        ..policy()
    }
}

/// Returns the instructions of one repetition: those of `times` repetitions less those of one, divided by `times` - 1. `count` counts the
/// instructions of a run with so many repetitions.
pub(crate) fn each(times: u64, count: impl Fn(u64) -> Result<u64>) -> Result<Measure> {
    let each = (count(times)? - count(1)?) / (times - 1);
    Ok(Measure::once(
        each.to_string(),
        Unit::Instructions,
        as_number(each),
    ))
}

/// Returns the command that runs `program` under callgrind.
pub(crate) fn under_callgrind(program: impl AsRef<std::ffi::OsStr>) -> Command {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    command.arg(program);
    command
}

/// Reads the number of instructions from callgrind's standard error. A text without `Collected : ` is an error.
pub(crate) fn counted(output: &Output) -> Result<u64> {
    let said = String::from_utf8_lossy(&output.stderr);
    let (_, count) = said
        .split_once("Collected : ")
        .context("callgrind counted nothing")?;
    let count = count.split_whitespace().next().unwrap_or_default();
    Ok(count.parse()?)
}

fn done(command: &mut Command) -> Result<Output> {
    let output = command.output().context("failed to start valgrind")?;
    ensure!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(output)
}
