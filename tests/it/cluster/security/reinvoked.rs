//! Tests of sluice's webhook beside another one in the namespace, which is called before or after it.

use harness::cluster::{
    LIMIT, Manifest, Mutator, Namespace, Node, Pod, await_until, config_map, items, pod, sluice,
    with_namespace,
};
use serde_json::{Value, json};

const LIST: &str = "configmap/go";

/// The name of a webhook that the API server calls before `sluice`: it calls them in the order of their names.
const BEFORE: &str = "a-first";
const AFTER: &str = "z-last";

fn container(name: &str, script: &str) -> Value {
    json!({"name": name, "image": "docker.io/library/busybox:1.35", "command": ["sh", "-c", script]})
}

/// Returns JSON patch operations that put these init containers before all others, in this order.
fn at_the_front(pod: &Value, added: &[Value]) -> Vec<Value> {
    let add = |path: &str, value: Value| json!({"op": "add", "path": path, "value": value});
    if pod["spec"]["initContainers"].is_null() {
        return vec![add("/spec/initContainers", json!(added))];
    }
    let added = added.iter().rev().cloned();
    added
        .map(|one| add("/spec/initContainers/0", one))
        .collect()
}

fn prepare(pod: &Value) -> Vec<Value> {
    at_the_front(pod, &[container("prepare", "true")])
}

/// Returns JSON patch operations that add the init containers of a mesh: one that redirects, and a proxy that stays.
fn mesh(pod: &Value) -> Vec<Value> {
    let mut proxy = container("istio-proxy", "trap exit TERM; sleep 100000 & wait");
    proxy["restartPolicy"] = json!("Always");
    at_the_front(pod, &[container("istio-init", "true"), proxy])
}

/// Creates the pod of a manifest again and again until the other webhook was called for it. Returns the pod and the names of its init containers.
async fn made(ns: &Namespace, other: &Mutator, manifest: Manifest) -> (Pod, Vec<String>) {
    loop {
        let before = other.calls();
        ns.apply([manifest.clone()]).await.ok();
        if other.calls() > before {
            break;
        }
        // It reads configurations with a delay.
        ns.kubectl(["delete", "--now", "pod/api"]).await.ok();
    }
    let pod = ns.pod_of("api").await;
    let now = pod.now().await;
    let name = |it: &Value| it["name"].as_str().unwrap_or_default().to_owned();
    let names = items(&now, "/spec/initContainers").iter().map(name);
    let names = names.collect();
    (pod, names)
}

/// Waits until sluice's log says that it has left the pod alone at its last call: the other webhook has changed the pod, so sluice is called once
/// more.
async fn the_second_call_adds_nothing(ns: &Namespace) {
    await_until("sluice has been called a second time", LIMIT, async || {
        let log = sluice::log().await;
        let ours = |line: &&str| line.contains(&ns.name) && line.contains("\"Answered\"");
        match log.lines().rfind(ours) {
            Some(last) if last.contains("\"skipped-already-injected\"") => Ok(()),
            last => Err(format!("{last:?}")),
        }
    })
    .await;
}

async fn beside(name: &str, first: &str, change: fn(&Value) -> Vec<Value>, expected: &[&str]) {
    let Some(node) = Node::ours().await else {
        return;
    };
    with_namespace(name, async |ns| {
        let other = Mutator::start(&node, ns, first, change).await;
        let (pod, names) = made(ns, &other, pod("api").depends_on(LIST)).await;
        assert_eq!(names, expected);
        the_second_call_adds_nothing(ns).await;
        ns.apply([config_map("go")]).await.ok();
        pod.starts().await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_gate_stands_before_what_a_webhook_before_it_adds() {
    beside("before", BEFORE, prepare, &["sluice-gate", "prepare"]).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn there_is_one_gate_where_a_webhook_after_it_adds_something_at_the_front() {
    beside("after", AFTER, prepare, &["prepare", "sluice-gate"]).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_gate_stands_behind_the_proxy_of_a_mesh_that_comes_before() {
    beside(
        "mesh-before",
        BEFORE,
        mesh,
        &["istio-init", "istio-proxy", "sluice-gate"],
    )
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_gate_stands_behind_the_proxy_of_a_mesh_that_comes_after() {
    beside(
        "mesh-after",
        AFTER,
        mesh,
        &["istio-init", "istio-proxy", "sluice-gate"],
    )
    .await;
}
