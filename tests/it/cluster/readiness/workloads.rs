use harness::cluster::{
    Defined, LIMIT, await_until, config_map, cron_job, daemon_set, deployment, job, pod,
    replica_set, replication_controller, rollout, stateful_set, with_namespace,
};
use serde_json::json;

const LIST: &str = "configmap/go";

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn every_kind_of_workload_waits() {
    with_namespace("kinds", async |ns| {
        ns.apply([
            deployment("deployment").depends_on(LIST),
            stateful_set("statefulset").depends_on(LIST),
            daemon_set("daemonset").depends_on(LIST),
            replica_set("replicaset").depends_on(LIST),
            replication_controller("replicationcontroller").depends_on(LIST),
            job("job").depends_on(LIST),
            cron_job("cronjob").depends_on(LIST),
            pod("pod").depends_on(LIST),
        ])
        .await
        .ok();
        ns.kubectl(["create", "job", "now", "--from=cronjob/cronjob"])
            .await
            .ok();

        let mut pods = vec![];
        for workload in [
            "deployment",
            "statefulset",
            "daemonset",
            "replicaset",
            "replicationcontroller",
            "job",
            "cronjob",
            "pod",
        ] {
            let pod = ns.pod_of(workload).await;
            pod.waits_for("ConfigMap/go", "NotFound").await;
            pods.push(pod);
        }
        ns.apply([config_map("go")]).await.ok();
        for pod in pods {
            pod.starts().await;
        }
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_pod_template_of_each_kind_is_marked_and_those_of_controllers_are_left_alone() {
    with_namespace("marks", async |ns| {
        let workloads = [
            deployment("deployment"),
            stateful_set("statefulset"),
            daemon_set("daemonset"),
            replica_set("replicaset"),
            replication_controller("replicationcontroller"),
            job("job"),
        ];
        ns.apply(workloads.map(|workload| workload.depends_on(LIST)))
            .await
            .ok();
        ns.apply([cron_job("cronjob").depends_on(LIST)]).await.ok();

        let marker = "/spec/template/metadata/annotations/sluice.dev~1gated";
        for kind in [
            "deployment",
            "statefulset",
            "daemonset",
            "replicaset",
            "replicationcontroller",
            "job",
        ] {
            let object = ns.look.get(&format!("{kind}/{kind}")).await;
            assert_eq!(object.pointer(marker), Some(&json!("true")), "{object:#}");
        }
        let object = ns.look.get("cronjob/cronjob").await;
        let marker = format!("/spec/jobTemplate{marker}");
        assert_eq!(object.pointer(&marker), Some(&json!("true")), "{object:#}");

        // One for the Deployment, and the one that stands alone: a template changed below its owner makes endless more.
        ns.pod_of("deployment").await;
        assert_eq!(ns.look.list("replicaset", "").await.len(), 2);
    })
    .await;
}

/// The pods of an Argo Rollout wait for its list. Only the definition is installed: the test makes by hand the objects that Argo's controller would
/// make.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_pods_of_an_argo_rollout_wait_for_its_list() {
    with_namespace("rollout", async |ns| {
        let rollouts = Defined::new("argoproj.io", "v1alpha1", "Rollout");
        if ns.kubectl(["get", &rollouts.definition()]).await.code != Some(0) {
            rollouts.define(ns).await;
        }

        // Where the API server injects it refuses a kind that was defined less than five seconds before.
        let paused = rollout("api").with("/spec/paused", true);
        let paused = paused.depends_on(LIST);
        await_until("a Rollout is made", LIMIT, async || {
            let made = ns.apply([paused.clone()]).await;
            match made.code {
                Some(0) => Ok(()),
                _ if made.stderr.contains("(ServiceUnavailable)") => Err(made.stderr),
                _ => panic!("{made}"),
            }
        })
        .await;
        let api = ns.look.get("rollout/api").await;
        let template = &api["spec"]["template"];
        let marks = &template["metadata"]["annotations"];
        assert_eq!(marks["sluice.dev/gated"], "true", "{api:#}");

        let owner = json!({
            "apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "name": "api", "controller": true,
            "uid": api["metadata"]["uid"],
        });
        let replicas = replica_set("api-1")
            .with("/metadata/ownerReferences", json!([owner]))
            .with("/spec/selector/matchLabels", json!({"app": "api"}))
            .with("/spec/template", template.clone());
        ns.apply([replicas]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        ns.now_depends_on("rollout/api", "configmap/other").await;
        api.waits_for("ConfigMap/other", "NotFound").await;
        ns.apply([config_map("other")]).await.ok();
        api.starts().await;
    })
    .await;
}
