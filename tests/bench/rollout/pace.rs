//! The kubelet's pace by its own metrics: the mean time of each kind of its work in a release.

use super::meter::sum;
use anyhow::Result;
use k8s_openapi::api::core::v1::Node;
use kube::api::{Api, ListParams};
use kube::{Client, ResourceExt};

/// The kinds of work: the words of the table, the histogram of the kubelet in seconds, and the label of the samples.
pub(super) const WORK: [(&str, &str, &str); 5] = [
    (
        "a sandbox",
        "kubelet_runtime_operations_duration_seconds",
        r#"operation_type="run_podsandbox""#,
    ),
    (
        "a container is created",
        "kubelet_runtime_operations_duration_seconds",
        r#"operation_type="create_container""#,
    ),
    (
        "a container is started",
        "kubelet_runtime_operations_duration_seconds",
        r#"operation_type="start_container""#,
    ),
    (
        "a turn of a pod worker",
        "kubelet_pod_worker_duration_seconds",
        "",
    ),
    (
        "a pod is started, without images and init containers",
        "kubelet_pod_start_sli_duration_seconds",
        "",
    ),
];

/// The total seconds and the number of times of each kind of work in [`WORK`]: since the kubelets started, or between two such moments.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Pace([(f64, f64); WORK.len()]);

impl Pace {
    /// Reads the kubelet metrics of every node, and returns their sums: for each kind of work its seconds and its count.
    pub(super) async fn read(client: &Client) -> Result<Self> {
        let mut total = Self::default();
        let nodes = Api::<Node>::all(client.clone());
        for node in nodes.list(&ListParams::default()).await? {
            let path = format!("/api/v1/nodes/{}/proxy/metrics", node.name_any());
            let request = hyper::Request::get(path).body(vec![])?;
            total.add(&client.request_text(request).await?);
        }
        Ok(total)
    }

    /// Adds the metrics of a kubelet. A kind of work without a sample counts as none: the kubelet may not have done it since its start.
    fn add(&mut self, metrics: &str) {
        for ((seconds, count), (_, histogram, label)) in self.0.iter_mut().zip(WORK) {
            let of = |suffix: &str| sum(metrics, &format!("{histogram}_{suffix}"), label);
            *seconds += of("sum").unwrap_or(0.0);
            *count += of("count").unwrap_or(0.0);
        }
    }

    /// Returns the work that was done between this moment and `later`: the seconds and the count of each kind.
    pub(super) fn until(&self, later: &Self) -> Self {
        let mut grown = *later;
        for (grown, before) in grown.0.iter_mut().zip(self.0) {
            grown.0 -= before.0;
            grown.1 -= before.1;
        }
        grown
    }

    /// The mean time of a kind of work, by its index in [`WORK`], from 0; in seconds. 0 where there was no such work.
    pub(super) fn mean(&self, work: usize) -> f64 {
        let (seconds, count) = self.0[work];
        if count > 0.0 { seconds / count } else { 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pace(metrics: &str) -> Pace {
        let mut pace = Pace::default();
        pace.add(metrics);
        pace
    }

    #[test]
    fn a_mean_is_that_of_the_release_and_of_its_kind_of_work() {
        let metrics = |sandboxes: &str, seconds: &str| {
            let operations = "kubelet_runtime_operations_duration_seconds";
            let sandbox = r#"{operation_type="run_podsandbox""#;
            format!(
                "{operations}_bucket{sandbox},le=\"0.1\"}} 9\n{operations}_sum{sandbox}}} {seconds}\n{operations}_count{sandbox}}} {sandboxes}\n\
                 {operations}_sum{{operation_type=\"stop_container\"}} 70\n{operations}_count{{operation_type=\"stop_container\"}} 7\n\
                 kubelet_pod_worker_duration_seconds_sum{{operation_type=\"create\"}} {seconds}\n\
                 kubelet_pod_worker_duration_seconds_sum{{operation_type=\"sync\"}} 1\n\
                 kubelet_pod_worker_duration_seconds_count{{operation_type=\"create\"}} {sandboxes}\n\
                 kubelet_pod_worker_duration_seconds_count{{operation_type=\"sync\"}} 10\n\
                 kubelet_pod_start_sli_duration_seconds_sum {seconds}\nkubelet_pod_start_sli_duration_seconds_count {sandboxes}\n"
            )
        };
        let grown = pace(&metrics("10", "2.5")).until(&pace(&metrics("14", "4.5")));
        let means = [0, 1, 2, 3, 4].map(|work| format!("{:.2}", grown.mean(work)));
        // No container was created, and none started.
        assert_eq!(means.join(" "), "0.50 0.00 0.00 0.50 0.50");
    }
}
