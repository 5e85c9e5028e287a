//! Tests of root causes: the reason why the pods of a dependency do not become ready is in every message about the wait.

use harness::cluster::{
    Defined, LIMIT, Manifest, Namespace, Program, TIMEOUT, await_until, config_map, deployment,
    job, other, pod, service, stateful_set, with_namespace,
};
use harness::process::binary;
use serde_json::{Value, json};
use std::time::Duration;

/// An image that no registry has, on a port where nothing listens.
const NO_IMAGE: &str = "127.0.0.1:1/shop/db:17.2";

/// Applies these objects and a Deployment with this list. Fails unless its gate names `object`, and the gate, `status`, `graph` and the Event say
/// `cause`.
async fn is_told<const N: usize>(
    ns: &Namespace,
    objects: [Manifest; N],
    (list, object): (&str, &str),
    cause: &str,
) {
    if N > 0 {
        ns.apply(objects).await.ok();
    }
    ns.apply([deployment("api").depends_on(list)]).await.ok();
    let api = ns.pod_of("api").await;
    let line = api.gate_says(cause).await;
    assert!(line.contains(&format!("for {object}: ")), "{line}");
    api.is_shut().await;
    says(ns, ["status", &api.name], cause).await;
    says(ns, ["graph", "--output=text"], cause).await;
    let graph = sluice(ns, ["graph", "--output=text"]).await;
    let row = graph
        .lines()
        .find(|row| row.contains(&format!(" {object} ")));
    assert!(row.is_some_and(|row| row.contains(cause)), "{graph}");
    let failed = line.contains("(JobFailed");
    let reason = if failed {
        "DependencyFailed"
    } else {
        "Waiting"
    };
    api.has_event(reason, cause).await;
}

async fn says<const N: usize>(ns: &Namespace, args: [&str; N], cause: &str) {
    let what = format!("kubectl sluice {args:?} says {cause:?}");
    await_until(&what, LIMIT, async || {
        let said = sluice(ns, args).await;
        if said.contains(cause) {
            Ok(())
        } else {
            Err(said)
        }
    })
    .await;
}

async fn sluice<const N: usize>(ns: &Namespace, args: [&str; N]) -> String {
    let run = Program::new(binary("kubectl-sluice")).args(args);
    run.args(["--namespace", &ns.name]).run().await.stdout
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_image_that_cannot_be_pulled() {
    with_namespace("cause-image", async |ns| {
        let db = stateful_set("db").in_app("/image", NO_IMAGE);
        let cause = format!("its pod db-0 cannot pull image {NO_IMAGE}: ");
        is_told(ns, [service("db"), db], ("svc/db", "Service/db"), &cause).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_container_that_crashes() {
    with_namespace("cause-crash", async |ns| {
        // Without a probe it would be ready for a moment, each time that it starts.
        let probe = json!({"exec": {"command": ["false"]}});
        let db = stateful_set("db").runs("exit 3");
        let db = db.in_app("/readinessProbe", probe);
        let cause = "its pod db-0 crashes: container \"app\" ended with exit code 3";
        is_told(ns, [db], ("statefulset/db", "StatefulSet/db"), cause).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_readiness_probe_that_fails() {
    with_namespace("cause-probe", async |ns| {
        let db = stateful_set("db").ready_when_told();
        let cause = "its pod db-0 is not ready: the readiness probe of container \"app\" fails";
        let list = ("statefulset/db", "StatefulSet/db");
        is_told(ns, [db, service("db")], list, cause).await;
        // An object with a reported cause counts as soon as it is ready.
        ns.tell_ready("statefulset/db").await;
        ns.pod_of("api").await.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_startup_probe_that_does_not_succeed() {
    with_namespace("cause-startup", async |ns| {
        let exec = json!({"command": ["test", "-e", "/tmp/ready"]});
        let probe = json!({"exec": exec, "periodSeconds": 1, "failureThreshold": 1000});
        let db = stateful_set("db").in_app("/startupProbe", probe);
        let cause =
            "its pod db-0 is not ready: the startup probe of container \"app\" has not succeeded";
        is_told(ns, [db], ("statefulset/db", "StatefulSet/db"), cause).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_claim_that_no_class_serves() {
    with_namespace("cause-claim", async |ns| {
        let claims = json!([{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]);
        let spec = json!({
            "storageClassName": "nobodys", "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
        });
        let claim = json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": spec,
        });
        let db = stateful_set("db").in_pod("/spec/volumes", claims);
        let cause = "its pod db-0 waits for its claim data: ";
        let list = ("statefulset/db", "StatefulSet/db");
        is_told(ns, [other(claim), db], list, cause).await;
        let api = ns.pod_of("api").await;
        api.gate_says("StorageClass \"nobodys\" does not exist").await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_that_no_node_takes() {
    with_namespace("cause-node", async |ns| {
        let db = stateful_set("db").in_pod("/spec/nodeSelector", json!({"nobodys": "node"}));
        let list = ("statefulset/db", "StatefulSet/db");
        is_told(ns, [db], list, "finds no node (0/").await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_secret_that_a_container_lacks() {
    with_namespace("cause-config", async |ns| {
        let from = json!([{"secretRef": {"name": "db-password"}}]);
        let db = stateful_set("db").in_app("/envFrom", from);
        let cause = "its pod db-0 cannot start container \"app\": secret \"db-password\" not found";
        is_told(ns, [db], ("statefulset/db", "StatefulSet/db"), cause).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_job_whose_pod_fails() {
    with_namespace("cause-job", async |ns| {
        ns.apply([job("migrate").runs("exit 4")]).await.ok();
        // Before, the same is said of a Job that may try again, by another reason.
        let failed = ["wait", "--for=condition=Failed", TIMEOUT, "job/migrate"];
        ns.kubectl(failed).await.ok();
        let cause = "has failed: container \"app\" ended with exit code 4";
        is_told(ns, [], ("job/migrate", "Job/migrate"), cause).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_quota_that_refuses_a_workloads_pods() {
    with_namespace("cause-quota", async |ns| {
        let quota = json!({
            "apiVersion": "v1", "kind": "ResourceQuota", "metadata": {"name": "small"},
            "spec": {"hard": {"count/pods": "1"}},
        });
        let api = deployment("api").depends_on("deployment/db");
        ns.apply([api]).await.ok();
        ns.pod_of("api").await.gate_says("Deployment/db").await;
        ns.apply([other(quota)]).await.ok();
        let list = ("deployment/db", "Deployment/db");
        is_told(
            ns,
            [deployment("db")],
            list,
            "its pods are refused: exceeded quota: small",
        )
        .await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_chain_of_gates_down_to_its_root() {
    with_namespace("cause-chain", async |ns| {
        let migrate = job("migrate").in_app("/image", NO_IMAGE);
        let db = stateful_set("db").depends_on("job/migrate");
        let cause = "its pod db-0 waits at its gate for Job/migrate; its pod migrate-";
        is_told(
            ns,
            [migrate, db, service("db")],
            ("svc/db", "Service/db"),
            cause,
        )
        .await;
        let api = ns.pod_of("api").await;
        api.gate_says(&format!(" cannot pull image {NO_IMAGE}: "))
            .await;
        ns.kubectl(["delete", "job/migrate"]).await.ok();
        ns.apply([job("migrate")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_volume_that_is_not_there() {
    with_namespace("cause-volume", async |ns| {
        let volumes = json!([{"name": "settings", "configMap": {"name": "nobodys"}}]);
        let mounts = json!([{"name": "settings", "mountPath": "/settings"}]);
        let db = stateful_set("db").in_pod("/spec/volumes", volumes);
        let db = db.in_app("/volumeMounts", mounts);
        let list = ("statefulset/db", "StatefulSet/db");
        is_told(ns, [db], list, "its pod db-0 is still being made: ").await;
        ns.apply([config_map("nobodys")]).await.ok();
        ns.pod_of("api").await.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_condition_of_a_custom_resource() {
    with_namespace("cause-custom", async |ns| {
        let widget = Defined::widget(ns);
        widget.define(ns).await;
        widget.grant(ns).await;
        let says = "the bucket belongs to somebody else";
        let condition = json!({
            "type": "Ready", "status": "False", "reason": "BucketTaken", "message": says,
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        ns.apply([widget.one("w")]).await.ok();
        let status: Value = json!({"conditions": [condition]});
        ns.set_status(&widget.reference("w"), &status).await;
        let (list, object) = (widget.dependency("w"), widget.dependency("w"));
        is_told(ns, [], (&list, &object), says).await;
    })
    .await;
}

/// The cause is not told for a dependency in another namespace, even with that namespace's consent: only kind, name, status and reason are.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn of_another_namespace_the_cause_is_not_told() {
    with_namespace("cause-abroad", async |ns| {
        let data = ns.another("cause-data").await;
        let key = "sluice.dev/allow-dependents-from";
        ns.annotate(&format!("namespace/{}", data.name), key, "*")
            .await;
        let db = stateful_set("db").in_app("/image", NO_IMAGE);
        data.apply([db]).await.ok();
        let list = format!("{}/statefulset/db", data.name);
        ns.apply([deployment("api").depends_on(&list)]).await.ok();
        let api = ns.pod_of("api").await;
        api.gate_says("StatefulSet/db: InProgress (InProgress)")
            .await;
        tokio::time::sleep(Duration::from_secs(30)).await;
        let log = api.gate_log().await;
        assert!(
            log.iter().all(|line| !line.text.contains("image")),
            "{log:?}"
        );
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_at_its_gate_that_a_custom_resource_owns() {
    with_namespace("cause-owned", async |ns| {
        let widget = Defined::widget(ns);
        widget.define(ns).await;
        widget.grant(ns).await;
        let condition = json!({
            "type": "Ready", "status": "False", "reason": "Working", "message": "its workers run",
            "lastTransitionTime": "2026-01-01T00:00:00Z",
        });
        ns.apply([widget.one("train").with("/spec/workers", 1)]).await.ok();
        let train = widget.reference("train");
        ns.set_status(&train, &json!({"conditions": [condition]})).await;
        let uid = ns.kubectl(["get", &train, "--output=jsonpath={.metadata.uid}"]).await;
        let owner = json!({
            "apiVersion": format!("{}/v1", widget.group), "kind": "Widget", "name": "train", "uid": uid.stdout.trim(),
            "controller": true,
        });
        let worker = pod("worker").depends_on("job/seed").with("/metadata/ownerReferences", json!([owner]));
        let seed = job("seed").in_app("/image", NO_IMAGE);
        let object = widget.dependency("train");
        let cause = "its pod worker waits at its gate for Job/seed; its pod seed-";
        ns.apply([seed, worker, deployment("api").depends_on(&object)]).await.ok();
        let api = ns.pod_of("api").await;
        api.gate_says(cause).await;
        // The graph says of the object itself that its pod waits at its gate.
        says(ns, ["status", &api.name], cause).await;
        api.gate_says(&format!(" cannot pull image {NO_IMAGE}: ")).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_service_whose_selector_finds_no_pod() {
    with_namespace("cause-selector", async |ns| {
        let front = service("db").with("/spec/selector", json!({"app": "dbs"}));
        let cause =
            "no pod has the labels that it selects (app=dbs); those of StatefulSet/db have app=db";
        let list = ("svc/db", "Service/db");
        is_told(ns, [front, stateful_set("db")], list, cause).await;
        ns.patch("service/db", &json!({"spec": {"selector": {"app": "db"}}}))
            .await;
        ns.pod_of("api").await.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_claim_without_a_class() {
    with_namespace("cause-no-class", async |ns| {
        let claim = json!({
            "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"},
            "spec": {
                "storageClassName": "", "accessModes": ["ReadWriteOnce"],
                "resources": {"requests": {"storage": "1Gi"}},
            },
        });
        let cause =
            "its storageClassName is \"\", and no PersistentVolume that somebody made fits it";
        is_told(
            ns,
            [other(claim)],
            ("pvc/data", "PersistentVolumeClaim/data"),
            cause,
        )
        .await;
    })
    .await;
}
