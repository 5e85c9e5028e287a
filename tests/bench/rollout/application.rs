//! The application: 30 workloads in a graph of depth 6, and the time that each takes to start.
//!
//! Names and dependencies are those that the OpenTelemetry demo declares (commit 054282e of 2026-08-22, its Compose files with all services
//! and with observability), without its load generator. Three workloads are of other demos: `user` and `user-db` of Sock Shop,
//! `shopping-assistant` of Online Boutique. The start-up times are chosen: about what a program in the language of the original
//! takes until it serves, in whole seconds.

use std::time::Duration;

/// A workload of the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Workload {
    /// The name of its Deployment and of its Service.
    pub(crate) name: &'static str,
    /// The time from the start of its container until it serves, in seconds.
    pub(crate) startup: u32,
    /// The names of the workloads that have to serve when it starts.
    pub(crate) needs: &'static [&'static str],
}

const fn workload(name: &'static str, startup: u32, needs: &'static [&'static str]) -> Workload {
    Workload {
        name,
        startup,
        needs,
    }
}

/// Every workload, each after those that it needs.
pub(crate) const APPLICATION: [Workload; 30] = [
    workload("astronomy-db", 5, &[]),
    workload("user-db", 5, &[]),
    workload("opensearch", 6, &[]),
    workload("kafka", 6, &[]),
    workload("valkey-cart", 1, &[]),
    workload("flagd", 1, &[]),
    workload("opamp-server", 1, &[]),
    workload("jaeger", 1, &[]),
    workload("prometheus", 2, &[]),
    workload("grafana", 3, &[]),
    workload("telemetry-docs", 1, &[]),
    workload(
        "otel-collector",
        1,
        &["jaeger", "opamp-server", "opensearch"],
    ),
    workload("user", 1, &["user-db"]),
    workload("shopping-assistant", 3, &["astronomy-db"]),
    workload("accounting", 2, &["kafka", "otel-collector"]),
    workload("fraud-detection", 3, &["kafka", "otel-collector"]),
    workload("ad", 3, &["flagd", "otel-collector"]),
    workload(
        "cart",
        2,
        &["flagd", "opamp-server", "otel-collector", "valkey-cart"],
    ),
    workload("currency", 1, &["otel-collector"]),
    workload("email", 2, &["otel-collector"]),
    workload("flagd-ui", 2, &["flagd", "otel-collector"]),
    workload("image-provider", 1, &["otel-collector"]),
    workload("payment", 2, &["flagd", "otel-collector"]),
    workload(
        "product-catalog",
        1,
        &["astronomy-db", "flagd", "otel-collector"],
    ),
    workload("quote", 1, &["otel-collector"]),
    workload("shipping", 1, &["flagd", "otel-collector"]),
    workload(
        "checkout",
        1,
        &[
            "cart",
            "currency",
            "email",
            "flagd",
            "kafka",
            "otel-collector",
            "payment",
            "product-catalog",
            "shipping",
        ],
    ),
    workload(
        "recommendation",
        3,
        &["flagd", "otel-collector", "product-catalog"],
    ),
    workload(
        "frontend",
        3,
        &[
            "ad",
            "cart",
            "checkout",
            "currency",
            "flagd",
            "image-provider",
            "otel-collector",
            "product-catalog",
            "quote",
            "recommendation",
            "shipping",
            "shopping-assistant",
            "user",
        ],
    ),
    workload(
        "frontend-proxy",
        1,
        &[
            "flagd-ui",
            "frontend",
            "grafana",
            "jaeger",
            "opamp-server",
            "telemetry-docs",
        ],
    ),
];

impl Workload {
    /// Returns the workloads that have to serve when this one starts.
    pub(crate) fn needed(&self) -> impl Iterator<Item = &'static Workload> {
        let needs = self.needs;
        APPLICATION.iter().filter(|it| needs.contains(&it.name))
    }

    /// The number of workloads on the deepest path that ends here: 1 for a workload that needs none.
    pub(crate) fn tier(&self) -> usize {
        1 + self.needed().map(Workload::tier).max().unwrap_or(0)
    }

    /// Returns the path that ends at this workload and has the largest sum of start-up times, the first workload first.
    fn longest(&'static self) -> Vec<&'static Workload> {
        let before = self.needed().map(Workload::longest);
        let mut path = before.max_by_key(|path| startup(path)).unwrap_or_default();
        path.push(self);
        path
    }
}

/// The number of tiers.
pub(crate) fn depth() -> usize {
    APPLICATION.iter().map(Workload::tier).max().unwrap_or(0)
}

/// Returns the path through the graph with the largest sum of start-up times, the first workload first.
pub(crate) fn longest() -> Vec<&'static Workload> {
    let paths = APPLICATION.iter().map(Workload::longest);
    paths.max_by_key(|path| startup(path)).unwrap_or_default()
}

/// Returns the sum of the start-up times of these workloads.
pub(crate) fn startup(path: &[&Workload]) -> Duration {
    Duration::from_secs(path.iter().map(|it| u64::from(it.startup)).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_graph_is_six_deep_and_has_no_unknown_name() {
        assert_eq!(depth(), 6);
        for (place, workload) in APPLICATION.iter().enumerate() {
            assert_eq!(workload.needed().count(), workload.needs.len());
            for needed in workload.needed() {
                let before = APPLICATION.iter().position(|it| it == needed);
                assert!(
                    before < Some(place),
                    "{} after {}",
                    needed.name,
                    workload.name
                );
            }
        }
    }

    #[test]
    fn the_longest_path_counts_seconds_and_not_workloads() {
        let path = longest();
        let names: Vec<_> = path.iter().map(|it| it.name).collect();
        assert_eq!(
            names.join(" "),
            "opensearch otel-collector product-catalog recommendation frontend frontend-proxy"
        );
        assert_eq!(startup(&path), Duration::from_secs(15));
        // Two workloads from a slow database; three that are as deep from a quick one.
        let assistant = APPLICATION
            .iter()
            .find(|it| it.name == "shopping-assistant");
        assert_eq!(
            startup(&assistant.unwrap().longest()),
            Duration::from_secs(8)
        );
    }
}
