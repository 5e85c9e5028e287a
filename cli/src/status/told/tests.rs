use super::*;
use crate::status::scene;
use crate::style::Color;
use serde_json::json;
use wire::Report;

fn plain() -> Style {
    Style::new(Color::Never, false, false)
}

fn text(pod: &Value, answer: Answer) -> String {
    PodTold::new(pod, answer, GateWord::Nothing, vec![]).text(plain(), Timestamp::UNIX_EPOCH)
}

fn report(name: &str, satisfied: bool, reason: &str) -> Report {
    Report {
        dependency: format!("Job/{name}"),
        name: name.to_owned(),
        satisfied,
        status: if satisfied { "Current" } else { "InProgress" }.to_owned(),
        reason: reason.to_owned(),
        message: (!satisfied).then(|| "Job in progress".to_owned()),
        turns: Vec::new(),
    }
}

#[test]
fn a_waiting_pod_names_each_dependency_and_why() {
    let pod = json!({
        "metadata": {"namespace": "shop", "name": "api-1", "labels": {"sluice.dev/gated": "true"}},
        "status": {"initContainerStatuses": [
            {"name": "sluice-gate", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}},
        ]},
    });
    let dependencies = vec![
        report("migrate", false, "JobNotComplete"),
        report("a", true, "Satisfied"),
    ];
    let answer = Answer {
        verdict: Decision::Wait,
        digest: String::new(),
        dependencies,
        note: None,
        probes: Vec::new(),
        for_good: false,
    };
    let expected = "pod shop/api-1 waits for 1 of 2 dependencies, since 2026-01-01T00:00:00Z\n  \
                    wait  Job/migrate  InProgress  JobNotComplete: Job in progress\n  \
                    ok    Job/a        Current     Satisfied\n";
    assert_eq!(text(&pod, answer), expected);
}

#[test]
fn a_gate_that_was_refused_is_not_said_to_have_passed() {
    let when = "2026-01-01T00:00:00Z";
    let ended = |code: u8| json!({"terminated": {"exitCode": code, "finishedAt": when}});
    let paused = json!({"waiting": {"reason": "CrashLoopBackOff"}});
    let answer = Answer {
        verdict: Decision::Refuse,
        digest: String::new(),
        dependencies: vec![report("migrate", false, "JobNotComplete")],
        note: Some("the timeout of 10m has passed".to_owned()),
        probes: Vec::new(),
        for_good: false,
    };
    let told = |state: &Value, last: &Value| {
        let pod = json!({
            "metadata": {"namespace": "shop", "name": "api-1", "labels": {"sluice.dev/gated": "true"}},
            "status": {"initContainerStatuses": [
                {"name": "sluice-gate", "state": state, "lastState": last},
            ]},
        });
        text(&pod, answer.clone())
    };
    let dependencies = "  wait  Job/migrate  InProgress  JobNotComplete: Job in progress\n  \
                        the timeout of 10m has passed\n";
    let refused = format!(
        "pod shop/api-1 was refused by its gate at {when}; its dependencies now:\n{dependencies}"
    );
    assert_eq!(told(&ended(1), &json!({})), refused);
    assert_eq!(told(&paused, &ended(1)), refused);
    let open =
        format!("pod shop/api-1 passed its gate at {when}; its dependencies now:\n{dependencies}");
    assert_eq!(told(&ended(0), &ended(1)), open);
}

#[test]
fn a_pod_without_a_gate_is_told_apart() {
    let answer = Answer {
        verdict: Decision::Open,
        digest: String::new(),
        dependencies: vec![],
        note: None,
        probes: Vec::new(),
        for_good: false,
    };
    let pod = json!({"metadata": {"namespace": "shop", "name": "api-1"}});
    assert_eq!(
        text(&pod, answer),
        "pod shop/api-1 has no gate: it started when it was scheduled\n"
    );
}

const SAYS: &str =
    "waiting 3s for Job/migrate: InProgress (JobNotComplete: Job in progress), and 1 other";

/// The moment at which the gate of [`waiting_pod`] has waited as long as [`SAYS`] tells.
fn when_said() -> Timestamp {
    "2026-01-01T00:00:03Z".parse().unwrap()
}

fn said(line: &str) -> GateWord {
    GateWord::Said(said::last(&format!("sluice-gate: {line}\n")).unwrap())
}

fn waiting_pod() -> Value {
    json!({
        "metadata": {"namespace": "shop", "name": "api-1", "labels": {"sluice.dev/gated": "true"}},
        "status": {"initContainerStatuses": [
            {"name": "sluice-gate", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}},
        ]},
    })
}

fn answer(satisfied: bool, reason: &str) -> Answer {
    Answer {
        verdict: if satisfied {
            Decision::Open
        } else {
            Decision::Wait
        },
        digest: String::new(),
        dependencies: vec![report("migrate", satisfied, reason)],
        note: None,
        probes: Vec::new(),
        for_good: false,
    }
}

#[test]
fn the_word_of_the_gate_comes_first_and_agrees() {
    let pod = waiting_pod();
    let told = PodTold::new(&pod, answer(false, "JobNotComplete"), said(SAYS), vec![]);
    let expected = format!(
        "pod shop/api-1 waits for 1 of 1 dependencies, since 2026-01-01T00:00:00Z\n  gate  {SAYS}\n  \
         wait  Job/migrate  InProgress  JobNotComplete: Job in progress\n"
    );
    assert_eq!(
        (told.text(plain(), when_said()), told.differs),
        (expected, false)
    );
    assert!(told.waits());
}

#[test]
fn where_the_gate_says_something_else_both_are_shown_and_its_word_counts() {
    let pod = waiting_pod();
    let open = PodTold::new(&pod, answer(true, "Satisfied"), said(SAYS), vec![]);
    let expected = format!(
        "pod shop/api-1 waits, since 2026-01-01T00:00:00Z\n  gate  {SAYS}\n\
         The word of the gate counts. Judged from here, now:\n  ok    Job/migrate  Current  Satisfied\n"
    );
    assert_eq!(open.text(plain(), when_said()), expected);
    assert!(open.waits());
    let json = serde_json::to_value(open.json()).unwrap();
    let told = (&json["verdict"], &json["gate"], &json["differs"]);
    assert_eq!(told, (&json!("open"), &json!(SAYS), &json!(true)));
    let other = PodTold::new(&pod, answer(false, "JobSuspended"), said(SAYS), vec![]);
    assert!(other.differs && other.waits());
}

#[test]
fn a_log_that_cannot_be_read_is_said_and_the_rules_decide() {
    let pod = waiting_pod();
    let why = "that takes the right to get pods/log in namespace shop";
    let told = |satisfied| {
        let word = GateWord::Unheard(why.to_owned());
        PodTold::new(&pod, answer(satisfied, "x"), word, vec![])
    };
    let line = format!("  gate  its log cannot be read: {why}\n");
    assert!(
        told(false)
            .text(plain(), Timestamp::UNIX_EPOCH)
            .contains(&line)
    );
    assert_eq!((told(false).waits(), told(true).waits()), (true, false));
}

#[test]
fn a_pod_that_has_passed_its_gate_waits_for_nothing() {
    let mut pod = waiting_pod();
    let ended = json!({"terminated": {"exitCode": 0, "finishedAt": "2026-01-01T00:00:00Z"}});
    pod["status"]["initContainerStatuses"][0]["state"] = ended;
    let open = "open after 3s, without Job/migrate: Failed (JobFailed)";
    for word in [said(open), said(SAYS), GateWord::Nothing] {
        let told = PodTold::new(&pod, answer(false, "JobFailed"), word, vec![]);
        assert!(!told.waits() && !told.differs);
    }
}

#[test]
fn a_pod_whose_gate_has_opened_tells_why_its_containers_do_not_run() {
    let now: Timestamp = "2026-01-01T00:05:00Z".parse().unwrap();
    let mut pod = waiting_pod();
    let gate = json!({"terminated": {"exitCode": 0, "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:09Z"}});
    let pull = json!({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"shop/api:2\": not found"}});
    let name = "api";
    pod["spec"] = json!({"nodeName": "n1", "containers": [{"name": name, "image": "shop/api:2"}]});
    pod["status"]["containerStatuses"] =
        json!([{"name": name, "image": "shop/api:2", "state": pull}]);
    assert_eq!(scene::trouble(&pod, now), None, "its gate has not opened");
    pod["status"]["initContainerStatuses"][0]["state"] = gate;
    let trouble = scene::trouble(&pod, now);
    let why = trouble.clone().unwrap();
    assert!(why.starts_with("it cannot pull image shop/api:2"), "{why}");
    let told = PodTold::new(&pod, answer(true, "Satisfied"), GateWord::Nothing, vec![]);
    let told = told.troubled_by(trouble);
    let text = told.text(plain(), now);
    assert!(text.contains(&format!("\n  pod   {why}\n")), "{text}");
    let json = serde_json::to_value(told.json()).unwrap();
    assert_eq!(json["trouble"], json!(why));
}

#[test]
fn a_pod_that_has_ended_or_is_being_deleted_waits_no_more() {
    for (change, headline) in [
        (json!({"status": {"phase": "Failed"}}), "has failed"),
        (
            json!({"metadata": {"deletionTimestamp": "2026-01-01T00:01:00Z"}}),
            "is being deleted",
        ),
    ] {
        let mut pod = waiting_pod();
        for (part, fields) in change.as_object().unwrap() {
            let fields = fields.as_object().unwrap().clone();
            pod[part].as_object_mut().unwrap().extend(fields);
        }
        let told = PodTold::new(&pod, answer(false, "JobNotComplete"), said(SAYS), vec![]);
        assert!(!told.waits());
        let text = told.text(plain(), Timestamp::UNIX_EPOCH);
        let expected = format!(
            "pod shop/api-1 {headline}, and has not passed its gate; its dependencies now:"
        );
        assert!(text.starts_with(&expected), "{text}");
    }
}

#[test]
fn images_that_are_pulled_early_are_told_before_the_gate_begins() {
    let pull = |failed: Option<&str>| Pull {
        image: "api:2".to_owned(),
        failed: failed.map(ToOwned::to_owned),
        at: "1970-01-01T00:00:00Z".to_owned(),
    };
    let told = |status: Value, failed: Option<&str>| {
        let pod = json!({
            "metadata": {"namespace": "shop", "name": "api-1", "labels": {"sluice.dev/gated": "true"}},
            "status": status,
        });
        let answer = Answer {
            verdict: Decision::Wait,
            digest: String::new(),
            dependencies: vec![report("migrate", false, "JobNotComplete")],
            note: None,
            probes: Vec::new(),
            for_good: false,
        };
        let told = PodTold::new(&pod, answer, GateWord::Nothing, vec![]);
        let told = told.kept_by(None, vec![pull(failed)]);
        let json = serde_json::to_value(told.json()).unwrap();
        (
            told.text(plain(), Timestamp::UNIX_EPOCH),
            json["pulls"].clone(),
        )
    };
    let (text, json) = told(json!({}), None);
    let expected = "pod shop/api-1: its images are being pulled, and its gate begins then; its dependencies:\n  \
                    image  pulling image api:2, 0s so far\n  wait  Job/migrate";
    assert!(text.starts_with(expected), "{text}");
    let at = "1970-01-01T00:00:00Z";
    assert_eq!(json, json!([{"image": "api:2", "at": at}]));
    let waits = json!({"initContainerStatuses": [
        {"name": "sluice-gate", "state": {"running": {"startedAt": "2026-01-01T00:00:00Z"}}},
    ]});
    let (text, json) = told(waits, Some("not found"));
    let expected = "pod shop/api-1 waits for 1 of 1 dependencies, since 2026-01-01T00:00:00Z\n  \
                    image  cannot pull image api:2: not found (tried 0s ago)\n  wait  Job/migrate";
    assert!(text.starts_with(expected), "{text}");
    assert_eq!(
        json,
        json!([{"image": "api:2", "failed": "not found", "at": at}])
    );
}

#[test]
fn a_gate_that_cannot_start_says_why() {
    let pod = json!({"metadata": {"namespace": "shop", "name": "api-1", "labels": {"sluice.dev/gated": "true"}}});
    let told = PodTold::new(
        &pod,
        answer(false, "JobNotComplete"),
        GateWord::Nothing,
        vec![],
    );
    let told = told.kept_by(
        Some("FailedMount: secret \"tls\" not found".to_owned()),
        vec![],
    );
    let expected = "pod shop/api-1: its gate has not started yet; its dependencies:\n  \
                    gate  cannot start: FailedMount: secret \"tls\" not found\n  wait  Job/migrate";
    let text = told.text(plain(), Timestamp::UNIX_EPOCH);
    assert!(text.starts_with(expected), "{text}");
    let json = serde_json::to_value(told.json()).unwrap();
    assert_eq!(json["notStarted"], "FailedMount: secret \"tls\" not found");
}

/// The note that a pod of the revision has passed is not shown for a pod whose own gate has just opened: it may be about this very pod.
#[test]
fn a_pod_that_has_just_passed_is_not_told_of_as_of_another_one() {
    let note = "asking again: a pod of this revision has passed its gate before";
    let opened = || Answer {
        verdict: Decision::Open,
        dependencies: vec![],
        note: Some(note.to_owned()),
        ..answer(true, "Satisfied")
    };
    let pod = waiting_pod();
    let told = |word| {
        let told = PodTold::new(&pod, opened(), word, vec![]);
        told.text(plain(), Timestamp::UNIX_EPOCH)
    };
    assert_eq!(
        told(GateWord::Nothing),
        "pod shop/api-1 is about to start\n"
    );
    let waits = told(said(SAYS));
    assert!(waits.contains(&format!("open  without {note}")), "{waits}");
}
