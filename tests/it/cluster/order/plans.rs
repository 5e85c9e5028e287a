//! Plans: order for charts that the user does not edit, and lists that make a cycle.

use harness::cluster::{
    Chart, LIMIT, Manifest, Namespace, await_until, config_map, daemon_set, deployment, job,
    with_namespace,
};
use serde_json::json;

/// Returns a Deployment as a third-party chart has it, with a label of its name and no key of sluice.
fn part(name: &str) -> Manifest {
    deployment(name).with("/metadata/labels/app.kubernetes.io~1name", name)
}

fn plan(order: &str) -> Manifest {
    config_map("plan")
        .with("/metadata/labels/sluice.dev~1plan", "true")
        .with("/data", json!({ "order": order }))
}

async fn asks_for_gates(ns: &Namespace) {
    let namespace = format!("namespace/{}", ns.name);
    ns.kubectl(["label", &namespace, "sluice.dev/inject=enabled"])
        .await
        .ok();
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_plan_puts_parts_in_order_that_know_nothing_of_it() {
    with_namespace("plan", async |ns| {
        asks_for_gates(ns).await;
        // The alphabet, in which Helm writes them, is the wrong way round.
        let parts = [
            part("api"),
            part("store").ready_when_told(),
            part("web"),
            plan("store: []\napi: [store]\nweb: [api]\n"),
        ];
        Chart::new("helm", &parts).upgrade(ns, &[]).await.ok();
        let (api, web) = (ns.pod_of("api").await, ns.pod_of("web").await);
        api.waits_for("subchart/store", "").await;
        web.waits_for("subchart/api", "").await;
        api.stays_shut().await;
        let store = ns.pod_of("store").await;
        store.is_gated().await;
        store.says("started").await;
        ns.tell_ready("deployment/store").await;
        assert!(api.starts().await <= web.starts().await);
    })
    .await;
}

/// A plan puts a Job, found by its labels, before the other objects of its own chart, and one Deployment before another. The chart has the older
/// label `chart`.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_plan_puts_a_migration_before_the_rest_of_its_own_chart() {
    with_namespace("plan-own", async |ns| {
        asks_for_gates(ns).await;
        let of_chart = |it: Manifest| it.with("/metadata/labels/chart", "desk-1.0.0");
        let migrate = job("migrate-1").with("/metadata/labels/step", "init");
        let migrate = migrate.runs("until [ -e /tmp/ready ]; do sleep 0.2; done");
        let order =
            "desk: [{kind: Job, selector: step=init}]\ndeployment/web: [deployment/worker]\n";
        let all = [
            of_chart(deployment("web")),
            of_chart(deployment("worker").ready_when_told()),
            of_chart(migrate),
            plan(order),
        ];
        Chart::new("helm", &all).upgrade(ns, &[]).await.ok();
        let (web, worker) = (ns.pod_of("web").await, ns.pod_of("worker").await);
        worker.waits_for("Job[step=init]", "").await;
        web.gate_says("1 other").await;
        ns.pod_of("migrate-1").await.says("started").await;
        ns.tell_ready("job/migrate-1").await;
        worker.says("started").await;
        web.waits_for("Deployment/worker", "").await;
        ns.tell_ready("deployment/worker").await;
        web.starts().await;
    })
    .await;
}

/// A plan with `everyPod` holds the pods of every release, and of none, until the agent on their node is ready. Neither the agent nor the plan is
/// part of a release.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_plan_holds_every_pod_until_the_agent_of_its_node_is_ready() {
    with_namespace("every-pod", async |ns| {
        asks_for_gates(ns).await;
        let agent = daemon_set("agent").ready_when_told();
        let order = "everyPod: [{kind: DaemonSet, name: agent, sameNode: true}]";
        ns.apply([plan(order), agent, deployment("web")]).await.ok();
        Chart::new("helm", &[part("api")])
            .upgrade(ns, &[])
            .await
            .ok();
        let (web, api) = (ns.pod_of("web").await, ns.pod_of("api").await);
        for pod in [&web, &api] {
            pod.waits_for("DaemonSet/agent", "").await;
        }
        ns.pod_of("agent").await.says("started").await;
        ns.tell_ready("daemonset/agent").await;
        web.starts().await;
        api.starts().await;
    })
    .await;
}

/// Returns the messages of all Events on the plan with this reason, with a blank between; empty where there is none.
async fn told(ns: &Namespace, reason: &str) -> String {
    let selector = format!("--field-selector=involvedObject.name=plan,reason={reason}");
    let messages = "--output=jsonpath={.items[*].message}";
    let events = ["get", "events", &selector, messages];
    ns.kubectl(events).await.ok()
}

/// Waits for an Event on the plan with this reason, whose message contains `message`.
async fn is_told(ns: &Namespace, reason: &str, message: &str) {
    await_until(
        &format!("the plan is told {message:?}"),
        LIMIT,
        async || {
            let told = told(ns, reason).await;
            if told.contains(message) {
                Ok(())
            } else {
                Err(told)
            }
        },
    )
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_plan_that_nobody_can_follow_says_so_itself() {
    with_namespace("plan-bad", async |ns| {
        let scoped = |order: &str| plan(order).annotated("sluice.dev/scope", "shop");
        ns.apply([scoped("api: [store]")]).await.ok();
        is_told(ns, "BadPlan", "lacks the label sluice.dev/inject: enabled").await;
        asks_for_gates(ns).await;
        ns.apply([scoped("a: [b]\nb: [a]\n")]).await.ok();
        is_told(ns, "BadPlan", "subchart/a -> subchart/b -> subchart/a").await;
        ns.apply([part("api").annotated("sluice.dev/scope", "shop")])
            .await
            .ok();
        let api = ns.pod_of("api").await;
        api.stays_shut().await;
        ns.apply([scoped("a: []\napi: [a]\n")]).await.ok();
        api.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_plan_that_comes_before_its_release_is_not_bad() {
    with_namespace("plan-early", async |ns| {
        asks_for_gates(ns).await;
        let of_shop = |it: Manifest| it.annotated("sluice.dev/scope", "shop");
        ns.apply([of_shop(plan("api: [store]"))]).await.ok();
        is_told(ns, "EarlyPlan", "there is nothing of release shop yet").await;
        assert_eq!(told(ns, "BadPlan").await, "");

        let store = part("store").ready_when_told();
        ns.apply([of_shop(part("api")), of_shop(store)]).await.ok();
        let api = ns.pod_of("api").await;
        api.waits_for("subchart/store", "").await;
        ns.pod_of("store").await.says("started").await;
        ns.tell_ready("deployment/store").await;
        api.starts().await;
        assert_eq!(told(ns, "BadPlan").await, "");
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_cycle_is_named_on_every_member() {
    with_namespace("cycle", async |ns| {
        ns.apply([
            deployment("a").depends_on("deployment/b"),
            deployment("b").depends_on("deployment/a"),
        ])
        .await
        .ok();
        let (a, b) = (ns.pod_of("a").await, ns.pod_of("b").await);
        a.waits_for("Deployment/b", "Cycle").await;
        b.waits_for("Deployment/a", "Cycle").await;
        a.has_event("Cycle", "Deployment/a -> Deployment/b -> Deployment/a")
            .await;
        ns.now_depends_on("deployment/b", "").await;
        a.starts().await;
    })
    .await;
}
