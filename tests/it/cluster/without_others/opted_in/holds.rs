//! Tests of pods that are held before they take a node, which the chart's value `holds.enabled` allows.

use crate::cluster::order::slots::ten_of;
use crate::cluster::readiness::memory::seeded;
use crate::cluster::troubleshooting::room::Room;
use futures::future::join_all;
use harness::cluster::{
    Namespace, Pod, alone, config_map, daemon_set, deployment, finally, job, opted_in, pod,
    reported, sluice, text,
};
use serde_json::{Value, json};
use std::pin::Pin;

const BY_POLICY: &str = "holds.enabled=true,injection.backend=policy";

/// A promise about holds: its name, and the function that checks it in a namespace of its own.
type Promise = (&'static str, fn(&Namespace) -> Kept<'_>);
type Kept<'n> = Pin<Box<dyn Future<Output = ()> + 'n>>;

/// The promises that hold whether the webhook or the API server's policies put the gate in.
const PROMISES: [Promise; 3] = [
    ("named", |ns| Box::pin(each_says_who_is_held(ns))),
    ("refused", |ns| Box::pin(a_refusal_is_said_by_the_gate(ns))),
    ("let-go", |ns| Box::pin(what_opens_a_gate_lets_go(ns))),
];

/// Checks all promises at the same time, each in a namespace of its own.
async fn keeps(ns: &Namespace, promises: impl IntoIterator<Item = Promise>) {
    let kept = promises.into_iter().map(async |(name, promise)| {
        let ns = ns.another(name).await;
        reported(&ns, async || promise(&ns).await).await;
    });
    join_all(kept).await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn a_held_pod_waits_without_a_node_and_its_gate_has_the_last_word() {
    opted_in("held", async |ns| {
        let more: [Promise; 3] = [
            ("room", |ns| Box::pin(one_room_is_enough_for_two(ns))),
            ("cap", |ns| Box::pin(a_cap_counts_who_is_held(ns))),
            ("node", |ns| Box::pin(the_node_is_left_to_the_gate(ns))),
        ];
        keeps(ns, PROMISES.into_iter().chain(more)).await;
    })
    .await;
}

#[tokio::test]
#[ignore = "needs a cluster with sluice: make test"]
async fn the_api_server_holds_pods_as_the_webhook_does() {
    if !crate::cluster::without_sluice::backend::is_served().await {
        return;
    }
    alone("held", async |ns| {
        let test = async || keeps(ns, PROMISES).await;
        sluice::with_values_alone(&["--set", BY_POLICY], test).await;
    })
    .await;
}

/// Checks which pods are held: those whose template says so, then with the label of the namespace all but those whose template says no.
async fn each_says_who_is_held(ns: &Namespace) {
    let waits = |name| deployment(name).depends_on("configmap/go");
    let own = pod("own").depends_on("configmap/go").held("true");
    ns.apply([waits("plain"), waits("asks").held("true"), own])
        .await
        .ok();
    let plain = ns.pod_of("plain").await;
    plain.waits_for("ConfigMap/go", "NotFound").await;
    let mut held = vec![ns.pod_of("asks").await, ns.pod_of("own").await];

    let label = ["label", "namespace", &ns.name, "sluice.dev/hold=enabled"];
    ns.kubectl(label).await.ok();
    ns.apply([waits("later"), waits("never").held("false")])
        .await
        .ok();
    let never = ns.pod_of("never").await;
    never.waits_for("ConfigMap/go", "NotFound").await;
    held.push(ns.pod_of("later").await);
    for pod in &held {
        pod.has_event("NotFound", "waiting for ConfigMap/go").await;
        pod.is_held().await;
    }
    plain.is_shut().await;

    ns.apply([config_map("go")]).await.ok();
    for pod in [held, vec![plain, never]].concat() {
        pod.starts().await;
    }
}

/// Checks a node with room for one pod: a pod at its gate holds the room that its dependency needs, and a held pod leaves it free.
async fn one_room_is_enough_for_two(ns: &Namespace) {
    let room = Room::on_a_node(ns).await;
    let train = |name| room.taken_by(job(name).depends_on("job/prepare"));
    let test = async || {
        room.is(ns, json!("1")).await;
        ns.apply([train("deadlocked")]).await.ok();
        let deadlocked = ns.pod_of("deadlocked").await;
        deadlocked.waits_for("Job/prepare", "NotFound").await;
        ns.apply([room.taken_by(job("prepare"))]).await.ok();
        let line = deadlocked.waits_for("Job/prepare", "Unschedulable").await;
        assert!(line.contains("is held by pods that wait for it"), "{line}");
        let delete = ["delete", "job/deadlocked", "job/prepare"];
        ns.kubectl(delete).await.ok();

        ns.apply([train("train").held("true")]).await.ok();
        let train = ns.pod_of("train").await;
        train.has_event("NotFound", "Job/prepare").await;
        train.is_held().await;
        ns.apply([room.taken_by(job("prepare"))]).await.ok();
        let prepared = ns.pod_of("prepare").await.says("started").await;
        assert!(prepared < train.starts().await);
    };
    finally(test, async |_| room.is(ns, Value::Null).await).await;
}

/// Checks that a refusal after a timeout or a failure lets the held pod go, so that its gate prints the reason and ends.
async fn a_refusal_is_said_by_the_gate(ns: &Namespace) {
    let fail = |name, list, when| {
        let waits = deployment(name).depends_on(list).held("true");
        waits.annotated(when, "fail")
    };
    let late = fail("late", "configmap/go", "sluice.dev/on-timeout");
    let failed = fail("failed", "job/broken", "sluice.dev/on-failure");
    ns.apply([late, failed]).await.ok();
    let (late, failed) = (ns.pod_of("late").await, ns.pod_of("failed").await);
    late.is_held().await;
    failed.is_held().await;

    ns.annotate("deployment/late", "sluice.dev/timeout", "1s")
        .await;
    ns.apply([job("broken").runs("exit 1")]).await.ok();
    let message = late.is_refused().await;
    assert!(message.contains("the timeout of 1s"), "{message}");
    let message = failed.is_refused().await;
    assert!(message.contains("JobFailed"), "{message}");
    late.has_event("TimedOut", "refused").await;
}

/// Checks that a held pod is let go by a user's annotation, by a timeout that proceeds, and by a remembered Job or revision.
async fn what_opens_a_gate_lets_go(ns: &Namespace) {
    seeded(ns).await;
    let waits = |name, list| deployment(name).depends_on(list).held("true");
    let proceeds = waits("proceeds", "configmap/go").annotated("sluice.dev/on-timeout", "proceed");
    let both = "job/seed, configmap/once";
    ns.apply([
        waits("skipped", "configmap/go"),
        proceeds,
        waits("once", both),
        config_map("once"),
    ])
    .await
    .ok();
    let once = ns.pod_of("once").await;
    once.starts().await;
    ns.kubectl(["delete", "configmap/once"]).await.ok();
    let scale = ["scale", "deployment/once", "--replicas=2"];
    ns.kubectl(scale).await.ok();
    ns.next_pod_of("once", &once).await.starts().await;

    let (skipped, late) = (ns.pod_of("skipped").await, ns.pod_of("proceeds").await);
    skipped.is_held().await;
    late.is_held().await;
    ns.annotate("deployment/proceeds", "sluice.dev/timeout", "1s")
        .await;
    let pod = format!("pod/{}", skipped.name);
    ns.annotate(&pod, "sluice.dev/skip", "true").await;
    late.starts().await;
    skipped.starts().await;
}

/// Checks that a cap counts held pods too: half of ten Jobs are held, and never more of all ten run at once than the cap allows.
async fn a_cap_counts_who_is_held(ns: &Namespace) {
    ten_of(ns, 3, |number, job| match number % 2 {
        0 => job.held("true"),
        _ => job,
    })
    .await;
    let held = |pod: &&Value| pod["metadata"]["annotations"]["sluice.dev/held"] == "true";
    let pods = ns.look.list("pod", "").await;
    assert_eq!(pods.iter().filter(held).count(), 5);
}

/// Checks an entry with `sameNode`: a held pod has no node, so its hold waits for all other entries, and its gate for that one.
async fn the_node_is_left_to_the_gate(ns: &Namespace) {
    let csi = daemon_set("csi").ready_when_told();
    let list = "[{kind: DaemonSet, name: csi, sameNode: true}, configmap/go]";
    let here = deployment("here").depends_on(list).held("true");
    ns.apply([csi, here]).await.ok();
    let here = ns.pod_of("here").await;
    here.has_event("NotFound", "waiting for ConfigMap/go").await;
    here.is_held().await;

    ns.apply([config_map("go")]).await.ok();
    here.waits_for("DaemonSet/csi", "InProgress").await;
    let node = text(&here.now().await, "/spec/nodeName").to_owned();
    assert!(!node.is_empty());
    for csi in ns.pods_of("csi", 1).await {
        if csi.now().await["spec"]["nodeName"] == node.as_str() {
            tell_ready(ns, &csi).await;
        }
    }
    here.starts().await;
}

async fn tell_ready(ns: &Namespace, pod: &Pod) {
    pod.says("started").await;
    ns.tell_ready(&format!("pod/{}", pod.name)).await;
}
