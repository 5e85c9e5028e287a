use super::*;

fn job(spec: Value, status: Value) -> Value {
    object("batch/v1", "Job", spec, status)
}

#[test]
fn only_a_completed_job_is_ready() {
    let running = json!({ "startTime": "2024-01-01T00:00:00Z", "active": 1 });
    let counted = json!({ "startTime": "2024-01-01T00:00:00Z", "succeeded": 1 });
    let met = json!({ "startTime": "2024-01-01T00:00:00Z", "conditions": conditions(&[("SuccessCriteriaMet", "True")]) });
    let complete = json!({ "conditions": conditions(&[("SuccessCriteriaMet", "True"), ("Complete", "True")]) });
    for state in [State::Ready, State::Complete, State::Available] {
        let ask =
            |status: &Value| told_as(&job(json!({}), status.clone()), state, &Cluster::empty());
        assert_eq!(
            ask(&json!({})),
            "InProgress JobNotComplete: Job not started"
        );
        assert_eq!(
            ask(&running),
            "InProgress JobNotComplete: Job in progress. success:0, active: 1, failed: 0"
        );
        assert_eq!(
            ask(&counted),
            "InProgress JobNotComplete: Job in progress. success:1, active: 0, failed: 0"
        );
        assert_eq!(
            ask(&met),
            "InProgress JobNotComplete: job has succeeded, and its last pods are still ending"
        );
        assert_eq!(ask(&complete), "Current Satisfied: Job Completed");
    }
    assert!(ask(&job(json!({}), running), State::Started, &Cluster::empty()).satisfied);
    assert!(
        !ask(
            &job(json!({}), json!({})),
            State::Started,
            &Cluster::empty()
        )
        .satisfied
    );
}

#[test]
fn a_suspended_job_says_so() {
    let suspended = json!({ "conditions": conditions(&[("Suspended", "True")]) });
    assert_eq!(
        told(&job(json!({ "suspend": true }), suspended)),
        "InProgress JobSuspended: job is suspended; set spec.suspend to false"
    );
}

#[test]
fn a_suspended_job_has_not_started() {
    let suspended = json!({ "conditions": conditions(&[("Suspended", "True")]) });
    let started = |spec: Value, status: &Value| {
        told_as(
            &job(spec, status.clone()),
            State::Started,
            &Cluster::empty(),
        )
    };
    let suspend = || json!({ "suspend": true });
    let waits = "InProgress JobSuspended: job is suspended; set spec.suspend to false";
    assert_eq!(started(suspend(), &suspended), waits);
    let ending = json!({ "startTime": "2024-01-01T00:00:00Z", "active": 1 });
    assert_eq!(
        started(suspend(), &ending),
        waits,
        "its pods are about to go"
    );
    assert_eq!(
        started(json!({}), &ending),
        "Current Satisfied: Job in progress. success:0, active: 1, failed: 0"
    );
    let resumed = json!({ "conditions": conditions(&[("Suspended", "False")]) });
    assert_eq!(
        started(json!({}), &resumed),
        "InProgress InProgress: Job not started"
    );
    let complete = json!({ "conditions": conditions(&[("Complete", "True")]) });
    assert_eq!(
        started(suspend(), &complete),
        "Current Satisfied: Job Completed. succeeded: 0/1"
    );
    let failed = json!({ "conditions": conditions(&[("Failed", "True")]) });
    assert_eq!(
        started(suspend(), &failed),
        "Failed JobFailed: Job Failed; delete the Job and create it again"
    );
    assert!(
        ask(
            &job(suspend(), suspended),
            State::Present,
            &Cluster::empty()
        )
        .satisfied
    );
}

#[test]
fn a_failed_job_failed_for_good() {
    let status = json!({ "conditions": [
        { "type": "Failed", "status": "True", "reason": "BackoffLimitExceeded", "message": "too often" },
    ] });
    assert_eq!(
        told(&job(json!({}), status)),
        "Failed JobFailed: Job Failed: BackoffLimitExceeded: too often; delete the Job and create it again"
    );
}
