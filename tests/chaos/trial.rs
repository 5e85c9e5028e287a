//! One trial: gates wait and pods are created while a fault lasts. Then the gates must open in time, and no promise may be broken.

use crate::creates::{Created, Creates};
use crate::crowd::{Crowd, Fates};
use crate::site::Site;
use crate::watched::Watched;
use anyhow::Result;
use futures::FutureExt;
use futures::future::LocalBoxFuture;
use harness::samples::{Samples, millis};
use std::panic::AssertUnwindSafe;
use std::time::Duration;

/// A fault, and the promises that hold through it.
pub(crate) struct Trial {
    /// The name of the fault. The rows of the table are chosen by parts of this name.
    pub(crate) name: &'static str,
    /// The number of gates that wait through the fault.
    pub(crate) gates: usize,
    /// The promise about the pods that are created during the fault.
    pub(crate) admission: Admission,
    /// The latest time, after the dependency's creation, at which the last gate has to be open.
    pub(crate) latest: Duration,
    /// Causes the fault, and returns when it is mended.
    pub(crate) fault: Fault,
}

/// A function that causes a fault, mends it, and reports what it did.
pub(crate) type Fault = for<'a> fn(&'a Site<'a>) -> LocalBoxFuture<'a, Broken>;

/// The promise about creations while the fault lasts.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Every creation succeeds, at the second try at the latest: a process that is killed loses those that it has in hand.
    Open,
    /// Some creations may be refused.
    Interrupted,
    /// No creation is tried, because the API server itself is away.
    Untried,
}

/// The report of a fault.
#[derive(Debug, Default)]
pub(crate) struct Broken {
    /// The number of times that the fault was caused.
    pub(crate) times: usize,
    /// The number of replicas that the fault itself ended, so that they were started again.
    pub(crate) ended: u64,
    /// Further words about the fault, for the table.
    pub(crate) seen: String,
}

impl Broken {
    pub(crate) fn times(times: usize) -> Self {
        Self {
            times,
            ..Self::default()
        }
    }

    pub(crate) fn seen(self, seen: impl Into<String>) -> Self {
        let seen = seen.into();
        Self { seen, ..self }
    }
}

/// The result of a trial: a row of the table.
pub(crate) struct Row {
    pub(crate) cells: Vec<String>,
    /// The promises that the trial has found broken, in words for the table.
    pub(crate) faults: Vec<String>,
}

impl Trial {
    /// Returns a trial with twenty waiting gates, which have to be open ten seconds after their dependency at the latest.
    pub(crate) fn of(name: &'static str, admission: Admission, fault: Fault) -> Self {
        Self {
            name,
            gates: 20,
            admission,
            latest: Duration::from_secs(10),
            fault,
        }
    }

    /// Runs the trial, and returns its row. An error or a panic is a row too, not a failure. Afterwards lets all packets through and continues etcd
    /// and DNS, in case a fault has left them stopped. `limit` is the container's memory limit, in bytes.
    pub(crate) async fn run(&self, site: &Site<'_>, number: usize, limit: u64) -> Row {
        let attempt = AssertUnwindSafe(self.attempt(site, number, limit)).catch_unwind();
        let row = match attempt.await {
            Ok(Ok(row)) => row,
            Ok(Err(error)) => self.broken_off(format!("{error:#}")),
            Err(panic) => self.broken_off(said(&*panic)),
        };
        // A trial may leave packets lost until its gates are open, and one that broke off leaves anything.
        site.node.lose_nothing().await;
        for program in ["etcd", "coredns"] {
            site.node.signal(program, "CONT").await;
        }
        row
    }

    fn broken_off(&self, why: String) -> Row {
        Row {
            cells: vec![self.name.to_owned()],
            faults: vec![why],
        }
    }

    async fn attempt(&self, site: &Site<'_>, number: usize, limit: u64) -> Result<Row> {
        let crowd = Crowd::gather(site, &format!("dependency-{number}"), self.gates).await?;
        let watched = Watched::start().await;
        let under_way = (self.admission != Admission::Untried).then(|| Creates::start(site));
        let broken = (self.fault)(site).await;
        let created = match under_way {
            Some(under_way) => under_way.stop().await,
            None => Created::default(),
        };
        let fates = crowd.release(site).await?;
        let (restarts, highest, now) = watched.stop().await;
        let mut row = self.judge(&broken, &created, &fates);
        if restarts > broken.ended {
            row.faults.push(format!("{restarts} restarts"));
        }
        if highest > limit {
            row.faults.push("more memory than the limit".to_owned());
        }
        let [highest, now] = [highest, now].map(|bytes| format!("{} MiB", bytes >> 20));
        let memory = [restarts.to_string(), highest, now, broken.seen];
        row.cells.extend(memory);
        Ok(row)
    }

    fn judge(&self, broken: &Broken, created: &Created, fates: &Fates) -> Row {
        let mut faults = vec![];
        let refused = created.refusal.as_deref().unwrap_or_default();
        if self.admission == Admission::Open && created.failed_again > 0 {
            faults.push(format!("refused twice: {refused}"));
        }
        if fates.early > 0 {
            faults.push(format!("{} opened early", fates.early));
        }
        if fates.failed > 0 {
            faults.push(format!("{} gates failed", fates.failed));
        }
        if let Some(stranded) = fates.never.first() {
            faults.push(format!("never open: {stranded:?}"));
        }
        let late = fates.late.iter().max().copied().unwrap_or_default();
        if late > self.latest {
            faults.push(format!("late by {late:?}"));
        }
        let took = (!created.took.is_empty()).then(|| Samples::new(created.took.clone()));
        let took = took.map_or("-".to_owned(), |took| {
            format!("{took}, max {}", millis(took.longest()))
        });
        let cells = vec![
            self.name.to_owned(),
            broken.times.to_string(),
            format!(
                "{} / {} / {}",
                created.tried, created.failed, created.failed_again
            ),
            took,
            self.gates.to_string(),
            fates.early.to_string(),
            fates.failed.to_string(),
            fates.never.len().to_string(),
            millis(late),
        ];
        Row { cells, faults }
    }
}

/// Returns the message of a panic, or `a panic` where it has no text.
fn said(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<String>().cloned();
    let text = text.or_else(|| panic.downcast_ref::<&str>().map(|it| (*it).to_owned()));
    text.unwrap_or_else(|| "a panic".to_owned())
}
