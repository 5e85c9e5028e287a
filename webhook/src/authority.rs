//! One CA for all replicas, a leaf for this one, and a `caBundle` that says so.
//!
//! The CA lives in a Secret. No replica leads: whoever comes first creates it, the others get a conflict and take what
//! is there; a damaged one is replaced under its resourceVersion. A replica that still holds the CA writes that one back,
//! because every waiting gate carries its certificate. To get a new CA that nobody before it vouches for, scale to zero,
//! delete the Secret, and scale up again.
//!
//! The next CA stands in every bundle long before it signs, so API servers and gates that are made meanwhile trust it, and
//! each CA keeps the keys of those before it, which vouch for it: a gate that waits trusts what its pod was made with, and
//! follows from there to whatever signs now. So it needs no word of any rotation, nor does one of an older version.
//!
//! Everything hangs on the webhook configuration, which belongs to the chart. While there is none nothing is written, so a
//! leaving replica of an uninstalled sluice brings nothing back. The Secret belongs to our Service and outlives the
//! configuration, which somebody may delete in an emergency.
//!
//! Where kubelets mount them, the bundle is written as a ClusterTrustBundle too, and reaches the gates that wait, even with
//! such a CA. It belongs to the webhook configuration, since it is in no namespace.
//!
//! Somebody else may sign instead: then there is no CA of ours, the certificate is read from a Secret, and its CA published.
//!
//! Polled: two reads every ten seconds cost nothing, need no right to list Secrets, and heal a missed event. The
//! configuration is watched beside that, because the API server refuses pods for as long as its `caBundle` is wrong.

mod bundle;
mod changes;
mod error;
mod issued;
mod metrics;
mod published;
mod round;
mod secret;
mod store;
mod trust_bundle;

use std::{sync::Arc, time::Duration};

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
    issued::IssuedStore, published::Published, secret::Stored, store::CaStore,
    trust_bundle::TrustBundle,
};
use crate::{
    clock::Clock,
    event::Regarding,
    readiness::{Condition, Readiness},
    shutdown::Shutdown,
};

/// Who writes, in the books of the API server.
const FIELD_MANAGER: &str = "sluice";

/// How often things are looked at while all is well; whatever somebody broke is mended this much later at the latest.
const POLL: Duration = Duration::from_secs(10);

/// How often while something is missing.
const RETRY: Duration = Duration::from_secs(1);

/// The shortest time between two rounds, however often somebody writes the webhook configuration.
const BREATH: Duration = Duration::from_millis(200);

/// How long a replica that holds no CA leaves to others to write back the one that is trusted: they look each [`POLL`].
const PATIENCE: SignedDuration = SignedDuration::from_secs(30);

/// How long the next CA has to stand in the live `caBundle` before it signs: every replica has looked by then, and every API
/// server been told.
const SETTLED: SignedDuration = SignedDuration::from_secs(30);

/// The longest that one round of reads and writes may take.
const ROUND: Duration = Duration::from_secs(8);

/// The bundle that gates are injected with, PEM; `None` until a CA is known.
pub(crate) type Bundle = Option<Arc<str>>;

/// Where things are and how long they live.
#[derive(Debug, Clone)]
pub struct Config {
    /// The namespace that sluice runs in.
    pub namespace: String,
    /// The name of the Secret with the CA.
    pub secret: String,
    /// The name of the Secret with a certificate that somebody else signs for us; then we have no CA.
    pub issued: Option<String>,
    /// The name of the ClusterTrustBundle to write; `None` where there is to be none.
    pub cluster_trust_bundle: Option<String>,
    /// The name of our Service, which the Secret and the Events belong to.
    pub service: String,
    /// The name of our own pod, for Events.
    pub instance: String,
    /// The name of the `MutatingWebhookConfiguration`.
    pub webhook_configuration: String,
    /// The DNS names to serve: the service's, as the API server and the gates ask for it.
    pub names: Vec<String>,
    /// Lifetimes.
    pub lifetimes: Lifetimes,
}

/// Who signs what we serve.
#[expect(
    clippy::large_enum_variant,
    reason = "there is one of it in the process"
)]
enum Source {
    /// The replicas, with a CA of their own.
    Own(CaStore),
    /// Somebody else.
    Issued(IssuedStore),
}

/// What keeps the certificates right.
pub struct Authority {
    config: Config,
    source: Source,
    published: Published,
    trust_bundle: Option<TrustBundle>,
    resolver: Arc<Resolver>,
    bundle: watch::Sender<Bundle>,
    certificate: Condition,
    trust: Condition,
    metrics: AuthorityMetrics,
    /// The CA that this process signs with.
    held: Option<Stored>,
    /// What somebody else has signed for us.
    issued: Option<Leaf>,
    /// What is served.
    leaf: Option<Leaf>,
    /// Whether the leaf's issuer stood in every `caBundle` when the configuration was last there.
    in_sync: bool,
    /// Since when this process holds no CA although one is trusted.
    bereft: Option<Timestamp>,
    /// The next CA, and since when it has stood in every `caBundle`.
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
    /// An authority that has done nothing yet, with the bundle it will publish. It takes two conditions of `readiness`:
    /// `certificate` and `caBundle`.
    pub fn new(
        client: Client,
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
        let authority = Self {
            source: Source::of(&client, &config),
            trust_bundle: config
                .cluster_trust_bundle
                .clone()
                .map(|name| TrustBundle::new(client.clone(), name)),
            published: Published::new(
                client,
                config.webhook_configuration.clone(),
                config.instance.clone(),
                beside,
            ),
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

    /// Keeps at it until the process leaves. `clock` is asked anew each round: a timer that counts monotonically stands
    /// still while a machine sleeps, and certificates do not.
    pub async fn run(mut self, clock: Clock, shutdown: Shutdown) {
        let mut failing: Option<String> = None;
        let mut changes = self.published.changes();
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
                sleep(BREATH).await;
                // Nobody has changed it: it is time to look again all the same.
                let _ = timeout(pause, changes.after(seen)).await;
            };
            tokio::select! {
                biased;
                () = shutdown.leaving() => return,
                // Cancel-safe: a write whose answer is lost is found by reading, here or on another replica.
                () = round => {}
            }
        }
    }
}

/// Says once that rounds fail, again when they fail for another reason, and when they no longer do.
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
