use harness::cluster::{config_map, deployment, with_namespace};

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn another_namespace_has_to_consent() {
    with_namespace("guest", async |ns| {
        let host = ns.another("host").await;
        host.apply([config_map("there")]).await.ok();
        let [there, gone] = ["there", "gone"].map(|name| format!("{}/configmap/{name}", host.name));
        ns.apply([
            deployment("one").depends_on(&there),
            deployment("two").depends_on(&gone),
        ])
        .await
        .ok();

        // The answer is the same for an existing and a missing object.
        let (one, two) = (ns.pod_of("one").await, ns.pod_of("two").await);
        let [there, gone] = ["there", "gone"].map(|name| format!("{}/ConfigMap/{name}", host.name));
        let there = one.waits_for(&there, "NotPermitted").await;
        let gone = two.waits_for(&gone, "NotPermitted").await;
        assert_eq!(said(&there), said(&gone));

        let namespace = format!("namespace/{}", host.name);
        ns.annotate(&namespace, "sluice.dev/allow-dependents-from", &ns.name)
            .await;
        one.starts().await;
        two.waits_for(&format!("{}/ConfigMap/gone", host.name), "NotFound")
            .await;
    })
    .await;
}

/// A gate may not depend on an object without a namespace, and does not learn whether it exists: only the administrator can consent.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_in_no_namespace_is_told_of_to_nobody() {
    with_namespace("cluster-wide", async |ns| {
        ns.apply([
            deployment("one").depends_on("namespace/kube-system"),
            deployment("two").depends_on("namespace/kube-sistem"),
        ])
        .await
        .ok();
        let (one, two) = (ns.pod_of("one").await, ns.pod_of("two").await);
        let there = one.waits_for("Namespace/kube-system", "NotPermitted").await;
        let gone = two.waits_for("Namespace/kube-sistem", "NotPermitted").await;
        assert_eq!(said(&there), said(&gone));
    })
    .await;
}

/// Returns the end of a gate's line from the reason on, without the dependency's name; the whole line where its status is not `Unknown`.
fn said(line: &str) -> &str {
    let (_, said) = line.split_once(": Unknown").unwrap_or(("", line));
    said
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn consent_for_somebody_else_is_none() {
    with_namespace("stranger", async |ns| {
        let host = ns.another("host").await;
        let namespace = format!("namespace/{}", host.name);
        ns.annotate(&namespace, "sluice.dev/allow-dependents-from", "a-friend")
            .await;
        host.apply([config_map("there")]).await.ok();
        let list = format!("{}/configmap/there", host.name);
        ns.apply([deployment("api").depends_on(&list)]).await.ok();
        let api = ns.pod_of("api").await;
        let there = format!("{}/ConfigMap/there", host.name);
        api.waits_for(&there, "NotPermitted").await;
        api.stays_shut().await;
    })
    .await;
}
