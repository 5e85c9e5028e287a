//! Tests of a boot of all nodes at once. A gate that tells of a boot is judged by itself, so the cost of a gate must not grow with their number.

use super::*;
use rules::reboot::Reboot;

const BOOTED: i64 = 1000;

/// A cluster of `nodes` nodes. Each has a pod of the DaemonSet `csi` that reports no container since the boot, and a gated pod that depends on the
/// former.
fn cluster(nodes: usize) -> Rounds {
    let list = "- configmap/a\n- {kind: DaemonSet, name: csi, sameNode: true}";
    let rounds = Rounds::new(known(
        &json!({"sluice.dev/depends-on": list, "sluice.dev/regate": "always"}),
    ));
    for number in 0..nodes {
        let mut gated = pod("shop", &format!("web-{number}"));
        gated["spec"]["nodeName"] = json!(format!("n{number}"));
        rounds.known.gated().apply(&gated);
        rounds.known.want(&kind("pod")).apply(&gated);
        rounds.known.want(&kind("pod")).apply(&csi(number, 0));
    }
    rounds
}

/// The pod of the DaemonSet `csi` on the node with this number, ready, with a container that started at this second.
fn csi(number: usize, started: i64) -> Value {
    let mut csi = object("shop", &format!("csi-{number}"), &json!({}));
    csi = owned_by("daemonset", "csi", csi);
    let started = Timestamp::from_second(started).unwrap().to_string();
    csi["spec"] = json!({"nodeName": format!("n{number}")});
    csi["status"] = json!({
        "phase": "Running", "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [{"name": "csi", "state": {"running": {"startedAt": started}}}],
    });
    csi
}

fn ask(rounds: &Rounds, number: usize) -> PodVerdict {
    let at = |second| Timestamp::from_second(second).unwrap();
    let name = format!("web-{number}");
    let waiter = Waiter {
        namespace: "shop".to_owned(),
        name: name.clone(),
        uid: name,
    };
    let report = GateReport {
        rebooted: Some(Reboot {
            id: format!("b{number}"),
            booted: at(BOOTED),
            asked: at(BOOTED + 10),
        }),
        ..GateReport::default()
    };
    let view = rounds.known.view();
    answer(&waiter, rounds, &view, &report, at(BOOTED + 20), false).unwrap()
}

/// The number of stored objects that are read until the gate on each of so many nodes has been told to wait.
fn unpacked(nodes: usize) -> usize {
    let rounds = cluster(nodes);
    READ.set(0);
    for number in 0..nodes {
        let told = ask(&rounds, number);
        let reasons = told.verdict.answer.dependencies.iter();
        let reasons: Vec<&str> = reasons.map(|it| &*it.reason).collect();
        assert_eq!(reasons, ["Satisfied", "BeforeBoot"], "{number}");
    }
    READ.get()
}

#[tokio::test(start_paused = true)]
async fn the_cost_of_a_gate_is_the_same_however_many_nodes_come_back() {
    let [few, many] = [50, 1000].map(|nodes| (unpacked(nodes), nodes));
    assert_eq!(few.0 / few.1, many.0 / many.1, "{few:?} {many:?}");
}

#[tokio::test(start_paused = true)]
async fn a_pod_of_a_node_wakes_no_gate_of_another_node() {
    let rounds = cluster(100);
    let told: Vec<PodVerdict> = (0..100).map(|number| ask(&rounds, number)).collect();
    rounds.known.want(&kind("pod")).apply(&csi(7, BOOTED + 5));
    let rounds_of = told.iter().map(|it| it.round.as_ref().unwrap());
    let woken: Vec<usize> = rounds_of
        .enumerate()
        .filter(|(_, round)| round.view.has_changed())
        .map(|(number, _)| number)
        .collect();
    assert_eq!(woken, [7]);
    assert_eq!(ask(&rounds, 7).verdict.why, Why::Satisfied);
}
