use harness::cluster::{
    LIMIT, Manifest, Namespace, Node, Pod, await_until, config_map, daemon_set, finally, pod,
    stateful_set, with_namespace, yaml,
};
use serde_json::json;

const ONE: &str = "configmap/one";
const TWO: &str = "configmap/two";

fn changed(manifest: Manifest) -> Manifest {
    manifest
        .depends_on(TWO)
        .template_annotated("example.com/release", "2")
}

/// A pod of strategy `OnDelete` is replaced only when a user deletes it: the old pod does not wait for the changed list, the new one does.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_updated_on_delete_waits_from_its_next_pod_on() {
    with_namespace("on-delete", async |ns| {
        let sets = [
            stateful_set("db").depends_on(ONE),
            daemon_set("agent").depends_on(ONE),
        ]
        .map(|set| set.with("/spec/updateStrategy/type", "OnDelete"));
        ns.apply([config_map("one")]).await.ok();
        ns.apply(sets.clone()).await.ok();
        let old = [ns.pod_of("db").await, ns.pod_of("agent").await];
        for pod in &old {
            pod.starts().await;
        }
        ns.apply(sets.map(changed)).await.ok();
        for (reference, generation) in [("statefulset/db", 2), ("daemonset/agent", 2)] {
            ns.until(reference, "has been looked at", |set| {
                set["status"]["observedGeneration"] == generation
            })
            .await;
        }
        for (name, pod) in ["db", "agent"].into_iter().zip(&old) {
            pod.is_ready().await; // the same one: the harness holds on to its UID
            ns.kubectl(["delete", "pod", &pod.name]).await.ok();
            let new = ns.next_pod_of(name, pod).await;
            new.waits_for("ConfigMap/two", "NotFound").await;
        }
        ns.apply([config_map("two")]).await.ok();
        for name in ["db", "agent"] {
            ns.pod_of(name).await.starts().await;
        }
    })
    .await;
}

/// A StatefulSet with a partition keeps the old revision below it. A pod of the old revision that is made anew does not wait, since that revision has
/// waited before; pods of the new one wait.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_partition_holds_the_old_revision_and_only_the_new_one_waits() {
    with_namespace("partition", async |ns| {
        let db = stateful_set("db")
            .depends_on(ONE)
            .with("/spec/replicas", 2)
            .with("/spec/podManagementPolicy", "Parallel")
            .with(
                "/spec/updateStrategy",
                json!({"type": "RollingUpdate", "rollingUpdate": {"partition": 1}}),
            );
        ns.apply([config_map("one"), db.clone()]).await.ok();
        let old = ns.pods_of("db", 2).await;
        for pod in &old {
            pod.starts().await;
        }
        ns.apply([changed(db)]).await.ok();
        let second = another_of_its_name(ns, &old[1]).await;
        second.waits_for("ConfigMap/two", "NotFound").await;
        old[0].is_ready().await;

        ns.kubectl(["delete", "pod", "db-0"]).await.ok();
        let first = another_of_its_name(ns, &old[0]).await;
        first.starts().await;
        second.is_shut().await;

        ns.apply([config_map("two")]).await.ok();
        second.starts().await;
    })
    .await;
}

/// The list counts for a pod whose revision its StatefulSet no longer names: the StatefulSet keeps a pod that is not ready while its template changes
/// twice.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_pod_that_waits_while_its_template_changes_twice_opens_all_the_same() {
    with_namespace("outpaced", async |ns| {
        let db = stateful_set("db").depends_on(ONE);
        ns.apply([db.clone()]).await.ok();
        let pod = ns.pod_of("db").await;
        pod.waits_for("ConfigMap/one", "NotFound").await;
        for release in ["2", "3"] {
            let next = db
                .clone()
                .template_annotated("example.com/release", release);
            ns.apply([next]).await.ok();
            let generation: u64 = release.parse().expect("a number");
            ns.until("statefulset/db", "has been looked at", |set| {
                set["status"]["observedGeneration"] == generation
            })
            .await;
            // Kubernetes writes times in whole seconds.
            tokio::time::sleep(std::time::Duration::from_secs(1)).await;
        }
        ns.apply([config_map("one")]).await.ok();
        ns.pod_of("db").await.starts().await;
    })
    .await;
}

/// Waits until the StatefulSet `db` has another pod of the old pod's name, and returns it.
async fn another_of_its_name(ns: &Namespace, old: &Pod) -> Pod {
    let what = format!("{} is another pod", old.name);
    await_until(&what, LIMIT, async || {
        let pods = ns.pods_of("db", 1).await;
        let next = |pod: &Pod| pod.name == old.name && pod.uid != old.uid;
        let next = pods.into_iter().find(next);
        next.ok_or_else(|| "it is not".to_owned())
    })
    .await
}

/// A static pod starts although its annotations ask for a gate: the kubelet runs it without the API server, which has only a copy of it.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_static_pod_runs_whatever_it_asks_for() {
    let Some(node) = Node::ours().await else {
        return;
    };
    with_namespace("static", async |ns| {
        let api = pod("api")
            .depends_on("configmap/never")
            .annotated("sluice.dev/gated", "true")
            .with("/metadata/namespace", ns.name.as_str());
        finally(
            async || {
                node.run_static_pod(&ns.name, &yaml(&[api])).await;
                let api = ns.pod_of("api").await;
                api.says("started").await;
                let image = api.now().await;
                let metadata = &image["metadata"];
                assert!(
                    metadata["annotations"]["kubernetes.io/config.mirror"].is_string(),
                    "{image:#}"
                );
                assert!(
                    metadata["labels"]["sluice.dev/gated"].is_null(),
                    "{image:#}"
                );
                assert!(image["spec"]["initContainers"].is_null(), "{image:#}");
            },
            async |_| node.remove_static_pod(&ns.name).await,
        )
        .await;
    })
    .await;
}
