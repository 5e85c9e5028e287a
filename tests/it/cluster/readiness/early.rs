use harness::cluster::{
    Defined, Manifest, Namespace, Pod, deployment, service, stateful_set, with_namespace,
};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use std::time::Duration;

/// Waits six seconds, changes the template of the Deployment `api` and then its dependency, by the merge patch `patch`, and returns the pod of the
/// new revision.
async fn upgrade(ns: &Namespace, old: &Pod, dependency: &str, patch: Value) -> Pod {
    // An object that is made within five seconds of a revision counts as made with it.
    tokio::time::sleep(Duration::from_secs(6)).await;
    let labels = json!({"version": "2"});
    let template = json!({"spec": {"template": {"metadata": {"labels": labels}}}});
    ns.patch("deployment/api", &template).await;
    ns.patch(dependency, &patch).await;
    ns.next_pod_of("api", old).await
}

/// A Service whose selector changes after its dependent was applied holds the dependent back, although its endpoints follow only some milliseconds
/// later.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_service_whose_selector_changes_after_its_dependent_was_applied_holds_it_back() {
    with_namespace("early-service", async |ns| {
        ns.apply([
            deployment("db"),
            service("db"),
            deployment("api").depends_on("svc/db"),
        ])
        .await
        .ok();
        let old = ns.pod_of("api").await;
        old.starts().await;

        // Nothing has these labels yet.
        let patch = json!({"spec": {"selector": {"app": "db2"}}});
        let new = upgrade(ns, &old, "service/db", patch).await;
        new.waits_for("Service/db", "NoEndpoints").await;
        new.stays_shut().await;
        ns.apply([deployment("db2")]).await.ok();
        new.starts().await;
    })
    .await;
}

/// Returns a status of a custom resource whose condition `Ready` has this value, and which names no generation.
fn ready(status: &str) -> Value {
    let condition = json!({"type": "Ready", "status": status, "reason": "Test", "message": ""});
    json!({"conditions": [condition]})
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_custom_resource_without_generations_counts_once_its_operator_has_answered() {
    with_namespace("early-widget", async |ns| {
        let widget = Defined::widget(ns);
        let (one, reference) = (widget.dependency("one"), widget.reference("one"));
        widget.grant(ns).await;
        widget.define(ns).await;
        ns.apply([widget.one("one").with("/spec/size", 1)])
            .await
            .ok();
        ns.set_status(&reference, &ready("True")).await;
        ns.apply([deployment("api").depends_on(&one)]).await.ok();
        let old = ns.pod_of("api").await;
        old.starts().await;

        let new = upgrade(ns, &old, &reference, json!({"spec": {"size": 2}})).await;
        let line = new.waits_for(&one, "NotObserved").await;
        assert!(line.contains("its status is older"), "{line}");
        ns.set_status(&reference, &ready("False")).await;
        new.waits_for(&one, "InProgress").await;
        new.stays_shut().await;
        let before = Timestamp::now();
        ns.set_status(&reference, &ready("True")).await;
        let lasted = new.starts().await.duration_since(before);
        assert!(lasted >= SignedDuration::from_secs(1), "{lasted:?}");
    })
    .await;
}

const INSTANCE: &str = "/metadata/labels/app.kubernetes.io~1instance";

fn of_shop(manifest: Manifest) -> Manifest {
    manifest.with(INSTANCE, "shop")
}

/// An optional dependency that is created a moment after its dependent holds the dependent back, as when a tool takes a second between two objects.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn what_is_optional_may_come_a_moment_after_its_dependent() {
    with_namespace("early-optional", async |ns| {
        let list = "- {kind: StatefulSet, name: db, optional: true}";
        ns.apply([of_shop(deployment("api").depends_on(list))])
            .await
            .ok();
        ns.apply([of_shop(stateful_set("db").ready_when_told())])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.waits_for("StatefulSet/db", "InProgress").await;
        api.stays_shut().await;
        ns.tell_ready("statefulset/db").await;
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_sub_chart_that_turns_up_after_a_gate_has_opened_without_it_holds_back_the_next_pod() {
    with_namespace("early-absent", async |ns| {
        let api = of_shop(deployment("api").depends_on("subchart/redis"));
        ns.apply([api]).await.ok();
        let first = ns.pod_of("api").await;
        first.starts().await;
        let told = "opened without subchart/redis (no object of it is in release shop)";
        first.has_event("Absent", told).await;

        // As older charts say it, and as `helm template` renders it.
        let redis = stateful_set("shop-redis")
            .ready_when_told()
            .with("/metadata/labels/chart", "redis-10.5.7")
            .with("/metadata/labels/release", "shop");
        ns.apply([redis]).await.ok();
        ns.kubectl(["scale", "deployment/api", "--replicas=2"])
            .await
            .ok();
        let pods = ns.pods_of("api", 2).await;
        let next = pods.into_iter().find(|pod| pod.name != first.name);
        let next = next.expect("two pods have two names");
        next.waits_for("subchart/redis", "InProgress").await;
        next.stays_shut().await;
        ns.tell_ready("statefulset/shop-redis").await;
        next.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_sub_chart_does_not_count_as_absent_while_an_object_of_it_says_no_release() {
    with_namespace("early-unclaimed", async |ns| {
        let redis = stateful_set("shop-redis").with("/metadata/labels/chart", "redis-10.5.7");
        let api = of_shop(deployment("api").depends_on("subchart/redis"));
        ns.apply([redis, api]).await.ok();
        let api = ns.pod_of("api").await;
        let line = api.waits_for("subchart/redis", "NotFound").await;
        assert!(line.contains("give it sluice.dev/scope: shop"), "{line}");
        api.stays_shut().await;
        ns.annotate("statefulset/shop-redis", "sluice.dev/scope", "shop")
            .await;
        api.starts().await;
    })
    .await;
}
