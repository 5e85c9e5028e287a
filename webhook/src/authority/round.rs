//! One round of upkeep: the CA or the issued certificate, then the `caBundle`, the leaf and the conditions.

use certs::{
    CertificateDer, Leaf,
    plan::{self, LeafPlan},
};
use jiff::Timestamp;
use tokio::time::timeout;
use tracing::info;

use super::{
    Authority, AuthorityError, PATIENCE, ROUND, SETTLED, Source,
    issued::Issued,
    secret::Stored,
    store::{KnownTrust, Synced},
    webhook_configuration::Novelty,
};
use crate::clock::Clock;

impl Authority {
    /// Runs one round of upkeep: the CA and the bundle, then the leaf, then the conditions of readiness. The leaf and the
    /// conditions are looked after even when the API server does not answer, with the objects that were last seen.
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
        // Read the clock only now: the answer has corrected it.
        let now = clock.now();
        let trusted = self.published.trusted();
        let elsewhere = trusted.is_some() && self.is_patient(now);
        let settled = self.is_settled(now);
        let bundle = match &self.source {
            Source::Own(store) => {
                let known = KnownTrust {
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
        if let Some(creations) = &mut self.creations {
            creations.read().await?;
            creations.publish(&bundle, novelty, clock).await?;
        }
        match (&mut self.trust_bundle, self.published.owner()) {
            (Some(trust_bundle), Some(owner)) => trust_bundle.publish(&bundle, owner).await,
            _ => Ok(()),
        }
    }

    /// Returns whether other replicas get more time to write back a CA that they may hold. The first call begins the
    /// wait of [`PATIENCE`].
    fn is_patient(&mut self, now: Timestamp) -> bool {
        let since = *self.bereft.get_or_insert(now);
        now.duration_since(since) < PATIENCE
    }

    /// Whether the webhook configuration trusts a leaf that `issuer` signed, and that of held creations too, where it
    /// exists.
    fn trusts(&self, issuer: &CertificateDer<'_>) -> bool {
        let creations = self.creations.iter();
        let mut creations = creations.filter(|it| it.is_there().is_ok());
        self.published.trusts(issuer) && creations.all(|it| it.trusts(issuer))
    }

    /// Returns whether the next CA has stood in every `caBundle` for [`SETTLED`]. The first call that finds it there begins
    /// the wait; a call that does not ends it.
    fn is_settled(&mut self, now: Timestamp) -> bool {
        let next = self.held.as_ref().and_then(|held| held.next.as_ref());
        let next = next.map(|next| next.certificate());
        let next = next.filter(|next| self.trusts(next));
        self.settling = match (next, self.settling.take()) {
            (Some(next), Some(known)) if *next == known.0 => Some(known),
            (next, _) => next.map(|next| (next.clone(), now)),
        };
        let since = self.settling.as_ref().map(|(_, since)| *since);
        since.is_some_and(|since| now.duration_since(since) >= SETTLED)
    }

    /// Signs with the stored CA from now on, and sets the metrics of its expiry and of the next CA's.
    fn hold(&mut self, stored: Stored) {
        self.metrics.expiry("ca", stored.ca.not_after());
        if let Some(next) = &stored.next {
            self.metrics.expiry("next", next.not_after());
        }
        self.held = Some(stored);
        self.bereft = None;
    }

    /// Sends the bundle to all readers of `Bundle` if it has changed. Returns whether it has.
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
                leaf.is(issued) || (leaf.is_valid(now) && !self.trusts(issued.issuer()))
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
        let trusted = self.trusts(held.ca.certificate());
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

    /// Sets the two conditions of readiness that depend on the certificates: whether the leaf is valid, and whether API servers trust it. An
    /// error while the webhook configuration does not exist; a replica that they trusted then stays ready.
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
            // The API server calls only while the configuration exists. A replica that was ready stays ready: waiting
            // gates still ask it.
            if !self.in_sync {
                self.trust.unmet(error.to_string());
            }
            return Err(error);
        }
        let leaf = self.leaf.as_ref();
        self.in_sync = leaf.is_some_and(|leaf| self.trusts(leaf.issuer()));
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
