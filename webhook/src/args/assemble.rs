//! What the flags assemble: the watches, the routers and the servers of the process.

use super::{Args, Windows};
use crate::admin;
use crate::admission::{self, Admission, Cached};
use crate::authority::{self, Authority};
use crate::client;
use crate::follow::catalog::Catalog;
use crate::follow::{health_rules, memory, plans, slots};
use crate::gate_policy;
use crate::inject::Keys;
use crate::known::{Known, Settings};
use crate::metrics::Metrics;
use crate::readiness::Readiness;
use crate::server::{self, Limits, Port, Server};
use crate::shutdown::{self, Grace, Shutdown};
use crate::status::{self, Authenticator, Recorder, Service};
use crate::telemetry;
use anyhow::{Context, Result};
use axum::Router;
use certs::Resolver;
use jiff::Timestamp;
use kube::Client;
use prometheus_client::registry::Registry;
use rules::kinds::Kind;
use rules::verdict::{CrossNamespace, Policy};
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tracing::{Instrument, info, info_span};

/// What the process is assembled from, once the flags are read.
struct Parts {
    client: Client,
    registry: Registry,
    readiness: Readiness,
    shutdown: Shutdown,
    resolver: Arc<Resolver>,
}

impl Args {
    /// Runs until a signal has been answered and the last request is done.
    pub async fn run(self) -> Result<()> {
        telemetry::init(&self.log_level, self.log_format)?;
        info!(config = ?self, "Starting");
        let mut registry = Registry::with_prefix("sluice");
        let client = client::connect(&mut registry)
            .await
            .context("failed to find the API server")?;
        let signals = shutdown::signals().context("failed to listen for signals")?;
        let parts = Parts {
            client,
            registry,
            readiness: Readiness::default(),
            shutdown: Shutdown::default(),
            resolver: Resolver::new(),
        };
        let serving = parts
            .readiness
            .condition("serving", "the ports are not open yet");
        let shutdown = parts.shutdown.clone();
        let grace = Grace {
            keep_serving: self.shutdown_delay,
            ..Grace::default()
        };
        let mut servers = self.assemble(parts).await?;
        serving.met();
        tokio::spawn(async move { shutdown.conduct(signals, serving, grace).await });
        while let Some(ended) = servers.join_next().await {
            ended.context("a server ended early")?;
        }
        info!("Done");
        Ok(())
    }

    async fn assemble(self, mut parts: Parts) -> Result<JoinSet<()>> {
        let (known, requests) = Known::new();
        if self.follow_helm_releases {
            known.read_secrets();
        }
        let granted = self.workloads.iter().chain(&self.custom_kinds);
        known.grant(granted.cloned().map(custom).collect());
        let admission = self.admission(&mut parts, &known);
        let status = self.status(&mut parts, known, requests);
        let metrics = server::Metrics::register(&mut parts.registry);
        let tls = parts
            .resolver
            .server_config()
            .context("failed to set up TLS")?;
        let Parts {
            readiness,
            shutdown,
            registry,
            ..
        } = parts;
        let server = |port, tls, limits| Server {
            port,
            tls,
            limits,
            metrics: metrics.clone(),
            shutdown: shutdown.clone(),
        };
        let mut servers = JoinSet::new();
        let listeners: [(Server, u16, Router); 3] = [
            (
                server(Port::Admission, Some(Arc::clone(&tls)), Limits::admission()),
                self.admission_port,
                admission,
            ),
            (
                server(Port::Status, Some(tls), Limits::status()),
                self.status_port,
                status,
            ),
            (
                server(Port::Admin, None, Limits::admin()),
                self.admin_port,
                admin::router(readiness, Arc::new(registry)),
            ),
        ];
        for (server, port, router) in listeners {
            let span = info_span!("serve", port = server.port.label());
            let listener = listen(port).await?;
            servers.spawn(server.serve(listener, router).instrument(span));
        }
        Ok(servers)
    }

    /// Admission, the certificates that it needs, and the policy that it writes.
    fn admission(&self, parts: &mut Parts, known: &Arc<Known>) -> Router {
        let fixed = self.fixed();
        let keys = Keys {
            config_depends_on: self.honor_config_depends_on,
            every_pod: false,
            skip_windows: self.windows == Windows::Skip,
        };
        let metrics = admission::Metrics::register(&mut parts.registry);
        let cached = Arc::new(Cached(Arc::clone(known)));
        let admission = Admission::new(keys, admission::Limits::default(), metrics);
        let admission = Arc::new(admission.knowing(cached));
        let config = authority::Config {
            namespace: self.service_namespace.clone(),
            secret: self.ca_secret.clone(),
            webhook_configuration: self.webhook_configuration.clone(),
            names: vec![
                fixed.server_name(),
                format!("{}.cluster.local", fixed.server_name()),
            ],
            lifetimes: certs::Lifetimes::default(),
        };
        let metrics = authority::Metrics::register(&mut parts.registry);
        let resolver = Arc::clone(&parts.resolver);
        let (authority, bundle) = Authority::new(
            parts.client.clone(),
            config,
            resolver,
            &parts.readiness,
            metrics,
        );
        let keep = authority.run(Timestamp::now, parts.shutdown.clone());
        tokio::spawn(keep.instrument(info_span!("authority")));
        let found = parts
            .readiness
            .condition("gate", "the address of our own Service is not known yet");
        let keep = gate_policy::maintain(
            parts.client.clone(),
            fixed,
            bundle,
            Arc::clone(&admission),
            found,
        );
        tokio::spawn(keep.instrument(info_span!("gate policy")));
        admission.router()
    }

    /// The status service, its watches and its Events.
    fn status(
        &self,
        parts: &mut Parts,
        known: Arc<Known>,
        requests: UnboundedReceiver<Kind>,
    ) -> Router {
        let client = &parts.client;
        let metrics = Arc::new(Metrics::register(&mut parts.registry));
        let catalog = Catalog {
            client: client.clone(),
            known: Arc::clone(&known),
            metrics: Arc::clone(&metrics),
        };
        tokio::spawn(catalog.run(requests));
        let config = memory::Config {
            namespace: self.service_namespace.clone(),
            name: self.memory_config_map.clone(),
        };
        let keep = memory::keep(client.clone(), config, Arc::clone(&known));
        tokio::spawn(keep.instrument(info_span!("memory")));
        let settings = Arc::new(Settings {
            policy: Policy {
                cross_namespace: CrossNamespace(self.allow_cross_namespace.clone()),
                config_depends_on: self.honor_config_depends_on,
            },
            workloads: self.workloads.clone(),
        });
        let config = slots::Config {
            namespace: self.service_namespace.clone(),
            name: self.slots_config_map.clone(),
        };
        let keep = slots::keep(
            client.clone(),
            config,
            Arc::clone(&known),
            Arc::clone(&settings),
        );
        tokio::spawn(keep.instrument(info_span!("slots")));
        let config = health_rules::Config {
            namespace: self.service_namespace.clone(),
            name: self.health_rules_configmap.clone(),
            builtin: self.builtin_health_rules,
            instance: self.instance.clone(),
        };
        let errors = health_rules::register(&mut parts.registry);
        health_rules::start(client, config, &known, errors);
        let plans = plans::follow(client.clone(), Arc::clone(&known), self.instance.clone());
        tokio::spawn(plans.instrument(info_span!("plans")));
        let (recorder, writer) = Recorder::new(client.clone(), self.instance.clone());
        tokio::spawn(writer.instrument(info_span!("events")));
        let synced = parts
            .readiness
            .condition("watches", "the gated pods have not been listed yet");
        tokio::spawn({
            let gated = Arc::clone(known.gated());
            async move {
                gated.synced().await;
                synced.met();
            }
        });
        status::router(Arc::new(Service {
            known,
            authenticator: Authenticator::new(client.clone()),
            settings,
            recorder,
            metrics,
            shutdown: parts.shutdown.clone(),
            clock: Box::new(Timestamp::now),
        }))
    }
}

/// Both families where the machine has both.
async fn listen(port: u16) -> Result<TcpListener> {
    let dual = SocketAddr::from((Ipv6Addr::UNSPECIFIED, port));
    match TcpListener::bind(dual).await {
        Ok(listener) => Ok(listener),
        Err(_) => TcpListener::bind(SocketAddr::from(([0, 0, 0, 0], port)))
            .await
            .with_context(|| format!("failed to listen on port {port}")),
    }
}

fn custom((group, word): (String, String)) -> Kind {
    Kind::Custom { group, word }
}
