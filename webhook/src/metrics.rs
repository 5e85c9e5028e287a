//! What the status half counts. Labels are closed sets.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::{Registry, Unit};
use wire::Decision;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabel {
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct CutShort {
    by: &'static str,
    result: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabel {
    outcome: &'static str,
}

/// In seconds: what nobody notices, what an installation takes, what an alert is about.
const WAITS: [f64; 10] = [
    0.5, 2.0, 5.0, 15.0, 60.0, 120.0, 300.0, 900.0, 3_600.0, 21_600.0,
];

/// Shows which version this is.
pub(crate) fn register_build(registry: &mut Registry) {
    let version = [("version", wire::VERSION)];
    registry.register("build", "The version that runs", Info::new(version));
}

/// Counters of the status service and its watches.
#[derive(Debug)]
pub(crate) struct StatusMetrics {
    asking: Gauge,
    waits: Family<OutcomeLabel, Histogram, fn() -> Histogram>,
    answers: Family<ResultLabel, Counter>,
    waits_cut: Family<CutShort, Counter>,
    watch_restarts: Counter,
}

/// A gate that asks; counted while it lives.
#[derive(Debug)]
pub(crate) struct Asking(Gauge);

impl Drop for Asking {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl Default for StatusMetrics {
    fn default() -> Self {
        Self {
            asking: Gauge::default(),
            waits: Family::new_with_constructor(|| Histogram::new(WAITS)),
            answers: Family::default(),
            waits_cut: Family::default(),
            watch_restarts: Counter::default(),
        }
    }
}

impl StatusMetrics {
    /// Makes the families and registers them.
    pub(crate) fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register(
            "gates_asking",
            "Gates whose request is being held or answered",
            metrics.asking.clone(),
        );
        registry.register(
            "answers",
            "Answers to gates, by result",
            metrics.answers.clone(),
        );
        registry.register_with_unit(
            "wait",
            "From the start of a pod until its gate was let through or refused, by how the wait ended; 0 where it had none",
            Unit::Seconds,
            metrics.waits.clone(),
        );
        registry.register(
            "waits_cut_short",
            "Answers that end a wait which the dependencies would not end, by the annotation that does",
            metrics.waits_cut.clone(),
        );
        registry.register(
            "watch_restarts",
            "Watches that broke and were begun again",
            metrics.watch_restarts.clone(),
        );
        metrics
    }

    /// A gate asks.
    pub(crate) fn asking(&self) -> Asking {
        self.asking.inc();
        Asking(self.asking.clone())
    }

    /// A gate was told.
    pub(crate) fn answered(&self, verdict: Decision) {
        let result = word(verdict);
        self.answers.get_or_create(&ResultLabel { result }).inc();
    }

    /// A gate that has waited for so many seconds waits no more.
    pub(crate) fn waited(&self, outcome: &'static str, seconds: f64) {
        let waits = self.waits.get_or_create(&OutcomeLabel { outcome });
        waits.observe(seconds);
    }

    /// An annotation ended a wait.
    pub(crate) fn cut(&self, by: &'static str, verdict: Decision) {
        let result = word(verdict);
        self.waits_cut.get_or_create(&CutShort { by, result }).inc();
    }

    /// Somebody was told nothing.
    pub(crate) fn refused(&self, result: &'static str) {
        self.answers.get_or_create(&ResultLabel { result }).inc();
    }

    /// A watch began again.
    pub(crate) fn watch_restarted(&self) {
        self.watch_restarts.inc();
    }
}

fn word(verdict: Decision) -> &'static str {
    match verdict {
        Decision::Wait => "wait",
        Decision::Open => "open",
        Decision::Refuse => "refuse",
    }
}
