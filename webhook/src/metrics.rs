//! The metrics of the status service. Labels come from closed sets.

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

/// The upper bounds of the buckets of the histogram of waits, in seconds: unnoticed waits, the waits of an installation, and the waits that an
/// alert is about.
const WAITS: [f64; 10] = [
    0.5, 2.0, 5.0, 15.0, 60.0, 120.0, 300.0, 900.0, 3_600.0, 21_600.0,
];

/// Registers the metric that tells the version of this process.
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

/// A gate's open request, counted while this guard lives.
#[derive(Debug)]
pub(crate) struct AskingGate(Gauge);

impl Drop for AskingGate {
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
    /// Creates and registers the metrics of the status service.
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

    /// Counts an open request until the returned guard is dropped.
    pub(crate) fn asking(&self) -> AskingGate {
        self.asking.inc();
        AskingGate(self.asking.clone())
    }

    /// Counts an answer of the status service to a gate, by its verdict.
    pub(crate) fn answered(&self, verdict: Decision) {
        let result = word(verdict);
        self.answers.get_or_create(&ResultLabel { result }).inc();
    }

    /// Adds a wait that took `seconds`, and ended with this outcome, to the histogram of waits.
    pub(crate) fn waited(&self, outcome: &'static str, seconds: f64) {
        let waits = self.waits.get_or_create(&OutcomeLabel { outcome });
        waits.observe(seconds);
    }

    /// Counts an answer with this verdict that ends a wait which the dependencies have not ended. `by` is the cause: `skip`, `timeout` or `failure`.
    pub(crate) fn cut(&self, by: &'static str, verdict: Decision) {
        let result = word(verdict);
        self.waits_cut.get_or_create(&CutShort { by, result }).inc();
    }

    /// Counts a request of a gate under the word `result` in place of a verdict: the reason why it was refused, or that it found no place.
    pub(crate) fn refused(&self, result: &'static str) {
        self.answers.get_or_create(&ResultLabel { result }).inc();
    }

    /// Counts a watch that broke and was begun again.
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
