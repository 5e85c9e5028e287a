use harness::cluster::{
    Look, Program, config_map, deployment, other, pod, replica_set, text, with_namespace,
};
use harness::process::binary;
use serde_json::{Value, json};

const LIST: &str = "configmap/go";

/// A pod that just fits a LimitRange and a quota fits with its gate too: limits that count containers one by one find no more in it.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_gate_fits_where_its_pod_fits() {
    with_namespace("fits", async |ns| {
        let range = json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "narrow"}, "spec": {"limits": [{
            "type": "Container", "min": {"cpu": "10m"}, "maxLimitRequestRatio": {"cpu": "4"},
        }]}});
        let quota = json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "narrow"},
            "spec": {"hard": {"requests.cpu": "20m", "limits.cpu": "40m"}}});
        ns.apply([other(range), other(quota)]).await.ok();
        let cpu = json!({"requests": {"cpu": "20m"}, "limits": {"cpu": "40m"}});
        let api = deployment("api").depends_on(LIST).in_app("/resources", cpu.clone());
        ns.apply([api]).await.ok();

        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        assert_eq!(api.now().await["spec"]["initContainers"][0]["resources"], cpu);
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
    })
    .await;
}

/// Returns LimitRanges and quotas, each with resources of pods and whether a pod of these resources fits with its gate.
fn bounds() -> [(Value, Vec<(Value, bool)>); 4] {
    let range = |item: Value| json!({"apiVersion": "v1", "kind": "LimitRange", "metadata": {"name": "narrow"}, "spec": {"limits": [item]}});
    let requests = |memory: &str| json!({"requests": {"memory": memory}});
    let limits = |cpu: &str| json!({"requests": {"cpu": "100m"}, "limits": {"cpu": cpu}});
    let both = json!({"requests": {"cpu": "100m"}, "limits": {"memory": "1Mi"}});
    [
        (
            range(json!({"type": "Container", "min": {"memory": "32Mi"}})),
            vec![
                (requests("8Mi"), false),
                (requests("32Mi"), true),
                (json!({}), true),
            ],
        ),
        (
            range(json!({"type": "Container", "maxLimitRequestRatio": {"cpu": "4"}})),
            vec![
                (limits("500m"), false),
                (limits("400m"), true),
                (json!({}), false),
            ],
        ),
        (
            range(json!({"type": "Pod", "max": {"cpu": "1"}})),
            vec![
                (limits("2"), false),
                (limits("1"), true),
                (json!({}), false),
            ],
        ),
        (
            json!({"apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "narrow"},
                "spec": {"hard": {"requests.cpu": "1", "limits.memory": "1Gi"}}}),
            vec![(json!({}), false), (both, true), (limits("2"), false)],
        ),
    ]
}

/// `lint` warns of a pod where the API server refuses it with its gate, and nowhere else.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn lint_knows_which_pods_do_not_fit() {
    with_namespace("fits-lint", async |ns| {
        for (bounds, pods) in bounds() {
            let ns = ns.another("fits-lint").await;
            ns.apply([other(bounds.clone())]).await.ok();
            if bounds["kind"] == "ResourceQuota" {
                let counted = "--for=jsonpath={.status.hard.requests\\.cpu}=1";
                ns.kubectl(["wait", counted, "resourcequota/narrow"]).await.ok();
            }
            for (resources, fits) in pods {
                let pod = json!({
                    "apiVersion": "v1", "kind": "Pod",
                    "metadata": {"name": "api", "annotations": {"sluice.dev/depends-on": LIST}},
                    "spec": {"containers": [{"name": "app", "image": "app:1", "resources": resources}]},
                });
                let create = ns.program("kubectl").args(["create", "--dry-run=server", "-f", "-"]);
                let created = create.input(pod.to_string()).run().await;
                assert_eq!(created.code == Some(0), fits, "{bounds} {resources}: {created}");
                let list = json!({"apiVersion": "v1", "kind": "List", "items": [bounds, pod]});
                let command = Program::new(binary("kubectl-sluice"));
                let linted = command.args(["lint", "-f", "-"]).input(list.to_string()).run().await;
                let warned = linted.stdout.contains("its pods are refused");
                assert_eq!(warned, !fits, "{bounds} {resources}: {linted}");
            }
        }
    })
    .await;
}

/// A pod that is restored from a backup of another cluster, with the gate of there, gets a gate of today: it waits and starts.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_restored_pod_waits_and_starts() {
    with_namespace("restored", async |ns| {
        let gate = json!([{
            "name": "sluice-gate", "image": "registry.invalid/sluice-gate:v0.0.1", "imagePullPolicy": "Never",
            "env": [{"name": "SLUICE_ADDRESSES", "value": "192.0.2.1:9764"}, {"name": "SLUICE_CA_BUNDLE", "value": "old"}],
            "volumeMounts": [{"name": "sluice-token", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount"}],
            "securityContext": {"runAsNonRoot": true, "runAsUser": 65532},
        }]);
        let volumes = json!([{"name": "sluice-state", "emptyDir": {"sizeLimit": "1Mi"}}]);
        let api = pod("api")
            .depends_on(LIST)
            .in_pod("/spec/initContainers", gate)
            .in_pod("/spec/volumes", volumes)
            .with("/metadata/labels/sluice.dev~1gated", "true");
        ns.apply([api]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("ConfigMap/go", "NotFound").await;
        ns.apply([config_map("go")]).await.ok();
        api.starts().await;
    })
    .await;
}

/// A node can be drained of a pod whose stored list cannot be read: its controller makes a new pod, which admission does not refuse. The template may
/// be from a time before sluice.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_workload_whose_stored_list_cannot_be_read_is_drained() {
    with_namespace("drained", async |ns| {
        ns.apply([config_map("owner")]).await.ok();
        let owner = Look::at(&ns.name).await.get("configmap/owner").await;
        let owner: Value = json!([{
            "apiVersion": "v1", "kind": "ConfigMap", "name": "owner", "uid": text(&owner, "/metadata/uid"), "controller": true,
        }]);
        // Admission does not look at workloads that a controller owns.
        let stored = replica_set("api")
            .template_annotated("sluice.dev/depends-on", "jobb/x")
            .with("/metadata/ownerReferences", owner);
        ns.apply([stored]).await.ok();
        let first = ns.pod_of("api").await;
        first.gate_says("annotations that can be read").await;
        let reference = format!("pod/{}", first.name);
        ns.kubectl(["delete", &reference, "--wait=false"]).await.ok();
        let next = ns.next_pod_of("api", &first).await;
        next.gate_says("annotations that can be read").await;
        ns.apply([config_map("go")]).await.ok();
        let reference = format!("pod/{}", next.name);
        ns.now_depends_on(&reference, LIST).await;
        next.starts().await;
    })
    .await;
}
