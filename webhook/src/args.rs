//! The command line, and what it assembles. Every flag has an environment name; the chart sets flags.

use crate::admin;
use crate::admission::{self, Admission, Cached};
use crate::authority::{self, Authority};
use crate::cache::Cache;
use crate::catalog::Catalog;
use crate::client;
use crate::gate_policy::{self, Fixed};
use crate::health_rules;
use crate::inject::{Amounts, Keys, Resources};
use crate::memory;
use crate::metrics::Metrics;
use crate::plans;
use crate::readiness::Readiness;
use crate::server::{self, Limits, Port, Server};
use crate::shutdown::{self, Grace, Shutdown};
use crate::slots;
use crate::status::{self, Authenticator, Recorder, Service, Settings};
use crate::telemetry::{self, LogFormat};
use anyhow::{Context, Result};
use axum::Router;
use certs::Resolver;
use clap::{Parser, ValueEnum};
use jiff::Timestamp;
use kube::Client;
use prometheus_client::registry::Registry;
use rules::kinds::Kind;
use rules::verdict::CrossNamespace;
use std::net::{Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio::task::JoinSet;
use tracing::{Instrument, info, info_span};

/// Orders the start of pods: admission webhook and status service.
#[derive(Debug, Clone, Parser)]
#[command(name = "sluice-webhook", version)]
pub struct Args {
    /// The name of our own Service.
    #[arg(long, env = "SLUICE_SERVICE_NAME", default_value = "sluice")]
    service_name: String,
    /// The namespace of our own Service, Secret and pods.
    #[arg(long, env = "POD_NAMESPACE")]
    service_namespace: String,
    /// The name of our own pod, for Events and field managers.
    #[arg(long, env = "POD_NAME", default_value = "sluice-webhook")]
    instance: String,
    /// The port of admission.
    #[arg(long, env = "SLUICE_ADMISSION_PORT", default_value_t = 10250)]
    admission_port: u16,
    /// The port of the status service.
    #[arg(long, env = "SLUICE_STATUS_PORT", default_value_t = 9764)]
    status_port: u16,
    /// The port of probes and metrics, plain HTTP.
    #[arg(long, env = "SLUICE_ADMIN_PORT", default_value_t = 8080)]
    admin_port: u16,
    /// The MutatingWebhookConfiguration whose caBundle is kept.
    #[arg(long, env = "SLUICE_WEBHOOK_CONFIGURATION", default_value = "sluice")]
    webhook_configuration: String,
    /// The Secret that holds the CA.
    #[arg(long, env = "SLUICE_CA_SECRET", default_value = "sluice-ca")]
    ca_secret: String,
    /// The ConfigMap that remembers completed Jobs and passed gates.
    #[arg(
        long,
        env = "SLUICE_MEMORY_CONFIG_MAP",
        default_value = "sluice-memory"
    )]
    memory_config_map: String,

    /// The ConfigMap, in our own namespace, that says who may run where there is a cap
    #[arg(long, env = "SLUICE_SLOTS_CONFIG_MAP", default_value = "sluice-slots")]
    slots_config_map: String,
    /// The ConfigMap, in our own namespace, with the administrator's health rules; none without it.
    #[arg(long, env = "SLUICE_HEALTH_RULES_CONFIGMAP")]
    health_rules_configmap: Option<String>,
    /// Whether the library of health rules counts.
    #[arg(long, env = "SLUICE_BUILTIN_HEALTH_RULES", default_value_t = true, action = clap::ArgAction::Set)]
    builtin_health_rules: bool,
    /// The image of the gate.
    #[arg(long, env = "SLUICE_GATE_IMAGE")]
    gate_image: String,
    /// The gate's imagePullPolicy; default: Kubernetes' own.
    #[arg(long, env = "SLUICE_GATE_IMAGE_PULL_POLICY", value_parser = ["Always", "IfNotPresent", "Never"])]
    gate_image_pull_policy: Option<String>,
    /// Pull secrets for the gate's image that every gated pod gets; each has to be in the pod's namespace.
    #[arg(long, env = "SLUICE_GATE_PULL_SECRETS", value_delimiter = ',')]
    gate_pull_secrets: Vec<String>,
    /// The gate's requests in a Burstable pod.
    #[arg(
        long,
        env = "SLUICE_GATE_REQUESTS",
        default_value = "cpu=5m,memory=8Mi"
    )]
    gate_requests: Amounts,
    /// The gate's limits, and in a Guaranteed pod its requests too.
    #[arg(
        long,
        env = "SLUICE_GATE_LIMITS",
        default_value = "cpu=50m,memory=32Mi"
    )]
    gate_limits: Amounts,
    /// The gate's runAsUser; without it the image's user counts, as OpenShift wants it.
    #[arg(long, env = "SLUICE_GATE_RUN_AS_USER")]
    gate_run_as_user: Option<i64>,
    /// The ConfigMap that a MutatingAdmissionPolicy takes the addresses and the CA from; without it the webhook injects.
    #[arg(long, env = "SLUICE_INJECTION_CONFIG_MAP")]
    injection_config_map: Option<String>,
    /// Whether the labels of Helm's release Secrets are looked at; the process needs the right to watch Secrets for it.
    #[arg(long, env = "SLUICE_FOLLOW_HELM_RELEASES")]
    follow_helm_releases: bool,
    /// Whether config.kubernetes.io/depends-on is honoured.
    #[arg(long, env = "SLUICE_HONOR_CONFIG_DEPENDS_ON", default_value_t = true, action = clap::ArgAction::Set)]
    honor_config_depends_on: bool,
    /// What becomes of a pod on Windows, for which there is no gate.
    #[arg(long, env = "SLUICE_WINDOWS", value_enum, default_value = "refuse")]
    windows: Windows,
    /// FROM->TO: namespaces that may depend on another without its consent; * stands for any.
    #[arg(long, env = "SLUICE_ALLOW_CROSS_NAMESPACE", value_delimiter = ',', value_parser = pair("->"))]
    allow_cross_namespace: Vec<(String, String)>,
    /// GROUP/KIND: custom kinds that own pods and may carry a list.
    #[arg(long, env = "SLUICE_WORKLOADS", value_delimiter = ',', value_parser = pair("/"))]
    workloads: Vec<(String, String)>,
    /// The format of the log.
    #[arg(long, env = "SLUICE_LOG_FORMAT", value_enum, default_value = "json")]
    log_format: LogFormat,
    /// What is logged, in the syntax of tracing's env filter.
    #[arg(long, env = "SLUICE_LOG_LEVEL", default_value = "info")]
    log_level: String,
    /// Seconds between SIGTERM and the end of accepting connections.
    #[arg(long, env = "SLUICE_SHUTDOWN_DELAY", default_value = "10", value_parser = seconds)]
    shutdown_delay: Duration,
}

/// What becomes of a pod that asks for a gate and runs on Windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Windows {
    /// It is refused.
    Refuse,
    /// It starts without a gate, with a warning.
    Skip,
}

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
        let (cache, requests) = Cache::new();
        if self.follow_helm_releases {
            cache.read_secrets();
        }
        let admission = self.admission(&mut parts, &cache);
        let status = self.status(&mut parts, cache, requests);
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
    fn admission(&self, parts: &mut Parts, cache: &Arc<Cache>) -> Router {
        let fixed = self.fixed();
        let keys = Keys {
            config_depends_on: self.honor_config_depends_on,
            every_pod: false,
            skip_windows: self.windows == Windows::Skip,
        };
        let metrics = admission::Metrics::register(&mut parts.registry);
        let known = Arc::new(Cached(Arc::clone(cache)));
        let admission = Admission::new(keys, admission::Limits::default(), metrics);
        let admission = Arc::new(admission.knowing(known));
        let config = authority::Config {
            namespace: self.service_namespace.clone(),
            secret: self.ca_secret.clone(),
            webhook_configuration: self.webhook_configuration.clone(),
            names: vec![
                fixed.server_name(),
                format!("{}.cluster.local", fixed.server_name()),
            ],
            policy: certs::Policy::default(),
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
        let known = parts
            .readiness
            .condition("gate", "the address of our own Service is not known yet");
        let keep = gate_policy::maintain(
            parts.client.clone(),
            fixed,
            bundle,
            Arc::clone(&admission),
            known,
        );
        tokio::spawn(keep.instrument(info_span!("gate policy")));
        admission.router()
    }

    /// The status service, its watches and its Events.
    fn status(
        &self,
        parts: &mut Parts,
        cache: Arc<Cache>,
        requests: UnboundedReceiver<Kind>,
    ) -> Router {
        let client = &parts.client;
        let metrics = Arc::new(Metrics::register(&mut parts.registry));
        let catalog = Catalog {
            client: client.clone(),
            cache: Arc::clone(&cache),
            metrics: Arc::clone(&metrics),
        };
        tokio::spawn(catalog.run(requests));
        let config = memory::Config {
            namespace: self.service_namespace.clone(),
            name: self.memory_config_map.clone(),
        };
        let keep = memory::keep(client.clone(), config, Arc::clone(&cache));
        tokio::spawn(keep.instrument(info_span!("memory")));
        let settings = Arc::new(Settings {
            cross_namespace: CrossNamespace(self.allow_cross_namespace.clone()),
            honor_config_depends_on: self.honor_config_depends_on,
            workloads: self.workloads.clone(),
        });
        let config = slots::Config {
            namespace: self.service_namespace.clone(),
            name: self.slots_config_map.clone(),
        };
        let keep = slots::keep(
            client.clone(),
            config,
            Arc::clone(&cache),
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
        health_rules::start(client, config, &cache, errors);
        let plans = plans::follow(client.clone(), Arc::clone(&cache), self.instance.clone());
        tokio::spawn(plans.instrument(info_span!("plans")));
        let (recorder, writer) = Recorder::new(client.clone(), self.instance.clone());
        tokio::spawn(writer.instrument(info_span!("events")));
        let synced = parts
            .readiness
            .condition("watches", "the gated pods have not been listed yet");
        tokio::spawn({
            let gated = Arc::clone(cache.gated());
            async move {
                gated.synced().await;
                synced.met();
            }
        });
        status::router(Arc::new(Service {
            cache,
            authenticator: Authenticator::new(client.clone()),
            settings,
            recorder,
            metrics,
            shutdown: parts.shutdown.clone(),
            clock: Box::new(Timestamp::now),
        }))
    }

    fn fixed(&self) -> Fixed {
        Fixed {
            service: self.service_name.clone(),
            namespace: self.service_namespace.clone(),
            image: self.gate_image.clone(),
            image_pull_policy: self.gate_image_pull_policy.clone(),
            image_pull_secrets: self.gate_pull_secrets.clone(),
            resources: Resources {
                requests: self.gate_requests.clone(),
                limits: self.gate_limits.clone(),
            },
            run_as_user: self.gate_run_as_user,
            config_map: self.injection_config_map.clone(),
        }
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

/// `10` or `10s`.
fn seconds(text: &str) -> Result<Duration, String> {
    let number = text.strip_suffix('s').unwrap_or(text);
    number
        .parse()
        .map(Duration::from_secs)
        .map_err(|_| format!("{text:?} is no number of seconds; write 10 or 10s"))
}

fn pair(
    separator: &'static str,
) -> impl Fn(&str) -> Result<(String, String), String> + Clone + Send + Sync {
    move |text| {
        let (left, right) = text
            .split_once(separator)
            .ok_or_else(|| format!("{text:?} lacks {separator:?}"))?;
        Ok((left.trim().to_owned(), right.trim().to_owned()))
    }
}
