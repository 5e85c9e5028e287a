use super::*;
use crate::known::{Freshness, Known, Settings};
use crate::status::wait_registry::waiter;
use rules::dependent::Dependent;
use rules::kinds::{Kind, by_word};
use rules::verdict::Why;
use serde_json::{Value, json};
use std::sync::Arc;
use wire::{Answer, Decision};

mod crowd;
mod ownerless;
mod rebooted;

fn kind(word: &str) -> Kind {
    by_word(word).map(Kind::Builtin).unwrap()
}

/// The pod `p` of a Job in a cluster with nothing else, a number of seconds after its start.
struct Case {
    job: Value,
    pod: Value,
    after: i64,
    passed: bool,
    patient: bool,
    report: GateReport,
}

impl Case {
    /// A case with these annotations on the Job and on its pod.
    fn new(job: Value, pod: Value) -> Self {
        Self {
            job,
            pod,
            after: 0,
            passed: false,
            patient: false,
            report: GateReport::default(),
        }
    }

    /// A replica's knowledge of the case's pod and Job. Of other kinds only those in `synced` have been read, and they have no objects.
    fn known(&self, synced: &[&str]) -> Arc<Known> {
        self.known_by(Settings::of_the_chart(), synced)
    }

    fn known_by(&self, settings: Settings, synced: &[&str]) -> Arc<Known> {
        let (known, _requests) = Known::new(settings);
        known.plans().replace::<&Value>([]);
        let owner = json!({"apiVersion": "batch/v1", "kind": "Job", "name": "seed", "uid": "seed", "controller": true});
        let metadata = |name: &str, annotations: &Value| {
            json!({
                "namespace": "shop", "name": name, "uid": name, "annotations": annotations,
                "creationTimestamp": "1970-01-01T00:00:00Z",
            })
        };
        let mut pod = json!({"metadata": metadata("p", &self.pod)});
        pod["metadata"]["ownerReferences"] = json!([owner]);
        let job = json!({"metadata": metadata("seed", &self.job)});
        known.gated().replace(&[pod.clone()]);
        known.want(&kind("job")).replace(&[job]);
        for word in synced {
            known.want(&kind(word)).replace::<&Value>([]);
        }
        if self.passed {
            let Lookup::Found(dependent) = Dependent::resolve(&pod, &[], &known.view()) else {
                panic!("resolved")
            };
            known.memory().pass(&dependent, Timestamp::UNIX_EPOCH);
        }
        known
    }

    fn asked_of(&self, known: &Arc<Known>) -> Verdict {
        let pod = waiter("p");
        let now = Timestamp::from_second(self.after).unwrap();
        let rounds = Rounds::new(Arc::clone(known));
        let view = known.view();
        let judged = answer(&pod, &rounds, &view, &self.report, now, self.patient);
        judged.unwrap().verdict
    }

    fn asked(&self) -> Verdict {
        self.asked_of(&self.known(&["daemonset", "configmap"]))
    }
}

/// The verdict on a pod of a Job with this list, another pod of which has passed its gate.
fn second_pod(list: &str) -> Verdict {
    let case = Case::new(json!({"sluice.dev/depends-on": list}), json!({}));
    Case {
        passed: true,
        ..case
    }
    .asked()
}

/// A verdict as one word, such as `wait`, `late`, `provisional`, `satisfied` or `passed`; or as the cause that cut the wait short and the decision,
/// such as `timeout: open`.
fn word(verdict: &Verdict) -> &'static str {
    match (&verdict.why, verdict.answer.verdict) {
        (_, Decision::Wait) if verdict.provisional => "provisional",
        (why, Decision::Wait) if why.is_late() => "late",
        (_, Decision::Wait) => "wait",
        (Why::Satisfied, Decision::Open) => "satisfied",
        (Why::Absent, Decision::Open) => "absent",
        (Why::Passed, Decision::Open) => "passed",
        (Why::Unlisted, Decision::Open) => "unlisted",
        (Why::Skipped, Decision::Open) => "skip: open",
        (why, Decision::Open) if why.is_a_timeout() => "timeout: open",
        (why, Decision::Refuse) if why.is_a_timeout() => "timeout: refuse",
        (Why::DependencyFailed(_), Decision::Refuse) => "refuse",
        (why, decision) => panic!("{why:?} {decision:?}"),
    }
}

fn note(verdict: Verdict) -> String {
    verdict.answer.note.unwrap_or_default()
}

/// Returns the verdict after the check that it is to wait.
fn waiting(verdict: Verdict) -> Verdict {
    assert_eq!(verdict.answer.verdict, Decision::Wait, "{verdict:?}");
    verdict
}

#[test]
fn a_second_pod_of_a_revision_opens_at_once() {
    for list in ["configmap/a", "Configmapp/a"] {
        assert_eq!(second_pod(list).answer.verdict, Decision::Open, "{list}");
    }
}

/// An optional dependency that was absent may exist when the next pod of the revision asks, so the revision does not count as passed.
#[test]
fn what_opened_by_absence_is_told_apart_from_what_is_satisfied() {
    for (list, expected) in [
        ("- {kind: ConfigMap, name: a, optional: true}", "absent"),
        (
            "- {kind: ConfigMap, name: a, optional: true, timeout: 1s, on-timeout: proceed}",
            "absent",
        ),
        ("", "satisfied"),
    ] {
        let case = Case::new(json!({"sluice.dev/depends-on": list}), json!({}));
        assert_eq!(word(&case.asked()), expected, "{list}");
    }
}

#[test]
fn a_pod_that_is_marked_and_has_no_list_opens_and_says_so() {
    let marked = || json!({"sluice.dev/gated": "true"});
    for (job, pod, expected) in [
        (json!({}), marked(), "unlisted"),
        (
            json!({"config.kubernetes.io/depends-on": "my-own-format"}),
            marked(),
            "unlisted",
        ),
        (json!({}), json!({}), "satisfied"),
        (json!({"sluice.dev/depends-on": ""}), marked(), "satisfied"),
        (json!({"sluice.dev/weight": "5"}), marked(), "satisfied"),
        (json!({"sluice.dev/skip": "true"}), marked(), "skip: open"),
        (json!({"sluice.dev/depends-on": "cm/a"}), marked(), "wait"),
    ] {
        assert_eq!(
            word(&Case::new(job.clone(), pod).asked()),
            expected,
            "{job}"
        );
    }
    let said = note(Case::new(json!({}), marked()).asked());
    assert!(
        said.starts_with("a list: ")
            && said.contains("found for Job/seed; write sluice.dev/depends-on"),
        "{said}"
    );
}

#[test]
fn what_must_be_on_its_node_is_asked_of_every_pod() {
    let csi = "{kind: DaemonSet, name: csi, sameNode: true}";
    for list in [
        format!("- configmap/a\n- {csi}"),
        format!("- configmap/a\n- any: [configmap/b, {csi}]"),
    ] {
        let waits = waiting(second_pod(&list));
        assert_eq!(waits.answer.dependencies.len(), 1, "{waits:?}");
    }
}

#[test]
fn always_asks_again_and_so_does_what_nobody_can_read() {
    for (regate, expected) in [
        (json!({}), "passed"),
        (json!({"sluice.dev/regate": "once"}), "passed"),
        (json!({"sluice.dev/regate": "always"}), "wait"),
        (json!({"sluice.dev/regate": "alwayz"}), "wait"),
        (json!({"sluice.dev/timeout": "5"}), "passed"),
    ] {
        let case = Case {
            passed: true,
            ..Case::new(json!({"sluice.dev/depends-on": "cm/a"}), regate.clone())
        };
        assert_eq!(word(&case.asked()), expected, "{regate}");
    }
}

#[test]
fn skip_opens_beside_whatever_cannot_be_known() {
    let skip = || json!({"sluice.dev/skip": "true"});
    let with = |mut annotations: Value, key: &str, value: &str| {
        annotations[format!("sluice.dev/{key}")] = json!(value);
        annotations
    };
    let bad_list = with(json!({}), "depends-on", "nonsense");
    let unsynced = with(json!({}), "depends-on", "secret/a");
    let bad_term = with(json!({}), "timeout", "5");
    for beside in [bad_list, unsynced, bad_term] {
        assert_ne!(
            word(&Case::new(beside.clone(), json!({})).asked()),
            "skip: open"
        );
        let on_pod = Case::new(beside.clone(), skip());
        assert_eq!(word(&on_pod.asked()), "skip: open", "{beside}");
        assert_eq!(
            note(on_pod.asked()),
            "asking: sluice.dev/skip is \"true\" on the pod"
        );
        let on_owner = Case::new(with(beside.clone(), "skip", "true"), json!({}));
        assert_eq!(word(&on_owner.asked()), "skip: open", "{beside}");
        assert_eq!(
            note(on_owner.asked()),
            "asking: sluice.dev/skip is \"true\" on Job/seed"
        );
    }
    let on_pod = Case::new(json!({}), skip());
    let known = on_pod.known(&[]);
    known.want(&kind("job")).clear(Freshness::Syncing);
    assert_eq!(word(&on_pod.asked_of(&known)), "skip: open", "no owner yet");
    let bad = Case::new(json!({"sluice.dev/skip": "yes"}), json!({}));
    assert!(note(bad.asked()).contains("sluice.dev/skip: line 1"));
}

/// A pod of a Job with this list and this `on-timeout`, 60 s after its start, with a timeout of 60 s.
fn timed_out(list: &str, on_timeout: &str) -> Case {
    let job = json!({
        "sluice.dev/depends-on": list, "sluice.dev/timeout": "1m", "sluice.dev/on-timeout": on_timeout,
    });
    Case {
        after: 60,
        ..Case::new(job, json!({}))
    }
}

#[test]
fn a_timeout_counts_for_a_list_that_cannot_be_read() {
    for (on_timeout, expected) in [
        ("wait", "late"),
        ("fail", "timeout: refuse"),
        ("proceed", "timeout: open"),
        ("explode", "late"),
    ] {
        assert_eq!(word(&timed_out("cm/a", on_timeout).asked()), expected);
        let unreadable = timed_out("nonsense", on_timeout);
        assert_eq!(word(&unreadable.asked()), expected);
        let note = note(unreadable.asked());
        assert!(note.starts_with("annotations that can be read"), "{note}");
        assert!(note.contains("the timeout of 1m"), "{note}");
    }
}

#[test]
fn the_moment_of_a_timeout_is_told_until_it_has_come() {
    let case = Case {
        after: 59,
        ..timed_out("cm/a", "fail")
    };
    assert_eq!(
        waiting(case.asked()).again.map(Timestamp::as_second),
        Some(60)
    );
    let late = waiting(timed_out("cm/a", "wait").asked());
    assert!(late.why.is_late() && late.again.is_none(), "{late:?}");
}

#[test]
fn what_is_still_being_read_gets_its_time_before_a_timeout_ends_the_wait() {
    let asked = |synced: &[&str], loaded: bool, patient: bool| {
        let case = Case {
            patient,
            ..timed_out("cm/a", "fail")
        };
        let known = case.known(synced);
        if loaded {
            for shard in 0..rules::shards::COUNT {
                known.memory().learn(shard, [].into());
            }
        }
        word(&case.asked_of(&known))
    };
    assert_eq!(asked(&["configmap"], true, true), "timeout: refuse");
    assert_eq!(asked(&[], true, true), "provisional");
    assert_eq!(asked(&["configmap"], false, true), "wait");
    assert_eq!(asked(&[], false, false), "timeout: refuse");
}

/// While the plans cannot be read, the pod's dependencies are unknown, and the terms of its wait are known.
#[test]
fn a_timeout_ends_the_wait_for_plans_that_cannot_be_read() {
    let says = json!({
        "sluice.dev/depends-on": "configmap/a", "sluice.dev/scope": "r",
        "sluice.dev/timeout": "10s", "sluice.dev/on-timeout": "proceed",
    });
    let asked = |after: i64| {
        let case = Case {
            after,
            ..Case::new(says.clone(), json!({}))
        };
        let known = case.known(&["configmap"]);
        known.plans().clear(Freshness::Forbidden);
        case.asked_of(&known)
    };
    assert_eq!(
        note(waiting(asked(9))),
        "the right to watch the plans: sluice's ClusterRole lacks it"
    );
    assert_eq!(word(&asked(10)), "timeout: open");
}

/// A pod of a Job, `after` seconds after its start. The list of the Job has an entry with a timeout of one minute and the further keys in `timeout`,
/// and then the entries `beside`.
fn entry(timeout: &str, beside: &str, after: i64) -> Case {
    let list = format!("- {{kind: ConfigMap, name: a, timeout: 1m{timeout}}}{beside}");
    Case {
        after,
        ..Case::new(json!({"sluice.dev/depends-on": list}), json!({}))
    }
}

#[test]
fn an_entry_is_given_up_alone_and_that_says_nothing_of_the_revision() {
    for (timeout, beside, expected) in [
        ("", "", "late"),
        (", on-timeout: fail", "", "timeout: refuse"),
        (", on-timeout: proceed", "", "timeout: open"),
        (", on-timeout: proceed", "\n- configmap/b", "late"),
        (", on-timeout: fail", "\n- configmap/b", "timeout: refuse"),
    ] {
        assert_eq!(word(&entry(timeout, beside, 59).asked()), "wait");
        assert_eq!(
            word(&entry(timeout, beside, 60).asked()),
            expected,
            "{timeout} {beside}"
        );
    }
    let waits = waiting(entry(", on-timeout: proceed", "\n- configmap/b", 59).asked());
    assert_eq!(waits.again.map(Timestamp::as_second), Some(60));
}
