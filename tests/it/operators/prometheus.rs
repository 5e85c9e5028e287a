use super::{beside_operators, upgraded};
use harness::cluster::{Manifest, Namespace, items, other, text};
use jiff::Timestamp;
use serde_json::{Value, json};

const REPLICAS: usize = 2;

/// A gate opens only once every pod has the new version. The operator computes `Available` from a StatefulSet that its controller has not looked at
/// yet: for some 0.1 s in each upgrade it says of the new generation that it is available.
#[tokio::test]
#[ignore = "needs a cluster with the operators"]
async fn opens_only_once_every_pod_has_the_new_version() {
    beside_operators("prometheus", async |ns| {
        let list = "prometheus.monitoring.coreos.com/main";
        upgraded(ns, list, prometheus, async |version| {
            replaced(ns, version).await
        })
        .await;
    })
    .await;
}

/// Returns a Prometheus object whose pods run a stand-in, which serves `/-/ready` and `/-/healthy` and nothing else.
fn prometheus(version: usize) -> Manifest {
    let serve = "mkdir -p /prometheus/w/-; echo ok >/prometheus/w/-/ready; echo ok >/prometheus/w/-/healthy; \
                 exec busybox httpd -f -p 9090 -h /prometheus/w";
    let container =
        |name: &str, script: &str| json!({"name": name, "command": ["sh", "-c", script]});
    other(json!({
        "apiVersion": "monitoring.coreos.com/v1",
        "kind": "Prometheus",
        "metadata": {"name": "main"},
        "spec": {
            "replicas": REPLICAS,
            "version": format!("v3.0.{version}"),
            "image": "docker.io/library/busybox:1.35",
            "serviceAccountName": "default",
            "serviceMonitorSelector": {},
            "terminationGracePeriodSeconds": 1,
            "containers": [container("prometheus", serve), container("config-reloader", "exec sleep 100000")],
            "initContainers": [container("init-config-reloader", "true")],
        },
    }))
}

/// Returns the time since which every pod of this version is ready; else the cause why not.
async fn replaced(ns: &Namespace, version: usize) -> Result<Timestamp, String> {
    let selector =
        format!("app.kubernetes.io/instance=main,app.kubernetes.io/version=3.0.{version}");
    let pods = ns.look.list("pod", &selector).await;
    let since = |pod: &Value| {
        let mut conditions = items(pod, "/status/conditions").iter();
        let ready = conditions.find(|it| it["type"] == "Ready" && it["status"] == "True")?;
        text(ready, "/lastTransitionTime").parse().ok()
    };
    let ready: Vec<Timestamp> = pods.iter().filter_map(since).collect();
    let last = ready.iter().max().filter(|_| ready.len() == REPLICAS);
    last.copied()
        .ok_or_else(|| format!("{} of {REPLICAS} pods are ready", ready.len()))
}
