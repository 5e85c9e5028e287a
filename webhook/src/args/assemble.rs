//! What the flags assemble: the watches, the routers and the servers of the process.

use super::{Args, Windows};
use crate::admin;
use crate::admission::{self, Admission, Cached};
use crate::authority::{self, Authority};
use crate::client;
use crate::clock::Clock;
use crate::container;
use crate::event::Writer;
use crate::follow::catalog::Catalog;
use crate::follow::sheets::{Losses, Sheets};
use crate::follow::{Observer, glances, granted, health_rules, memory, plans, slots};
use crate::gate_spec;
use crate::inject::{Holds, Options};
use crate::known::{self, Known, Wanted};
use crate::metrics::{self, StatusMetrics};
use crate::process::Process;
use crate::readiness::Readiness;
use crate::server::{self, Port, Server, ServerLimits};
use crate::shutdown::{self, Grace, Shutdown};
use crate::status::{
    self, Authenticator, Conditions, Identity, Questions, Recorder, Rounds, Service, Turns,
};
use crate::stranded::{self, Lookout};
use crate::tasks::{Spawner, Tasks};
use crate::telemetry;
use anyhow::{Context, Result};
use axum::Router;
use certs::{Lifetimes, Resolver};
use kube::Client;
use prometheus_client::registry::Registry;
use std::sync::Arc;
use tokio::runtime::Handle;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::time::Instant;
use tracing::info;

// How many sixty-fourths of the memory the connections of each port may take; what is left is for everything that is known.
/// Five eighths,
const STATUS: u64 = 40;
/// an eighth,
const ADMISSION: u64 = 8;
/// and one.
const ADMIN: u64 = 1;

/// What is asked of whoever follows the cluster.
struct Asked {
    /// What somebody depends on.
    requests: UnboundedReceiver<Wanted>,
    /// Who is shown the gated pods.
    pods: Option<Observer>,
    /// Who is shown the Jobs.
    jobs: Option<Observer>,
}

/// What is shown to be held.
struct Held {
    pods: UnboundedReceiver<Identity>,
    jobs: UnboundedReceiver<Identity>,
}

/// What the process is assembled from, once the flags are read.
struct Parts {
    client: Client,
    registry: Registry,
    readiness: Readiness,
    shutdown: Shutdown,
    resolver: Arc<Resolver>,
    tasks: Spawner,
    clock: Clock,
    /// The threads of admission.
    admission: Handle,
    /// The bytes that the container is granted.
    memory: Option<u64>,
}

impl Args {
    /// Runs until a signal has been answered and the last request is done; admission on threads of its own. `arguments`: as they
    /// were given, for the log.
    ///
    /// # Errors
    ///
    /// The process cannot start, or a task of it has ended that had to last.
    pub async fn run(self, arguments: &str, admission: Handle) -> Result<()> {
        telemetry::init(&self.log_level, self.log_format)?;
        let version = wire::VERSION;
        info!(version, arguments, "Starting");
        let mut registry = Registry::with_prefix("sluice");
        metrics::register_build(&mut registry);
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
        let (known, requests) = Known::new(self.settings());
        let metrics = Arc::new(StatusMetrics::register(&mut parts.registry));
        let condition = known::Condition(Arc::clone(&known));
        parts.registry.register_collector(Box::new(condition));
        let lifetimes = self
            .lifetimes()
            .context("--ca-lifetime, --ca-overlap and --leaf-lifetime do not fit together")?;
        let admission = self.admission(&mut parts, &known, lifetimes);
        let mut asked = Asked {
            requests,
            pods: None,
            jobs: None,
        };
        let held = match self.holds {
            Holds::Off => None,
            Holds::Asked | Holds::All => {
                let ((show_pod, pods), (show_job, jobs)) =
                    (status::held_pods(), status::suspended_jobs());
                (asked.pods, asked.jobs) = (Some(show_pod), Some(show_job));
                Some(Held { pods, jobs })
            }
        };
        self.follow(&mut parts, &known, asked, Arc::clone(&metrics));
        let status = self.status(&mut parts, known, metrics, held);
        let metrics = server::ServerMetrics::register(&mut parts.registry);
        let tls = parts.resolver.server_config();
        let tls = tls.context("failed to set up TLS")?;
        let admission_tls = match &self.admission_client_ca {
            None => Arc::clone(&tls),
            Some(pem) => certs::certificates(pem.as_bytes())
                .map_err(anyhow::Error::from)
                .and_then(|clients| Ok(parts.resolver.server_config_for(&clients)?))
                .context("failed to use the certificates of --admission-client-ca")?,
        };
        let Parts {
            readiness,
            shutdown,
            registry,
            admission: own,
            memory,
            ..
        } = parts;
        let shared = Handle::current();
        info!(memory, "Granted");
        let fitting = |limits: ServerLimits, part| match memory {
            Some(memory) => limits.within(memory / 64 * part),
            None => limits,
        };
        let server = |port, tls, limits| Server {
            port,
            tls,
            limits,
            metrics: metrics.clone(),
            shutdown: shutdown.clone(),
        };
        let (spawner, servers) = Tasks::new();
        let listeners: [(Server, u16, Router, &Handle); 3] = [
            (
                server(
                    Port::Admission,
                    Some(admission_tls),
                    fitting(ServerLimits::admission(), ADMISSION),
                ),
                self.admission_port,
                admission,
                &own,
            ),
            (
                server(
                    Port::Status,
                    Some(tls),
                    fitting(ServerLimits::status(), STATUS),
                ),
                self.status_port,
                status,
                &shared,
            ),
            (
                server(Port::Admin, None, fitting(ServerLimits::admin(), ADMIN)),
                self.admin_port,
                admin::router(readiness, Arc::new(registry)),
                &shared,
            ),
        ];
        for (server, port, router, threads) in listeners {
            let _entered = threads.enter();
            let name = format!("{} server", server.port.label());
            let listener = server.listen(port);
            let listener = listener.with_context(|| format!("failed to listen on port {port}"))?;
            spawner.keep_on(threads, name, server.serve(listener, router));
        }
        Ok(Process {
            servers,
            background,
            shutdown,
            serving,
        })
    }

    /// Admission, the certificates that it needs, and what it puts into gates.
    fn admission(&self, parts: &mut Parts, known: &Arc<Known>, lifetimes: Lifetimes) -> Router {
        let fixed = self.fixed();
        let options = Options {
            config_depends_on: self.honor_config_depends_on,
            every_pod: false,
            skip_windows: self.windows == Windows::Skip,
            holds: self.holds,
        };
        let metrics = admission::AdmissionMetrics::register(&mut parts.registry);
        let cached = Arc::new(Cached(Arc::clone(known)));
        let limits = admission::AdmissionLimits::default();
        let limits = parts.memory.map_or(limits, |memory| limits.within(memory));
        let (admission, spec) = Admission::new(options, limits, metrics);
        let admission = Arc::new(admission.knowing(cached));
        let config = authority::Config {
            namespace: self.service_namespace.clone(),
            secret: self.ca_secret.clone(),
            issued: self.issued_secret.clone(),
            cluster_trust_bundle: self.cluster_trust_bundle.clone(),
            service: self.service_name.clone(),
            instance: self.instance.clone(),
            webhook_configuration: self.webhook_configuration.clone(),
            names: vec![
                fixed.server_name(),
                format!("{}.cluster.local", fixed.server_name()),
            ],
            lifetimes,
        };
        let metrics = authority::AuthorityMetrics::register(&mut parts.registry);
        let resolver = Arc::clone(&parts.resolver);
        let (authority, bundle) = Authority::new(
            parts.client.clone(),
            config,
            resolver,
            &parts.readiness,
            metrics,
        );
        let keep = authority.run(parts.clock.clone(), parts.shutdown.clone());
        parts.tasks.keep("authority", keep);
        let lookout = Lookout {
            client: parts.client.clone(),
            resolver: Arc::clone(&parts.resolver),
            cluster_trust_bundle: self.cluster_trust_bundle.clone(),
            events: self.events(parts),
            count: stranded::register(&mut parts.registry),
        };
        let keep = lookout.keep(bundle.clone());
        parts.tasks.keep("stranded pods", keep);
        let found = parts
            .readiness
            .condition("gate", "the address of our own Service is not known yet");
        let keep = gate_spec::maintain(parts.client.clone(), fixed, bundle, spec, found);
        parts.tasks.keep("gate spec", keep);
        admission.router()
    }

    /// What fills `known`, and what tells of it.
    fn follow(
        &self,
        parts: &mut Parts,
        known: &Arc<Known>,
        Asked {
            requests,
            pods,
            jobs,
        }: Asked,
        metrics: Arc<StatusMetrics>,
    ) {
        let (client, tasks) = (|| parts.client.clone(), &parts.tasks);
        let known = || Arc::clone(known);
        let catalog = Catalog {
            client: client(),
            known: known(),
            metrics,
            tasks: tasks.clone(),
            shown: pods,
            jobs,
        };
        tasks.keep("catalog", catalog.run(requests));
        let looks = glances::follow(client(), known(), parts.clock.clone());
        tasks.keep("looks at pods", looks);
        let losses = Losses::register(&mut parts.registry);
        let stored = self.config_map(&self.memory_config_map);
        let sheets = Sheets::new(client(), &stored, &self.service_name);
        tasks.keep("memory", memory::keep(sheets, known(), losses.clone()));
        let stored = self.config_map(&self.slots_config_map);
        let sheets = Sheets::new(client(), &stored, &self.service_name);
        let keep = slots::keep(client(), sheets, known(), parts.clock.clone(), losses);
        tasks.keep("slots", keep);
        let errors = health_rules::register(&mut parts.registry);
        if let Some(name) = self.health_rules_configmap() {
            let stored = self.config_map(name);
            let follow = health_rules::follow(self.events(parts), stored, known(), errors);
            tasks.keep("health rules", follow);
        }
        if let Some(name) = self.watch_cluster_role.clone() {
            let keep = granted::keep(client(), name, known());
            tasks.keep("granted kinds", keep);
        }
        let plans = plans::follow(known(), self.events(parts));
        tasks.keep("plans", plans);
        let synced = parts
            .readiness
            .condition("watches", "the gated pods have not been listed yet");
        let gated = Arc::clone(known().gated());
        tasks.run("first list of gated pods", async move {
            gated.synced().await;
            synced.met();
        });
    }

    /// Who writes Events.
    fn events(&self, parts: &Parts) -> Writer {
        Writer {
            client: parts.client.clone(),
            instance: self.instance.clone(),
            clock: parts.clock.clone(),
        }
    }

    /// The status service and its Events, and where holds are on who takes them away.
    fn status(
        &self,
        parts: &mut Parts,
        known: Arc<Known>,
        metrics: Arc<StatusMetrics>,
        held: Option<Held>,
    ) -> Router {
        let client = &parts.client;
        let (recorder, writer) = Recorder::new(self.events(parts));
        parts.tasks.keep("events", writer);
        let questions = Arc::<Questions>::default();
        let (pods, jobs) = (Arc::<Questions>::default(), Arc::<Questions>::default());
        let waits = status::Waits {
            questions: Arc::clone(&questions),
            held: Arc::clone(&pods),
            suspended: Arc::clone(&jobs),
            clock: parts.clock.clone(),
        };
        parts.registry.register_collector(Box::new(waits));
        let conditions = self.pod_conditions.then(|| {
            let (conditions, writer) = Conditions::new(client.clone());
            parts.tasks.keep("conditions", writer);
            conditions
        });
        let service = Arc::new(Service {
            authenticator: Authenticator::new(
                client.clone(),
                parts.clock.clone(),
                Arc::clone(&known),
                container::own_token().as_deref().and_then(status::issuer),
            ),
            questions,
            rounds: Rounds::new(Arc::clone(&known)),
            turns: Turns::new(1),
            known,
            recorder,
            conditions,
            metrics,
            shutdown: parts.shutdown.clone(),
            clock: parts.clock.clone(),
            beat: status::Beat::from(Instant::now()),
        });
        if let Some(held) = held {
            let holds = status::Holds::new(Arc::clone(&service), client.clone(), pods);
            parts.tasks.keep("holds", holds.keep(held.pods));
            let suspended = status::Suspended::new(Arc::clone(&service), client.clone(), jobs);
            parts
                .tasks
                .keep("suspended Jobs", suspended.keep(held.jobs));
        }
        status::router(service)
    }
}

#[cfg(test)]
mod tests;
