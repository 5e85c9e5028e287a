use super::{beside_operators, read, time};
use harness::cluster::{deployment, items, other};
use serde_json::{Value, json};

#[tokio::test]
#[ignore = "needs a cluster with the operators"]
async fn opens_once_every_job_is_done() {
    beside_operators("jobset", async |ns| {
        let pod = json!({
            "restartPolicy": "Never",
            "containers": [{"name": "app", "image": "docker.io/library/busybox:1.35", "command": ["sleep", "4"]}],
        });
        let template = json!({"spec": {"parallelism": 1, "completions": 1, "template": {"spec": pod}}});
        let set = other(json!({
            "apiVersion": "jobset.x-k8s.io/v1alpha2",
            "kind": "JobSet",
            "metadata": {"name": "train"},
            "spec": {"replicatedJobs": [{"name": "workers", "replicas": 2, "template": template}]},
        }));
        let serve = deployment("serve").depends_on("jobset.jobset.x-k8s.io/train:complete");
        ns.apply([serve, set]).await.ok();
        let started = ns.pod_of("serve").await.starts().await;
        let set = read(ns, "jobset.jobset.x-k8s.io/train").await;
        let mut conditions = items(&set, "/status/conditions").iter();
        let done = conditions.find(|it| it["type"] == "Completed" && it["status"] == "True");
        let done = done.and_then(|it: &Value| time(it, "/lastTransitionTime"));
        assert!(done.is_some_and(|done| done <= started), "{started}: {set:#}");
    })
    .await;
}
