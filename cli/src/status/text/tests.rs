use super::*;
use crate::style::Color;
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
        unknown: None,
        gate: None,
    }
}

fn shop() -> Tree {
    let waits = Answer {
        verdict: Decision::Wait,
        digest: String::new(),
        dependencies: vec![report("Job/migrate", false), report("StatefulSet/db", true)],
        note: None,
    };
    let workload = |name: &str, pods| Workload {
        namespace: "shop".to_owned(),
        name: name.to_owned(),
        release: Some("shop".to_owned()),
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
    let view = View {
        wide,
        style: Style::new(color, false, false),
        now: time("2026-01-01T00:01:03Z"),
    };
    view.lines(tree).join("\n")
}

#[test]
fn a_tree_has_workloads_their_pods_and_what_each_waits_for() {
    let expected = "\
release shop in namespace shop: 2 of 3 pods with a gate wait

Deployment/api
├─ wait  api-1  waits for 1 of 2 dependencies, 1m03s so far
│    wait  Job/migrate  InProgress  JobNotComplete: active: 1
└─ wait  api-2  waits for the same, 1m03s so far

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
    if let Some(pod) = tree.pods_mut().next() {
        pod.gate = Some("waiting".to_owned());
    }
    let told = told(&tree, true, Color::Always);
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
    for pod in tree.pods_mut() {
        for report in pod.answer.iter_mut().flat_map(|it| &mut it.dependencies) {
            report.satisfied = true;
        }
        if let Some(answer) = &mut pod.answer {
            answer.verdict = Decision::Open;
        }
    }
    let first = tree.pods().next().unwrap();
    assert!(first.is_disputed());
    let told = told(&tree, false, Color::Never);
    assert!(told.contains("api-1  waits, 1m03s so far\n"), "{told}");
}
