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
mod secret;
mod store;
mod trust_bundle;

use std::{sync::Arc, time::Duration};

use certs::{
    CertificateDer, Leaf, Lifetimes, Resolver,
    plan::{self, LeafPlan},
};
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
    issued::{Issued, IssuedStore},
    published::{Novelty, Published},
    secret::Stored,
    store::{CaStore, Synced, Trust},
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

    /// One round: the CA, the `caBundle`, the leaf, the conditions. The later ones are looked after even when the API
    /// server is away, with what was last seen of it.
    pub async fn round(&mut self, clock: &Clock) -> Result<(), AuthorityError> {
        let synced = timeout(ROUND, self.sync(clock))
            .await
            .unwrap_or(Err(AuthorityError::Slow));
        let now = clock.now();
        let signed = self.renew_leaf(now);
        let trusted = self.report(now);
        synced.and(signed).and(trusted)
    }

    async fn sync(&mut self, clock: &Clock) -> Result<(), AuthorityError> {
        self.published.read().await?;
        // Only now: the answer has told what time it is.
        let now = clock.now();
        let trusted = self.published.trusted();
        let elsewhere = trusted.is_some() && self.is_patient(now);
        let settled = self.is_settled(now);
        let bundle = match &self.source {
            Source::Own(store) => {
                let known = Trust {
                    held: self.held.as_ref(),
                    trusted: trusted.as_deref(),
                    elsewhere,
                    settled,
                };
                let may_write = || self.published.is_there();
                let Synced { stored, written } = store.sync(now, known, may_write).await?;
                if let Some(reason) = written {
                    self.metrics.ca_written(reason);
                }
                let bundle = stored.bundle();
                self.hold(stored);
                bundle
            }
            Source::Issued(store) => {
                let Issued { leaf, bundle } = store.read(now, trusted.as_deref()).await?;
                self.issued = Some(leaf);
                bundle
            }
        };
        let novelty = self.tell(&bundle);
        self.published.publish(&bundle, novelty, clock).await?;
        match (&mut self.trust_bundle, self.published.owner()) {
            (Some(trust_bundle), Some(owner)) => trust_bundle.publish(&bundle, owner).await,
            _ => Ok(()),
        }
    }

    /// Whether others get more time to write back the CA that they may hold. To ask begins the wait.
    fn is_patient(&mut self, now: Timestamp) -> bool {
        let since = *self.bereft.get_or_insert(now);
        now.duration_since(since) < PATIENCE
    }

    /// Whether the next CA has been trusted for long enough. To ask begins the wait.
    fn is_settled(&mut self, now: Timestamp) -> bool {
        let next = self.held.as_ref().and_then(|held| held.next.as_ref());
        let next = next.map(|next| next.certificate());
        let next = next.filter(|next| self.published.trusts(next));
        self.settling = match (next, self.settling.take()) {
            (Some(next), Some(known)) if *next == known.0 => Some(known),
            (next, _) => next.map(|next| (next.clone(), now)),
        };
        let since = self.settling.as_ref().map(|(_, since)| *since);
        since.is_some_and(|since| now.duration_since(since) >= SETTLED)
    }

    /// Takes the CA that is stored.
    fn hold(&mut self, stored: Stored) {
        self.metrics.expiry("ca", stored.ca.not_after());
        if let Some(next) = &stored.next {
            self.metrics.expiry("next", next.not_after());
        }
        self.held = Some(stored);
        self.bereft = None;
    }

    /// Tells everybody of the bundle where it is another one.
    fn tell(&self, bundle: &str) -> Novelty {
        let is_new = self.bundle.send_if_modified(|current| {
            let changed = current.as_deref() != Some(bundle);
            if changed {
                *current = Some(bundle.into());
            }
            changed
        });
        if is_new { Novelty::New } else { Novelty::Known }
    }

    fn renew_leaf(&mut self, now: Timestamp) -> Result<(), AuthorityError> {
        if let Some(issued) = &self.issued {
            let serves = |leaf: &Leaf| {
                leaf.is(issued) || (leaf.is_valid(now) && !self.published.trusts(issued.issuer()))
            };
            if !self.leaf.as_ref().is_some_and(serves) {
                info!(not_after = %issued.not_after(), "Took a certificate");
                self.serve(issued.clone());
            }
            return Ok(());
        }
        let Some(held) = &self.held else {
            return Ok(());
        };
        let trusted = self.published.trusts(held.ca.certificate());
        let LeafPlan::Issue(reason) = plan::leaf(now, self.leaf.as_ref(), &held.ca, trusted) else {
            return Ok(());
        };
        let leaf = Leaf::issue(
            &held.ca,
            &self.config.names,
            now,
            self.config.lifetimes.leaf(),
        )?;
        let names = self.config.names.join(", ");
        info!(%reason, not_after = %leaf.not_after(), names, "Signed a certificate");
        self.metrics.leaf_issued(reason);
        self.serve(leaf);
        Ok(())
    }

    fn serve(&mut self, leaf: Leaf) {
        self.metrics.expiry("leaf", leaf.not_after());
        self.resolver.set(&leaf);
        self.leaf = Some(leaf);
    }

    /// Sets the conditions.
    fn report(&mut self, now: Timestamp) -> Result<(), AuthorityError> {
        match &self.leaf {
            None => self
                .certificate
                .unmet("this replica has no certificate yet"),
            Some(leaf) if leaf.is_valid(now) => self.certificate.met(),
            Some(leaf) => self.certificate.unmet(format!(
                "the certificate is valid from {} to {}, and the clock says {now}",
                leaf.issued(),
                leaf.not_after()
            )),
        }
        if let Err(error) = self.published.is_there() {
            // Without a configuration nobody calls. A replica that was ready stays so: gates that wait still ask it.
            if !self.in_sync {
                self.trust.unmet(error.to_string());
            }
            return Err(error);
        }
        let leaf = self.leaf.as_ref();
        self.in_sync = leaf.is_some_and(|leaf| self.published.trusts(leaf.issuer()));
        self.metrics.in_sync(self.in_sync);
        if self.in_sync {
            self.trust.met();
        } else {
            let name = &self.config.webhook_configuration;
            self.trust.unmet(format!(
                "the caBundle of the MutatingWebhookConfiguration {name:?} does not hold this replica's CA yet"
            ));
        }
        Ok(())
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
