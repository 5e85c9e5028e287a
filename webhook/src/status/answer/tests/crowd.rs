//! Tests that the cost of an answer does not depend on the number of waiting gates.

use super::*;
use crate::known::READ;

fn object(name: &str, annotations: &Value) -> Value {
    json!({"metadata": {
        "namespace": "shop", "name": name, "uid": name, "annotations": annotations,
        "creationTimestamp": "1970-01-01T00:00:00Z",
    }})
}

/// A pod without an owner, on a node, whose gate waits for the Deployment `db`.
fn at_its_gate(number: usize) -> Value {
    let list = json!({"sluice.dev/depends-on": "deployment/db"});
    let mut pod = object(&format!("p{number:04}"), &list);
    pod["metadata"]["labels"] = json!({"sluice.dev/gated": "true"});
    pod["spec"] =
        json!({"nodeName": "one", "containers": [{"resources": {"requests": {"cpu": "10m"}}}]});
    pod["status"] = json!({"phase": "Pending"});
    pod
}

/// A cluster with `size` pods that wait for the Deployment `db`, whose own pod fits on no node.
fn without_room(size: usize) -> Arc<Known> {
    let (known, _requests) = Known::new(Settings::of_the_chart());
    for word in ["deployment", "replicaset", "statefulset", "daemonset"] {
        known.want(&kind(word)).replace::<&Value>([]);
    }
    let mut db = object("db", &json!({}));
    db["spec"] = json!({"replicas": 1, "selector": {"matchLabels": {"app": "db"}}});
    known.want(&kind("deployment")).apply(&db);
    let mut homeless = object("db-1", &json!({}));
    homeless["metadata"]["labels"] = json!({"app": "db"});
    let owner = json!({"apiVersion": "apps/v1", "kind": "Deployment", "name": "db", "uid": "db", "controller": true});
    homeless["metadata"]["ownerReferences"] = json!([owner]);
    homeless["status"] = json!({"conditions": [{"type": "PodScheduled", "status": "False", "reason": "Unschedulable",
        "message": "0/1 nodes are available: 1 Insufficient cpu."}]});
    known.unscheduled().replace(&[homeless]);
    known.plans().replace::<&Value>([]);
    let pods: Vec<Value> = (0..size).map(at_its_gate).collect();
    known.gated().replace(&pods);
    known
}

fn asks(known: &Arc<Known>, number: usize) -> Answer {
    let name = format!("p{number:04}");
    let pod = waiter(&name);
    let now = Timestamp::UNIX_EPOCH;
    let rounds = Rounds::new(Arc::clone(known));
    let judged = answer(
        &pod,
        &rounds,
        &known.view(),
        &GateReport::default(),
        now,
        false,
    )
    .unwrap();
    waiting(judged.verdict).answer
}

/// A hundred pods wait for a Service, beside many Deployments: the objects behind the Service are read once, however many gates ask.
#[tokio::test(start_paused = true)]
async fn what_is_behind_a_service_is_looked_at_once_for_all_who_wait() {
    let read = |deployments: usize| {
        let known = without_room(100);
        for word in ["service", "endpointslice"] {
            known.want(&kind(word)).replace::<&Value>([]);
        }
        let mut service = object("db", &json!({}));
        service["spec"] = json!({"selector": {"app": "db"}});
        known.want(&kind("service")).apply(&service);
        for number in 0..deployments {
            let mut other = object(&format!("d{number}"), &json!({}));
            other["spec"] = json!({"selector": {"matchLabels": {"app": "other"}}});
            known.want(&kind("deployment")).apply(&other);
        }
        for number in 0..100 {
            let mut pod = at_its_gate(number);
            pod["metadata"]["annotations"] = json!({"sluice.dev/depends-on": "service/db"});
            known.gated().apply(&pod);
        }
        assert_eq!(asks(&known, 0).dependencies[0].reason, "Unschedulable");
        READ.set(0);
        for number in 0..100 {
            assert_eq!(asks(&known, number).dependencies[0].reason, "Unschedulable");
        }
        READ.get() / 100
    };
    let each = read(10);
    assert!(each < 12, "{each}");
    assert_eq!(read(300), each);
}

#[tokio::test(start_paused = true)]
async fn who_has_no_room_is_looked_at_once_for_all_who_wait() {
    let read = |size: usize| {
        let known = without_room(size);
        let first = asks(&known, 0).dependencies.remove(0);
        let held = "and 0.64 of cpu is held by pods that wait for it: p0000, p0001, p0002, p0003, p0004 and 59 more";
        let message = first.message.unwrap();
        assert!(message.contains(held), "{message}");
        assert_eq!(first.reason, "Unschedulable");
        READ.set(0);
        for number in 0..size {
            assert_eq!(
                asks(&known, number).dependencies[0].message.as_ref(),
                Some(&message)
            );
        }
        READ.get() / size
    };
    let each = read(100);
    assert!(each < 10, "{each}");
    assert_eq!(read(1000), each);
}
