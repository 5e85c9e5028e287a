//! Tests of a power cycle of the node: everything on it ends at once, the API server and its database too, and starts again.

use harness::cluster::{
    LIMIT, Manifest, Namespace, Node, Pod, alone, await_until, config_map, daemon_set, deployment,
    items, other, pod, service, text,
};
use jiff::Timestamp;
use serde_json::{Value, json};
use wire::said::REBOOTED;

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn after_a_power_cycle_everybody_goes_on_where_they_were() {
    let Some(node) = Node::ours().await else {
        return;
    };
    alone("power", async |ns| {
        // It would ask again, and wait, if its own marker did not say that it has passed.
        let released = pod("released")
            .depends_on("configmap/gone")
            .annotated("sluice.dev/regate", "always");
        let waiting = deployment("waiting").depends_on("configmap/go");
        ns.apply([config_map("gone"), released, waiting]).await.ok();
        let (released, waiting) = (ns.pod_of("released").await, ns.pod_of("waiting").await);
        released.starts().await;
        waiting.waits_for("ConfigMap/go", "NotFound").await;
        ns.kubectl(["delete", "configmap/gone"]).await.ok();

        let off = Timestamp::now();
        node.power_cycle().await;
        the_node_is_ready_again(ns, off).await;
        has_started_again(&released, "/status/containerStatuses", off).await;
        has_started_again(&waiting, "/status/initContainerStatuses", off).await;
        let late = admitted(ns).await;
        late.waits_for("ConfigMap/go", "NotFound").await;
        waits_again(&waiting, "for ConfigMap/go: ").await;

        ns.apply([config_map("go")]).await.ok();
        late.starts().await;
        waiting.starts().await;
    })
    .await;
}

/// After a power failure of two nodes, of which one comes back, each pod waits again as its annotations say. This machine is not booted, so the test
/// writes another boot into the markers.
#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn after_a_boot_each_pod_waits_as_it_is_told_to() {
    let Some(node) = Node::ours().await else {
        return;
    };
    alone("boot", async |ns| {
        ns.takes_along(&format!("node/{LOST}"));
        ns.apply([config_map("gone"), daemon_set("agent").ready_when_told()])
            .await
            .ok();
        ns.tell_ready_once_it_runs("daemonset/agent").await;
        ns.apply([lost_node(), service("old"), on_the_lost_node("old")])
            .await
            .ok();
        the_lost_node_reports(ns, 1).await;
        ns.set_status("pod/old", &seems_ready()).await;

        let regate = |name: &str, regate: &str| {
            let pod = deployment(name).depends_on("configmap/gone");
            pod.annotated("sluice.dev/regate", regate)
        };
        let on_node = "- configmap/gone\n- {kind: DaemonSet, name: agent, sameNode: true}";
        ns.apply([
            regate("once", "once"),
            regate("boot", "boot"),
            regate("always", "always"),
            deployment("on-node").depends_on(on_node),
            deployment("behind")
                .depends_on("service/old")
                .annotated("sluice.dev/regate", "boot"),
        ])
        .await
        .ok();
        let once = ns.pod_of("once").await;
        let boot = ns.pod_of("boot").await;
        let always = ns.pod_of("always").await;
        let on_node = ns.pod_of("on-node").await;
        let behind = ns.pod_of("behind").await;
        let all = [&once, &boot, &always, &on_node, &behind];
        for pod in all {
            pod.starts().await;
        }
        ns.kubectl(["delete", "configmap/gone"]).await.ok();
        node.marks_an_earlier_boot(&all).await;
        the_lost_node_reports(ns, 2).await;

        let off = Timestamp::now();
        node.power_cycle().await;
        the_node_is_ready_again(ns, off).await;
        // The API server still has the old endpoint: the lost node is silent, and not yet known to be.
        the_lost_node_reports(ns, 3).await;
        waits_again(&behind, "for Service/old: Unknown (BeforeBoot: Pod/old ").await;
        has_started_again(&once, "/status/containerStatuses", off).await;
        waits_again(&boot, "for ConfigMap/gone: NotFound (NotFound").await;
        waits_again(&always, "for ConfigMap/gone: NotFound (NotFound").await;
        waits_again(&on_node, "for DaemonSet/agent: InProgress (").await;
        once.gate_says("open: it opened in this pod before").await;
        for pod in [&boot, &always, &on_node, &behind] {
            let log = pod.gate_log().await;
            let says = log.iter().any(|line| line.text.contains(REBOOTED));
            assert!(says, "{}: {log:?}", pod.name);
        }

        // What counts is there again: an agent that is ready, a pod that has started since, the ConfigMap.
        ns.tell_ready_once_it_runs("daemonset/agent").await;
        has_started_again(&on_node, "/status/containerStatuses", off).await;
        ns.apply([
            pod("new").with("/metadata/labels/app", "old"),
            config_map("gone"),
        ])
        .await
        .ok();
        for pod in [&behind, &boot, &always] {
            has_started_again(pod, "/status/containerStatuses", off).await;
        }
        ns.kubectl(["delete", "pod/old", "--force", "--grace-period=0"])
            .await
            .ok();
    })
    .await;
}

/// The name of a node without a kubelet.
const LOST: &str = "power-lost";

/// Returns a node without a kubelet, with a taint that keeps all pods of the cluster away.
fn lost_node() -> Manifest {
    let taint = json!({"key": "sluice.dev/lost", "effect": "NoSchedule"});
    other(json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": LOST}, "spec": {"taints": [taint]},
    }))
}

fn on_the_lost_node(name: &str) -> Manifest {
    pod(name).with("/spec/nodeName", LOST)
}

/// Writes the lost node's heartbeat in place of a kubelet, with a time before this machine was booted and this second in it. A heartbeat that changes
/// keeps the node ready for most of a minute.
async fn the_lost_node_reports(ns: &Namespace, second: u8) {
    let at = format!("2020-01-01T00:00:0{second}Z");
    let ready = json!({
        "type": "Ready", "status": "True", "reason": "KubeletReady", "message": "kubelet is posting ready status",
        "lastHeartbeatTime": at, "lastTransitionTime": "2020-01-01T00:00:00Z",
    });
    let status = json!({"conditions": [ready]});
    ns.set_status(&format!("node/{LOST}"), &status).await;
}

/// Returns the status of a ready pod that the lost node's kubelet would have written last.
fn seems_ready() -> Value {
    let since = "2020-01-01T00:00:00Z";
    let condition = |kind| json!({"type": kind, "status": "True", "lastTransitionTime": since});
    let conditions = ["Initialized", "ContainersReady", "Ready", "PodScheduled"].map(condition);
    json!({
        "phase": "Running", "podIP": "10.244.77.7", "podIPs": [{"ip": "10.244.77.7"}], "startTime": since,
        "conditions": conditions,
        "containerStatuses": [{
            "name": "app", "ready": true, "started": true, "restartCount": 0, "image": "busybox", "imageID": "busybox",
            "state": {"running": {"startedAt": since}},
        }],
    })
}

/// Waits until the kubelet has reported the node as ready since `off`.
async fn the_node_is_ready_again(ns: &Namespace, off: Timestamp) {
    ns.until("node/node", "is ready again", |node| {
        let since = |it: &Value| time(it, "/lastHeartbeatTime") > Some(off);
        let ready = |it: &Value| it["type"] == "Ready" && it["status"] == "True";
        let conditions = items(node, "/status/conditions");
        conditions.iter().any(|it| ready(it) && since(it))
    })
    .await;
}

/// Waits until the first container in a list of statuses runs, and was started after `off`.
async fn has_started_again(pod: &Pod, list: &str, off: Timestamp) {
    let what = format!("{} has started again", pod.name);
    await_until(&what, LIMIT, async || {
        let now = pod.now().await;
        let status = items(&now, list).first().cloned().unwrap_or_default();
        if time(&status, "/state/running/startedAt") > Some(off) {
            Ok(())
        } else {
            Err(format!("{:#}", now["status"]))
        }
    })
    .await;
}

/// Applies a gated pod until admission takes it, and returns the pod.
async fn admitted(ns: &Namespace) -> Pod {
    await_until("an annotated pod is admitted", LIMIT, async || {
        let late = pod("late").depends_on("configmap/go");
        let outcome = ns.apply([late]).await;
        if outcome.code == Some(0) {
            Ok(())
        } else {
            Err(outcome.stderr)
        }
    })
    .await;
    ns.pod_of("late").await
}

/// Waits until the log of a pod's restarted gate contains `part`, and checks that its application is not started.
async fn waits_again(pod: &Pod, part: &str) {
    let what = format!("the gate of {} waits again {part}", pod.name);
    await_until(&what, LIMIT, async || {
        let log = pod.gate_log().await;
        if log.iter().any(|line| line.text.contains(part)) {
            Ok(())
        } else {
            Err(format!("{log:?}"))
        }
    })
    .await;
    let now = pod.now().await;
    let app = &items(&now, "/status/containerStatuses")[0];
    // Until its next start the kubelet may report how it ended.
    assert!(app["state"]["running"].is_null(), "{app:#}");
}

fn time(value: &Value, pointer: &str) -> Option<Timestamp> {
    text(value, pointer).parse().ok()
}
