//! The freshness of the stores for `/metrics`: how many are believed, how full the ConfigMaps are, and how much memory the objects of
//! tenants use.

use super::Known;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeLabelSet, EncodeMetric};
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::{ConstGauge, Gauge};
use rules::judged::Reason;
use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabel {
    state: &'static str,
}

/// The label with a kind's name. The number of its values is bounded by the number of watched kinds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct KindLabel {
    kind: String,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ShardLabel {
    of: &'static str,
    shard: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct BudgetLabel {
    of: &'static str,
}

impl Known {
    /// The state of each watch of a kind, of the gated pods and of the plans, once for each store: `Live`, or the reason for which its objects
    /// are not believed, as a dependent is told.
    fn watches(&self) -> impl Iterator<Item = StateLabel> {
        let stores = self.stores().into_iter().map(|(_, store)| store);
        let own = [Arc::clone(&self.gated), Arc::clone(&self.plans)];
        // Two spellings of one kind share a store.
        let mut seen = HashSet::new();
        let each = stores
            .chain(own)
            .filter(move |store| seen.insert(Arc::as_ptr(store)));
        let states = each.map(|store| match store.believed_until() {
            Ok(_) => "Live",
            Err(why) => Reason::from(why).label(),
        });
        states.map(|state| StateLabel { state })
    }

    /// The number of objects that are too large to be read, for each kind that has some. A pod may count twice: among all pods, and
    /// among the gated pods.
    fn too_large(&self) -> impl Iterator<Item = (KindLabel, i64)> {
        let own = [
            ("gated Pod", &self.gated),
            ("unscheduled Pod", &self.unscheduled),
            ("plan", &self.plans),
        ];
        let own = own.map(|(kind, store)| (kind.to_owned(), Arc::clone(store)));
        let kinds = self.stores().into_iter();
        let each = kinds
            .map(|(kind, store)| (kind.to_string(), store))
            .chain(own);
        let mut seen = HashSet::new();
        let each = each.filter(move |(_, store)| seen.insert(Arc::as_ptr(store)));
        let counts = each.map(|(kind, store)| (KindLabel { kind }, store.too_large()));
        counts
            .filter(|(_, count)| *count > 0)
            .map(|(of, count)| (of, i64::try_from(count).unwrap_or(i64::MAX)))
    }

    /// The bytes of data in each ConfigMap of the memory and of the slots.
    fn shards(&self) -> impl Iterator<Item = (ShardLabel, i64)> {
        let of = |of, sizes: [usize; rules::shards::COUNT]| {
            let numbered = (0..).zip(sizes);
            numbered.map(move |(shard, bytes)| {
                (
                    ShardLabel { of, shard },
                    i64::try_from(bytes).unwrap_or(i64::MAX),
                )
            })
        };
        of("memory", self.memory.sizes()).chain(of("slots", self.slots.sizes()))
    }
}

/// The collector that tells `/metrics` the freshness of the stores, the numbers of objects that are too large or read whole, the bytes of the
/// ConfigMaps of memory and slots, and the budgets of memory that namespaces share.
#[derive(Debug)]
pub(crate) struct FreshnessMetrics(pub(crate) Arc<Known>);

impl Collector for FreshnessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        let watches = Family::<StateLabel, Gauge>::default();
        for state in self.0.watches() {
            watches.get_or_create(&state).inc();
        }
        let gauge = watches.metric_type();
        let told = "Watches of kinds, by whether what they hold is believed";
        watches.encode(encoder.encode_descriptor("watches", told, None, gauge)?)?;
        let crowd = self.0.whole.crowd();
        let objects = Family::<StateLabel, Gauge>::default();
        for (state, count) in [("Read", crowd.read), ("AwaitsTurn", crowd.waiting)] {
            let count = i64::try_from(count).unwrap_or(i64::MAX);
            objects.get_or_create(&StateLabel { state }).set(count);
        }
        let told = "Objects that are read whole, or wait for their turn";
        objects.encode(encoder.encode_descriptor("objects_read_whole", told, None, gauge)?)?;
        let large = Family::<KindLabel, Gauge>::default();
        for (of, count) in self.0.too_large() {
            large.get_or_create(&of).set(count);
        }
        let told = "Objects that are longer than sluice reads, by kind; the log names them";
        large.encode(encoder.encode_descriptor("too_large_objects", told, None, gauge)?)?;
        let shards = Family::<ShardLabel, Gauge>::default();
        for (shard, bytes) in self.0.shards() {
            shards.get_or_create(&shard).set(bytes);
        }
        let told = "What a ConfigMap holds of what is written down";
        shards.encode(encoder.encode_descriptor("written_down_bytes", told, None, gauge)?)?;
        let bound = ConstGauge::new(i64::try_from(rules::shards::MOST).unwrap_or(i64::MAX));
        let (taken, limits) = (
            Family::<BudgetLabel, Gauge>::default(),
            Family::<BudgetLabel, Gauge>::default(),
        );
        let refused = Family::<BudgetLabel, Counter>::default();
        for budget in self.0.budgets.each() {
            let of = BudgetLabel { of: budget.name() };
            let number = |bytes: usize| i64::try_from(bytes).unwrap_or(i64::MAX);
            taken.get_or_create(&of).set(number(budget.taken()));
            limits.get_or_create(&of).set(number(budget.limit()));
            refused.get_or_create(&of).inc_by(budget.refused());
        }
        let told = "What namespaces have taken of the memory that they share";
        taken.encode(encoder.encode_descriptor("shared_bytes", told, None, gauge)?)?;
        let told = "What all of them may take, beyond which each has an equal part";
        limits.encode(encoder.encode_descriptor("shared_bytes_limit", told, None, gauge)?)?;
        let told = "How often a namespace was refused more of the memory that namespaces share";
        let counter = refused.metric_type();
        refused.encode(encoder.encode_descriptor(
            "shared_bytes_refused",
            told,
            None,
            counter,
        )?)?;
        let told =
            "What one may hold, beyond which there is made room in memory, and no slot given";
        bound.encode(encoder.encode_descriptor("written_down_bytes_limit", told, None, gauge)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::known::{Freshness, Settings};
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::Registry;
    use rules::kinds::{Kind, by_word};

    #[tokio::test(start_paused = true)]
    async fn it_says_what_can_be_believed_and_how_full_it_is() {
        let (known, _wanted) = Known::new(Settings::of_the_chart());
        let kind = |word| Kind::Builtin(by_word(word).unwrap());
        let (jobs, _) = (known.want(&kind("job")), known.want(&kind("pod")));
        jobs.replace::<&serde_json::Value>([]);
        known.want(&kind("secret")).refuse(Freshness::Forbidden);
        tokio::time::advance(std::time::Duration::from_mins(2)).await;
        known.want(&kind("secret")).refuse(Freshness::Forbidden);
        let mut pod = serde_json::json!({"metadata": {"namespace": "shop", "name": "large"}});
        known.gated().replace([&pod]);
        rules::kept::mark_too_large(&mut pod);
        known.gated().apply(&pod);
        known
            .memory()
            .learn(1, [("key".to_owned(), "four".to_owned())].into());
        let mut registry = Registry::with_prefix("sluice");
        registry.register_collector(Box::new(FreshnessMetrics(known)));
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            r#"sluice_watches{state="Live"} 1"#,
            r#"sluice_watches{state="Stale"} 1"#,
            r#"sluice_watches{state="KindForbidden"} 1"#,
            r#"sluice_watches{state="Syncing"} 2"#,
            r#"sluice_written_down_bytes{of="memory",shard="0"} 0"#,
            r#"sluice_written_down_bytes{of="memory",shard="1"} 7"#,
            r#"sluice_too_large_objects{kind="gated Pod"} 1"#,
            "sluice_written_down_bytes_limit 900000",
            r#"sluice_objects_read_whole{state="AwaitsTurn"} 0"#,
            r#"sluice_shared_bytes{of="waits"} 0"#,
            r#"sluice_shared_bytes_limit{of="waits"} 33554432"#,
            r#"sluice_shared_bytes_refused_total{of="waits"} 0"#,
        ] {
            assert!(text.lines().any(|it| it == line), "{line}: {text}");
        }
    }
}
