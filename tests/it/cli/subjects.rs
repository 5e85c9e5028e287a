//! Tests of `status` for more than one pod: of workloads, releases and namespaces.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a value that is written in its place reads better"
)]

mod owners;
mod stranded;

use super::api::Api;
use super::{Ran, run};
use serde_json::{Value, json};

fn object(version: &str, kind: &str, name: &str, rest: Value) -> Value {
    let mut made = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop", "uid": name}});
    json_patch::merge(&mut made, &rest);
    made
}

fn owned_by(kind: &str, name: &str) -> Value {
    json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": true}])
}

/// Returns a pod below the ReplicaSet `owner`, whose gate's container has this state.
fn pod(name: &str, owner: &str, state: Value) -> Value {
    let gate = json!({"name": "sluice-gate", "env": [{"name": "SLUICE_SERVER_NAME", "value": "sluice.sluice-system.svc"}]});
    object(
        "v1",
        "Pod",
        name,
        json!({
            "metadata": {"labels": {"sluice.dev/gated": "true"}, "ownerReferences": owned_by("ReplicaSet", owner)},
            "spec": {"nodeName": "node", "initContainers": [gate]},
            "status": {"phase": "Pending", "initContainerStatuses": [{"name": "sluice-gate", "state": state}]},
        }),
    )
}

/// A Deployment of the release `shop` with this list, and a ReplicaSet of its name.
fn deployment(name: &str, list: &str) -> [Value; 2] {
    let annotations = json!({"sluice.dev/depends-on": list});
    let labels = json!({"app.kubernetes.io/instance": "shop"});
    [
        object(
            "apps/v1",
            "Deployment",
            name,
            json!({"metadata": {"annotations": annotations, "labels": labels}}),
        ),
        object(
            "apps/v1",
            "ReplicaSet",
            name,
            json!({"metadata": {"ownerReferences": owned_by("Deployment", name)}}),
        ),
    ]
}

fn namespace(name: &str) -> Value {
    json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
}

fn passed() -> Value {
    json!({"terminated": {"exitCode": 0, "startedAt": "2026-01-01T00:00:00Z", "finishedAt": "2026-01-01T00:00:17Z"}})
}

/// Starts an API server with two pods of `api` that wait for a Job, and one of `web` whose gate has opened.
fn shop() -> Api {
    let waiting = json!({"running": {"startedAt": "2026-01-01T00:00:00Z"}});
    let mut objects = vec![
        namespace("shop"),
        namespace("empty"),
        object(
            "batch/v1",
            "Job",
            "migrate",
            json!({"spec": {}, "status": {"startTime": "2026-01-01T00:00:00Z", "active": 1}}),
        ),
        pod("api-1", "api", waiting.clone()),
        pod("api-2", "api", waiting),
        pod("web-1", "web", passed()),
    ];
    objects.extend(deployment("api", "job/migrate"));
    objects.extend(deployment("web", ""));
    Api::start(&objects)
}

fn ask(api: &Api, args: &[&str]) -> Ran {
    let kubeconfig = api.kubeconfig(false);
    let path = kubeconfig.path().to_str().unwrap();
    run(&[&["status"], args, &["--kubeconfig", path]].concat(), "")
}

/// Returns the lines of the output up to their first comma, and so without durations.
fn shown(ran: &Ran) -> Vec<&str> {
    let lines = ran.out.lines();
    lines.map(|line| line.split(", ").next().unwrap()).collect()
}

const API: [&str; 6] = [
    "What holds the others up:",
    "wait  Job/migrate: Job in progress. success:0",
    "",
    "Deployment/api",
    "└─ wait  api-1",
    "     wait  Job/migrate  InProgress  JobNotComplete: Job in progress. success:0",
];

#[test]
fn what_waits_is_a_tree() {
    let api = shop();
    for (args, head, rest) in [
        (
            &["deploy/api", "-n", "shop"][..],
            "Deployment api in namespace shop: 2 of 2 pods with a gate wait",
            &[][..],
        ),
        (
            &["deployments.apps/api", "-n", "shop"],
            "Deployment api in namespace shop: 2 of 2 pods with a gate wait",
            &[],
        ),
        (
            &["-n", "shop"],
            "namespace shop: 2 of 3 pods with a gate wait",
            &[],
        ),
        (&["-A"], "all namespaces: 2 of 3 pods with a gate wait", &[]),
        (
            &["--release", "shop", "-n", "shop"],
            "release shop in namespace shop: 2 of 3 pods with a gate wait",
            &[
                "",
                "Deployment/web",
                "└─ ...   web-1  starts",
                "     pod   it is still being made: \"kubectl describe pod\" says what it lacks",
            ],
        ),
    ] {
        let ran = ask(&api, args);
        let expected = [&[head, ""], &API[..], rest].concat();
        assert_eq!(shown(&ran), expected, "{args:?}: {}", ran.error);
        assert_eq!(ran.code, Some(3), "{args:?}");
    }
}

#[test]
fn what_does_not_wait_is_told_and_is_no_error() {
    let api = shop();
    for (args, head) in [
        (
            &["deploy/web", "-n", "shop"][..],
            "Deployment web in namespace shop: nothing waits",
        ),
        (&["-n", "empty"], "namespace empty: nothing waits"),
        (
            &["pod/web-1", "-o", "wide", "-n", "shop"],
            "pod web-1 in namespace shop: nothing waits",
        ),
    ] {
        let ran = ask(&api, args);
        assert_eq!(
            ran.out.lines().next(),
            Some(head),
            "{args:?}: {}",
            ran.error
        );
        assert_eq!(ran.code, Some(0), "{args:?}");
    }
}

#[test]
fn a_tree_is_data_too() {
    let api = shop();
    let ran = ask(&api, &["-n", "shop", "-o", "json"]);
    let tree = ran.lines().remove(0);
    assert_eq!((&tree["waiting"], &tree["pods"]), (&json!(2), &json!(3)));
    let workload = &tree["workloads"][0];
    assert_eq!(workload["name"], "Deployment/api");
    let pod = &workload["pods"][0];
    assert_eq!(
        (&pod["name"], &pod["stage"]),
        (&json!("api-1"), &json!("waits"))
    );
    assert_eq!(pod["dependencies"][0]["reason"], "JobNotComplete");
    let yaml = ask(&api, &["-n", "shop", "-o", "yaml"]).out;
    assert!(
        yaml.starts_with("apiVersion: cli.sluice.dev/v1\nsubject: namespace shop\n"),
        "{yaml}"
    );
    let one = ask(&api, &["api-1", "-n", "shop", "-o", "yaml"]).out;
    let expected = "apiVersion: cli.sluice.dev/v1\nnamespace: shop\npod: api-1\nsince: \"2026-01-01T00:00:00Z\"\nverdict: wait\n";
    assert!(one.starts_with(expected), "{one}");
}

#[test]
fn colour_is_there_where_it_is_asked_for() {
    let api = shop();
    let marked = "\u{1b}[33m◌\u{1b}[0m  Job/migrate";
    for (color, expected) in [("always", true), ("never", false), ("auto", false)] {
        for args in [&["api-1"][..], &["deploy/api"]] {
            let ran = ask(&api, &[args, &["-n", "shop", "--color", color]].concat());
            assert_eq!(ran.out.contains(marked), expected, "{color}: {}", ran.out);
        }
    }
}

#[test]
fn what_is_not_there_is_said_with_the_likely_word() {
    let api = shop();
    for (args, expected) in [
        (
            &["api", "-n", "shop"][..],
            "pod \"api\" not found in namespace \"shop\"; did you mean deployment/api?",
        ),
        (
            &["sts/api", "-n", "shop"],
            "statefulset \"api\" not found in namespace \"shop\"; did you mean deployment/api?",
        ),
        (
            &["api-1", "-n", "nosuch"],
            "namespace \"nosuch\" does not exist; kubectl get namespaces shows those that do",
        ),
        (
            &["-n", "nosuch"],
            "namespace \"nosuch\" does not exist; kubectl get namespaces shows those that do",
        ),
        (
            &["--release", "shp", "-n", "shop"],
            "no workload of release \"shp\" in namespace shop; the only release there is shop",
        ),
        (
            &["--release", "shop", "-n", "empty"],
            "no workload of release \"shop\" in namespace empty; there is no release in it",
        ),
    ] {
        let ran = ask(&api, args);
        assert_eq!(ran.error, format!("error: {expected}\n"), "{args:?}");
        assert_eq!(ran.code, Some(1), "{args:?}");
    }
}

/// A wrong name is refused before a cluster is asked, except for the kinds that only the installation knows.
#[test]
fn what_names_nothing_is_a_wrong_argument() {
    let api = shop();
    let kubeconfig = api.kubeconfig(false);
    let nothing = |it: &str| format!("{it:?} names nothing; write NAME, pod/NAME or KIND/NAME");
    for (args, expected) in [
        (
            ["status", "deploymnt/api"],
            "unknown kind \"deploymnt\"; did you mean \"deployment\"?".to_owned(),
        ),
        (["status", ""], nothing("")),
        (["status", "pod/"], nothing("pod/")),
        (
            ["status", "deploy/api/status"],
            nothing("deploy/api/status"),
        ),
        (["release", "pod/"], nothing("pod/")),
    ] {
        let path = kubeconfig.path().to_str().unwrap();
        let ran = run(
            &[&args[..], &["-n", "shop", "--kubeconfig", path]].concat(),
            "",
        );
        assert_eq!(ran.error, format!("error: {expected}\n"), "{args:?}");
        assert_eq!(ran.code, Some(2), "{args:?}");
    }
}

#[test]
fn a_right_that_is_missing_is_named_with_the_way_to_it() {
    let api = shop();
    api.hide("/api/v1/namespaces/shop/pods");
    for (args, verb, error) in [
        (
            &["api-1", "-n", "shop"][..],
            "get",
            "error: cannot read pod \"api-1\": ",
        ),
        (&["-n", "shop"], "list", "error: "),
    ] {
        let ran = ask(&api, args);
        let expected = format!(
            "{error}you may not {verb} pods in namespace shop; an administrator gives the right by kubectl create rolebinding NAME \
             --clusterrole=view --user=YOU -n shop\n"
        );
        assert_eq!(ran.error, expected);
        assert_eq!(ran.code, Some(1));
    }
}

/// `status -w` on a pipe prints a line for each change of a pod, and ends with exit code 0 once nothing waits any more; at once where nothing waits.
#[test]
fn a_live_view_follows_the_pods_until_nothing_waits() {
    let api = shop();
    let ran = std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&api, &["-n", "shop", "-w"]));
        api.change(&[pod("api-1", "api", passed()), pod("api-2", "api", passed())]);
        asked.join().unwrap()
    });
    let lines: Vec<_> = ran.out.lines().map(|it| &it[9..]).collect();
    let waits = "waits    Job/migrate: InProgress (JobNotComplete: Job in progress. success:0, active: 1, failed: 0)";
    let expected = [
        format!("shop/api-1  {waits}"),
        format!("shop/api-2  {waits}"),
        "shop/api-1  starts".to_owned(),
        "shop/api-2  starts".to_owned(),
        "namespace shop: nothing waits".to_owned(),
    ];
    assert_eq!(lines, expected, "{}", ran.error);
    assert_eq!(ran.code, Some(0));
    let ran = ask(&api, &["-n", "shop", "-w", "-o", "json"]);
    assert_eq!((ran.lines().len(), ran.code), (1, Some(0)));
}

/// `status -w` of a pod goes on with the new pod of its name that is made once it is deleted, as a StatefulSet does.
#[test]
fn a_live_view_follows_a_pod_that_is_made_anew() {
    let api = shop();
    let ran = std::thread::scope(|scope| {
        let asked = scope.spawn(|| ask(&api, &["api-1", "-n", "shop", "-w"]));
        api.make_anew(&pod("api-1", "api", passed()));
        asked.join().unwrap()
    });
    assert_eq!(ran.code, Some(0), "{}", ran.error);
    assert!(ran.out.contains("shop/api-1  starts"), "{}", ran.out);
}
