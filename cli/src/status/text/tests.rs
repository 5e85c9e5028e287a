use super::*;
use crate::gate_log::GateWord;
use crate::status::creations::HeldCreation;
use crate::status::events::{EventFacts, EventSubject, Trouble};
use crate::status::tree::Lacking;
use crate::style::Color;
use rules::cause::Pull;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use wire::Decision;

fn time(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn report(dependency: &str, satisfied: bool) -> Report {
    let (status, reason) = if satisfied {
        ("Current", "Satisfied")
    } else {
        ("InProgress", "JobNotComplete")
    };
    Report {
        dependency: dependency.to_owned(),
        name: dependency.to_owned(),
        satisfied,
        status: status.to_owned(),
        reason: reason.to_owned(),
        message: (!satisfied).then(|| "active: 1".to_owned()),
        turns: Vec::new(),
    }
}

fn pod(name: &str, stage: Stage, answer: Option<Answer>) -> Pod {
    let opened = (!stage.waits()).then(|| time("2026-01-01T00:00:17Z"));
    Pod {
        name: name.to_owned(),
        namespace: "shop".to_owned(),
        uid: name.to_owned(),
        stage,
        gated: true,
        since: Some(time("2026-01-01T00:00:00Z")),
        opened,
        node: Some("n1".to_owned()),
        answer,
        roots: Vec::new(),
        unjudged: Vec::new(),
        unknown: None,
        stranded: None,
        not_started: None,
        trouble: None,
        images: Vec::new(),
        pulls: Vec::new(),
        gate: None,
    }
}

fn shop() -> Tree {
    let waits = Answer {
        verdict: Decision::Wait,
        digest: String::new(),
        dependencies: vec![report("Job/migrate", false), report("StatefulSet/db", true)],
        note: None,
        probes: Vec::new(),
        for_good: false,
    };
    let workload = |name: &str, pods| Workload {
        namespace: "shop".to_owned(),
        name: name.to_owned(),
        release: Some("shop".to_owned()),
        refused: None,
        pods,
    };
    Tree {
        pods: 3,
        waiting: 2,
        workloads: vec![
            workload(
                "Deployment/api",
                vec![
                    pod("api-1", Stage::Waits, Some(waits.clone())),
                    pod("api-2", Stage::Waits, Some(waits)),
                ],
            ),
            workload("Job/migrate", vec![pod("migrate-x", Stage::Ready, None)]),
        ],
        ..Tree::new("release shop in namespace shop".to_owned())
    }
}

fn told(tree: &Tree, wide: bool, color: Color) -> String {
    let view = TreeView {
        wide,
        style: Style::new(color, false, false),
        now: time("2026-01-01T00:01:03Z"),
        width: None,
    };
    view.lines(tree).all().join("\n")
}

#[test]
fn a_tree_has_workloads_their_pods_and_what_each_waits_for() {
    let expected = "\
release shop in namespace shop: 2 of 3 pods with a gate wait

Deployment/api
└─ wait  api-1, api-2  wait for 1 of 2 dependencies, 1m03s so far
     wait  Job/migrate  InProgress  JobNotComplete: active: 1

Job/migrate
└─ ok    migrate-x  ready, after 17s at its gate";
    assert_eq!(told(&shop(), false, Color::Never), expected);
}

#[test]
fn wide_has_everything_and_colour_marks_it() {
    let expected = "\
\x1b[1mDeployment/api\x1b[0m  release shop
├─ \x1b[33m◌\x1b[0m  api-1  waits for 1 of 2 dependencies, 1m03s so far (on n1)
│    gate  waiting
│    \x1b[33m◌\x1b[0m  Job/migrate     InProgress  JobNotComplete: active: 1
│    \x1b[32m✓\x1b[0m  StatefulSet/db  Current     Satisfied
";
    let mut tree = shop();
    tree.workloads[0].pods[0].gate = Some("waiting".to_owned());
    let told = told(&tree, true, Color::Always);
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_pod_whose_gate_has_opened_says_what_keeps_its_containers() {
    let mut tree = shop();
    let pod = &mut tree.workloads[1].pods[0];
    pod.stage = Stage::Starts;
    pod.trouble = Some("it cannot pull image shop/migrate:2".to_owned());
    let told = told(&tree, false, Color::Never);
    let expected = "starts, after 17s at its gate\n     pod   it cannot pull image shop/migrate:2";
    assert!(told.ends_with(expected), "{told}");
}

#[test]
fn a_stranded_pod_is_told_so_and_waits_for_nothing_else() {
    let mut tree = shop();
    tree.strand(&BTreeSet::from([
        "api-1".to_owned(),
        "migrate-x".to_owned(),
    ]));
    let expected = format!(
        "\
├─ fail  api-1  waits, 1m03s so far
│    pod   it is stranded: {}
└─ wait  api-2  waits for 1 of 2 dependencies, 1m03s so far
     wait  Job/migrate  InProgress  JobNotComplete: active: 1
",
        crate::stranded::WHY
    );
    let told = told(&tree, false, Color::Never);
    assert!(told.contains(&expected), "{told}");
    assert!(
        told.ends_with("migrate-x  ready, after 17s at its gate"),
        "{told}"
    );
}

#[test]
fn pods_whose_gates_say_the_same_are_one_row() {
    let mut tree = shop();
    for (pod, time) in tree.workloads[0].pods.iter_mut().zip(["3s", "1m02s"]) {
        pod.gate = Some(format!("waiting {time} for Job/migrate: NotFound"));
    }
    let expected = "\
└─ wait  api-1, api-2  wait for 1 of 2 dependencies, 1m03s so far
     gate  waiting 1m03s for Job/migrate: NotFound
";
    let told = told(&tree, false, Color::Never);
    assert!(told.contains(expected), "{told}");
}

#[test]
fn several_namespaces_are_told_apart_and_nothing_breaks_a_line() {
    let mut tree = shop();
    tree.workloads[1].namespace = "other".to_owned();
    tree.workloads[0].name = "Deployment/\x1b[2Japi".to_owned();
    let told = told(&tree, false, Color::Never);
    assert!(told.contains("\nother/Job/migrate\n"), "{told}");
    assert!(!told.contains('\x1b'), "{told}");
}

#[test]
fn what_is_judged_open_is_not_said_to_wait_for_something() {
    let mut tree = shop();
    for pod in &mut tree.workloads[0].pods {
        for report in pod.answer.iter_mut().flat_map(|it| &mut it.dependencies) {
            report.satisfied = true;
        }
        if let Some(answer) = &mut pod.answer {
            answer.verdict = Decision::Open;
            answer.note = Some("asking again: another pod has passed".to_owned());
        }
    }
    let first = tree.pods().next().unwrap();
    assert!(first.is_disputed());
    let before = told(&tree, false, Color::Never);
    assert!(
        before.contains("api-1, api-2  wait, 1m03s so far\n"),
        "{before}"
    );
    assert!(
        !before.contains("asking again"),
        "it may be this very pod: {before}"
    );

    let said = wire::said::last("sluice-gate: open after 3s").unwrap();
    tree.hear(&BTreeMap::from([(first.uid.clone(), GateWord::Said(said))]));
    let after = told(&tree, false, Color::Never);
    assert!(after.contains("api-1  starts\n"), "{after}");
    assert!(
        tree.pods().next().unwrap().answer.is_none(),
        "nothing is behind it"
    );
    assert_eq!(tree.waiting, 1, "{after}");
}

#[test]
fn a_reason_that_is_the_status_is_said_once() {
    let mut tree = shop();
    let first = &mut tree.workloads[0].pods[0];
    let reports = &mut first.answer.as_mut().unwrap().dependencies;
    reports[0].reason = "InProgress".to_owned();
    reports[1] = Report {
        status: "NotFound".to_owned(),
        reason: "NotFound".to_owned(),
        message: None,
        ..report("StatefulSet/db", false)
    };
    let told = told(&tree, false, Color::Never);
    let expected =
        "wait  Job/migrate     InProgress  active: 1\n│    wait  StatefulSet/db  NotFound\n";
    assert!(told.contains(expected), "{told}");
}

#[test]
fn a_held_creation_is_told_with_the_tries_that_are_left() {
    let tree = Tree {
        creations: vec![HeldCreation {
            namespace: "shop".to_owned(),
            name: "Issuer/ca".to_owned(),
            since: "2026-01-01T00:00:00Z".parse().unwrap(),
            tries_left: 4,
            why: "Job/seed (NotFound)".to_owned(),
        }],
        ..Tree::new("namespace shop".to_owned())
    };
    let lines = told(&tree, false, Color::Never);
    let expected = [
        "namespace shop: nothing waits; the creation of 1 object is held",
        "",
    ];
    assert_eq!(lines.lines().take(2).collect::<Vec<_>>(), expected);
    assert!(
        lines.contains("shop/Issuer/ca waits to be created, "),
        "{lines}"
    );
    assert!(
        lines.ends_with("so far, 4 tries left: Job/seed (NotFound)"),
        "{lines}"
    );
}

#[test]
fn an_object_without_pods_has_none_that_wait() {
    let tree = Tree {
        podless: true,
        ..Tree::new("Service db in namespace shop".to_owned())
    };
    let expected = "Service db in namespace shop: it has no pods, so none that wait; \
                    kubectl sluice graph shows what waits for it";
    assert_eq!(told(&tree, false, Color::Never), expected);
}

fn of_trouble(event: &Value) -> EventFacts {
    EventFacts {
        trouble: Trouble::newest(std::slice::from_ref(event)),
        pulls: Vec::new(),
    }
}

#[test]
fn an_image_that_is_pulled_early_is_told_before_its_gate_begins_and_after() {
    let pull = |image: &str, failed: Option<&str>| Pull {
        image: image.to_owned(),
        failed: failed.map(ToOwned::to_owned),
        at: "2026-01-01T00:00:00Z".to_owned(),
    };
    let facts = |pulls: Vec<Pull>| EventFacts {
        trouble: None,
        pulls,
    };
    let mut tree = shop();
    let pod = &mut tree.workloads[0].pods[1];
    (pod.since, pod.images) = (None, vec!["api:2".to_owned(), "side:1".to_owned()]);
    let uid = pod.uid.clone();
    let asked = tree.silent().find(|it| it.uid == uid).unwrap();
    assert_eq!(asked.images, ["api:2", "side:1"]);
    let both = vec![pull("api:2", None), pull("side:1", Some("not found"))];
    tree.learn(&BTreeMap::from([(uid.clone(), facts(both))]));
    let shown = told(&tree, false, Color::Never);
    let began = "its images are being pulled, and its gate begins then\n";
    assert!(shown.contains(began), "{shown}");
    assert!(shown.contains("image  pulling image api:2, "), "{shown}");
    let failed = "image  cannot pull image side:1: not found (tried ";
    assert!(shown.contains(failed), "{shown}");
    assert!(!shown.contains("cannot start"), "{shown}");

    tree.workloads[0].pods[1].since = Some(time("2026-01-01T00:00:00Z"));
    let failed = facts(vec![pull("side:1", Some("not found"))]);
    tree.learn(&BTreeMap::from([(uid, failed)]));
    let shown = told(&tree, false, Color::Never);
    let failed = "image  cannot pull image side:1: not found (tried ";
    assert!(shown.contains(failed) && !shown.contains(began), "{shown}");
}

#[test]
fn a_gate_that_cannot_start_says_why() {
    let mut tree = shop();
    let pod = &mut tree.workloads[0].pods[1];
    pod.since = None;
    assert!(pod.is_to_start());
    let uid = pod.uid.clone();
    let event = |reason: &str| json!({"type": "Warning", "reason": reason, "message": "secret \"client-cert\" not found"});
    tree.learn(&BTreeMap::from([(uid, of_trouble(&event("FailedMount")))]));
    let told = told(&tree, false, Color::Never);
    let expected = "gate  cannot start: FailedMount: secret \"client-cert\" not found\n";
    assert!(told.contains(expected), "{told}");
    assert!(!tree.workloads[0].pods[1].is_to_start(), "it is known");
}

#[test]
fn a_workload_whose_pods_are_refused_says_why() {
    let strict = || Workload {
        namespace: "shop".to_owned(),
        name: "Deployment/strict".to_owned(),
        release: None,
        refused: None,
        pods: Vec::new(),
    };
    let mut tree = Tree {
        podless: true,
        ..Tree::new("Deployment strict in namespace shop".to_owned())
    };
    let why = "minimum memory usage per Container is 32Mi, but request is 8Mi";
    tree.refuse(strict(), why.to_owned());
    let expected = "Deployment strict in namespace shop: it has no pods, since they are refused\n\nDeployment/strict\n\
                    fail  its pods are refused: minimum memory usage per Container is 32Mi, but request is 8Mi";
    assert_eq!(told(&tree, false, Color::Never), expected);

    let mut tree = shop();
    tree.refuse(tree.workloads[0].clone(), why.to_owned());
    let shown = told(&tree, false, Color::Never);
    let expected = "2 of 3 pods with a gate wait; the pods of 1 workload are refused\n\nDeployment/api\n\
                    fail  more pods are refused: minimum";
    assert!(shown.contains(expected), "{shown}");
    assert_eq!(tree.workloads.len(), 2);

    // A StatefulSet has no condition for it: an Event says so.
    let mut tree = Tree::new("namespace shop".to_owned());
    tree.lacking.push(Lacking {
        uid: "u".to_owned(),
        workload: strict(),
    });
    let expected = EventSubject {
        namespace: "shop",
        uid: "u",
        images: &[],
    };
    assert_eq!(tree.silent().collect::<Vec<_>>(), [expected]);
    let event = json!({"type": "Warning", "reason": "FailedCreate", "message": "pods \"a\" is forbidden: exceeded quota: q"});
    tree.learn(&BTreeMap::from([("u".to_owned(), of_trouble(&event))]));
    assert_eq!(
        headline(&tree),
        "namespace shop: nothing waits; the pods of 1 workload are refused"
    );
    assert_eq!(
        tree.workloads[0].refused.as_deref(),
        Some("exceeded quota: q")
    );
}
