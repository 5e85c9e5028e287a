//! The pods and Jobs that sluice holds: how `status` shows them, and how `release` frees them.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a value that is written in its place reads better"
)]

use super::api::Api;
use super::{Ran, run};
use serde_json::{Value, json};

const QUOTA: &str = "example.com/quota";
const HOLD: &str = "sluice.dev/hold";

fn object(version: &str, kind: &str, namespace: &str, name: &str, rest: Value) -> Value {
    let metadata = json!({"name": name, "namespace": namespace, "uid": name});
    let mut made = json!({"apiVersion": version, "kind": kind, "metadata": metadata});
    json_patch::merge(&mut made, &rest);
    made
}

/// A pod with a gate that has not started, kept from its node by these scheduling gates.
fn pod(namespace: &str, name: &str, gates: &[&str]) -> Value {
    let gates: Vec<_> = gates.iter().map(|it| json!({ "name": it })).collect();
    object(
        "v1",
        "Pod",
        namespace,
        name,
        json!({
            "metadata": {
                "labels": {"sluice.dev/gated": "true"},
                "annotations": {"sluice.dev/held": "true", "sluice.dev/depends-on": "job/migrate"},
                "creationTimestamp": "2026-01-01T00:00:00Z",
            },
            "spec": {"schedulingGates": gates, "initContainers": [{"name": "sluice-gate"}]},
            "status": {"phase": "Pending"},
        }),
    )
}

/// Returns a suspended Job, with the note of sluice if sluice suspended it.
fn job(namespace: &str, name: &str, by_sluice: bool) -> Value {
    let noted = by_sluice.then_some("true");
    let annotations = json!({"sluice.dev/suspended": noted, "sluice.dev/hold": "suspend"});
    let rest = json!({"metadata": {"annotations": annotations}, "spec": {"suspend": true}});
    object("batch/v1", "Job", namespace, name, rest)
}

fn ask(api: &Api, args: &[&str]) -> Ran {
    let kubeconfig = api.kubeconfig(false);
    let path = kubeconfig.path().to_str().unwrap();
    run(&[args, &["--kubeconfig", path]].concat(), "")
}

/// Returns the names of the scheduling gates that a stored pod has now, and whether it is annotated to pass its gate.
fn left(api: &Api, pod: &Value) -> (Vec<String>, bool) {
    let now = api.now(pod);
    let gates = now["spec"]["schedulingGates"].as_array().cloned();
    let gates = gates.into_iter().flatten();
    let names = gates.map(|gate| gate["name"].as_str().unwrap().to_owned());
    let skipped = now["metadata"]["annotations"]["sluice.dev/skip"] == "true";
    (names.collect(), skipped)
}

fn names(gates: &[&str]) -> Vec<String> {
    gates.iter().map(|it| (*it).to_owned()).collect()
}

#[test]
fn a_held_pod_is_let_go_where_no_sluice_is_and_nothing_else_of_it_is_taken_away() {
    let web = pod("shop", "web", &[QUOTA, HOLD]);
    let api = Api::start(std::slice::from_ref(&web));
    let ran = ask(&api, &["release", "web", "-n", "shop", "--reason", "drill"]);
    assert_eq!((ran.code, ran.error.as_str()), (Some(0), ""));
    let expected = "Pod shop/web is held no more; scheduling gates that are not sluice's still keep it from a node: example.com/quota.\n\
        Pod shop/web is annotated with sluice.dev/skip: \"true\": its gate opens, whatever it waits for.\n\
        To undo it: kubectl annotate pods/web --namespace shop sluice.dev/skip- sluice.dev/skip-reason-; the hold does not come back\n";
    assert_eq!(ran.out, expected);
    assert_eq!(left(&api, &web), (names(&[QUOTA]), true));
    let reason = &api.now(&web)["metadata"]["annotations"]["sluice.dev/skip-reason"];
    assert_eq!(reason, "drill");
}

#[test]
fn what_somebody_else_changes_meanwhile_is_looked_at_again() {
    let before = pod("shop", "web", &[HOLD, QUOTA]);
    let api = Api::start(std::slice::from_ref(&before));
    api.be_faster(&pod("shop", "web", &[QUOTA, HOLD]));
    let ran = ask(&api, &["release", "web", "-n", "shop"]);
    assert_eq!((ran.code, ran.error.as_str()), (Some(0), ""));
    assert_eq!(left(&api, &before), (names(&[QUOTA]), true));

    // sluice has let it go itself.
    let api = Api::start(std::slice::from_ref(&before));
    api.be_faster(&pod("shop", "web", &[QUOTA]));
    let ran = ask(&api, &["release", "web", "-n", "shop"]);
    assert_eq!((ran.code, ran.error.as_str()), (Some(0), ""));
    assert_eq!(left(&api, &before), (names(&[QUOTA]), true));

    let mut another = pod("shop", "web", &[HOLD, QUOTA]);
    another["metadata"]["uid"] = json!("another");
    let api = Api::start(std::slice::from_ref(&before));
    api.be_faster(&another);
    let ran = ask(&api, &["release", "web", "-n", "shop"]);
    assert_eq!(ran.error, "error: Pod shop/web is gone\n");
    assert_eq!(left(&api, &another), (names(&[HOLD, QUOTA]), false));
}

#[test]
fn without_the_right_to_patch_it_nothing_is_let_go() {
    let web = pod("shop", "web", &[HOLD]);
    let api = Api::start(std::slice::from_ref(&web));
    api.seal("/api/v1/namespaces/shop/pods");
    let missing = "you may not patch pods in namespace shop; an administrator gives the right by kubectl create rolebinding NAME \
        --clusterrole=edit --user=YOU -n shop\n";
    let ran = ask(&api, &["release", "web", "-n", "shop"]);
    assert_eq!(
        ran.error,
        format!("error: cannot release Pod shop/web: {missing}")
    );
    let ran = ask(&api, &["release", "--all-holds"]);
    let expected =
        format!("Pod shop/web: cannot be released: {missing}error: 1 of 1 could not be released\n");
    assert_eq!((ran.error, ran.code), (expected, Some(1)));
    assert_eq!(left(&api, &web), (names(&[HOLD]), false));

    api.hide("/apis/batch/v1/jobs");
    let ran = ask(&api, &["release", "--all-holds"]);
    assert!(
        ran.error
            .contains("you may not list jobs.batch in all namespaces; "),
        "{}",
        ran.error
    );
}

#[test]
fn whatever_is_held_is_let_go_and_nothing_else() {
    let held = pod("shop", "web", &[HOLD]);
    let elsewhere = pod("data", "db", &[HOLD]);
    let waiting = pod("shop", "api", &[QUOTA]);
    let mut leaving = pod("shop", "old", &[HOLD]);
    leaving["metadata"]["deletionTimestamp"] = json!("2026-01-01T00:00:00Z");
    let (ours, theirs) = (job("shop", "seed", true), job("shop", "later", false));
    let mut resumed = job("shop", "on", true);
    resumed["spec"]["suspend"] = json!(false);
    let all = [
        &held, &elsewhere, &waiting, &leaving, &ours, &theirs, &resumed,
    ]
    .map(Clone::clone);
    let api = Api::start(&all);
    let unchanged = || all.iter().all(|it| api.now(it) == *it);

    let ran = ask(&api, &["release", "--all-holds", "--dry-run"]);
    let lines = [
        "Job shop/seed: resumed; the gates of its pods open (dry run)",
        "Pod data/db: held no more; its gate opens (dry run)",
        "Pod shop/web: held no more; its gate opens (dry run)",
        "3 objects released (dry run). ",
    ];
    for (line, start) in ran.out.lines().zip(lines) {
        assert!(line.starts_with(start), "{}{}", ran.out, ran.error);
    }
    assert_eq!(
        (ran.out.lines().count(), ran.code),
        (4, Some(0)),
        "{}",
        ran.error
    );
    assert!(unchanged());

    let ran = ask(&api, &["release", "--all-holds", "-n", "shop"]);
    let lines: Vec<_> = ran.out.lines().collect();
    let expected = [
        "Job shop/seed: resumed; the gates of its pods open",
        "Pod shop/web: held no more; its gate opens",
        "2 objects released. Each carries sluice.dev/skip: \"true\" now, which kubectl annotate KIND/NAME --namespace NAMESPACE \
         sluice.dev/skip- takes away; a hold does not come back.",
    ];
    assert_eq!(lines, expected, "{}", ran.error);
    assert_eq!(left(&api, &held), (Vec::new(), true));
    let now = api.now(&ours);
    let expected = json!({"sluice.dev/hold": "suspend", "sluice.dev/skip": "true"});
    assert_eq!(
        (&now["spec"]["suspend"], &now["metadata"]["annotations"]),
        (&json!(false), &expected)
    );
    for other in [&elsewhere, &waiting, &leaving, &theirs, &resumed] {
        assert_eq!(api.now(other), *other);
    }

    let ran = ask(&api, &["release", "--all-holds", "--namespace", "shop"]);
    let nothing = "nothing is held: there is nothing to release\n";
    assert_eq!((ran.out.as_str(), ran.code), (nothing, Some(0)));
    assert_eq!(ask(&api, &["release", "--all-holds"]).code, Some(0));
    assert_eq!(left(&api, &elsewhere), (Vec::new(), true));
}

#[test]
fn more_than_one_answer_has_room_for_is_let_go() {
    let pods: Vec<_> = (0..1201)
        .map(|at| pod("shop", &format!("web-{at}"), &[HOLD]))
        .collect();
    let api = Api::start(&pods);
    let ran = ask(&api, &["release", "--all-holds"]);
    assert!(
        ran.out.contains("\n1201 objects released. "),
        "{}",
        ran.error
    );
    assert!(pods.iter().all(|pod| left(&api, pod) == (Vec::new(), true)));
}

#[test]
fn a_pod_or_all_holds_are_named_and_not_both() {
    for args in [
        &["release"][..],
        &["release", "web", "--all-holds"],
        &["release", "--all-holds", "--owner"],
    ] {
        assert_eq!(run(args, "").code, Some(2), "{args:?}");
    }
}

#[test]
fn a_hold_where_no_pod_carries_it_is_found_with_its_place() {
    let input = "
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {sluice.dev/hold: enabled}}
---
apiVersion: batch/v1
kind: Job
metadata:
  name: migrate
  annotations:
    sluice.dev/hold: \"true\"
spec: {template: {spec: {containers: []}}}
---
apiVersion: v1
kind: Service
metadata: {name: db, annotations: {sluice.dev/hold: \"true\"}}
";
    let ran = run(&["lint", "-f", "-"], input);
    let expected = [
        "standard input:11:5: warning: Job migrate: sluice.dev/hold has no effect here; move it to the annotations of the pod template",
        "standard input:16:36: warning: Service db: sluice.dev/hold: it has no effect on a Service; only workloads and pods wait, unless sluice.dev/hold: create holds its own creation",
    ];
    let lines: Vec<_> = ran.out.lines().take(2).collect();
    assert_eq!(lines, expected, "{}{}", ran.out, ran.error);
}

/// Returns the Deployment of a controller with this value of `--holds` and this many ready replicas.
fn controller(holds: &str, ready: u64) -> Value {
    let arguments = json!([format!("--holds={holds}")]);
    json!({
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": "sluice", "namespace": "sluice-system",
            "labels": {"app.kubernetes.io/name": "sluice", "app.kubernetes.io/component": "controller"}},
        "spec": {"replicas": 2, "template": {"spec": {"containers": [{"image": "sluice-webhook:dev", "args": arguments}]}}},
        "status": {"readyReplicas": ready, "updatedReplicas": ready},
    })
}

#[test]
fn held_pods_that_nobody_lets_go_are_named_by_check() {
    let objects = [pod("shop", "web", &[HOLD]), job("shop", "seed", true)];
    let line = |more: &[Value]| {
        let all = [&objects, more].concat();
        let ran = ask(&Api::start(&all), &["check"]);
        let line = ran.out.lines().find(|line| line.contains("  holds: "));
        (line.unwrap_or_default().to_owned(), ran.code)
    };
    for (more, start) in [
        (
            &[][..],
            "problem  holds: without sluice nobody lets these go: Job shop/seed, Pod shop/web; ",
        ),
        (
            &[controller("off", 2)],
            "problem  holds: holds are off in this installation, so nobody lets these go: Job shop/seed, Pod shop/web; ",
        ),
        (
            &[controller("asked", 0)],
            "problem  holds: no replica is ready to let these go: Job shop/seed, Pod shop/web; ",
        ),
    ] {
        let (line, code) = line(more);
        assert!(line.starts_with(start), "{line}");
        assert_eq!(code, Some(1));
    }
    let (line, _) = line(&[controller("asked", 2)]);
    let expected = "ok       holds: held now: 1 pod, 1 Job; before an uninstall: kubectl sluice release --all-holds";
    assert_eq!(line, expected);
}

/// Starts an API server with a held pod that waits for a Job, which runs.
fn waits() -> Api {
    let namespace = json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}});
    let running = json!({"spec": {}, "status": {"startTime": "2026-01-01T00:00:00Z", "active": 1}});
    let migrate = object("batch/v1", "Job", "shop", "migrate", running);
    Api::start(&[namespace, migrate, pod("shop", "web", &[HOLD])])
}

#[test]
fn a_held_pod_is_said_to_be_held_with_what_it_waits_for() {
    let api = waits();
    let why = "wait  Job/migrate  InProgress  JobNotComplete: Job in progress. success:0, active: 1, failed: 0";
    let ran = ask(&api, &["status", "web", "-n", "shop"]);
    let expected = format!(
        "pod shop/web is held before it takes a node: it waits for 1 of 1 dependencies, since 2026-01-01T00:00:00Z\n  {why}\n"
    );
    assert_eq!((ran.out, ran.code), (expected, Some(3)), "{}", ran.error);
    let json = ask(&api, &["status", "web", "-n", "shop", "-o", "json"])
        .lines()
        .remove(0);
    assert_eq!(
        (&json["held"], &json["since"]),
        (&json!(true), &json!("2026-01-01T00:00:00Z"))
    );
    assert_eq!(json["dependencies"][0]["reason"], "JobNotComplete");

    let ran = ask(&api, &["status", "-n", "shop"]);
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(
        lines[0], "namespace shop: 1 of 1 pod with a gate waits",
        "{}",
        ran.error
    );
    assert!(
        lines[3].starts_with("\u{2514}\u{2500} wait  web  held, waits for 1 of 1 dependency, "),
        "{lines:?}"
    );
    assert_eq!(lines[4], format!("     {why}"));
    let tree = ask(&api, &["status", "-n", "shop", "-o", "json"])
        .lines()
        .remove(0);
    let pod = &tree["workloads"][0]["pods"][0];
    assert_eq!(
        (&pod["stage"], &pod["since"]),
        (&json!("held"), &json!("2026-01-01T00:00:00Z"))
    );
}

#[test]
fn the_graph_says_which_pods_are_held() {
    let api = waits();
    let ran = ask(&api, &["graph", "-n", "shop"]);
    assert!(
        ran.out.contains("web  Pod/web, and is held\n"),
        "{}{}",
        ran.out,
        ran.error
    );
    let graph = ask(&api, &["graph", "-n", "shop", "-o", "json"])
        .lines()
        .remove(0);
    let gate = &graph["gates"][0];
    assert_eq!((&gate["pod"], &gate["held"]), (&json!("web"), &json!(true)));
    assert_eq!(gate["dependencies"][0]["reason"], "JobNotComplete");
}
