//! Tests on a real cluster: each has its own namespace, reads objects, and prints a report when it fails.
//!
//! `KUBECONFIG` names the cluster, with sluice installed. Objects are written by the real `kubectl`, because its
//! output is part of what a user sees. They are read by a client in this process, because a test reads many times.
//!
//! Tests run at the same time, each in a namespace of its own. A test that takes sluice away from all others runs
//! alone ([`alone`]); those of what is off by default run beside each other ([`opted_in()`]).

#![expect(
    clippy::missing_panics_doc,
    clippy::panic,
    reason = "a harness reports by panicking, in every function"
)]

mod await_until;
mod chart;
pub mod creations;
mod custom;
mod manifest;
mod mutator;
mod namespace;
mod node;
mod object;
mod opted_in;
mod pod;
mod program;
mod report;
mod runs;
pub mod sluice;

pub use await_until::{LIMIT, TIMEOUT, await_until};
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
pub use opted_in::opted_in;
pub use pod::{Line, Pod};
pub use program::{Outcome, Program};
pub use runs::Runs;

use futures::FutureExt;
use std::panic::{AssertUnwindSafe, resume_unwind};
use tokio::sync::RwLock;

/// The lock that each test which needs sluice shares, and that a test which takes sluice away holds alone.
static SLUICE: RwLock<()> = RwLock::const_new(());

/// Runs a test in a namespace of its own, named after `prefix`. A failing test prints the contents of the namespace
/// first. Afterwards the namespace is deleted, unless `SLUICE_KEEP_NAMESPACES` is set.
pub async fn with_namespace(prefix: &str, test: impl AsyncFnOnce(&Namespace)) {
    let _others_too = SLUICE.read().await;
    run(prefix, test).await;
}

/// Runs a blocking function on a thread of its own, and returns its result. Until it ends, no test takes sluice away. The function creates its own
/// namespaces.
pub async fn with_sluice<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let _others_too = SLUICE.read().await;
    let done = tokio::task::spawn_blocking(test).await;
    done.unwrap_or_else(|error| resume_unwind(error.into_panic()))
}

/// Runs a test like [`with_namespace`] while no other test runs: for tests that stop, remove or restart sluice.
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

/// Runs `body` and returns its result. When `body` panics, this first prints the contents of the namespace and then panics on: for namespaces that
/// [`Namespace::another`] creates.
pub async fn reported<T>(namespace: &Namespace, body: impl AsyncFnOnce() -> T) -> T {
    finally(body, async |failed| {
        if failed {
            report::print(namespace).await;
        }
    })
    .await
}

/// Runs `body`, then `last` in any case, which gets whether `body` panicked. Then returns the result of `body`, or panics on.
pub async fn finally<T>(body: impl AsyncFnOnce() -> T, last: impl AsyncFnOnce(bool)) -> T {
    let outcome = AssertUnwindSafe(body()).catch_unwind().await;
    last(outcome.is_err()).await;
    outcome.unwrap_or_else(|panic| resume_unwind(panic))
}
