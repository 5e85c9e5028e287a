//! Tests a boot of the dependent's node: which edges count for its pod then, and which statuses are believed.

use super::*;
use crate::reboot::Reboot;
use crate::terms::Regate;
use crate::world::Only;
use std::slice::from_ref;
use wire::Decision;

/// The second at which the dependent's node `one` was booted.
const BOOTED: i64 = 1000;
/// The second at which the gate began to ask.
const ASKED: i64 = 1010;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn reboot() -> Reboot {
    Reboot {
        id: "b".to_owned(),
        booted: at(BOOTED),
        asked: at(ASKED),
    }
}

fn dependent(pod: &Value, rebooted: bool, cluster: &Cluster) -> Dependent {
    let mut pod = pod.clone();
    pod["spec"]["nodeName"] = json!("one");
    let Lookup::Found(mut dependent) = Dependent::resolve(&pod, &rollouts(), cluster) else {
        panic!("resolved")
    };
    dependent.rebooted = rebooted.then(reboot);
    dependent
}

fn decided(pod: &Value, rebooted: bool, now: i64, cluster: &Cluster) -> Verdict {
    let dependent = dependent(pod, rebooted, cluster);
    let policy = Policy {
        regate: Regate::Always,
        ..Policy::of_the_chart()
    };
    find(&dependent, &policy, cluster, at(now)).decided(dependent.started, at(now), false)
}

/// `open`, or why it waits: the reason of the first edge.
fn word(list: &str, rebooted: bool, now: i64, objects: &[Value]) -> String {
    let verdict = decided(&pod(list), rebooted, now, &Cluster::of(objects.to_vec()));
    match verdict.answer.verdict {
        Decision::Open => "open".to_owned(),
        _ => verdict.answer.dependencies[0].reason.clone(),
    }
}

/// A pod on a node that is ready, with a container that has run since then.
fn running(name: &str, node: &str, since: i64) -> Value {
    let mut pod = owned("Pod", name, None, json!({}));
    pod["metadata"]["labels"] = json!({"app": "db"});
    pod["spec"] = json!({"nodeName": node});
    pod["status"] = json!({
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [
            {"name": "exporter", "state": {"running": {"startedAt": at(BOOTED + 5).to_string()}}},
            {"name": "db", "state": {"running": {"startedAt": at(since).to_string()}}},
        ],
    });
    pod
}

fn deployment() -> Value {
    let mut object = owned("Deployment", "db", None, json!({}));
    object["spec"] = json!({"replicas": 2, "selector": {"matchLabels": {"app": "db"}}});
    object["status"] = json!({
        "replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "availableReplicas": 2,
        "conditions": [{"type": "Available", "status": "True"}],
    });
    object
}

fn service() -> [Value; 2] {
    let service = json!({
        "apiVersion": "v1", "kind": "Service",
        "metadata": {"namespace": "shop", "name": "db", "creationTimestamp": "1969-12-31T00:00:00Z"},
        "spec": {"selector": {"app": "db"}},
    });
    let slice = json!({
        "apiVersion": "discovery.k8s.io/v1", "kind": "EndpointSlice",
        "metadata": {"namespace": "shop", "name": "db-x", "labels": {"kubernetes.io/service-name": "db"}},
        "endpoints": [{"conditions": {"serving": true}}],
    });
    [service, slice]
}

fn node(name: &str, ready: &str, reported: i64) -> Value {
    let heard = at(reported).to_string();
    json!({
        "apiVersion": "v1", "kind": "Node", "metadata": {"name": name},
        "status": {"conditions": [{"type": "Ready", "status": ready, "lastHeartbeatTime": heard}]},
    })
}

#[test]
fn a_pod_counts_by_containers_that_started_after_the_boot() {
    let old = [running("db", "one", BOOTED - 1)];
    assert_eq!(word("pod/db", true, ASKED, &old), "BeforeBoot");
    assert_eq!(
        word("pod/db", false, ASKED, &old),
        "open",
        "no boot is told of"
    );
    let new = [running("db", "one", BOOTED)];
    assert_eq!(word("pod/db", true, ASKED, &new), "open");
    let present = "- {kind: Pod, name: db, state: present}";
    assert_eq!(word(present, true, ASKED, &old), "open", "it is there");
}

#[test]
fn a_pod_that_has_ended_well_has_done_so() {
    let mut done = running("db", "one", BOOTED - 1);
    done["status"] = json!({"phase": "Succeeded"});
    assert_eq!(word("pod/db", true, ASKED, &[done]), "open");
}

#[test]
fn nothing_waits_for_longer_than_ninety_seconds_of_asking() {
    let old = [running("db", "one", BOOTED - 1)];
    assert_eq!(word("pod/db", true, ASKED + 89, &old), "BeforeBoot");
    assert_eq!(word("pod/db", true, ASKED + 90, &old), "open");
    let cluster = Cluster::of(old.to_vec());
    let again = decided(&pod("pod/db"), true, ASKED, &cluster).again;
    assert_eq!(again, Some(at(ASKED + 90)), "it is judged again then");
    let message = "Pod/db seems ready by containers from before this pod's node was booted, so its status may be left from before a \
                   power failure; it counts once its kubelet or its controller has reported again, or 90 s after this gate began to ask";
    let told = decided(&pod("pod/db"), true, ASKED, &cluster).answer;
    assert_eq!(told.dependencies[0].message.as_deref(), Some(message));
}

#[test]
fn a_node_that_was_not_booted_says_so_by_its_report() {
    let old = |node: Value| [running("db", "two", BOOTED - 1), node];
    let reported = ASKED + 10;
    for (node, now, expected) in [
        (node("two", "True", BOOTED - 1), ASKED + 80, "BeforeBoot"),
        (node("two", "True", reported), reported + 14, "BeforeBoot"),
        (node("two", "True", reported), reported + 15, "open"),
        (
            node("two", "Unknown", reported),
            reported + 15,
            "BeforeBoot",
        ),
        (node("three", "True", reported), reported + 15, "BeforeBoot"),
        (node("two", "True", BOOTED - 1), ASKED + 90, "open"),
    ] {
        assert_eq!(word("pod/db", true, now, &old(node)), expected, "{now}");
    }
    // The report of the dependent's own node says nothing about a container that is older than its boot.
    let here = [
        running("db", "one", BOOTED - 1),
        node("one", "True", reported),
    ];
    assert_eq!(word("pod/db", true, reported + 15, &here), "BeforeBoot");
}

#[test]
fn a_workload_counts_once_each_of_its_ready_pods_does() {
    let with = |second: i64| {
        let pods = [
            running("db-1", "one", BOOTED + 1),
            running("db-2", "two", second),
        ];
        [deployment(), pods[0].clone(), pods[1].clone()]
    };
    assert_eq!(
        word("deployment/db", true, ASKED, &with(BOOTED - 1)),
        "BeforeBoot"
    );
    assert_eq!(
        word("deployment/db", true, ASKED, &with(BOOTED + 9)),
        "open"
    );
    assert_eq!(
        word("deployment/db", true, ASKED + 90, &with(BOOTED - 1)),
        "open"
    );
    // Old containers of a pod that is not ready are the status's own business.
    let mut unready = with(BOOTED - 1);
    unready[2]["status"]["conditions"][0]["status"] = json!("False");
    assert_eq!(word("deployment/db", true, ASKED, &unready), "open");
}

#[test]
fn a_service_counts_once_one_pod_behind_it_does() {
    let with = |pods: &[Value]| [service().to_vec(), pods.to_vec()].concat();
    let (old, new) = (
        running("a", "two", BOOTED - 1),
        running("b", "one", BOOTED + 1),
    );
    let list = "service/db";
    assert_eq!(word(list, true, ASKED, &with(from_ref(&old))), "BeforeBoot");
    assert_eq!(word(list, false, ASKED, &with(from_ref(&old))), "open");
    assert_eq!(word(list, true, ASKED, &with(&[old, new])), "open");
    let mut by_hand = with(&[running("a", "two", BOOTED - 1)]);
    by_hand[0]["spec"] = json!({});
    assert_eq!(
        word(list, true, ASKED, &by_hand),
        "open",
        "no pod is behind it"
    );
}

#[test]
fn pods_that_cannot_be_read_hold_for_no_longer() {
    let mut cluster = Cluster::of(service().to_vec());
    cluster.unavailable = vec![("Pod", Unavailable::Forbidden)];
    let reason = |now| {
        let answer = decided(&pod("service/db"), true, now, &cluster).answer;
        answer.dependencies[0].reason.clone()
    };
    assert_eq!(reason(ASKED), "KindForbidden");
    assert_eq!(reason(ASKED + 90), "Satisfied");
}

#[test]
fn a_custom_resource_counts_once_its_status_was_written_since() {
    let cache = |written: i64| {
        json!({
            "apiVersion": "example.com/v1", "kind": "Cache",
            "metadata": {
                "namespace": "shop", "name": "c", "creationTimestamp": "1969-12-31T00:00:00Z",
                "managedFields": [{"subresource": "status", "time": at(written).to_string()}],
            },
            "status": {"conditions": [{"type": "Ready", "status": "True"}]},
        })
    };
    let list = "cache.example.com/c";
    assert_eq!(word(list, true, ASKED, &[cache(BOOTED - 1)]), "BeforeBoot");
    assert_eq!(word(list, true, ASKED, &[cache(BOOTED)]), "open");
    assert_eq!(word(list, false, ASKED, &[cache(BOOTED - 1)]), "open");
    assert_eq!(
        word("configmap/c", true, ASKED, &[config_map("shop", "c")]),
        "open"
    );
}

#[test]
fn a_wave_does_not_pass_by_a_status_from_before() {
    let of_release = |object: Value, weight| super::wave::of_release(object, Some(weight), -60);
    let front = of_release(owned("Pod", "p", None, json!({})), "1");
    let cluster = |second: i64| {
        Cluster::of(vec![
            of_release(deployment(), "0"),
            running("db-1", "one", second),
        ])
    };
    let told = |rebooted, second| {
        let answer = decided(&front, rebooted, ASKED, &cluster(second)).answer;
        answer.dependencies[0].reason.clone()
    };
    assert_eq!(told(true, BOOTED - 1), "BeforeBoot");
    assert_eq!(told(true, BOOTED + 1), "Satisfied");
    assert_eq!(told(false, BOOTED - 1), "Satisfied");
}

#[test]
fn of_a_daemon_set_the_pod_on_the_node_has_to_start_again() {
    let mut set = owned("DaemonSet", "csi", None, json!({}));
    set["metadata"]["uid"] = json!("now");
    set["spec"]["selector"]["matchLabels"] = json!({"app": "db"});
    let list = "- {kind: DaemonSet, name: csi, sameNode: true}";
    let with = |second: i64| {
        let mut pod = running("csi-a", "one", second);
        pod["metadata"]["ownerReferences"] = json!([{
            "apiVersion": "apps/v1", "kind": "DaemonSet", "name": "csi", "uid": "now", "controller": true,
        }]);
        [set.clone(), pod]
    };
    assert_eq!(word(list, true, ASKED, &with(BOOTED - 1)), "BeforeBoot");
    assert_eq!(word(list, true, ASKED, &with(BOOTED + 1)), "open");
}

/// A gate that tells of no boot costs no look at a pod or a node.
#[test]
fn without_a_boot_nothing_more_is_read() {
    let cluster = Cluster::of(service().to_vec());
    decided(&pod("service/db"), false, ASKED, &cluster);
    assert!(!cluster.asked.borrow().contains(&Kind::Builtin(kinds::POD)));
}

/// Whether the pod has passed where each passage is remembered, and the name of its passage.
fn passages(regate: &str, default: Regate, rebooted: bool) -> (Lookup<bool>, Option<String>) {
    let cluster = Cluster::of(vec![owned("Job", "seed", None, json!({}))]);
    let mut pod = owned("Pod", "p", Some(("Job", "seed")), json!({}));
    if !regate.is_empty() {
        pod["metadata"]["annotations"]["sluice.dev/regate"] = json!(regate);
    }
    let mut dependent = dependent(&pod, rebooted, &cluster);
    dependent.owners[0].uid = "u".to_owned();
    let memory = Only {
        has_passed: Lookup::Found(true),
        ..Only::of(cluster)
    };
    (dependent.has_passed(default, &memory), dependent.passage())
}

#[test]
fn after_a_boot_once_opens_and_always_waits() {
    let (yes, no) = (Lookup::Found(true), Lookup::Found(false));
    for (regate, default, rebooted, passed) in [
        ("", Regate::Once, true, &yes),
        ("", Regate::Always, true, &no),
        ("", Regate::Always, false, &no),
        ("once", Regate::Always, true, &yes),
        ("boot", Regate::Once, false, &yes),
        ("boot", Regate::Once, true, &yes),
        ("always", Regate::Once, true, &no),
        ("bot", Regate::Once, true, &no),
    ] {
        assert_eq!(
            &passages(regate, default, rebooted).0,
            passed,
            "{regate} {rebooted}"
        );
    }
}

#[test]
fn a_passage_after_a_boot_is_of_that_boot_alone() {
    assert_eq!(
        passages("boot", Regate::Once, false).1.as_deref(),
        Some("u")
    );
    assert_eq!(
        passages("boot", Regate::Once, true).1.as_deref(),
        Some("u.b")
    );
}

#[test]
fn a_gate_opens_for_good_where_a_boot_would_not_hold_it() {
    let csi = "- {kind: DaemonSet, name: csi, sameNode: true, optional: true}";
    for (list, regate, expected) in [
        ("cm/a", "once", true),
        ("cm/missing", "once", false),
        ("cm/a", "boot", false),
        ("cm/a", "always", false),
        ("cm/a", "onse", false),
        (csi, "once", false),
        ("nonsense", "once", false),
    ] {
        let mut waits = pod(list);
        waits["metadata"]["annotations"]["sluice.dev/regate"] = json!(regate);
        let cluster = Cluster::of(vec![config_map("shop", "a")]);
        let answer = decided(&waits, false, ASKED, &cluster).answer;
        assert_eq!(answer.for_good, expected, "{list} {regate}");
    }
    // The chart's default counts too, which is `always` here.
    let cluster = Cluster::of(vec![config_map("shop", "a")]);
    assert!(
        !decided(&pod("cm/a"), false, ASKED, &cluster)
            .answer
            .for_good
    );
}

/// A pod of its own has no revision that could be remembered: it has passed by its own marker.
#[test]
fn once_a_pod_of_its_own_opens_after_a_boot_too() {
    let cluster = Cluster::of(Vec::new());
    let why = |pod: &Value| {
        let dependent = dependent(pod, true, &cluster);
        decide(
            &dependent,
            &Policy::of_the_chart(),
            &cluster,
            at(ASKED),
            false,
        )
        .why
    };
    assert_eq!(why(&pod("cm/gone")), Why::Passed);
    let mut boot = pod("cm/gone");
    boot["metadata"]["annotations"]["sluice.dev/regate"] = json!("boot");
    assert_eq!(why(&boot), Why::Unmet);
}
