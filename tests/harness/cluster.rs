//! Tests on a real cluster: a namespace for each, a look at what is in it, and a report where a test fails.
//!
//! `KUBECONFIG` names the cluster, and sluice is installed in it. Objects are written by the real `kubectl`, because what
//! it prints is part of what a user sees; they are read by a client in this process, because a test asks many times.
//!
//! Tests run at the same time, each in a namespace of its own. What takes sluice away from everybody runs alone
//! ([`alone`]).

#![expect(
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a harness reports by panicking, in every function"
)]

mod await_until;
mod chart;
mod custom;
mod manifest;
mod mutator;
mod namespace;
mod node;
mod object;
mod pod;
mod program;
mod report;
mod runs;
pub mod sluice;

pub use await_until::{LIMIT, await_until};
pub use chart::Chart;
pub use custom::Defined;
pub use manifest::{
    Manifest, UNTIL_ENOUGH, config_map, cron_job, daemon_set, deployment, job, other, pod,
    replica_set, replication_controller, rollout, service, stateful_set, yaml,
};
pub use mutator::Mutator;
pub use namespace::Namespace;
pub use node::Node;
pub use object::{Look, items, text};
pub use pod::{Line, Pod};
pub use program::{Outcome, Program};
pub use runs::Runs;

use futures::FutureExt;
use std::panic::{AssertUnwindSafe, resume_unwind};
use tokio::sync::RwLock;

/// Shared by the tests that need sluice to be there, held alone by those that take it away.
static SLUICE: RwLock<()> = RwLock::const_new(());

/// Runs a test in a namespace of its own, named after `prefix`. Where the test fails, what is in the namespace is printed
/// first; afterwards the namespace is deleted, unless `SLUICE_KEEP_NAMESPACES` is set.
pub async fn with_namespace(prefix: &str, test: impl AsyncFnOnce(&Namespace)) {
    let _others_too = SLUICE.read().await;
    run(prefix, test).await;
}

/// Runs what makes its own namespaces, while no test runs that takes sluice away.
pub async fn with_sluice<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let _others_too = SLUICE.read().await;
    let done = tokio::task::spawn_blocking(test).await;
    done.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

/// As [`with_namespace`], while no other test runs: for what stops, removes or restarts sluice.
pub async fn alone(prefix: &str, test: impl AsyncFnOnce(&Namespace)) {
    let _nobody_else = SLUICE.write().await;
    run(prefix, test).await;
}

async fn run(prefix: &str, test: impl AsyncFnOnce(&Namespace)) {
    let namespace = Namespace::create(prefix).await;
    finally(
        async || test(&namespace).await,
        async |failed| {
            if failed {
                report::print(&namespace).await;
            }
            namespace.delete().await;
        },
    )
    .await;
}

/// Runs `body`, and prints what is in a namespace where it fails: for those that [`Namespace::another`] makes.
pub async fn reported<T>(namespace: &Namespace, body: impl AsyncFnOnce() -> T) -> T {
    finally(body, async |failed| {
        if failed {
            report::print(namespace).await;
        }
    })
    .await
}

/// Runs `body`, then `last` whatever became of it, then fails where `body` failed. `last` is told whether it did.
pub async fn finally<T>(body: impl AsyncFnOnce() -> T, last: impl AsyncFnOnce(bool)) -> T {
    let outcome = AssertUnwindSafe(body()).catch_unwind().await;
    last(outcome.is_err()).await;
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}
