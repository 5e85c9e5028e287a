//! The metrics of the listeners.

use crate::connections::Lost;
use prometheus_client::{
    encoding::{EncodeLabelSet, EncodeLabelValue, LabelValueEncoder},
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};
use strum::IntoStaticStr;

/// The ports that the process listens on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "lowercase")]
pub enum Port {
    /// The port on which the API server calls the admission webhooks.
    Admission,
    /// The port on which gates ask the status service.
    Status,
    /// The port for the kubelet's probes and for scrapes of metrics.
    Admin,
}

impl Port {
    /// The word for the port in a metric label.
    pub fn label(self) -> &'static str {
        self.into()
    }
}

/// The reason why the server turns a client away.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub(crate) enum Turned {
    /// The client's address holds too many connections.
    Crowded,
    /// The connection had the least merit, and made room for another.
    Outranked,
    /// All places are taken, and every connection has a request that is being answered.
    Full,
    /// The client's TLS handshake failed or took too long.
    Handshake,
    /// The head of the client's request took too long.
    SlowHead,
    /// The client did not read its answer.
    Unread,
    /// The client's request took too long, its body included.
    SlowRequest,
    /// The connection broke, or its bytes were not HTTP.
    Broken,
    /// The process aborted while the connection was open.
    Aborted,
}

impl Turned {
    /// The word for the reason in a metric label.
    pub(crate) fn label(self) -> &'static str {
        self.into()
    }
}

impl From<Lost> for Turned {
    fn from(lost: Lost) -> Self {
        match lost {
            Lost::Crowded => Self::Crowded,
            Lost::Outranked => Self::Outranked,
            Lost::Full => Self::Full,
        }
    }
}

macro_rules! label_value {
    ($($name:ty),*) => {$(
        impl EncodeLabelValue for $name {
            fn encode(&self, encoder: &mut LabelValueEncoder<'_>) -> Result<(), std::fmt::Error> {
                self.label().encode(encoder)
            }
        }
    )*};
}
label_value!(Port, Turned);

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByPort {
    port: Port,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByPortAndReason {
    port: Port,
    reason: Turned,
}

/// The counters of the connections of all listeners. Clones share them.
#[derive(Debug, Clone, Default)]
pub struct ServerMetrics {
    open: Family<ByPort, Gauge>,
    panics: Family<ByPort, Counter>,
    turned: Family<ByPortAndReason, Counter>,
}

/// An open connection, counted until it is dropped.
pub(super) struct OpenConnection(Gauge);

impl ServerMetrics {
    /// Registers the counters of the listeners' connections.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register("connections", "Open connections", metrics.open.clone());
        registry.register(
            "panics",
            "Requests whose handler panicked",
            metrics.panics.clone(),
        );
        let help = "Connections and requests that were turned away";
        registry.register("turned_away", help, metrics.turned.clone());
        metrics
    }

    pub(super) fn open(&self, port: Port) -> OpenConnection {
        let gauge = self.open.get_or_create_owned(&ByPort { port });
        gauge.inc();
        OpenConnection(gauge)
    }

    pub(super) fn panicked(&self, port: Port) {
        self.panics.get_or_create(&ByPort { port }).inc();
    }

    pub(super) fn turned(&self, port: Port, reason: Turned) {
        self.turned
            .get_or_create(&ByPortAndReason { port, reason })
            .inc();
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.0.dec();
    }
}
