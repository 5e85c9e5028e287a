//! Tests the effect of timeouts and of failed dependencies on a wait.

use super::selection::{failed_job, job};
use super::*;
use crate::annotation;

/// The reason of a wait: of a pod with this list and these further annotations that started at second 0, `after` so many seconds.
fn ruled(depends_on: &str, beside: &[(&str, &str)], objects: Vec<Value>, after: i64) -> Why {
    let mut pod = pod(depends_on);
    for (key, value) in beside {
        pod["metadata"]["annotations"][format!("sluice.dev/{key}")] = json!(value);
    }
    pod["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:00Z");
    let cluster = Cluster::of(objects);
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
        panic!("resolved")
    };
    let edges = edges_of(&pod, &cluster, &Policy::of_the_chart());
    let now = Timestamp::from_second(after).expect("in range");
    let terms = dependent.terms().all().expect("legal");
    Why::of_a_wait(&terms, dependent.started, &edges, &[], now)
}

#[test]
fn a_timeout_passes_at_its_moment_and_does_what_it_was_told() {
    let after = Duration::from_secs(90);
    for (on_timeout, expected) in [
        (None, Why::Late(after)),
        (Some("wait"), Why::Late(after)),
        (Some("fail"), Why::TimedOut(after)),
        (Some("proceed"), Why::Proceeded(after)),
    ] {
        let mut beside = vec![("timeout", "1m30s")];
        beside.extend(on_timeout.map(|word| ("on-timeout", word)));
        assert_eq!(ruled("job/a", &beside, vec![], 89), Why::Unmet);
        assert_eq!(ruled("job/a", &beside, vec![], 90), expected);
    }
    let never = ruled("job/a", &[("on-timeout", "fail")], vec![], i64::MAX >> 30);
    assert_eq!(never, Why::Unmet);
}

#[test]
fn a_pod_starts_when_its_kubelet_took_it_up() {
    let started = |status: Value| {
        let mut pod = pod("");
        pod["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:00Z");
        pod["status"] = status;
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &Cluster::of(vec![])) else {
            panic!("resolved")
        };
        dependent.started.map(Timestamp::as_second)
    };
    let bound = json!([{"type": "PodScheduled", "status": "True", "lastTransitionTime": "1970-01-01T01:00:00Z"}]);
    let unbound = json!([{"type": "PodScheduled", "status": "False", "lastTransitionTime": "1970-01-01T01:00:00Z"}]);
    let taken = json!({"startTime": "1970-01-01T02:00:00Z", "conditions": bound});
    assert_eq!(started(json!({})), Some(0));
    assert_eq!(started(json!({ "conditions": unbound })), Some(0));
    assert_eq!(started(json!({ "conditions": bound })), Some(3600));
    assert_eq!(started(taken), Some(7200));
}

#[test]
fn only_a_job_that_failed_ends_a_wait_and_only_where_that_is_asked_for() {
    let failed = || vec![failed_job("a", "x")];
    let fail = [("on-failure", "fail")];
    let lost = |name: &str| Why::DependencyFailed(name.to_owned());
    assert_eq!(ruled("job/a", &fail, failed(), 0), lost("Job/a"));
    assert_eq!(ruled("job/b, job/a", &fail, failed(), 0), lost("Job/a"));
    assert_eq!(
        ruled("job/a", &[("on-failure", "wait")], failed(), 0),
        Why::Unmet
    );
    assert_eq!(ruled("job/a", &[], failed(), 0), Why::Unmet);

    let stuck =
        json!([{"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded"}]);
    let mut web = owned("Deployment", "web", None, json!({}));
    web["status"] = json!({ "conditions": stuck });
    let mut ended = owned("Pod", "ended", None, json!({}));
    ended["status"] = json!({"phase": "Failed"});
    let both = "deployment/web, pod/ended";
    let recover = || vec![web.clone(), ended.clone()];
    assert_eq!(ruled(both, &fail, recover(), 0), Why::Unmet);
    let reasons = reasons(&pod(both), &Cluster::of(recover()));
    assert_eq!(reasons, [Reason::Failed; 2]);
}

#[test]
fn of_several_too_few_must_be_left() {
    let ruled = |list: &str, objects: Vec<Value>| {
        let why = ruled(list, &[("on-failure", "fail")], objects, 0);
        matches!(why, Why::DependencyFailed(_))
    };
    let one = || vec![failed_job("a", "x"), job("shop", "b", "x", false)];
    assert!(!ruled("- any: [job/a, job/b]", one()));
    assert!(!ruled("- any: [job/a, job/missing]", one()));
    assert!(ruled("- {any: [job/a, job/b], min: 2}", one()));
    assert!(ruled("- {kind: Job, selector: app=x}", one()));
    assert!(!ruled("- {kind: Job, selector: app=x, min: 1}", one()));
    let both = vec![failed_job("a", "x"), failed_job("b", "x")];
    assert!(ruled("- any: [job/a, job/b]", both));
    let first = vec![failed_job("a", "x")];
    assert!(
        !ruled("- {kind: Job, selector: app=x, min: 2}", first),
        "others are to come"
    );
}

#[test]
fn a_failure_comes_before_the_timeout() {
    let beside = [
        ("on-failure", "fail"),
        ("timeout", "1s"),
        ("on-timeout", "proceed"),
    ];
    let why = ruled("job/a", &beside, vec![failed_job("a", "x")], 9);
    assert_eq!(why, Why::DependencyFailed("Job/a".to_owned()));
    assert_eq!(
        ruled("job/b", &beside, vec![], 9),
        Why::Proceeded(Duration::from_secs(1))
    );
}

#[test]
fn why_is_told_beside_what_is_waited_for() {
    let told = |why: Why| {
        let answer = answer(&edges_of(
            &pod("job/a"),
            &Cluster::of(vec![]),
            &Policy::of_the_chart(),
        ));
        let answer = why.over(answer);
        (answer.verdict, answer.note.unwrap_or_default())
    };
    let after = Duration::from_secs(5400);
    assert_eq!(told(Why::Unmet), (wire::Decision::Wait, String::new()));
    let (verdict, note) = told(Why::Late(after));
    assert_eq!(verdict, wire::Decision::Wait);
    assert_eq!(
        note,
        "the timeout of 1h30m (sluice.dev/timeout) has passed, and the wait goes on"
    );
    let (verdict, note) = told(Why::Proceeded(after));
    assert_eq!(verdict, wire::Decision::Open);
    assert_eq!(
        note,
        "the timeout of 1h30m (sluice.dev/timeout) has passed, and sluice.dev/on-timeout is \"proceed\""
    );
    let (verdict, note) = told(Why::TimedOut(after));
    assert_eq!(verdict, wire::Decision::Refuse);
    assert_eq!(
        note,
        "the timeout of 1h30m (sluice.dev/timeout) has passed, and sluice.dev/on-timeout is \"fail\": mend what it \
         waits for, raise the timeout, or set sluice.dev/on-timeout to \"wait\" or \"proceed\""
    );
    let (verdict, note) = told(Why::DependencyFailed("Job/a".to_owned()));
    assert_eq!(verdict, wire::Decision::Refuse);
    assert_eq!(
        note,
        "Job/a has failed for good, and sluice.dev/on-failure is \"fail\": delete it and create it again, or set \
         sluice.dev/on-failure to \"wait\""
    );
}

#[test]
fn one_word_on_the_pod_or_on_its_workload_skips() {
    let skipped = |pod: Value, workload: Value| {
        let pod = owned("Pod", "p", Some(("Job", "seed")), pod);
        let cluster = Cluster::of(vec![owned("Job", "seed", None, workload)]);
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
            panic!("resolved")
        };
        dependent.skipped_on()
    };
    let skip = |word: &str| json!({"sluice.dev/skip": word, "sluice.dev/timeout": "5", "sluice.dev/depends-on": "a"});
    assert_eq!(skipped(skip("true"), json!({})).as_deref(), Some("the pod"));
    assert_eq!(
        skipped(json!({}), skip("true")).as_deref(),
        Some("Job/seed")
    );
    assert_eq!(
        skipped(skip("false"), skip("true")).as_deref(),
        Some("Job/seed")
    );
    let mut why = skip("true");
    why["sluice.dev/skip-reason"] = json!("drained by\nhand");
    assert_eq!(
        skipped(why, json!({})).as_deref(),
        Some("the pod: drained by\\nhand")
    );
    assert_eq!(skipped(skip("false"), skip("yes")), None);
    assert_eq!(skipped(json!({}), json!({})), None);
}

/// An annotation `skip` on the Job of a CronJob opens the gates of that run alone; on the CronJob it would let every later run start.
#[test]
fn one_run_of_a_cron_job_is_skipped_by_its_job() {
    let cluster = Cluster::of(vec![
        owned(
            "Job",
            "nightly-1",
            Some(("CronJob", "nightly")),
            json!({"sluice.dev/skip": "true"}),
        ),
        owned("CronJob", "nightly", None, json!({})),
    ]);
    let pod = owned("Pod", "p", Some(("Job", "nightly-1")), json!({}));
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
        panic!("resolved")
    };
    assert_eq!(dependent.skipped_on().as_deref(), Some("Job/nightly-1"));
}

#[test]
fn terms_are_read_where_lists_are() {
    let pod = owned(
        "Pod",
        "p",
        Some(("Job", "seed")),
        json!({"sluice.dev/timeout": "1m"}),
    );
    let job = json!({"sluice.dev/timeout": "1h", "sluice.dev/on-timeout": "fail"});
    let cluster = Cluster::of(vec![owned("Job", "seed", None, job)]);
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
        panic!("resolved")
    };
    let read = annotation::ReadTerms::all(dependent.terms()).expect("legal");
    assert_eq!(read.timeout, Some(Duration::from_secs(60)));
    assert_eq!(read.on_timeout, Some(crate::terms::OnTimeout::Fail));
}
