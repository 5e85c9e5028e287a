//! A restart of the API server alone opens no gate. For a moment it answers 403 for every kind, until it has read the roles (kubernetes#121635), and
//! a kind that is unreadable meanwhile is not an empty one.

use harness::cluster::{
    LIMIT, Manifest, Namespace, Node, Pod, Program, alone, await_until, config_map, daemon_set,
    deployment, stateful_set,
};
use serde_json::json;
use std::time::Duration;

/// The pointer to the label that puts an object into a release.
const INSTANCE: &str = "/metadata/labels/app.kubernetes.io~1instance";
/// The pointer to the label that makes an object part of a sub-chart.
const NAME: &str = "/metadata/labels/app.kubernetes.io~1name";

/// Returns the number of pods of each of three sorts: those that wait by weight, by sub-chart and by plan. `SLUICE_GATES` is the number of all
/// together, 18 without it.
fn replicas() -> usize {
    let asked = std::env::var("SLUICE_GATES").ok();
    asked.and_then(|it| it.parse().ok()).unwrap_or(18_usize) / 3
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn who_waits_for_waves_and_parts_waits_through_restarts_of_the_api_server() {
    let Some(node) = Node::ours().await else {
        return;
    };
    alone("restarted", async |ns| {
        let namespace = format!("namespace/{}", ns.name);
        ns.kubectl(["label", &namespace, "sluice.dev/inject=enabled"])
            .await
            .ok();
        ns.apply(releases()).await.ok();
        let mut waiting = Vec::new();
        for workload in ["late", "api", "web"] {
            for pod in ns.pods_of(workload, replicas()).await {
                pod.gate_says("waiting").await;
                waiting.push(pod);
            }
        }

        for _ in 0..3 {
            node.restart("kube-apiserver").await;
            answers(ns).await;
            // A gate that would be judged too early is judged as soon as the kinds are listed again.
            tokio::time::sleep(Duration::from_secs(5)).await;
            stay_shut(&waiting).await;
        }

        for workload in ["statefulset/db", "deployment/store", "daemonset/agent"] {
            ns.tell_ready(workload).await;
        }
        for pod in &waiting {
            pod.starts().await;
        }
    })
    .await;
}

/// Returns the objects of three releases. Pods wait in one by a weight, in one for a sub-chart and in one by a plan, each for an object that is not
/// ready.
fn releases() -> [Manifest; 7] {
    let of = |release: &str, it: Manifest| {
        let name = it.name().to_owned();
        it.with(INSTANCE, release).with(NAME, name)
    };
    let many = |it: Manifest| it.with("/spec/replicas", replicas());
    let late = deployment("late").annotated("sluice.dev/weight", "1");
    let plan = config_map("plan")
        .with("/metadata/labels/sluice.dev~1plan", "true")
        .with("/data", json!({"order": "web: [agent]\n"}));
    [
        of("waves", stateful_set("db").ready_when_told()),
        of("waves", many(late)),
        of("parts", deployment("store").ready_when_told()),
        of(
            "parts",
            many(deployment("api").depends_on("subchart/store")),
        ),
        of("plans", daemon_set("agent").ready_when_told()),
        of("plans", many(deployment("web"))),
        plan.with(INSTANCE, "plans"),
    ]
}

async fn stay_shut(pods: &[Pod]) {
    for pod in pods {
        pod.is_shut().await;
    }
}

/// Waits until the API server is ready and answers a request of the tests, which may read everything.
async fn answers(ns: &Namespace) {
    await_until("the API server is ready", LIMIT, async || {
        let ready = Program::new("kubectl").args(["get", "--raw", "/readyz"]);
        let (ready, read) = (ready.run().await, ns.kubectl(["get", "pods"]).await);
        match (ready.code, read.code) {
            (Some(0), Some(0)) => Ok(()),
            _ => Err(format!("{ready}{read}")),
        }
    })
    .await;
}
