//! Advice on limits of the workload itself that end the wait, or make it impossible.

use super::*;

#[test]
fn a_progress_deadline_is_told_of_where_somebody_chose_it() {
    let with_deadline = |seconds: i64, annotations: &Value| {
        let object = deployment(annotations);
        let object = with(object, "/spec/progressDeadlineSeconds", json!(seconds));
        said("Deployment", &object, "job/migrate", &()).join("\n")
    };
    assert_eq!(
        with_deadline(30, &json!({})),
        "the wait counts against its progressDeadlineSeconds (30), after which it is reported as failed until it recovers; \
         raise it where a dependency may take longer"
    );
    assert_eq!(with_deadline(600, &json!({})), "", "the default");
    assert_eq!(told("job/migrate", &()), "", "the default, unwritten");
    let patient = json!({"sluice.dev/timeout": "30m"});
    assert!(with_deadline(600, &patient).contains("(600)"));
    assert!(with_deadline(1800, &patient).is_empty());
    let unwritten = said("Deployment", &deployment(&patient), "job/migrate", &());
    assert!(unwritten[0].contains("(600)"), "{unwritten:?}");
    let job = said("Job", &deployment(&patient), "job/migrate", &());
    assert!(job.is_empty(), "a Job has no such deadline: {job:?}");
}

/// A progress deadline that aborts an update always gets an advice: the update stays aborted when its dependency becomes ready.
#[test]
fn a_progress_deadline_that_aborts_is_always_told_of() {
    let told = |kind: &str, abort: bool, seconds: Option<i64>| {
        let object = deployment(&json!({}));
        let object = with(object, "/spec/progressDeadlineAbort", json!(abort));
        let object = with(object, "/spec/progressDeadlineSeconds", json!(seconds));
        said(kind, &object, "job/migrate", &()).join("\n")
    };
    let expected = |seconds: i64| {
        format!(
            "the wait counts against its progressDeadlineSeconds ({seconds}), and progressDeadlineAbort then ends an update until \
             somebody retries it; raise the deadline, or take progressDeadlineAbort away"
        )
    };
    assert_eq!(told("Rollout", true, Some(12)), expected(12));
    assert_eq!(told("Rollout", true, None), expected(600));
    assert!(told("Rollout", false, Some(12)).contains("until it recovers"));
    assert_eq!(told("Rollout", false, None), "");
    assert!(
        told("Deployment", true, Some(12)).contains("until it recovers"),
        "it has no such field"
    );
}

#[test]
fn an_active_deadline_is_told_of_wherever_it_stands() {
    let expected = "the wait counts against activeDeadlineSeconds (30), after which its pods are ended as failed; raise it \
                    by what the dependencies may take";
    let job = deployment(&json!({}));
    for pointer in [
        "/spec/activeDeadlineSeconds",
        "/spec/template/spec/activeDeadlineSeconds",
    ] {
        let job = with(job.clone(), pointer, json!(30));
        assert_eq!(said("Job", &job, "job/migrate", &()), [expected]);
    }
    let cron =
        json!({"jobTemplate": {"spec": {"activeDeadlineSeconds": 30, "template": {"spec": {}}}}});
    let cron = with(job.clone(), "/spec", cron);
    assert_eq!(said("CronJob", &cron, "job/migrate", &()), [expected]);
    let pod = with(job, "/spec", json!({"activeDeadlineSeconds": 30}));
    assert_eq!(said("Pod", &pod, "job/migrate", &()), [expected]);
}

#[test]
fn an_entry_is_not_given_up_once_the_whole_wait_has_ended() {
    let told = |own: Value, list: &str| {
        let object = deployment(&own);
        said("Deployment", &object, list, &()).join("\n")
    };
    let ends = |then: &str| json!({"sluice.dev/timeout": "5m", "sluice.dev/on-timeout": then});
    let list = "[{kind: Service, name: cache, timeout: 10m, on-timeout: proceed}]";
    let expected = "the timeout of 10m of Service/cache has no effect, since sluice.dev/timeout ends the whole wait after \
                    5m; write a shorter one";
    assert_eq!(told(ends("proceed"), list), expected);
    assert_eq!(told(ends("fail"), list), expected);
    assert_eq!(
        told(ends("wait"), list),
        "",
        "the wait goes on, and it has its effect"
    );
    let terms = json!({"sluice.dev/timeout": "5m"});
    assert_eq!(told(terms, list), "", "so it does by default");
    let short = "[{kind: Service, name: cache, timeout: 5m, on-timeout: fail}]";
    assert_eq!(
        told(ends("proceed"), short),
        "",
        "of two that are equal it ends the wait"
    );
    assert_eq!(told(ends("proceed"), "svc/cache"), "");
    let raised = with(
        deployment(&ends("fail")),
        "/spec/template/metadata/annotations",
        json!({"sluice.dev/timeout": "10m"}),
    );
    assert_eq!(
        said("Deployment", &raised, list, &()),
        [""; 0],
        "the template's word counts"
    );
}

#[test]
fn an_outcome_of_a_timeout_needs_one() {
    let of = |own: &Value| said("Deployment", &deployment(own), "job/migrate", &()).join("");
    let fail = "sluice.dev/on-timeout";
    assert_eq!(
        of(&json!({fail: "fail"})),
        "sluice.dev/on-timeout has no effect without sluice.dev/timeout, since no wait is too long; write both"
    );
    assert_eq!(of(&json!({fail: "wait"})), "");
    assert_eq!(of(&json!({fail: "fail", "sluice.dev/timeout": "1m"})), "");
}

#[test]
fn pods_on_windows_are_told_of_and_nothing_else() {
    let windows = with(
        deployment(&json!({})),
        "/spec/template/spec/nodeSelector",
        json!({"kubernetes.io/os": "windows"}),
    );
    let told = said("Deployment", &windows, "deploy/api", &());
    assert_eq!(told.len(), 1, "{told:?}");
    assert!(
        told[0]
            .starts_with("it runs on Windows, for which sluice has no gate: its pods are refused")
    );
}
