//! `status` of a pod that waits for a slot names the present holders.

use super::server::Server;
use serde_json::{Value, json};

/// Returns a pod of `Job/seed-2` at its gate, and the Job, each with its path.
fn waiting() -> [(&'static str, Value); 2] {
    let address = json!([{"name": "SLUICE_SERVER_NAME", "value": "sluice.elsewhere.svc"}]);
    let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "seed-2", "uid": "u2", "controller": true});
    let pod = json!({
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {
            "namespace": "shop", "name": "seed-2-x", "labels": {"sluice.dev/gated": "true"}, "ownerReferences": [owner],
        },
        "spec": {"initContainers": [{"name": "sluice-gate", "env": address}]},
    });
    let job = json!({
        "apiVersion": "batch/v1", "kind": "Job",
        "metadata": {
            "namespace": "shop", "name": "seed-2", "uid": "u2",
            "annotations": {"sluice.dev/parallelism": "1", "sluice.dev/scope": "r"},
        },
    });
    [
        ("/api/v1/namespaces/shop/pods/seed-2-x", pod),
        ("/apis/batch/v1/namespaces/shop/jobs/seed-2", job),
    ]
}

fn told(objects: &[(&str, Value)]) -> String {
    let server = Server::start(objects);
    let ran = server.run(&["status", "seed-2-x", "--namespace", "shop"]);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.error);
    ran.out
}

#[test]
fn who_holds_the_slots_is_named() {
    let entry = |scope: &str, name: &str| {
        let holder = json!({"group": "batch", "kind": "Job", "name": name, "uid": "u", "revision": "u", "pods_of": "u", "most": 1});
        let scope = json!({"namespace": "shop", "name": scope});
        json!({"scope": scope, "weight": 0, "holders": [holder]}).to_string()
    };
    let slots = json!({
        "apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "elsewhere", "name": "sluice-slots-3"},
        "data": {"shop.1": entry("another", "no"), "shop.2": entry("r", "seed-1"), "shop.3": "broken"},
    });
    let path = "/api/v1/namespaces/elsewhere/configmaps/sluice-slots-3";
    let told = told(&[waiting().as_slice(), &[(path, slots)]].concat());
    assert!(told.contains("NoSlot: 1 of 1 run: Job/seed-1\n"), "{told}");
}

#[test]
fn where_the_slots_cannot_be_read_the_right_to_is_named() {
    let told = told(&waiting());
    let hint = "NoSlot: who holds the 1 slots cannot be seen from here; that takes the right to get ConfigMap \
                sluice-slots-3 in namespace elsewhere\n";
    assert!(told.contains(hint), "{told}");
}

/// A pod waits for a Job that waits for a slot: the chain of causes ends in the holder of the slot.
#[test]
fn a_chain_ends_in_the_holder_of_the_slot() {
    let [(pod_at, mut pod), (job_at, mut job)] = waiting();
    let labels = json!({"sluice.dev/gated": "true", "job-name": "seed-2"});
    pod["metadata"]["labels"] = labels;
    let running = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let at_its_gate = json!({"phase": "Pending", "initContainerStatuses": [{"name": "sluice-gate", "state": running}]});
    pod["status"] = at_its_gate.clone();
    job["spec"] = json!({"selector": {"matchLabels": {"job-name": "seed-2"}}, "template": {"metadata": {"labels": {"job-name": "seed-2"}}}});
    job["status"] = json!({"startTime": "2026-01-01T00:00:00Z", "active": 1});
    let mut front = pod.clone();
    front["metadata"] = json!({"namespace": "shop", "name": "front", "labels": {"sluice.dev/gated": "true"},
        "annotations": {"sluice.dev/depends-on": "job/seed-2"}});
    let holder = json!({"group": "batch", "kind": "Job", "name": "seed-1", "uid": "u", "revision": "u", "pods_of": "u", "most": 1});
    let entry =
        json!({"scope": {"namespace": "shop", "name": "r"}, "weight": 0, "holders": [holder]})
            .to_string();
    let slots = json!({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"namespace": "elsewhere", "name": "sluice-slots-3"},
        "data": {"shop.1": entry}});
    let server = Server::start(&[
        (pod_at, pod),
        (job_at, job),
        ("/api/v1/namespaces/shop/pods/front", front),
        (
            "/api/v1/namespaces/elsewhere/configmaps/sluice-slots-3",
            slots,
        ),
    ]);
    let ran = server.run(&["status", "front", "--namespace", "shop", "-o", "json"]);
    let told = ran.lines().remove(0);
    let message = told["dependencies"][0]["message"].as_str().unwrap();
    let chain =
        "its pod seed-2-x waits at its gate for the only slot, held by Job/seed-1; Job in progress";
    assert!(message.starts_with(chain), "{message}");
    let root = json!({"object": "Job/seed-1", "reason": "NoSlot", "broken": false, "message": "holds the only slot"});
    assert_eq!(told["rootCauses"], json!([root]));
}
