//! Stops, starts and removes the installed sluice. Only for tests that run [`super::alone`].

use super::object::{Look, text};
use super::program::{Outcome, Program};
use super::{LIMIT, TIMEOUT, await_until, finally};
use serde_json::Value;
use std::collections::BTreeMap;
use std::net::IpAddr;

/// The namespace of sluice. The release is named like its Deployment and its Service.
pub const NAMESPACE: &str = "sluice-system";

const RELEASE: &str = "sluice";
const PODS: &str = "app.kubernetes.io/name=sluice";
const CHART: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../charts/sluice");

/// The release, with the values that it was installed with.
pub struct Release {
    values: String,
}

/// Runs a test that stops sluice. Afterwards starts as many replicas as there were before, in any case.
pub async fn restarted_after(test: impl AsyncFnOnce()) {
    let look = Look::at(NAMESPACE).await;
    let replicas = look.get("deployment/sluice").await["spec"]["replicas"].to_string();
    finally(test, async |_| scale(&replicas).await).await;
}

/// Stops every replica, and waits until the pods are gone.
pub async fn stop() {
    scale("0").await;
    let look = Look::at(NAMESPACE).await;
    await_until("sluice is gone", LIMIT, async || {
        match look.list("pod", PODS).await.len() {
            0 => Ok(()),
            count => Err(format!("{count} pods")),
        }
    })
    .await;
}

/// Starts two replicas, and waits until both are ready.
pub async fn start() {
    scale("2").await;
}

/// Replaces every replica, one after another, and waits until the old ones are gone.
pub async fn roll() {
    rolled_by(async || kubectl(["rollout", "restart", "deployment/sluice"]).await).await;
}

/// Runs a test while the controller has a further argument, and removes the argument in any case. All replicas are replaced before and after.
pub async fn with_argument(argument: &str, test: impl AsyncFnOnce()) {
    let release = Release::of_now().await;
    let place = "/spec/template/spec/containers/0/args/0";
    let add = serde_json::json!([{"op": "add", "path": place, "value": argument}]).to_string();
    let patch = ["patch", "deployment/sluice", "--type=json", "--patch", &add];
    rolled_by(async || kubectl(patch).await).await;
    // Remove it with Helm, so that Helm owns the arguments again and a later upgrade meets no conflict.
    let back = async || release.install_with(&["--force-conflicts"]).await;
    finally(test, async |_| rolled_by(back).await).await;
}

/// Makes a change that replaces every replica, and waits until the new ones are ready and there are no more pods than before.
async fn rolled_by(change: impl AsyncFnOnce()) {
    let look = Look::at(NAMESPACE).await;
    let replicas = look.list("pod", PODS).await.len();
    change().await;
    all_ready().await;
    await_until("the old replicas are gone", LIMIT, async || {
        match look.list("pod", PODS).await.len() {
            count if count <= replicas => Ok(()),
            count => Err(format!("{count} pods")),
        }
    })
    .await;
}

/// Deletes one replica without waiting for its end: that with the index `choice`, from 0 and modulo their number, in the order of their names.
pub async fn delete_one(choice: usize) {
    let pods = Look::at(NAMESPACE).await.list("pod", PODS).await;
    let name = text(&pods[choice % pods.len()], "/metadata/name");
    kubectl(["delete", "pod", name, "--wait=false"]).await;
}

/// Deletes every replica by force, without waiting for a clean end.
pub async fn delete_all_by_force() {
    kubectl([
        "delete",
        "pod",
        "--selector",
        PODS,
        "--force",
        "--grace-period=0",
    ])
    .await;
}

/// Returns the path by which the API server forwards to the metrics of a replica.
pub fn metrics_path(replica: &str) -> String {
    format!("/api/v1/namespaces/{NAMESPACE}/pods/{replica}:8080/proxy/metrics")
}

/// Returns the metrics of a replica, as Prometheus reads them.
pub async fn metrics_of(replica: &str) -> String {
    let raw = ["get", "--raw", &metrics_path(replica)];
    Program::new("kubectl").args(raw).run().await.ok()
}

/// Returns the number of requests to the API server since the replicas started, summed over the replicas, by verb and resource, e.g. `create events`.
pub async fn requests() -> BTreeMap<String, u64> {
    let mut sums = BTreeMap::new();
    for (replica, _) in replicas().await {
        let text = metrics_of(&replica).await;
        let lines = text.lines();
        for line in lines.filter_map(|line| line.strip_prefix("sluice_api_requests_total{")) {
            // verb="create",resource="events"} 12
            let (labels, count) = line.rsplit_once(' ').expect("a sample");
            let words: Vec<_> = labels.split('"').skip(1).step_by(2).collect();
            *sums.entry(words.join(" ")).or_default() += count.parse::<u64>().expect("a count");
        }
    }
    sums
}

/// Waits until every replica of the Deployment is ready.
pub async fn all_ready() {
    kubectl(["rollout", "status", "deployment/sluice", TIMEOUT]).await;
}

/// Waits until terminating replicas are gone: until then they admit pods.
pub(super) async fn others_are_gone() {
    await_until("the replicas of before are gone", LIMIT, async || {
        let pods = Look::at(NAMESPACE).await.list("pod", PODS).await;
        let goes = |pod: &&Value| !text(pod, "/metadata/deletionTimestamp").is_empty();
        match pods.iter().filter(goes).count() {
            0 => Ok(()),
            count => Err(count.to_string()),
        }
    })
    .await;
}

async fn scale(replicas: &str) {
    kubectl(["scale", "deployment/sluice", "--replicas", replicas]).await;
    all_ready().await;
}

async fn kubectl<const N: usize>(args: [&str; N]) {
    Program::new("kubectl")
        .args(["--namespace", NAMESPACE])
        .args(args)
        .run()
        .await
        .ok();
}

/// Runs a test with other values of the chart (`--set`, ...), and restores the values in any case. Waits at the end
/// until the replicas with the other values are gone, so they admit no later pod.
pub async fn with_values(more: &[&str], test: impl AsyncFnOnce()) {
    let release = Release::of_now().await;
    release.install_with(more).await;
    finally(test, async |_| {
        release.install().await;
        others_are_gone().await;
    })
    .await;
}

/// Runs a test like [`with_values`], and starts it only when the replicas with the former values are gone.
pub async fn with_values_alone(more: &[&str], test: impl AsyncFnOnce()) {
    let settled = async || {
        others_are_gone().await;
        test().await;
    };
    with_values(more, settled).await;
}

/// Runs `helm test` of sluice's release with this program, `helm` or `helm3`.
pub async fn tested_by(helm: &str) -> Outcome {
    let test = ["test", RELEASE, "--namespace", NAMESPACE, TIMEOUT];
    Program::new(helm).args(test).run().await
}

/// Runs a test that removes sluice, and installs sluice again with the same values when the test fails.
pub async fn installed_after(test: impl AsyncFnOnce(&Release)) {
    let release = Release::of_now().await;
    finally(
        async || test(&release).await,
        async |failed| {
            if failed {
                release.install().await;
            }
        },
    )
    .await;
}

impl Release {
    pub(super) async fn of_now() -> Self {
        let values = helm(["get", "values", RELEASE, "--output", "json"]);
        let values = values.run().await.ok();
        Self { values }
    }

    /// Runs `helm upgrade --install` with the values of this release and the arguments in `SLUICE_HELM_ARGS`. Returns when the replicas are ready.
    pub async fn install(&self) {
        self.install_with(&[]).await;
    }

    /// Runs `helm upgrade --install` with the values of this release, the arguments in `SLUICE_HELM_ARGS`, and `arguments` for this call alone.
    /// Returns when the replicas are ready; a failure of Helm fails the test.
    pub async fn install_with(&self, arguments: &[&str]) {
        let more = std::env::var("SLUICE_HELM_ARGS").unwrap_or_default();
        helm(["upgrade", "--install", RELEASE, CHART, "--create-namespace"])
            .args(["--wait", TIMEOUT, "--values", "-"])
            .args(more.split_whitespace())
            .args(arguments)
            .input(&self.values)
            .run()
            .await
            .ok();
    }

    /// Runs `helm uninstall` of sluice, and returns when its objects are gone or Helm has failed.
    pub async fn uninstall(&self) -> Outcome {
        helm(["uninstall", RELEASE, "--wait", TIMEOUT]).run().await
    }
}

fn helm<const N: usize>(args: [&str; N]) -> Program {
    Program::new("helm")
        .args(["--namespace", NAMESPACE])
        .args(args)
}

/// Returns the names of the replicas that are not terminating, and their restart counts.
pub async fn replicas() -> Vec<(String, Value)> {
    let pods = Look::at(NAMESPACE).await.list("pod", PODS).await;
    let restarts = |pod: &Value| pod["status"]["containerStatuses"][0]["restartCount"].clone();
    let stays = |pod: &&Value| text(pod, "/metadata/deletionTimestamp").is_empty();
    let replica = |pod: &Value| (text(pod, "/metadata/name").to_owned(), restarts(pod));
    pods.iter().filter(stays).map(replica).collect()
}

/// Returns the IP addresses of the replicas that are not terminating.
pub async fn addresses() -> Vec<IpAddr> {
    let pods = Look::at(NAMESPACE).await.list("pod", PODS).await;
    let stays = |pod: &&Value| text(pod, "/metadata/deletionTimestamp").is_empty();
    let address = |pod: &Value| text(pod, "/status/podIP").parse();
    let addresses = pods.iter().filter(stays).map(address);
    addresses
        .collect::<Result<_, _>>()
        .expect("each replica has an address")
}

/// Returns the last 2000 lines of the log of each replica, each line with its pod and container in front.
pub async fn log() -> String {
    let args = ["logs", "--namespace", NAMESPACE, "--selector", PODS];
    let options = ["--tail=2000", "--prefix", "--max-log-requests=10"];
    Program::new("kubectl")
        .args(args)
        .args(options)
        .run()
        .await
        .stdout
}
