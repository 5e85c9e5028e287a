//! The metrics of admission. Labels come from closed sets only.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::{Histogram, exponential_buckets};
use prometheus_client::registry::{Registry, Unit};
use std::time::Duration;

/// Counters and durations of admission requests.
#[derive(Debug, Clone)]
pub struct AdmissionMetrics {
    requests: Family<OutcomeLabels, Counter>,
    duration: Family<HalfLabel, Histogram>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OutcomeLabels {
    half: &'static str,
    operation: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct HalfLabel {
    half: &'static str,
}

impl AdmissionMetrics {
    /// Creates and registers `sluice_admission_requests_total` and `sluice_admission_duration_seconds`.
    pub fn register(registry: &mut Registry) -> Self {
        // 0.1 ms to 1.6 s: the goal is 10 ms, the deadline 2 s.
        let buckets = || Histogram::new(exponential_buckets(0.0001, 4.0, 8));
        let metrics = Self {
            requests: Family::default(),
            duration: Family::new_with_constructor(buckets),
        };
        registry.register(
            "admission_requests",
            "Admission requests, by what became of them",
            metrics.requests.clone(),
        );
        registry.register_with_unit(
            "admission_duration",
            "Time from the first byte of an admission request to its answer",
            Unit::Seconds,
            metrics.duration.clone(),
        );
        metrics
    }

    pub(super) fn count(
        &self,
        half: &'static str,
        operation: &'static str,
        outcome: &'static str,
        took: Duration,
    ) {
        self.requests
            .get_or_create(&OutcomeLabels {
                half,
                operation,
                outcome,
            })
            .inc();
        self.duration
            .get_or_create(&HalfLabel { half })
            .observe(took.as_secs_f64());
    }
}
