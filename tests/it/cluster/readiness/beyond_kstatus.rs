//! `ready` for kinds that kstatus alone judges in another way.

use harness::cluster::{
    LIMIT, Manifest, Namespace, await_until, daemon_set, deployment, other, service, stateful_set,
    with_namespace,
};
use serde_json::{Value, json};

/// Returns the name and the manifest of a StorageClass with this binding mode. It has no namespace, so it is named after the test's, and deleted with
/// it.
fn class(ns: &Namespace, binding: &str) -> (String, Manifest) {
    let name = format!("{}-{}", ns.name, binding.to_lowercase());
    ns.takes_along(&format!("storageclass/{name}"));
    let class = other(json!({
        "apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": name},
        "provisioner": "example.com/nobody", "volumeBindingMode": binding,
    }));
    (name, class)
}

fn claim(name: &str, class: &str) -> Manifest {
    other(json!({
        "apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": name},
        "spec": {
            "storageClassName": class, "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Mi"}},
        },
    }))
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_claim_that_waits_for_its_consumer_holds_nobody_back() {
    with_namespace("claim", async |ns| {
        let (late, late_class) = class(ns, "WaitForFirstConsumer");
        let (soon, soon_class) = class(ns, "Immediate");
        ns.apply([
            late_class,
            soon_class,
            claim("late", &late),
            claim("soon", &soon),
            deployment("consumer").depends_on("pvc/late"),
            deployment("api").depends_on("pvc/soon"),
        ])
        .await
        .ok();
        ns.pod_of("consumer").await.starts().await;
        let api = ns.pod_of("api").await;
        api.waits_for("PersistentVolumeClaim/soon", "ClaimNotBound")
            .await;

        ns.takes_along(&format!("persistentvolume/{}", ns.name));
        let volume = other(json!({
            "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": ns.name},
            "spec": {
                "storageClassName": soon, "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "1Mi"},
                "persistentVolumeReclaimPolicy": "Retain", "hostPath": {"path": "/tmp/nothing"},
                "claimRef": {"namespace": ns.name, "name": "soon"},
            },
        }));
        ns.apply([volume]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn an_address_that_is_published_too_early_does_not_serve() {
    with_namespace("published", async |ns| {
        let early = service("db").with("/spec/publishNotReadyAddresses", true);
        ns.apply([
            early,
            deployment("db").ready_when_told(),
            deployment("api").depends_on("svc/db"),
        ])
        .await
        .ok();
        ns.pod_of("db").await.says("started").await;
        await_until("it is published", LIMIT, async || {
            let slices = ns.look.list("endpointslice", "").await;
            let ready = |it: &Value| it["endpoints"][0]["conditions"]["ready"] == true;
            if slices.iter().any(ready) {
                Ok(())
            } else {
                Err(format!("{slices:?}"))
            }
        })
        .await;
        let api = ns.pod_of("api").await;
        api.waits_for("Service/db", "NoEndpoints").await;
        api.stays_shut().await;

        ns.tell_ready("deployment/db").await;
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_service_without_a_selector_only_has_to_exist() {
    with_namespace("no-selector", async |ns| {
        let outside = service("outside").with("/spec/selector", Value::Null);
        ns.apply([deployment("api").depends_on("svc/outside")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("Service/outside", "NotFound").await;
        ns.apply([outside]).await.ok();
        api.starts().await;
    })
    .await;
}

/// A StatefulSet or DaemonSet with update strategy `OnDelete` is ready when its pods are, of any revision. kstatus calls such a StatefulSet current
/// before it has a pod, and such a DaemonSet never again after a change.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn under_on_delete_the_pods_have_to_be_ready_whatever_their_revision() {
    with_namespace("on-delete", async |ns| {
        let manifests = [stateful_set("db"), daemon_set("agent")].map(|workload| {
            workload
                .ready_when_told()
                .with("/spec/updateStrategy", json!({"type": "OnDelete"}))
        });
        ns.apply(manifests.clone()).await.ok();
        let dependents = |name: &str| {
            [("statefulset/db", "s"), ("daemonset/agent", "d")]
                .map(|(list, kind)| deployment(&format!("{name}-{kind}")).depends_on(list))
        };
        ns.apply(dependents("new")).await.ok();
        let (s, d) = (ns.pod_of("new-s").await, ns.pod_of("new-d").await);
        s.waits_for("StatefulSet/db", "InProgress").await;
        d.waits_for("DaemonSet/agent", "InProgress").await;
        for name in ["db", "agent"] {
            for pod in ns.pods_of(name, 1).await {
                pod.says("started").await;
                ns.tell_ready(&format!("pod/{}", pod.name)).await;
            }
        }
        s.starts().await;
        d.starts().await;

        // Another template; the test deletes no pods.
        ns.apply(manifests.map(|it| it.template_annotated("example.com/release", "2")))
            .await
            .ok();
        ns.until("daemonset/agent", "has pods of the old revision", |agent| {
            agent["status"]["observedGeneration"] == 2
                && agent["status"]["updatedNumberScheduled"].as_u64().is_none()
        })
        .await;
        ns.apply(dependents("late")).await.ok();
        for name in ["late-s", "late-d"] {
            ns.pod_of(name).await.starts().await;
        }
    })
    .await;
}
