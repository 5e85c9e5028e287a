//! Statuses as operators write them, and the words that a reader gets.

use super::*;
use crate::health::builtin;
use serde_json::json;

fn judged(api_version: &str, kind: &str, spec: &Value, status: &Value) -> (Status, String) {
    let object = json!({
        "apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}, "spec": spec, "status": status,
    });
    let judged = builtin(&object, false).unwrap();
    let told = judged.message.split_once("it is ").unwrap().1.to_owned();
    (judged.status, told)
}

fn condition(kind: &str, status: &str, reason: &str, message: &str) -> Value {
    json!({"type": kind, "status": status, "reason": reason, "message": message})
}

#[test]
fn what_failed_is_told_by_the_condition_that_says_so() {
    let failed = |api: &str, kind: &str, conditions: Value| {
        let status = json!({"phase": "Degraded", "conditions": conditions});
        let (status, told) = judged(api, kind, &json!({}), &status);
        assert_eq!(status, Status::Failed, "{kind}: {told}");
        told
    };
    assert_eq!(
        failed(
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            json!([
                condition("Suspended", "False", "ResumeJobs", "jobset is resumed"),
                condition(
                    "StartupPolicyCompleted",
                    "True",
                    "StartupPolicyCompleted",
                    "all replicated jobs have started"
                ),
                condition(
                    "Failed",
                    "True",
                    "FailedJobs",
                    "jobset failed due to one or more job failures"
                ),
            ])
        ),
        "failed: condition Failed is True: FailedJobs: jobset failed due to one or more job failures"
    );
    let rollout = |reason: &str, message: &str| {
        failed(
            "argoproj.io/v1alpha1",
            "Rollout",
            json!([
                condition(
                    "Available",
                    "True",
                    "AvailableReason",
                    "Rollout has minimum availability"
                ),
                condition(
                    "Healthy",
                    "False",
                    "RolloutHealthy",
                    "Rollout is not healthy"
                ),
                condition("Progressing", "False", reason, message),
            ]),
        )
    };
    assert_eq!(
        rollout("RolloutAborted", "Rollout aborted update to revision 2"),
        "failed: condition Progressing is False: RolloutAborted: Rollout aborted update to revision 2"
    );
    assert_eq!(
        rollout(
            "ProgressDeadlineExceeded",
            "ReplicaSet \"web-5\" has timed out progressing."
        ),
        "failed: condition Progressing is False: ProgressDeadlineExceeded: ReplicaSet \"web-5\" has timed out progressing."
    );
    // The sentence of a failure, where no condition has one.
    let (_, told) = judged(
        "acme.cert-manager.io/v1",
        "Order",
        &json!({}),
        &json!({"state": "errored", "reason": "Failed to create Order: 429"}),
    );
    assert_eq!(told, "failed: status.reason: Failed to create Order: 429");
}

#[test]
fn what_is_on_its_way_is_told_by_its_words_and_its_summary() {
    for (api, kind, spec, status, expected) in [
        (
            "postgresql.cnpg.io/v1",
            "Cluster",
            json!({"instances": 1}),
            json!({
                "phase": "Setting up primary", "phaseReason": "Creating primary instance orders-1", "instances": 1,
                "conditions": [
                    condition("Initialized", "True", "BootstrapCompleted", "Cluster has been bootstrapped"),
                    condition("ConsistentSystemID", "False", "NotFound", "No instances are present in the cluster to report a system ID."),
                    condition("Ready", "False", "ClusterIsNotReady", "Cluster Is Not Ready"),
                ],
            }),
            "in progress: status.phase is Setting up primary: Creating primary instance orders-1; \
             condition Ready is False: ClusterIsNotReady: Cluster Is Not Ready",
        ),
        (
            "argoproj.io/v1alpha1",
            "Rollout",
            json!({}),
            json!({
                "phase": "Paused", "message": "CanaryPauseStep",
                "conditions": [
                    condition("Available", "True", "AvailableReason", "Rollout has minimum availability"),
                    condition("Healthy", "False", "RolloutHealthy", "Rollout is not healthy"),
                ],
            }),
            "in progress: status.phase is Paused, until somebody resumes or promotes it, or its time is over; \
             status.message: CanaryPauseStep; condition Healthy is False: RolloutHealthy: Rollout is not healthy",
        ),
        // An object that was resumed, or has stopped restarting, is good news.
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            json!({}),
            json!({"restarts": 1, "conditions": [
                condition("Suspended", "False", "ResumeJobs", "jobset is resumed"),
                condition("RestartingJobSet", "False", "AllJobsReady", "all jobs are ready"),
            ]}),
            "in progress",
        ),
        (
            "jobset.x-k8s.io/v1alpha2",
            "JobSet",
            json!({"suspend": true}),
            json!({"conditions": [condition("Suspended", "True", "SuspendedJobs", "jobset is suspended")]}),
            "in progress: condition Suspended is True: SuspendedJobs: jobset is suspended; it is paused: spec.suspend is true",
        ),
        (
            "monitoring.coreos.com/v1",
            "Prometheus",
            json!({"replicas": 2}),
            json!({
                "replicas": 2, "availableReplicas": 2, "updatedReplicas": 1, "paused": false,
                "conditions": [
                    condition("Available", "True", "", ""),
                    condition("Reconciled", "True", "NoSelectedResources", "No ServiceMonitor has been selected."),
                ],
            }),
            "in progress: status.updatedReplicas: 1/2",
        ),
        (
            "cert-manager.io/v1",
            "ClusterIssuer",
            json!({}),
            json!({"conditions": [condition("Ready", "False", "ErrGetKeyPair", "Error getting keypair for CA issuer")]}),
            "in progress: condition Ready is False: ErrGetKeyPair: Error getting keypair for CA issuer",
        ),
        // A message that the summary repeats is shown once.
        (
            "argoproj.io/v1alpha1",
            "Rollout",
            json!({}),
            json!({
                "phase": "Progressing", "message": "more replicas need to be updated",
                "conditions": [condition("Healthy", "False", "X", "more replicas need to be updated")],
            }),
            "in progress: status.phase is Progressing; status.message: more replicas need to be updated",
        ),
    ] {
        let (status, told) = judged(api, kind, &spec, &status);
        assert_eq!(status, Status::InProgress, "{kind}");
        assert_eq!(told, expected, "{kind}");
    }
}

/// A condition that is good news while it is False, such as `Degraded`, is never told as the reason why an object is not ready.
#[test]
fn a_condition_whose_false_is_good_news_is_never_blamed() {
    for kind in [
        "Suspended",
        "RestartingJobSet",
        "Paused",
        "Degraded",
        "Stalled",
        "Reconciling",
        "Hibernating",
        "Failed",
        "NotReady",
        "Upgrading",
    ] {
        let good = condition(kind, "False", "Fine", "nothing of the kind");
        let bad = condition("Healthy", "False", "Broken", "what is meant");
        let told = |conditions: Value| {
            told(
                &json!({"status": {"conditions": conditions}}),
                Status::InProgress,
            )
        };
        assert_eq!(told(json!([good])), None, "{kind}");
        let expected = Some("condition Healthy is False: Broken: what is meant".to_owned());
        assert_eq!(told(json!([good, bad])), expected, "{kind}");
    }
    // Operators that report both are done when they progress no longer.
    let conditions = json!([
        condition("Progressing", "False", "AsExpected", "nothing to do"),
        condition("Degraded", "False", "AsExpected", "all is well"),
        condition("Synced", "False", "Soon", "not yet"),
    ]);
    assert_eq!(
        told(
            &json!({"status": {"conditions": conditions}}),
            Status::InProgress
        ),
        Some("condition Synced is False: Soon: not yet".to_owned())
    );
}
