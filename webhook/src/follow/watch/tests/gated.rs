//! The memory of a gated pod, as it waits and as it runs.

use super::*;
use crate::known::Entry;
use rules::kept::Detail;
use rules::kinds;

/// The pod of a chart's Deployment as Kubernetes 1.36 has it, with a gate, a sidecar and two other containers.
fn pod(gate: Value, phase: &str) -> Value {
    let mounts = json!([
        {"name": "kube-api-access-7xk2p", "mountPath": "/var/run/secrets/kubernetes.io/serviceaccount", "readOnly": true, "recursiveReadOnly": "Disabled"},
        {"name": "config", "mountPath": "/etc/checkout", "readOnly": true, "recursiveReadOnly": "Disabled"},
    ]);
    let status = |name: &str, state: Value| {
        json!({
            "name": name, "ready": true, "started": true, "restartCount": 0, "state": state, "lastState": {},
            "image": format!("registry.example.com/shop/{name}:1.4.2"),
            "imageID": format!("registry.example.com/shop/{name}@sha256:{}", "5f".repeat(32)),
            "containerID": format!("containerd://{}", "a3".repeat(32)),
            "volumeMounts": mounts, "user": {"linux": {"uid": 65532, "gid": 65532, "supplementalGroups": [65532]}},
            "allocatedResources": {"cpu": "100m", "memory": "128Mi"},
            "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}, "limits": {"memory": "128Mi"}},
        })
    };
    let runs = json!({"running": {"startedAt": "2026-01-01T11:02:09Z"}});
    let condition = |name: &str| {
        json!({
            "type": name, "status": "True", "observedGeneration": 1,
            "lastProbeTime": null, "lastTransitionTime": "2026-01-01T11:02:11Z",
        })
    };
    let requests = json!({"name": "checkout", "image": "i", "resources": {"requests": {"cpu": "100m", "memory": "128Mi"}}});
    json!({
        "metadata": {
            "namespace": "online-shop", "name": "checkout-service-7d9c5b8f6d-x2vqp",
            "generateName": "checkout-service-7d9c5b8f6d-", "generation": 1,
            "uid": "705ab4f5-6393-11e8-b7cc-42010a800002", "resourceVersion": "48213377",
            "creationTimestamp": "2026-01-01T11:00:02Z",
            "labels": {
                "app.kubernetes.io/name": "checkout-service", "app.kubernetes.io/instance": "online-shop",
                "app.kubernetes.io/managed-by": "Helm", "app.kubernetes.io/version": "1.4.2",
                "helm.sh/chart": "checkout-service-1.4.2",
                "pod-template-hash": "7d9c5b8f6d", "sluice.dev/gated": "true",
            },
            "annotations": {"sluice.dev/gated": "true", "checksum/config": "9f".repeat(32)},
            "ownerReferences": [{
                "apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "checkout-service-7d9c5b8f6d",
                "uid": "805ab4f5-6393-11e8-b7cc-42010a800002", "controller": true, "blockOwnerDeletion": true,
            }],
            "managedFields": [{"manager": "kubelet", "operation": "Update", "time": "2026-01-01T11:02:11Z", "subresource": "status"},
                {"manager": "kube-controller-manager", "operation": "Update", "time": "2026-01-01T11:00:02Z"}],
        },
        "spec": {
            "nodeName": "worker-17.example.com", "restartPolicy": "Always", "serviceAccountName": "checkout",
            "initContainers": [requests], "containers": [requests, requests],
        },
        "status": {
            "phase": phase, "startTime": "2026-01-01T11:00:03Z", "podIP": "10.1.17.44", "hostIP": "10.0.0.17",
            "qosClass": "Burstable", "observedGeneration": 1,
            "conditions": [
                condition("PodReadyToStartContainers"), condition("Initialized"), condition("Ready"),
                condition("ContainersReady"), condition("PodScheduled"),
            ],
            "initContainerStatuses": [status("log-shipper", runs.clone()), status("sluice-gate", gate)],
            "containerStatuses": [status("checkout", runs.clone()), status("metrics", runs)],
        },
    })
}

#[test]
fn a_gated_pod_that_runs_takes_less_than_400_bytes() {
    let target = Target {
        kind: Kind::Builtin(kinds::POD),
        resource: ApiResource {
            group: String::new(),
            version: "v1".into(),
            api_version: "v1".into(),
            kind: "Pod".into(),
            plural: "pods".into(),
        },
        selector: None,
        fields: None,
        namespace: None,
        detail: Detail::Gated,
        observer: None,
        whole_budget: None,
        large_budget: None,
    };
    let bytes = |gate: Value, phase: &str| {
        Entry::bytes(&super::super::target::kept(&target, pod(gate, phase)))
    };
    let waits = bytes(
        json!({"running": {"startedAt": "2026-01-01T11:00:05Z"}}),
        "Pending",
    );
    let ended = json!({"exitCode": 0, "reason": "Completed", "startedAt": "2026-01-01T11:00:05Z", "finishedAt": "2026-01-01T11:02:08Z", "containerID": format!("containerd://{}", "a3".repeat(32))});
    let runs = bytes(json!({"terminated": ended}), "Running");
    assert!(runs <= 400, "{runs} bytes");
    assert!(waits <= 800, "{waits} bytes");
}
