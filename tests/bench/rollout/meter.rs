//! The cost of a release: requests to the API server, and processor time.

use anyhow::{Context, Result};
use kube::Client;
use std::fs;
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// The time for which a cluster's own activity is measured.
const ALONE: Duration = Duration::from_secs(20);

/// Totals since the start of the cluster, or the growth of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cost {
    /// The requests to the API server, of every client.
    pub(super) requests: f64,
    /// The requests of service accounts outside of kube-system: those of pods that wait by themselves, of sluice, and of Argo CD.
    pub(super) accounts: f64,
    /// The processor time of the cluster's processes on this machine, in seconds.
    pub(super) processor: f64,
}

/// The totals at one moment.
pub(super) struct Meter {
    at: Instant,
    total: Cost,
}

impl Meter {
    /// Reads the totals: the requests that the API server has answered, those of service accounts, and the processor time of the cluster's processes.
    pub(super) async fn read(client: &Client) -> Result<Self> {
        let request = hyper::Request::get("/metrics").body(vec![])?;
        let metrics = client.request_text(request).await?;
        let accounts = r#"flow_schema="service-accounts""#;
        let total = Cost {
            requests: sum(&metrics, "apiserver_request_total{", "")?,
            accounts: sum(
                &metrics,
                "apiserver_flowcontrol_dispatched_requests_total{",
                accounts,
            )?,
            processor: processor()?,
        };
        Ok(Self {
            at: Instant::now(),
            total,
        })
    }

    /// Measures for twenty seconds how much the cluster's totals grow by themselves, and returns the growth a second.
    pub(super) async fn alone(client: &Client) -> Result<Cost> {
        let before = Self::read(client).await?;
        sleep(ALONE).await;
        let none = Cost {
            requests: 0.0,
            accounts: 0.0,
            processor: 0.0,
        };
        let grown = before.until(&Self::read(client).await?, &none);
        let each = |grown: f64| grown / ALONE.as_secs_f64();
        Ok(Cost {
            requests: each(grown.requests),
            accounts: each(grown.accounts),
            processor: each(grown.processor),
        })
    }

    /// Returns the growth from this reading until `later`, less what the cluster grows by itself: `alone` is that growth a second.
    pub(super) fn until(&self, later: &Self, alone: &Cost) -> Cost {
        let time = later.at.duration_since(self.at).as_secs_f64();
        let grown = |of: fn(&Cost) -> f64| of(&later.total) - of(&self.total) - time * of(alone);
        Cost {
            requests: grown(|it| it.requests),
            accounts: grown(|it| it.accounts),
            processor: grown(|it| it.processor),
        }
    }
}

/// Returns the sum of the samples whose line begins with `name` and contains `label`. No such sample is an error.
pub(super) fn sum(metrics: &str, name: &str, label: &str) -> Result<f64> {
    let samples = metrics
        .lines()
        .filter(|line| line.starts_with(name) && line.contains(label));
    let values = samples.filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    values
        .reduce(|a, b| a + b)
        .with_context(|| format!("there is no metric {name}"))
}

/// The processor time of all processes of the cluster on this machine, in seconds: of each process in a nested namespace of pids, as a
/// node in a namespace has them, and of the children that it has waited for. So a process that has ended counts on with its parent.
/// Other programs of this machine do not count, and neither does a cluster elsewhere.
fn processor() -> Result<f64> {
    let entries = fs::read_dir("/proc").context("failed to read /proc")?;
    let folders = entries.filter_map(|entry| Some(entry.ok()?.path()));
    let files = folders.filter_map(|folder| {
        let of = |name: &str| fs::read_to_string(folder.join(name));
        Some((of("status").ok()?, of("stat").ok()?))
    });
    let nested = files.filter(|(status, _)| is_nested(status));
    Ok(nested.filter_map(|(_, stat)| used(&stat)).sum())
}

fn is_nested(status: &str) -> bool {
    let pids = status.lines().find_map(|line| line.strip_prefix("NSpid:"));
    pids.is_some_and(|pids| pids.split_whitespace().count() > 1)
}

/// Reads the processor time of a process and of the children that it has waited for from the text of `/proc/PID/stat`, in seconds.
fn used(stat: &str) -> Option<f64> {
    // The name in the second field may hold blanks; utime, stime, cutime and cstime are the 12th to 15th field after the name.
    let (_, fields) = stat.rsplit_once(')')?;
    let ticks = fields.split_whitespace().skip(11).take(4);
    let ticks = ticks.map(str::parse::<f64>).sum::<Result<f64, _>>().ok()?;
    // USER_HZ is 100 on every architecture that Kubernetes runs on.
    Some(ticks / 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_is_the_sum_of_its_samples() {
        let metrics = "# TYPE a counter\na{b=\"c\"} 3\na{b=\"d\"} 4e+06\nab{b=\"c\"} 5\n";
        assert_eq!(sum(metrics, "a{", "").unwrap().to_string(), "4000003");
        assert_eq!(sum(metrics, "a{", "b=\"c\"").unwrap().to_string(), "3");
        assert!(sum(metrics, "c{", "").is_err());
    }

    #[test]
    fn a_process_counts_with_the_children_that_have_ended() {
        let stat = "7 (a name) b) S 1 7 7 0 -1 0 0 0 0 0 100 20 3000 400 20 0 1 0 5";
        assert_eq!(used(stat), Some(35.2));
        assert!(is_nested("Name:\tkubelet\nNSpid:\t700\t60\n"));
        assert!(!is_nested("Name:\tcargo\nNSpid:\t700\n"));
    }
}
