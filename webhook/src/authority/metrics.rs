//! The metrics of the authority.

use certs::plan::{CaReason, LeafReason};
use jiff::Timestamp;
use prometheus_client::{
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

type Reasons = [(&'static str, &'static str); 1];

/// The metrics of the certificates' upkeep: when certificates expire, whether API servers trust ours, writes of the CA,
/// signed leaves, and failed rounds. Clones share the values.
#[derive(Debug, Clone, Default)]
pub struct AuthorityMetrics {
    expiry: Family<Reasons, Gauge>,
    in_sync: Gauge,
    ca_writes: Family<Reasons, Counter>,
    leaves: Family<Reasons, Counter>,
    errors: Counter,
}

impl AuthorityMetrics {
    /// Makes the metrics of the certificates' upkeep, each at zero or without a series, and registers them.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let Self {
            expiry,
            in_sync,
            ca_writes,
            leaves,
            errors,
        } = metrics.clone();
        let help = "When the certificate ends, in seconds since 1970";
        registry.register("cert_expiry_timestamp_seconds", help, expiry);
        let help = "1 while our certificate's issuer stands in the caBundle of every webhook";
        registry.register("cabundle_in_sync", help, in_sync);
        registry.register(
            "ca_writes",
            "How often this replica wrote the CA, by reason",
            ca_writes,
        );
        registry.register(
            "leaf_issues",
            "How often this replica signed a certificate, by reason",
            leaves,
        );
        registry.register(
            "authority_errors",
            "Rounds of certificate upkeep that failed",
            errors,
        );
        metrics
    }

    pub(super) fn expiry(&self, of: &'static str, at: Timestamp) {
        self.expiry
            .get_or_create(&[("type", of)])
            .set(at.as_second());
    }

    pub(super) fn in_sync(&self, yes: bool) {
        self.in_sync.set(i64::from(yes));
    }

    pub(super) fn ca_written(&self, reason: CaReason) {
        self.ca_writes
            .get_or_create(&[("reason", reason.label())])
            .inc();
    }

    pub(super) fn leaf_issued(&self, reason: LeafReason) {
        self.leaves
            .get_or_create(&[("reason", reason.label())])
            .inc();
    }

    pub(super) fn failed(&self) {
        self.errors.inc();
    }
}
