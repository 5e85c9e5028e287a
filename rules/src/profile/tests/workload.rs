use super::*;

#[test]
fn a_paused_deployment_says_so() {
    let deployment = object(
        "apps/v1",
        "Deployment",
        json!({ "paused": true }),
        json!({ "observedGeneration": 2 }),
    );
    assert_eq!(
        told(&deployment),
        "InProgress InProgress: Replicas: 0/1, and the Deployment is paused"
    );
}

#[test]
fn an_exceeded_deadline_quotes_the_controller() {
    let status = json!({ "conditions": [
        { "type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "timed out" },
    ] });
    let deployment = object("apps/v1", "Deployment", json!({}), status);
    assert_eq!(
        told(&deployment),
        "Failed Failed: Progress deadline exceeded: timed out"
    );
}

#[test]
fn available_does_not_wait_for_the_rollout() {
    let with = |available: &str| {
        let status = json!({ "replicas": 2, "updatedReplicas": 1, "conditions": conditions(&[("Available", available)]) });
        object("apps/v1", "Deployment", json!({}), status)
    };
    let ask = |available| told_as(&with(available), State::Available, &Cluster::empty());
    assert_eq!(ask("True"), "Current Satisfied: Deployment is available");
    assert_eq!(
        ask("False"),
        "InProgress InProgress: Pending termination: 1"
    );
    assert_eq!(
        told(&with("True")),
        "InProgress InProgress: Pending termination: 1"
    );
    let config = object("v1", "ConfigMap", json!({}), json!({}));
    assert_eq!(
        told_as(&config, State::Available, &Cluster::empty()),
        "Current Satisfied: Resource is always ready"
    );
}

#[test]
fn an_on_delete_stateful_set_needs_its_replicas() {
    let set = |status: Value| {
        let spec = json!({ "replicas": 2, "updateStrategy": { "type": "OnDelete" } });
        told(&object("apps/v1", "StatefulSet", spec, status))
    };
    assert_eq!(set(json!({})), "InProgress InProgress: Replicas: 0/2");
    assert_eq!(
        set(json!({ "replicas": 2, "readyReplicas": 1 })),
        "InProgress InProgress: Ready: 1/2"
    );
    assert_eq!(
        set(json!({ "replicas": 3, "readyReplicas": 3 })),
        "InProgress InProgress: Pending termination: 1"
    );
    let status =
        json!({ "replicas": 2, "readyReplicas": 2, "currentRevision": "a", "updateRevision": "b" });
    assert_eq!(
        set(status),
        "Current Satisfied: All replicas are ready. Replicas: 2"
    );
}

#[test]
fn a_partitioned_stateful_set_is_as_kstatus_says() {
    let set = |partition: i64| {
        let spec = json!({ "replicas": 3, "updateStrategy": { "rollingUpdate": { "partition": partition } } });
        let status = json!({ "replicas": 3, "readyReplicas": 3, "updatedReplicas": 1 });
        told(&object("apps/v1", "StatefulSet", spec, status))
    };
    assert_eq!(set(1), "InProgress InProgress: updated: 1/2");
    assert_eq!(
        set(2),
        "Current Satisfied: Partition rollout complete. updated: 1"
    );
    assert_eq!(
        set(9),
        "Current Satisfied: Partition rollout complete. updated: 1"
    );
}

#[test]
fn a_partition_is_an_ordinal_wherever_the_ordinals_start() {
    let set = |start: i64, partition: i64, updated: i64| {
        let spec = json!({
            "replicas": 3, "ordinals": { "start": start },
            "updateStrategy": { "type": "RollingUpdate", "rollingUpdate": { "partition": partition } },
        });
        let status = json!({ "replicas": 3, "readyReplicas": 3, "updatedReplicas": updated });
        told(&object("apps/v1", "StatefulSet", spec, status))
    };
    for (start, partition, due) in [
        (0, 0, 3),
        (0, 1, 2),
        (0, 3, 0),
        (5, 0, 3),
        (5, 4, 3),
        (5, 5, 3),
        (5, 6, 2),
        (5, 7, 1),
        (5, 8, 0),
        (5, 9, 0),
        (i64::MAX, 0, 3),
    ] {
        for updated in 0..=3 {
            let expected = if updated < due {
                format!("InProgress InProgress: updated: {updated}/{due}")
            } else {
                format!("Current Satisfied: Partition rollout complete. updated: {updated}")
            };
            assert_eq!(
                set(start, partition, updated),
                expected,
                "ordinals from {start}, partition {partition}"
            );
        }
    }
}

/// A workload whose spec has `minReadySeconds` waits until enough pods are available, in every kind that counts ready pods and under every strategy.
#[test]
fn what_is_ready_and_not_yet_available_is_waited_for_where_the_spec_asks_for_it() {
    let on_delete = json!({ "type": "OnDelete" });
    let rolling = json!({ "type": "RollingUpdate" });
    let parted = json!({ "type": "RollingUpdate", "rollingUpdate": { "partition": 0 } });
    let nothing = Value::Null;
    for (version, kind, strategy, ready, available) in [
        (
            "apps/v1",
            "StatefulSet",
            &parted,
            "readyReplicas",
            "availableReplicas",
        ),
        (
            "apps/v1",
            "StatefulSet",
            &rolling,
            "readyReplicas",
            "availableReplicas",
        ),
        (
            "apps/v1",
            "StatefulSet",
            &on_delete,
            "readyReplicas",
            "availableReplicas",
        ),
        (
            "apps/v1",
            "StatefulSet",
            &nothing,
            "readyReplicas",
            "availableReplicas",
        ),
        (
            "apps/v1",
            "DaemonSet",
            &rolling,
            "numberReady",
            "numberAvailable",
        ),
        (
            "apps/v1",
            "DaemonSet",
            &on_delete,
            "numberReady",
            "numberAvailable",
        ),
        (
            "apps/v1",
            "Deployment",
            &nothing,
            "readyReplicas",
            "availableReplicas",
        ),
        (
            "apps/v1",
            "ReplicaSet",
            &nothing,
            "readyReplicas",
            "availableReplicas",
        ),
        (
            "v1",
            "ReplicationController",
            &nothing,
            "readyReplicas",
            "availableReplicas",
        ),
    ] {
        let told = |of_ready: i64| {
            let spec = json!({ "replicas": 3, "minReadySeconds": 600, "updateStrategy": strategy });
            let mut status = json!({
                "observedGeneration": 2, "replicas": 3, "updatedReplicas": 3, "currentReplicas": 3,
                "fullyLabeledReplicas": 3, "desiredNumberScheduled": 3, "currentNumberScheduled": 3,
                "updatedNumberScheduled": 3,
                "conditions": conditions(&[("Available", "True"), ("Progressing", "True")]),
            });
            status["conditions"][1]["reason"] = json!("NewReplicaSetAvailable");
            status[ready] = json!(3);
            status[available] = json!(of_ready);
            told(&object(version, kind, spec, status))
        };
        let expected = "InProgress InProgress: Available: 2/3";
        assert_eq!(told(2), expected, "{kind} {strategy}");
        assert!(told(3).starts_with("Current"), "{kind} {strategy}");
    }
    // Without `minReadySeconds` a ready pod is available, and old versions of Kubernetes write no count.
    let status = json!({ "replicas": 3, "readyReplicas": 3, "currentReplicas": 3 });
    let set = object("apps/v1", "StatefulSet", json!({ "replicas": 3 }), status);
    assert!(told(&set).starts_with("Current"));
}

#[test]
fn an_on_delete_daemon_set_may_run_the_old_revision() {
    let set = |strategy: &str, available: i64, ready: i64| {
        let spec = json!({ "updateStrategy": { "type": strategy } });
        let status = json!({
            "observedGeneration": 2, "desiredNumberScheduled": 3, "currentNumberScheduled": 3,
            "updatedNumberScheduled": 0, "numberAvailable": available, "numberReady": ready,
        });
        told(&object("apps/v1", "DaemonSet", spec, status))
    };
    assert_eq!(
        set("OnDelete", 3, 3),
        "Current Satisfied: All replicas are ready. Replicas: 3"
    );
    assert_eq!(
        set("OnDelete", 2, 3),
        "InProgress InProgress: Available: 2/3"
    );
    assert_eq!(set("OnDelete", 3, 2), "InProgress InProgress: Ready: 2/3");
    assert_eq!(
        set("RollingUpdate", 3, 3),
        "InProgress InProgress: Updated: 0/3"
    );
}

#[test]
fn a_daemon_set_without_nodes_says_so() {
    let status = json!({ "observedGeneration": 2, "desiredNumberScheduled": 0 });
    let set = object("apps/v1", "DaemonSet", json!({}), status);
    assert_eq!(told(&set), "Current Satisfied: 0 nodes match");
}

#[test]
fn a_replication_controller_needs_its_replicas() {
    let controller = |status: Value| {
        told(&object(
            "v1",
            "ReplicationController",
            json!({ "replicas": 2 }),
            status,
        ))
    };
    assert_eq!(ask_reason(json!({})), Reason::NotObserved);
    assert_eq!(
        controller(json!({ "observedGeneration": 2, "readyReplicas": 1 })),
        "InProgress InProgress: Ready: 1/2"
    );
    assert_eq!(
        controller(json!({ "observedGeneration": 2, "readyReplicas": 2, "replicas": 3 })),
        "InProgress InProgress: Pending termination: 1"
    );
    assert_eq!(
        controller(json!({ "observedGeneration": 2, "readyReplicas": 2, "replicas": 2 })),
        "Current Satisfied: All replicas are ready. Replicas: 2"
    );
}

fn ask_reason(status: Value) -> Reason {
    let controller = object("v1", "ReplicationController", json!({}), status);
    ask(&controller, State::Ready, &Cluster::empty()).reason
}
