//! The cost of one change in a scope of many objects: how many gates are judged again, and how long that takes; and the memory
//! that a gate that waits keeps of what it has read.
//!
//! Measured in this process and without a socket: the way of the answer to the gate takes the same time in each case.

use crate::measure::{Measure, Unit, as_number};
use crate::table::Table;
use anyhow::{Context, Result};
use futures::FutureExt;
use harness::machine;
use jiff::Timestamp;
use rules::dependent::Dependent;
use rules::kinds::{Kind, by_word};
use rules::lookup::Lookup;
use rules::scope;
use rules::verdict::{self, Policy};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::{Duration, Instant};
use webhook::{Known, Settings, View};

/// The numbers of objects in the scope. As many gates wait for all of them.
const SIZES: [usize; 3] = [10, 100, 500];
/// The number of changes of each sort, of whose durations the median counts.
const ROUNDS: usize = 20;
/// The number of gates whose memory is measured.
const GATES: usize = 2000;
/// The numbers of custom kinds that can be read: none, and as many as all presets of the chart grant.
const KINDS: [usize; 2] = [0, 300];

pub(crate) fn changes(table: &mut Table) -> Result<()> {
    for size in SIZES {
        let scope = Scope::new(size)?;
        let (woken, time) = scope.median(|scope, round| scope.change(size - 1, round))?;
        row(
            table,
            size,
            "an object behind the first that is not ready",
            woken,
            time,
        );
        let (woken, time) = scope.median(|scope, round| scope.change(0, round))?;
        row(
            table,
            size,
            "the first object that is not ready",
            woken,
            time,
        );
    }
    for kinds in KINDS {
        memory(kinds, table)?;
    }
    Ok(())
}

/// Adds a row: the memory that a gate of a release keeps while it waits for a Job that does not exist, where `kinds` custom kinds can be read.
fn memory(kinds: usize, table: &mut Table) -> Result<()> {
    let scope = Scope::new(1)?;
    for number in 0..kinds {
        let kind = Kind::Custom {
            group: "example.com".to_owned(),
            word: format!("Widget{number}"),
        };
        scope.known.want(&kind).replace::<&Value>([]);
    }
    let mut pod = pod(0);
    pod["metadata"]["annotations"]["sluice.dev/depends-on"] = "job/migrate".into();
    let view = scope.known.view();
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &view) else {
        anyhow::bail!("a pod of its own has no owner");
    };
    let own = || machine::bytes(std::process::id(), "status", "VmRSS");
    // The first gates make the process keep memory that all of them share.
    let _first: Vec<View> = (0..GATES / 10)
        .map(|_| scope.judge(&dependent))
        .collect::<Result<_>>()?;
    let before = own()?;
    let views: Vec<View> = (0..GATES)
        .map(|_| scope.judge(&dependent))
        .collect::<Result<_>>()?;
    let each = as_number(own()?.saturating_sub(before)) / as_number(views.len() as u64);
    let value = Measure::once(format!("{:.1} KiB", each / 1024.0), Unit::Bytes, each);
    let what = format!(
        "what a waiting gate of a release keeps of what it has read, {kinds} custom kinds granted"
    );
    let how = format!("VmRSS, {GATES} gates with job/migrate, in one process");
    table.row(&what, value, &how).at_most(8.0 * 1024.0);
    Ok(())
}

fn row(table: &mut Table, size: usize, what: &str, woken: usize, time: Duration) {
    let figure = format!("a change of {what}, {size} objects and {size} gates");
    let text = format!("{woken} judged again in {time:.1?}");
    let value = Measure::once(text, Unit::Millis, time.as_secs_f64() * 1000.0);
    table.row(&figure, value, "median of 20, in one process");
}

pub(crate) struct Scope {
    known: Arc<Known>,
    jobs: Kind,
    dependents: Vec<Dependent>,
}

impl Scope {
    pub(crate) fn new(size: usize) -> Result<Self> {
        let (known, _requests) = Known::new(Settings::of_the_chart());
        for kind in scope::workloads() {
            known.want(&kind).replace::<&Value>([]);
        }
        known.plans().replace::<&Value>([]);
        let jobs = Kind::Builtin(by_word("job").context("built in")?);
        let objects: Vec<Value> = (0..size).map(|index| job(index, 0)).collect();
        known.want(&jobs).replace(&objects);
        let view = known.view();
        let dependents = (0..size).map(|index| {
            let pod = pod(index);
            match Dependent::resolve(&pod, &[], &view) {
                Lookup::Found(dependent) => Ok(dependent),
                _ => anyhow::bail!("a pod of its own has no owner"),
            }
        });
        Ok(Self {
            dependents: dependents.collect::<Result<_>>()?,
            known,
            jobs,
        })
    }

    fn judge(&self, dependent: &Dependent) -> Result<View> {
        let view = self.known.view();
        let dependencies = dependent.edges(true, &view)?;
        let policy = Policy::of_the_chart();
        let now = Timestamp::now();
        let judgement = verdict::judge(dependent, dependencies, &policy, &view, now);
        anyhow::ensure!(!judgement.edges.is_empty(), "nothing was judged");
        Ok(view)
    }

    /// Judges the first gate of the scope once, and drops the verdict.
    pub(crate) fn judge_first(&self) -> Result<()> {
        let first = self.dependents.first().context("nobody waits")?;
        self.judge(first).map(drop)
    }

    /// Changes one Job of the scope after all gates were judged. Returns how many gates are judged again because of it, and how long that takes.
    fn change(&self, index: usize, round: usize) -> Result<(usize, Duration)> {
        let judged = self.dependents.iter().map(|it| self.judge(it));
        let views: Vec<View> = judged.collect::<Result<_>>()?;
        let begun = Instant::now();
        let changed = job(index, round + 1);
        self.known.want(&self.jobs).apply(&changed);
        let mut again = Vec::new();
        for (view, dependent) in views.iter().zip(&self.dependents) {
            if view.changed().now_or_never().is_some() {
                again.push(self.judge(dependent)?);
            }
        }
        Ok((again.len(), begun.elapsed()))
    }

    fn median(
        &self,
        change: impl Fn(&Self, usize) -> Result<(usize, Duration)>,
    ) -> Result<(usize, Duration)> {
        let mut all: Vec<_> = (0..ROUNDS)
            .map(|round| change(self, round))
            .collect::<Result<_>>()?;
        all.sort_by_key(|(_, time)| *time);
        Ok(all[all.len() / 2])
    }
}

fn of_release(kind: &str, name: &str, weight: &str) -> Value {
    json!({
        "apiVersion": if kind == "Job" { "batch/v1" } else { "v1" },
        "kind": kind,
        "metadata": {
            "namespace": "bench", "name": name, "uid": name,
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {"meta.helm.sh/release-name": "bench", "sluice.dev/weight": weight},
        },
    })
}

fn job(index: usize, active: usize) -> Value {
    let mut job = of_release("Job", &format!("job-{index:03}"), "0");
    job["status"] = json!({"active": active, "startTime": "2026-01-01T00:00:00Z"});
    job
}

fn pod(index: usize) -> Value {
    of_release("Pod", &format!("pod-{index:03}"), "1")
}
