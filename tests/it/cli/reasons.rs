//! For each reason, the gate, `status`, `graph` and `ui` give the same answer about the same objects of one API server. Controller, gate and command
//! are the real processes.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a value that is written in its place reads better"
)]

mod cases;
mod cluster;
mod controller;
mod drawn;

use super::api::Api;
use super::{Ran, run};
use cases::{Case, Shown, case, cases, config_map, namespace, on, pod};
use cluster::cluster;
use controller::Controller;
use harness::process::Process;
use rules::judged::Reason;
use serde_json::{Value, json};
use tempfile::TempDir;
use wire::said;
use wire::{Answer, Decision};

fn status(api: &Api, namespace: &str) -> Ran {
    let kubeconfig = api.kubeconfig(false);
    let path = kubeconfig.path().to_str().unwrap();
    run(
        &[
            "status",
            "api",
            "-n",
            namespace,
            "-o",
            "json",
            "--kubeconfig",
            path,
        ],
        "",
    )
}

/// Compares the answer of `status` for a reason with `line`, the gate's last word: decision, reason and text must agree. An error describes the
/// difference.
fn compare(api: &Api, reason: Reason, case: &Case, line: &str) -> Result<(), String> {
    api.log(&pod(reason, case), &format!("{line}\n"));
    let ran = status(api, &namespace(reason));
    let complain = |what: &str| {
        Err(format!(
            "{reason}: {what}\n  gate: {line}\n  command: {:?} {}{}",
            ran.code, ran.out, ran.error
        ))
    };
    let Ok(told) = serde_json::from_str::<Value>(&ran.out) else {
        return complain("no answer");
    };
    let answer: Answer = serde_json::from_value(told.clone()).unwrap();
    let open = line.contains(": open");
    if (answer.verdict == Decision::Open) != open || ran.code != Some(if open { 0 } else { 3 }) {
        return complain("another decision");
    }
    if !answer
        .dependencies
        .iter()
        .any(|it| it.reason == reason.label())
    {
        return complain("another reason");
    }
    // The whole text: dependency, status, reason and message.
    if said::unsatisfied(&answer).is_some_and(|text| !line.ends_with(&text)) {
        return complain("another text");
    }
    if told["differs"] == true || told["unseen"].is_array() {
        return complain("it should see the same");
    }
    Ok(())
}

/// Waits until the gate has written its line for a reason, and returns the difference between it and the command's answer; `None` where they agree.
fn complaint(
    api: &Api,
    (mut gate, _folder): (Process, TempDir),
    reason: Reason,
    case: &Case,
) -> Option<String> {
    let opens = matches!(
        reason,
        Reason::Satisfied | Reason::OptionalNotFound | Reason::Remembered | Reason::GivenUp
    );
    let line = gate.line(&if opens {
        "open after".to_owned()
    } else {
        format!("({reason}")
    });
    compare(api, reason, case, &line).err()
}

#[test]
fn the_command_says_what_the_gate_says_for_every_reason() {
    let cases = cases();
    let api = Api::start(&cluster(&cases));
    let controller = Controller::start(&api);
    // A look for pods without a node makes the controller watch them; a later look sees them at once.
    let (early, late): (Vec<_>, Vec<_>) = cases
        .iter()
        .partition(|(reason, _)| *reason != Reason::Unschedulable);
    let mut complaints = Vec::new();
    for group in [early, late] {
        complaints.extend(std::thread::scope(|scope| {
            let api = &api;
            let asked: Vec<_> = group
                .into_iter()
                .map(|(reason, case)| {
                    let gate = controller.gate(&namespace(*reason));
                    scope.spawn(move || complaint(api, gate, *reason, case))
                })
                .collect();
            let told = asked.into_iter().map(|it| it.join().unwrap());
            told.flatten().collect::<Vec<_>>()
        }));
    }
    // Only then, so that they take no time from the gates.
    for some in cases.chunks(4) {
        complaints.extend(std::thread::scope(|scope| {
            let api = &api;
            let drawn = some.iter().map(|(reason, _)| {
                scope.spawn(move || {
                    let told = status(api, &namespace(*reason)).out;
                    drawn::compare(api, *reason, &told).err()
                })
            });
            let drawn: Vec<_> = drawn.collect();
            let told = drawn.into_iter().map(|it| it.join().unwrap());
            told.flatten().collect::<Vec<_>>()
        }));
    }
    crate::settle(cases.len(), &complaints);
}

/// A fact that only a replica knows is shown from the gate's log, beside the command's own judgement.
#[test]
fn what_the_command_cannot_find_out_is_shown_from_the_gate() {
    for &reason in Reason::ALL {
        let Shown::ByTheGate(why) = case(reason) else {
            continue;
        };
        assert!(!why.is_empty());
        let there = on("configmap/go", [config_map("go")]);
        let api = Api::start(&cluster(&[(Reason::Satisfied, there)]));
        let pod = pod(Reason::Satisfied, &on("configmap/go", []));
        let word = format!("waiting 3s for ConfigMap/go: Unknown ({reason}: so it is)");
        api.log(&pod, &format!("sluice-gate: {word}\n"));
        let ran = status(&api, &namespace(Reason::Satisfied));
        let told: Value = serde_json::from_str(&ran.out).unwrap();
        assert_eq!(
            (&told["gate"], &told["differs"]),
            (&json!(word), &json!(true))
        );
        assert_eq!(
            (&told["verdict"], ran.code),
            (&json!("open"), Some(3)),
            "{}",
            ran.out
        );
    }
}

/// Only the gate knows what came of an address outside of the cluster. Its log tells `status`, `graph` and `ui` alike.
#[test]
fn what_a_gate_saw_of_an_address_is_told_alike() {
    let address = "tcp://db.example.com:5432";
    let complaints: Vec<String> = [
        Reason::ConnectionRefused,
        Reason::NoSuchName,
        Reason::HttpStatus,
        Reason::NoVariable,
    ]
    .into_iter()
    .filter_map(|reason| {
        let waits = on(address, []);
        let pod = pod(reason, &waits);
        let api = Api::start(&cluster(&[(reason, waits)]));
        let word = format!("waiting 5s for {address}: InProgress ({reason}: so it is)");
        api.log(&pod, &format!("sluice-gate: {word}\n"));
        let told = status(&api, &namespace(reason)).out;
        let seen = told.contains(reason.label()) && told.contains("so it is");
        let complaint = (!seen).then_some(told.clone());
        complaint.or_else(|| drawn::compare(&api, reason, &told).err())
    })
    .collect();
    crate::settle(4, &complaints);
}

/// A caller that may not read whether a namespace consents is told by the gate that it does not, and which right is missing.
#[test]
fn what_the_caller_may_not_judge_is_told_by_the_gate() {
    let reason = Reason::NotPermitted;
    let Shown::By(case) = case(reason) else {
        panic!("it has a case")
    };
    let of_gate = pod(reason, &case);
    let api = Api::start(&cluster(&[(reason, case)]));
    api.hide("/api/v1/namespaces/elsewhere");
    let told = || serde_json::from_str::<Value>(&status(&api, &namespace(reason)).out).unwrap();
    let right = "you may not read Namespace objects, so ";
    let blind = told();
    let dependency = &blind["dependencies"][0];
    assert_eq!(dependency["reason"], "Unjudgeable", "{blind}");
    let message = dependency["message"].as_str().unwrap_or_default();
    assert!(message.starts_with(right), "{blind}");

    let why = "Namespace elsewhere has not agreed";
    let word = format!("waiting 3s for elsewhere/ConfigMap/go: Unknown (NotPermitted: {why})");
    api.log(&of_gate, &format!("sluice-gate: {word}\n"));
    let told = told();
    let dependency = &told["dependencies"][0];
    assert_eq!(
        (&dependency["reason"], &dependency["message"]),
        (&json!("NotPermitted"), &json!(why)),
        "{told}"
    );
    assert_eq!(told["differs"], false, "{told}");
    let line = format!("{right}the word of the gate is shown for elsewhere/ConfigMap/go; ");
    let shown = |text: &str| text.matches(&line).count();
    assert_eq!(shown(&told["unseen"].to_string()), 1, "{told}");
    drawn::compare(&api, reason, &told.to_string()).unwrap();

    let kubeconfig = api.kubeconfig(false);
    let path = kubeconfig.path().to_str().unwrap();
    for command in ["status", "graph"] {
        let args = [command, "-n", &namespace(reason), "--kubeconfig", path];
        let ran = run(&args, "");
        assert!(ran.out.contains("NotPermitted"), "{}", ran.out);
        assert!(!ran.out.contains("Unjudgeable"), "{}", ran.out);
        assert_eq!(shown(&ran.error), 1, "{}", ran.error);
        let left_out = ran.error.contains("list configmaps in namespace elsewhere");
        assert_eq!(left_out, command == "graph", "{}", ran.error);
    }
}

/// A caller with fewer rights than sluice is told what is missing, and nothing is guessed for it in silence.
#[test]
fn what_the_caller_may_not_see_is_said() {
    let reason = Reason::Remembered;
    let Shown::By(remembered) = case(reason) else {
        panic!("it has a case")
    };
    let api = Api::start(&cluster(&[(reason, remembered)]));
    for path in [
        "/apis/apps/v1/namespaces/sluice-system/deployments",
        "/apis/rbac.authorization.k8s.io/v1/clusterroles",
        "/api/v1/namespaces/sluice-system/configmaps",
        "/api/v1/namespaces/remembered/pods/api/log",
    ] {
        api.hide(path);
    }
    let ran = status(&api, &namespace(reason));
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    let unseen = told["unseen"].to_string();
    for part in [
        "cannot see sluice's settings: judged by the chart's defaults",
        "cannot see what sluice may read",
        "cannot see what sluice remembers",
    ] {
        assert!(unseen.contains(part), "{unseen}");
    }
    assert!(
        told["unheard"].to_string().contains("pods/log"),
        "{}",
        ran.out
    );
    let job = &told["dependencies"][0];
    assert_eq!(
        (&job["status"], &job["satisfied"]),
        (&json!("Unknown"), &json!(false))
    );
    let right = "the right to get ConfigMap sluice-memory, sluice-memory-1, sluice-memory-2, sluice-memory-3 in namespace sluice-system";
    assert!(job["message"].to_string().contains(right), "{}", ran.out);
    assert_eq!(ran.code, Some(3));

    api.hide("/apis/batch/v1/namespaces/remembered/jobs");
    let ran = status(&api, &namespace(reason));
    let told: Value = serde_json::from_str(&ran.out).unwrap();
    let job = &told["dependencies"][0];
    assert_eq!(job["reason"], "Unjudgeable", "{}", ran.out);
    assert!(
        job["message"]
            .to_string()
            .contains("you may not read Job objects"),
        "{}",
        ran.out
    );
}
