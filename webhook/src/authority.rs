//! One CA for all replicas, a leaf for this replica, and a `caBundle` that API servers verify the leaf with.
//!
//! The CA lives in a Secret. No replica leads: the first replica creates the Secret, the others get a conflict and
//! read it. A damaged Secret is replaced under its resourceVersion. A replica that still holds the CA writes that CA
//! back, because every waiting gate carries its certificate. An administrator gets an unrelated CA by scaling to
//! zero, deleting the Secret and scaling up.
//!
//! The next CA stands in every bundle long before it signs, so API servers and new gates trust it in time. Each CA
//! keeps the keys of the CAs before it, and these vouch for it. A waiting gate trusts the CA that its pod was made
//! with, and follows the vouching certificates to the CA that signs now. So no gate has to be told of a rotation, and
//! gates of older versions follow too.
//!
//! Every write depends on the webhook configuration, which belongs to the chart. Without a configuration nothing is
//! written, so a leaving replica of an uninstalled sluice brings nothing back. The Secret belongs to our Service, so
//! it outlives the configuration, which an administrator may delete in an emergency.
//!
//! Where kubelets mount ClusterTrustBundles, the bundle is written as one too. Waiting gates then learn of every CA,
//! even of one that no former CA vouches for. The ClusterTrustBundle is in no namespace, so it belongs to the webhook
//! configuration.
//!
//! With another issuer there is no CA of ours: the certificate is read from a Secret, and its CA is published.
//!
//! The Secret is polled: two reads every ten seconds are cheap, need no right to list Secrets, and heal a missed
//! event. The configuration is watched as well, because the API server refuses pods for as long as its `caBundle` is
//! wrong.

mod bundle;
mod changes;
mod error;
mod issued;
mod metrics;
mod round;
mod secret;
mod store;
mod trust_bundle;
mod webhook_configuration;

use std::{future::pending, sync::Arc, time::Duration};

use certs::{CertificateDer, Leaf, Lifetimes, Resolver};
use jiff::{SignedDuration, Timestamp};
use kube::{Api, Client};
use tokio::{
    sync::watch,
    time::{sleep, timeout},
};
use tracing::{info, warn};

pub(crate) use self::error::AuthorityError;
pub use self::metrics::AuthorityMetrics;
use self::{
    issued::IssuedStore, secret::Stored, store::CaStore, trust_bundle::TrustBundle,
    webhook_configuration::Published,
};
use crate::{
    clock::Clock,
    event::Regarding,
    readiness::{Condition, Readiness},
    shutdown::Shutdown,
};

/// The name under which the API server records our writes.
const FIELD_MANAGER: &str = "sluice";

/// The longest pause between two rounds of the certificates' upkeep that succeed. A change of a webhook configuration of ours ends it.
const POLL: Duration = Duration::from_secs(10);

/// The time between two rounds of the certificates' upkeep after an error.
const RETRY: Duration = Duration::from_secs(1);

/// The shortest pause between two rounds of the certificates' upkeep, and between two watches of a webhook
/// configuration, however often the configuration is written.
const BREATH: Duration = Duration::from_millis(200);

/// The time that a replica without a CA leaves to the other replicas to write back the trusted CA: each looks every
/// [`POLL`].
const PATIENCE: SignedDuration = SignedDuration::from_secs(30);

/// The time that the next CA has to stand in the live `caBundle` before it signs. By then every replica has read it
/// and every API server has been told.
const SETTLED: SignedDuration = SignedDuration::from_secs(30);

/// The time limit for the requests of one round of the certificates' upkeep. Beyond it the round fails with
/// [`AuthorityError::Slow`].
const ROUND: Duration = Duration::from_secs(8);

/// The CA certificates, PEM, that admission writes into each gate, so that the gate can verify the status service; `None`
/// until this replica knows a CA.
pub(crate) type Bundle = Option<Arc<str>>;

/// The settings of an [`Authority`]: the objects that it reads and writes, the names in its certificate, and the
/// certificates' lifetimes.
#[derive(Debug, Clone)]
pub struct Config {
    /// The namespace that sluice runs in.
    pub namespace: String,
    /// The name of the Secret with the CA.
    pub secret: String,
    /// The name of the Secret with a certificate that another issuer signs for us; `None` where the replicas sign with
    /// a CA of their own.
    pub issued: Option<String>,
    /// The name of the ClusterTrustBundle to write; `None` where none is wanted.
    pub cluster_trust_bundle: Option<String>,
    /// The name of our Service, which the Secret and the Events belong to.
    pub service: String,
    /// The name of sluice's own pod, for Events.
    pub instance: String,
    /// The name of the `MutatingWebhookConfiguration` by which sluice marks workloads and gates pods.
    pub webhook_configuration: String,
    /// The name of the `MutatingWebhookConfiguration` by which sluice holds creations of objects back; `None` where
    /// that feature is off.
    pub creations_configuration: Option<String>,
    /// The DNS names in the certificate: those of the Service, as the API server and the gates ask for it.
    pub names: Vec<String>,
    /// The lifetimes of the CA and of the leaf certificate.
    pub lifetimes: Lifetimes,
}

/// The issuer of the certificate that the servers show.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one of it in the process"
)]
enum Source {
    /// The replicas issue the certificate, with a CA of their own.
    Own(CaStore),
    /// An issuer that the administrator chose issues the certificate.
    Issued(IssuedStore),
}

/// Keeps the CA, the leaf certificate of this replica and the `caBundle` of the webhook configurations in order.
pub struct Authority {
    config: Config,
    source: Source,
    published: Published,
    /// The webhook configuration of held creations; `None` where that feature is off. Unlike `published` it may be
    /// missing from the cluster: then no creation is held.
    creations: Option<Published>,
    trust_bundle: Option<TrustBundle>,
    resolver: Arc<Resolver>,
    bundle: watch::Sender<Bundle>,
    certificate: Condition,
    trust: Condition,
    metrics: AuthorityMetrics,
    /// The contents of the CA Secret, as last read or written: this process signs with the CA in it. `None` before the
    /// first reading, and with another issuer.
    held: Option<Stored>,
    /// The certificate that the other issuer has signed for us, as last read; `None` where we sign ourselves.
    issued: Option<Leaf>,
    /// The leaf certificate that the servers show.
    leaf: Option<Leaf>,
    /// Whether the leaf's issuer stood in every `caBundle` when the configuration was last read.
    in_sync: bool,
    /// The time since which this process has held no CA, although API servers trust one.
    bereft: Option<Timestamp>,
    /// The next CA, and the time since which it has stood in every `caBundle`.
    settling: Option<(CertificateDer<'static>, Timestamp)>,
}

impl Source {
    fn of(client: &Client, config: &Config) -> Self {
        let secrets = Api::namespaced(client.clone(), &config.namespace);
        match &config.issued {
            None => Self::Own(CaStore {
                api: secrets,
                name: config.secret.clone(),
                services: Api::namespaced(client.clone(), &config.namespace),
                service: config.service.clone(),
                lifetimes: config.lifetimes,
            }),
            Some(name) => Self::Issued(IssuedStore {
                api: secrets,
                name: name.clone(),
                server_name: config.names.first().cloned().unwrap_or_default(),
            }),
        }
    }
}

impl Authority {
    /// Returns an authority that has done nothing yet, and the bundle that it will publish. Adds two conditions to
    /// `readiness`: `certificate` and `caBundle`.
    pub fn new(
        client: &Client,
        config: Config,
        resolver: Arc<Resolver>,
        readiness: &Readiness,
        metrics: AuthorityMetrics,
    ) -> (Self, watch::Receiver<Bundle>) {
        let (bundle, receiver) = watch::channel(None);
        let beside = Regarding {
            api_version: Some("v1".to_owned()),
            kind: "Service".to_owned(),
            namespace: config.namespace.clone(),
            name: config.service.clone(),
            uid: None,
        };
        let published = |name: &String| {
            let instance = config.instance.clone();
            Published::new(client.clone(), name.clone(), instance, beside.clone())
        };
        let authority = Self {
            source: Source::of(client, &config),
            published: published(&config.webhook_configuration),
            creations: config.creations_configuration.as_ref().map(published),
            trust_bundle: config
                .cluster_trust_bundle
                .clone()
                .map(|name| TrustBundle::new(client.clone(), name)),
            certificate: readiness.condition("certificate", "this replica has no certificate yet"),
            trust: readiness.condition(
                "caBundle",
                "the webhook configuration has not been read yet",
            ),
            config,
            resolver,
            bundle,
            metrics,
            held: None,
            issued: None,
            leaf: None,
            in_sync: false,
            bereft: None,
            settling: None,
        };
        (authority, receiver)
    }

    /// Runs rounds of upkeep until the process shuts down: every `POLL`, every `RETRY` after an error, and soon after
    /// a change of a webhook configuration. Each round asks `clock` anew: a monotonic timer stands still while a machine
    /// sleeps, and certificates go on ageing.
    pub async fn run(mut self, clock: Clock, shutdown: Shutdown) {
        let mut failing: Option<String> = None;
        let mut changes = self.published.changes();
        let mut of_creations = self.creations.as_ref().map(Published::changes);
        loop {
            let round = async {
                let result = self.round(&clock).await;
                let pause = if result.is_ok() {
                    POLL
                } else {
                    self.metrics.failed();
                    RETRY
                };
                log_change(&mut failing, result);
                let seen = self.published.version();
                let of_creations = async {
                    match (&mut of_creations, &self.creations) {
                        (Some(changes), Some(it)) => changes.after(it.version()).await,
                        _ => pending().await,
                    }
                };
                sleep(BREATH).await;
                // A timeout means that the configurations are unchanged: the next round is due all the same.
                let _ = timeout(pause, async {
                    tokio::select! {
                        () = changes.after(seen) => {}
                        () = of_creations => {}
                    }
                })
                .await;
            };
            tokio::select! {
                biased;
                () = shutdown.leaving() => return,
                // Cancel-safe: the next read finds a write whose answer was lost, here or on another replica.
                () = round => {}
            }
        }
    }
}

/// Logs when rounds begin to fail, when they fail for another reason, and when they succeed again.
fn log_change(failing: &mut Option<String>, result: Result<(), AuthorityError>) {
    let now = result.err().map(|error| error.to_string());
    if *failing != now {
        if let Some(error) = &now {
            warn!(error, "Certificate upkeep is held up, trying again");
        } else {
            info!("Certificate upkeep is back in order");
        }
        *failing = now;
    }
}

#[cfg(test)]
mod tests;
