//! Tests the `timeout` of an entry.

use super::selection::{failed_job, job};
use super::*;
use wire::Decision;

/// The verdict on a pod that was started at second 0, `after` so many seconds.
fn decided(list: &str, beside: &[(&str, &str)], objects: Vec<Value>, after: i64) -> Verdict {
    let mut pod = pod(list);
    pod["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:00Z");
    for (key, value) in beside {
        pod["metadata"]["annotations"][format!("sluice.dev/{key}")] = json!(value);
    }
    let cluster = Cluster::of(objects);
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
        panic!("resolved")
    };
    let now = Timestamp::from_second(after).expect("in range");
    decide(&dependent, &Policy::of_the_chart(), &cluster, now, false)
}

fn cache(then: &str) -> String {
    format!("- {{kind: ConfigMap, name: cache, timeout: 2m, on-timeout: {then}}}\n- job/seed")
}

/// The decision, and the note; empty where there is no note.
fn told(decided: &Verdict) -> (Decision, &str) {
    let answer = &decided.answer;
    (answer.verdict, answer.note.as_deref().unwrap_or_default())
}

fn seed(complete: bool) -> Vec<Value> {
    vec![job("shop", "seed", "x", complete)]
}

#[test]
fn after_its_timeout_the_gate_goes_on_without_this_entry_alone() {
    let list = cache("proceed");
    let waits = decided(&list, &[], seed(true), 119);
    assert_eq!(told(&waits), (Decision::Wait, ""));
    assert_eq!(waits.again.map(Timestamp::as_second), Some(120));
    let turn = &waits.answer.dependencies[0].turns[0];
    let shown = (turn.what.as_str(), turn.at.as_str(), turn.takes);
    assert_eq!(shown, ("given up", "1970-01-01T00:02:00Z", 120));

    let others = decided(&list, &[], seed(false), 120);
    assert_eq!(others.why, Why::EntryLate);
    let without = "without ConfigMap/cache, given up after 2m (NotFound)";
    assert_eq!(told(&others), (Decision::Wait, without));
    assert_eq!(others.again, None);
    let report = &others.answer.dependencies[0];
    assert!(report.satisfied && report.turns.is_empty());
    assert_eq!(
        (report.reason.as_str(), report.status.as_str()),
        ("GivenUp", "NotFound")
    );
    let message = report.message.as_deref().unwrap();
    assert!(
        message.starts_with("given up after 2m, NotFound"),
        "{message}"
    );

    let open = decided(&list, &[], seed(true), 120);
    assert_eq!(open.why, Why::GivenUp);
    let note = "ConfigMap/cache, given up after 2m (NotFound)";
    assert_eq!(told(&open), (Decision::Open, note));
}

#[test]
fn what_is_satisfied_is_not_given_up_and_what_breaks_later_is() {
    let list = cache("proceed");
    let there = |complete| [seed(complete), vec![config_map("shop", "cache")]].concat();
    let open = decided(&list, &[], there(true), 500);
    assert_eq!(open.why, Why::Satisfied);
    assert_eq!(
        told(&decided(&list, &[], there(false), 500)),
        (Decision::Wait, "")
    );
    let broken = decided(&list, &[], seed(false), 500);
    assert_eq!(broken.edges[0].judged.reason, Reason::GivenUp);
}

#[test]
fn a_timeout_that_fails_refuses_and_says_the_way_out() {
    let list = cache("fail");
    let waits = decided(&list, &[], seed(false), 119);
    assert_eq!(waits.answer.dependencies[0].turns[0].what, "refused");
    assert_eq!(told(&waits).0, Decision::Wait);
    let refused = decided(&list, &[], seed(false), 120);
    let note = "the timeout of 2m of ConfigMap/cache has passed, and its on-timeout is \"fail\": mend what it waits for, \
                raise the timeout, or write \"wait\" or \"proceed\"";
    assert_eq!(told(&refused), (Decision::Refuse, note));
    assert_eq!(refused.why, Why::EntryTimedOut);
}

#[test]
fn a_timeout_that_waits_says_so_loudly() {
    for list in [
        cache("wait"),
        "- {kind: ConfigMap, name: cache, timeout: 2m}".to_owned(),
    ] {
        let before = decided(&list, &[], seed(true), 119);
        assert!(before.answer.dependencies[0].turns.is_empty());
        assert_eq!(before.again.map(Timestamp::as_second), Some(120));
        let late = decided(&list, &[], seed(true), 120);
        let note = "the timeout of 2m of ConfigMap/cache has passed, and the wait goes on";
        assert_eq!(told(&late), (Decision::Wait, note));
        assert_eq!(late.why, Why::EntryLate);
        assert!(!late.edges[0].judged.satisfied);
    }
}

#[test]
fn several_are_given_up_each_at_its_time_and_any_of_several_as_a_whole() {
    let list = "- {kind: ConfigMap, name: a, timeout: 10s, on-timeout: proceed}\n\
                - {any: [configmap/b, configmap/c], timeout: 20s, on-timeout: proceed}";
    let after = |second| {
        let decided = decided(list, &[], vec![], second);
        let again = decided.again.map(Timestamp::as_second);
        (again, decided.answer.note.unwrap_or_default())
    };
    assert_eq!(after(0), (Some(10), String::new()));
    let first = "ConfigMap/a, given up after 10s (NotFound)";
    assert_eq!(after(10), (Some(20), format!("without {first}")));
    let both = format!("{first}; any of (ConfigMap/b, ConfigMap/c), given up after 20s (NotFound)");
    assert_eq!(after(20), (None, both));
}

#[test]
fn of_two_timeouts_the_shorter_one_decides() {
    let list = cache("fail");
    let beside = |timeout, then| [("timeout", timeout), ("on-timeout", then)];
    let why = |timeout, then, after| decided(&list, &beside(timeout, then), seed(false), after).why;
    let minute = std::time::Duration::from_secs(60);
    assert_eq!(why("1m", "proceed", 500), Why::Proceeded(minute));
    for (timeout, then) in [
        ("2m", "proceed"),
        ("3m", "proceed"),
        ("1m", "wait"),
        ("1m", "fail"),
    ] {
        let why = why(timeout, then, 500);
        assert_eq!(why, Why::EntryTimedOut, "{timeout} {then}");
    }
    let failed = [("on-failure", "fail")];
    let ruled = decided(&list, &failed, vec![failed_job("seed", "x")], 500).why;
    let first = Why::DependencyFailed("Job/seed".to_owned());
    assert_eq!(ruled, first);
}

#[test]
fn of_what_is_given_up_a_failure_ends_nothing() {
    let list = "- {kind: Job, name: a, timeout: 1m, on-timeout: proceed}";
    let fail = [("on-failure", "fail")];
    let why = |after| decided(list, &fail, vec![failed_job("a", "x")], after).why;
    let failed = Why::DependencyFailed("Job/a".to_owned());
    assert_eq!(why(59), failed);
    assert_eq!(why(60), Why::GivenUp);
}

#[test]
fn what_is_still_being_read_gets_its_time() {
    let mut pod = pod(&cache("proceed"));
    pod["metadata"]["creationTimestamp"] = json!("1970-01-01T00:00:00Z");
    let mut cluster = Cluster::of(seed(true));
    cluster.unavailable = vec![("ConfigMap", Unavailable::Syncing)];
    let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
        panic!("resolved")
    };
    let why = |patient| {
        let now = Timestamp::from_second(120).expect("in range");
        decide(&dependent, &Policy::of_the_chart(), &cluster, now, patient).why
    };
    assert_eq!(why(true), Why::Unmet);
    assert_eq!(why(false), Why::GivenUp);
}

/// A dependent asks for a slot once its other entries are satisfied or given up, since it could start then.
#[test]
fn a_slot_is_asked_for_once_the_rest_is_given_up() {
    let message = |after| {
        let mut pod = super::wave::of_release(pod(&cache("proceed")), None, 0);
        pod["metadata"]["annotations"]["sluice.dev/parallelism"] = json!("1");
        let cluster = Cluster::of(seed(true));
        let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &cluster) else {
            panic!("resolved")
        };
        let now = Timestamp::from_second(after).expect("in range");
        let decided = decide(&dependent, &Policy::of_the_chart(), &cluster, now, false);
        decided.edges.last().unwrap().judged.message.clone()
    };
    assert_eq!(
        message(119),
        "its turn comes once everything else is satisfied"
    );
    assert_eq!(
        message(120),
        "who holds the 1 slots cannot be seen from here"
    );
}
