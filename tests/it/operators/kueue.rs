use super::beside_operators;
use harness::cluster::{deployment, job, other};
use serde_json::json;

/// A queue of Kueue that covers nothing but processors admits a pod that asks for processors alone, also with its gate: the gate asks for no memory.
#[tokio::test]
#[ignore = "needs a cluster with the operators"]
async fn a_pod_that_asks_for_processors_alone_is_admitted_with_its_gate() {
    beside_operators("kueue", async |ns| {
        let name = &ns.name;
        let kind = |kind: &str, name: &str, spec| {
            other(json!({
                "apiVersion": "kueue.x-k8s.io/v1beta2", "kind": kind, "metadata": {"name": name}, "spec": spec,
            }))
        };
        for kind in ["clusterqueue", "resourceflavor"] {
            ns.takes_along(&format!("{kind}.kueue.x-k8s.io/{name}"));
        }
        let quota = json!([{"name": "cpu", "nominalQuota": "1"}]);
        let group = json!({"coveredResources": ["cpu"], "flavors": [{"name": name, "resources": quota}]});
        let queue = json!({"namespaceSelector": {}, "resourceGroups": [group]});
        let queues = [
            kind("ResourceFlavor", name, json!({})),
            kind("ClusterQueue", name, queue),
            kind("LocalQueue", "queue", json!({"clusterQueue": name})),
        ];
        ns.apply(queues).await.ok();
        let api = deployment("api")
            .depends_on("job/prepare")
            .in_pod("/metadata/labels/kueue.x-k8s.io~1queue-name", "queue")
            .in_app("/resources", json!({"requests": {"cpu": "10m"}}));
        ns.apply([api]).await.ok();
        let pod = ns.pod_of("api").await;
        pod.waits_for("Job/prepare", "NotFound").await;
        ns.apply([job("prepare")]).await.ok();
        pod.starts().await;
    })
    .await;
}
