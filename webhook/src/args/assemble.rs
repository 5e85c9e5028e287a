//! Assembles the process from its flags: the watches, the routers and the servers.

mod admission;
mod follow;
mod ports;
mod status;

use super::Args;
use crate::client;
use crate::clock::Clock;
use crate::container;
use crate::event::{self, Outbox, Writer};
use crate::follow::Observer;
use crate::inject::Holds;
use crate::known::{self, Known, WatchRequest};
use crate::memory_alarm::MemoryAlarm;
use crate::metrics::{self, StatusMetrics};
use crate::process::Process;
use crate::readiness::Readiness;
use crate::shutdown::{self, Grace, Shutdown};
use crate::status::{Waiter, held_pods, suspended_jobs};
use crate::tasks::{Spawner, Tasks};
use crate::telemetry;
use anyhow::{Context, Result};
use certs::Resolver;
use kube::Client;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;
use tracing::info;

/// The inputs of the tasks that follow the cluster.
struct FollowInputs {
    /// Receives the requests that views send: to watch a kind that a gate depends on, or to read one object whole.
    requests: UnboundedReceiver<WatchRequest>,
    /// Called with each gated pod as the watch shows it; `None` where holds are off.
    pods: Option<Observer>,
    /// Called with each Job as the watch shows it; `None` where holds are off.
    jobs: Option<Observer>,
}

/// The receivers of held pods and of suspended Jobs, which watches send.
struct HeldInputs {
    pods: UnboundedReceiver<Waiter>,
    jobs: UnboundedReceiver<Waiter>,
}

/// The parts that the process is assembled from, once the flags are read.
struct Parts {
    client: Client,
    registry: Registry,
    readiness: Readiness,
    shutdown: Shutdown,
    resolver: Arc<Resolver>,
    tasks: Spawner,
    clock: Clock,
    /// The runtime of admission's own threads.
    admission: Handle,
    /// The memory limit of the container, in bytes; `None` without a limit.
    memory: Option<u64>,
    /// Tells when the memory of the container is nearly used up; never without a limit.
    alarm: MemoryAlarm,
}

impl Args {
    /// Runs until a signal has arrived and the last request is answered. Admission runs on threads of its own.
    /// `arguments` is the command line as it was given, for the log.
    ///
    /// # Errors
    ///
    /// The process cannot start, or one of its lasting tasks has ended.
    pub async fn run(self, arguments: &str, admission: Handle) -> Result<()> {
        let log = telemetry::init(&self.log_level, self.log_format)?;
        let version = wire::VERSION;
        info!(version, arguments, "Starting");
        let mut registry = Registry::with_prefix("sluice");
        metrics::register_build(&mut registry);
        log.register(&mut registry);
        let clock = self.clock();
        clock.register(&mut registry);
        let client = client::connect(&mut registry, clock.clone())
            .await
            .context("failed to find the API server")?;
        let signals = shutdown::signals().context("failed to listen for signals")?;
        let grace = Grace {
            keep_serving: self.shutdown_delay,
            ..Grace::default()
        };
        let (tasks, background) = Tasks::new();
        tasks.keep("shares of the log", log.tell_left_out());
        let parts = Parts {
            client,
            registry,
            readiness: Readiness::default(),
            shutdown: Shutdown::default(),
            resolver: Resolver::new(),
            tasks,
            clock,
            admission,
            memory: container::memory_limit(),
            alarm: MemoryAlarm::default(),
        };
        let process = self.assemble(parts, background)?;
        process.run(signals, grace).await?;
        info!("Done");
        Ok(())
    }

    fn assemble(self, mut parts: Parts, background: Tasks) -> Result<Process> {
        let serving = parts
            .readiness
            .condition("serving", "the ports are not open yet");
        parts.alarm.register(&mut parts.registry);
        if let Some(limit) = parts.memory {
            let follow = parts.alarm.clone().follow(limit, container::memory_in_use);
            parts.tasks.keep("memory alarm", follow);
        }
        let (known, requests) = Known::new(self.settings(parts.memory, parts.alarm.clone()));
        let metrics = Arc::new(StatusMetrics::register(&mut parts.registry));
        let condition = known::FreshnessMetrics(Arc::clone(&known));
        parts.registry.register_collector(Box::new(condition));
        let lifetimes = self
            .lifetimes()
            .context("--ca-lifetime, --ca-overlap and --leaf-lifetime do not fit together")?;
        let fixed = self
            .fixed()
            .context("--gate-requests and --gate-limits cannot be those of a gate")?;
        let dropped = event::register(&mut parts.registry);
        let (outbox, writer) = Outbox::new(self.events(&parts), dropped);
        parts.tasks.keep("events", writer);
        let admission = self.admission(&mut parts, &known, lifetimes, fixed, outbox.clone());
        let mut asked = FollowInputs {
            requests,
            pods: None,
            jobs: None,
        };
        let held = match self.holds {
            Holds::Off => None,
            Holds::Asked | Holds::All => {
                let ((show_pod, pods), (show_job, jobs)) = (held_pods(), suspended_jobs());
                (asked.pods, asked.jobs) = (Some(show_pod), Some(show_job));
                Some(HeldInputs { pods, jobs })
            }
        };
        self.follow(&mut parts, &known, asked, &metrics, outbox.clone());
        let status = self.status(&mut parts, known, metrics, outbox, held);
        let shutdown = parts.shutdown.clone();
        let servers = self.listen(parts, admission, status)?;
        Ok(Process {
            servers,
            background,
            shutdown,
            serving,
        })
    }

    /// Returns the writer of Kubernetes Events.
    fn events(&self, parts: &Parts) -> Writer {
        Writer {
            client: parts.client.clone(),
            instance: self.instance.clone(),
            clock: parts.clock.clone(),
        }
    }
}

#[cfg(test)]
mod tests;
