use super::waiting_pods;
use harness::cluster::{
    LIMIT, Look, Manifest, Namespace, TIMEOUT, alone, await_until, config_map, deployment, items,
    pod, sluice, text,
};
use serde_json::Value;

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn nothing_is_left_and_nobody_is_blocked() {
    alone("removed", async |ns| {
        let look = Look::at(sluice::NAMESPACE).await;
        let waiting = waiting_pods(ns).await;
        sluice::installed_after(async |release| {
            release.uninstall().await.ok();
            nothing_is_left(&look).await;
            new_pods_start_at_once(ns).await;
            ns.kubectl(["delete", "deployment/wait-1", TIMEOUT])
                .await
                .ok();

            release.install().await;
            let first = configuration(&look).await;
            release.install().await;
            assert_eq!(configuration(&look).await, first);
        })
        .await;
        for pod in waiting.iter().skip(1) {
            pod.is_shut().await; // there is another CA now: they wait until a user deletes them
            pod.has_event("Stranded", "delete the pod").await;
        }
        what_came_in_between_is_not_rolled(ns).await;
        what_came_in_between_is_not_blocked(ns).await;
        what_comes_now_waits(ns).await;
    })
    .await;
}

async fn nothing_is_left(look: &Look) {
    for gone in [
        "mutatingwebhookconfiguration/sluice",
        "clusterrole/sluice",
        "clusterrolebinding/sluice",
        "validatingadmissionpolicybinding/sluice-own-configuration",
        "validatingadmissionpolicybinding/sluice-foreign-keys",
        "validatingadmissionpolicybinding/sluice-idle-lists",
        "deployment/sluice",
    ] {
        assert!(look.find(gone).await.is_none(), "{gone} is left");
    }
    await_until("what sluice made is gone", LIMIT, async || {
        let mut left = look.list("secret", "").await;
        left.extend(look.list("configmap", "").await);
        let names = left.iter().map(|object| text(object, "/metadata/name"));
        let ours: Vec<_> = names.filter(|name| name.contains("sluice")).collect();
        if ours.is_empty() {
            Ok(())
        } else {
            Err(format!("{ours:?}"))
        }
    })
    .await;
}

async fn new_pods_start_at_once(ns: &Namespace) {
    ns.apply([
        pod("free").depends_on("configmap/never"),
        deployment("early").depends_on("configmap/never"),
        unread(),
        unread_inside(),
    ])
    .await
    .ok();
    for name in ["free", "early", "unread", "unread-inside"] {
        let pod = ns.pod_of(name).await;
        pod.says("started").await;
        let pod = pod.now().await;
        assert!(pod["spec"]["initContainers"].is_null(), "{pod:#}");
    }
}

/// Checks that a workload that was applied while sluice was away is not rolled when it is applied again.
async fn what_came_in_between_is_not_rolled(ns: &Namespace) {
    let before = ns.pod_of("early").await;
    let early = deployment("early").depends_on("configmap/never");
    let said = ns.apply([early]).await.ok();
    assert_eq!(said, "deployment.apps/early unchanged\n");
    assert_eq!(ns.look.list("replicaset", "app=early").await.len(), 1);
    before.is_ready().await;
}

/// Checks that an unreadable list that was stored while sluice was away does not block a change of another field: there is only a warning.
async fn what_came_in_between_is_not_blocked(ns: &Namespace) {
    for unread in [unread(), unread_inside()] {
        let applied = ns
            .apply([unread.in_pod("/metadata/labels/changed", "yes")])
            .await;
        let warning = r#"unknown kind "Deploymnt"; did you mean "Deployment"?"#;
        assert!(applied.stderr.contains(warning), "{applied}");
        applied.ok();
    }
}

/// A Deployment with an unreadable list.
fn unread() -> Manifest {
    deployment("unread").depends_on("Deploymnt/api")
}

/// A Deployment with a list that cannot be read on its pod template alone.
fn unread_inside() -> Manifest {
    deployment("unread-inside").template_annotated("sluice.dev/depends-on", "Deploymnt/api")
}

async fn what_comes_now_waits(ns: &Namespace) {
    let api = deployment("api").depends_on("configmap/at-last");
    ns.apply([api]).await.ok();
    let api = ns.pod_of("api").await;
    api.waits_for("ConfigMap/at-last", "NotFound").await;
    ns.apply([config_map("at-last")]).await.ok();
    api.starts().await;
}

/// Returns the generation of the webhook configuration and the writers of its `caBundle`: an upgrade that changes no value leaves both as they are.
/// Fails if a webhook has no `caBundle`, or Helm owns one.
async fn configuration(look: &Look) -> (Value, Vec<String>) {
    let object = look.get("mutatingwebhookconfiguration/sluice").await;
    for webhook in items(&object, "/webhooks") {
        assert_ne!(text(webhook, "/clientConfig/caBundle"), "", "{webhook:#}");
    }
    let fields = items(&object, "/metadata/managedFields").iter();
    let writers: Vec<_> = fields
        .filter(|entry| entry["fieldsV1"].to_string().contains("f:caBundle"))
        .map(|entry| text(entry, "/manager").to_owned())
        .collect();
    assert!(!writers.is_empty(), "{object:#}");
    assert!(!writers.iter().any(|it| it == "helm"), "{writers:?}");
    (object["metadata"]["generation"].clone(), writers)
}
