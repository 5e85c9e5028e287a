//! The waits of this moment for `/metrics`. The waits are counted when `/metrics` is read, so a changed answer costs nothing here.

use crate::clock::Clock;
use crate::status::held_places::HeldPlaces;
use crate::status::wait_registry::{Wait, WaitRegistry};
use jiff::Timestamp;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

/// The most namespaces with figures of their own in one metric: the namespaces with the most waits.
const NAMESPACES: usize = 100;
/// The value of the namespace label that stands for all other namespaces together.
const OTHER: &str = "other";

/// Adds the waits of this replica, by namespace, and those of gates also by reason, to `/metrics`.
#[derive(Debug)]
pub(crate) struct WaitMetrics {
    /// The gates with an open request, by their pods.
    pub(crate) gates: Arc<WaitRegistry>,
    /// The places of the pods that are held.
    pub(crate) held_pods: Arc<HeldPlaces>,
    /// The places of the Jobs that wait suspended.
    pub(crate) suspended_jobs: Arc<HeldPlaces>,
    /// The waits of the objects whose creation is held.
    pub(crate) creations: Arc<WaitRegistry>,
    pub(crate) clock: Clock,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct WaitingLabels {
    namespace: String,
    reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ByNamespace {
    namespace: String,
}

/// The number of waits of one namespace, by reason, and the start of the longest.
#[derive(Debug, Default, PartialEq, Eq)]
struct Sum {
    reasons: BTreeMap<&'static str, i64>,
    /// The start of the longest wait of the namespace, without those in the queue; `None` if there is none.
    since: Option<Timestamp>,
    /// The number of held objects that wait in the queue for a place.
    queued: i64,
}

impl Sum {
    /// The number of all waits of the namespace, those in the queue among them.
    fn all(&self) -> i64 {
        self.reasons.values().sum::<i64>() + self.queued
    }

    fn count(&mut self, wait: Wait) {
        *self.reasons.entry(wait.reason).or_default() += 1;
        self.waits_since(wait.since);
    }

    fn waits_since(&mut self, since: Timestamp) {
        self.since = Some(self.since.map_or(since, |before| before.min(since)));
    }

    fn add(&mut self, other: Self) {
        for (reason, count) in other.reasons {
            *self.reasons.entry(reason).or_default() += count;
        }
        self.queued += other.queued;
        other.since.into_iter().for_each(|it| self.waits_since(it));
    }
}

/// The waits in a registry, summed up for each namespace.
fn sums(registry: &WaitRegistry) -> HashMap<String, Sum> {
    let mut sums = HashMap::<String, Sum>::new();
    registry.each_wait(|namespace, wait| {
        if let Some(sum) = sums.get_mut(namespace) {
            return sum.count(wait);
        }
        sums.entry(namespace.to_owned()).or_default().count(wait);
    });
    sums
}

/// The waits of held objects, summed up for each namespace, with the objects that queue for a place.
fn sums_of_held(places: &HeldPlaces) -> HashMap<String, Sum> {
    let mut sums = sums(places.registry());
    places.each_queue(|namespace, count| {
        let sum = sums.entry(namespace.to_owned()).or_default();
        sum.queued = i64::try_from(count).unwrap_or(i64::MAX);
    });
    sums
}

/// The number of waits in each namespace, those in the queue for a place among them; beyond [`NAMESPACES`] the others are one. Adds the number of
/// waits in the queue to `queued`.
fn counts(
    sums: HashMap<String, Sum>,
    queued: &Family<ByNamespace, Gauge>,
) -> Family<ByNamespace, Gauge> {
    let counts = Family::<ByNamespace, Gauge>::default();
    for (namespace, sum) in bounded(sums) {
        let labels = ByNamespace { namespace };
        if sum.queued > 0 {
            queued.get_or_create(&labels).inc_by(sum.queued);
        }
        counts.get_or_create(&labels).set(sum.all());
    }
    counts
}

/// The sums of the [`NAMESPACES`] namespaces with the most waits, and of all others together under the name [`OTHER`].
fn bounded(sums: HashMap<String, Sum>) -> BTreeMap<String, Sum> {
    let mut sums: Vec<_> = sums.into_iter().collect();
    sums.sort_by_cached_key(|(namespace, sum)| (Reverse(sum.all()), namespace.clone()));
    let mut told = BTreeMap::<String, Sum>::new();
    for (place, (namespace, sum)) in sums.into_iter().enumerate() {
        let own = place < NAMESPACES;
        let name = if own { namespace } else { OTHER.to_owned() };
        told.entry(name).or_default().add(sum);
    }
    told
}

impl Collector for WaitMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let now = self.clock.now();
        let waiting = Family::<WaitingLabels, Gauge>::default();
        let longest = Family::<ByNamespace, Gauge<f64, AtomicU64>>::default();
        let queued = Family::<ByNamespace, Gauge>::default();
        let [held, suspended] =
            [&self.held_pods, &self.suspended_jobs].map(|it| counts(sums_of_held(it), &queued));
        let creations = counts(sums(&self.creations), &queued);
        for (namespace, Sum { reasons, since, .. }) in bounded(sums(&self.gates)) {
            let seconds = since.map_or(0.0, |since| now.duration_since(since).as_secs_f64());
            for (reason, count) in reasons {
                let namespace = namespace.clone();
                let labels = WaitingLabels { namespace, reason };
                waiting.get_or_create(&labels).set(count);
            }
            let labels = ByNamespace { namespace };
            longest.get_or_create(&labels).set(seconds.max(0.0));
        }
        let told = "Gates that wait and whose request this replica holds, by namespace and by the reason of what comes first";
        let gauge = waiting.metric_type();
        waiting.encode(encoder.encode_descriptor("waiting_gates", told, None, gauge)?)?;
        let told = "How long the one has waited that has waited the longest, by namespace";
        let gauge = longest.metric_type();
        longest.encode(encoder.encode_descriptor("longest_wait_seconds", told, None, gauge)?)?;
        let told = "Pods that are held before they take a node, by namespace; each replica counts all of them";
        let gauge = held.metric_type();
        held.encode(encoder.encode_descriptor("held_pods", told, None, gauge)?)?;
        let told =
            "Jobs that sluice keeps suspended, by namespace; each replica counts all of them";
        let gauge = suspended.metric_type();
        suspended.encode(encoder.encode_descriptor("suspended_jobs", told, None, gauge)?)?;
        let told = "Pods and Jobs that are held and that wait for room in the share of their namespace; each replica counts all of them";
        let gauge = queued.metric_type();
        queued.encode(encoder.encode_descriptor("holds_over_budget", told, None, gauge)?)?;
        let told = "Objects whose creation is held and tried again, by namespace; each replica counts those whose tries reach it";
        creations.encode(encoder.encode_descriptor("held_creations", told, None, gauge)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::wait_registry::waiter;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(second).unwrap()
    }

    fn wait(reason: &'static str, since: i64) -> Wait {
        Wait {
            reason,
            since: at(since),
        }
    }

    #[test]
    fn each_pod_counts_once_and_by_what_it_was_told_last() {
        let registry = Arc::<WaitRegistry>::default();
        let first = registry.begin(&waiter("u1")).unwrap();
        let again = registry.begin(&waiter("u1")).unwrap();
        let other = registry.begin(&waiter("u2")).unwrap();
        let _untold = registry.begin(&waiter("u3")).unwrap();
        first.waits(wait("NotFound", 5));
        again.waits(wait("JobNotComplete", 5));
        other.waits(wait("JobNotComplete", 3));
        let expected = Sum {
            reasons: [("JobNotComplete", 2)].into(),
            since: Some(at(3)),
            queued: 0,
        };
        assert_eq!(sums(&registry), [("shop".to_owned(), expected)].into());
        drop((first, again, other));
        assert_eq!(sums(&registry), HashMap::new());
    }

    #[test]
    fn beyond_a_hundred_namespaces_those_with_the_fewest_are_one() {
        let mut sums = HashMap::<String, Sum>::new();
        for number in 0..=NAMESPACES {
            let sum = sums.entry(format!("n{number:03}")).or_default();
            sum.count(wait("NotFound", 9));
            if number > 1 {
                sum.count(wait("NotFound", 9));
            }
        }
        let told = bounded(sums);
        assert_eq!(told.len(), NAMESPACES + 1);
        assert!(told.contains_key("n000") && !told.contains_key("n001"));
        assert_eq!(told[OTHER].reasons, [("NotFound", 1)].into());
    }
}
