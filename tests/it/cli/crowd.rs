//! A release with many pods that wait for one database: bounds the requests and the lines of `status`, `graph` and `release`.

#![expect(
    clippy::needless_pass_by_value,
    reason = "a value that is written in its place reads better"
)]

use super::api::{Api, MANY};
use super::{Ran, run};
use serde_json::{Value, json};

/// The number of workloads that wait.
const CROWD: usize = 58;

/// The most requests that `status` makes for all of them, beside one for each custom kind that may be in a wave.
const MOST: usize = 25;

fn object(version: &str, kind: &str, name: &str, rest: Value) -> Value {
    let mut made = json!({"apiVersion": version, "kind": kind, "metadata": {"name": name, "namespace": "shop", "uid": name,
        "creationTimestamp": "2026-01-01T00:00:00Z"}});
    json_patch::merge(&mut made, &rest);
    made
}

/// Returns a Deployment of the Helm release `shop` with this list, its ReplicaSet, and its pod with these further fields.
fn deployment(name: &str, list: &str, pod: &Value) -> [Value; 3] {
    let owner = |kind: &str| json!([{"apiVersion": "apps/v1", "kind": kind, "name": name, "uid": name, "controller": true}]);
    let labels = json!({"app": name, "app.kubernetes.io/instance": "shop", "app.kubernetes.io/managed-by": "Helm"});
    let spec = json!({"replicas": 1, "selector": {"matchLabels": {"app": name}},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "app", "image": "example.com/app:9"}]}}});
    let annotations = json!({"sluice.dev/depends-on": list, "meta.helm.sh/release-name": "shop", "meta.helm.sh/release-namespace": "shop"});
    let mut made = object(
        "v1",
        "Pod",
        &format!("{name}-1"),
        json!({"metadata": {"labels": labels, "ownerReferences": owner("ReplicaSet")}}),
    );
    json_patch::merge(&mut made, pod);
    [
        object(
            "apps/v1",
            "Deployment",
            name,
            json!({"metadata": {"annotations": annotations, "labels": labels}, "spec": spec, "status": {"replicas": 1}}),
        ),
        object(
            "apps/v1",
            "ReplicaSet",
            name,
            json!({"metadata": {"labels": labels, "ownerReferences": owner("Deployment")}, "spec": spec}),
        ),
        made,
    ]
}

/// Returns the objects of an installed sluice, which may read twenty custom kinds.
fn installation() -> Vec<Value> {
    let home = json!({"metadata": {"namespace": "sluice-system", "labels": {"app.kubernetes.io/name": "sluice",
        "app.kubernetes.io/component": "controller"}},
        "spec": {"template": {"spec": {"containers": [{"args": ["--watch-cluster-role=sluice-watch", "--follow-helm-releases=true"]}]}}}});
    let verbs = json!(["get", "list", "watch"]);
    let builtin = json!([{"apiGroups": ["", "apps", "batch", "discovery.k8s.io"], "resources": ["*"], "verbs": verbs}]);
    let plurals: Vec<String> = ('a'..='t').map(|it| format!("k{it}s")).collect();
    let custom = json!([{"apiGroups": [MANY], "resources": plurals, "verbs": verbs}]);
    let role = |name: &str, rules: &Value| json!({"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}, "rules": rules});
    vec![
        object("apps/v1", "Deployment", "sluice", home),
        role("sluice", &builtin),
        role("sluice-watch", &custom),
        json!({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}),
    ]
}

/// Starts an API server with many workloads that wait for a Service, whose one pod cannot pull its image.
fn crowd() -> Api {
    let gate = json!([{"name": "sluice-gate", "env": [{"name": "SLUICE_SERVER_NAME", "value": "sluice.sluice-system.svc"}]}]);
    let running = json!({"running": {"startedAt": "2026-01-01T00:00:09Z"}});
    let at_its_gate = json!({
        "metadata": {"labels": {"sluice.dev/gated": "true"}},
        "spec": {"nodeName": "n", "initContainers": gate, "containers": [{"name": "app", "image": "example.com/app:9"}]},
        "status": {"phase": "Pending", "startTime": "2026-01-01T00:00:03Z", "initContainerStatuses": [{"name": "sluice-gate", "state": running}]},
    });
    let waiting = json!({"waiting": {"reason": "ImagePullBackOff", "message": "Back-off pulling image \"example.com/db:1\""}});
    let broken = json!({
        "spec": {"nodeName": "n", "containers": [{"name": "db", "image": "example.com/db:1"}]},
        "status": {"phase": "Pending", "startTime": "2026-01-01T00:00:03Z",
            "containerStatuses": [{"name": "db", "image": "example.com/db:1", "state": waiting}]},
    });
    let mut all = installation();
    all.extend(deployment("db", "", &broken));
    let selector = json!({"spec": {"selector": {"app": "db"}, "ports": [{"port": 5432}]}});
    all.push(object("v1", "Service", "db", selector));
    for at in 0..CROWD {
        all.extend(deployment(&format!("web-{at:02}"), "svc/db", &at_its_gate));
    }
    Api::start(&all)
}

fn ask(api: &Api, args: &[&str]) -> Ran {
    let kubeconfig = api.kubeconfig(false);
    let path = kubeconfig.path().to_str().unwrap();
    run(&[args, &["--kubeconfig", path, "-n", "shop"]].concat(), "")
}

#[test]
fn many_pods_cost_few_requests() {
    let api = crowd();
    let ran = ask(&api, &["status"]);
    let head = "namespace shop: 58 of 58 pods with a gate wait";
    assert!(ran.out.starts_with(head), "{}{}", ran.out, ran.error);
    let requests = api.requests();
    // A wave may have objects of each kind that sluice may read, so each is listed once.
    let (custom, others): (Vec<&str>, Vec<&str>) = requests
        .iter()
        .map(String::as_str)
        .partition(|it| it.contains(MANY));
    assert!(others.len() <= MOST, "{}: {others:#?}", others.len());
    assert!(
        custom.iter().all(|it| it.contains("/namespaces/shop/k")),
        "{custom:#?}"
    );
    assert_eq!(custom.len(), 20, "{custom:#?}");
}

/// `status` shows the one cause of many waits once, at the top, and its lines fit on one screen.
#[test]
fn one_cause_of_many_waits_is_told_once_and_on_top() {
    let api = crowd();
    let ran = ask(&api, &["status"]);
    let lines: Vec<&str> = ran.out.lines().collect();
    assert!(lines.len() <= 20, "{}", ran.out);
    assert_eq!(lines[2], "What holds the others up:");
    let cause =
        "fail  Service/db: its pod db-1 cannot pull image example.com/db:1; 58 pods wait for it, ";
    assert!(lines[3].starts_with(cause), "{}", ran.out);
    let title = "Deployment/web-00, Deployment/web-01, Deployment/web-02 and 55 more";
    assert_eq!(lines[5], title, "{}", ran.out);
    let row = "└─ wait  58 pods  wait for 1 of 1 dependency, ";
    assert!(lines[6].starts_with(row), "{}", ran.out);

    let tree = ask(&api, &["status", "-o", "json"]).lines().remove(0);
    let expected = json!([{"object": "Service/db", "pod": "db-1", "reason": "ImagePull", "broken": true,
        "message": "cannot pull image example.com/db:1", "namespace": "shop", "pods": 58, "since": "2026-01-01T00:00:09Z"}]);
    assert_eq!(tree["rootCauses"], expected);
    let graph = ask(&api, &["graph", "-o", "json"]).lines().remove(0);
    assert_eq!(graph["rootCauses"], expected);
    let drawn = ask(&api, &["graph"]).out;
    let cause = "What holds the others up:\n  Service/db: its pod db-1 cannot pull image example.com/db:1; 58 pods wait for it\n\nSTEP";
    assert!(drawn.starts_with(cause), "{drawn}");
}

/// A caller that may read only pods and their logs gets the answer of the gate's log.
#[test]
fn the_gates_own_word_is_enough_where_nothing_else_may_be_read() {
    let api = crowd();
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "web-00-1"}});
    api.log(
        &pod,
        "sluice-gate: waiting 26s for Service/db: InProgress (NoEndpoints: so it is)\n",
    );
    for path in [
        "/apis",
        "/api/v1/namespaces/sluice-system",
        "/api/v1/namespaces/shop/services",
    ] {
        api.hide(path);
    }
    let ran = ask(&api, &["status", "web-00-1"]);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.error);
    // The time is that of the wait by now, which the gate's line does not know.
    let (before, rest) = ran.out.split_once("  gate  waiting ").expect(&ran.out);
    let (time, said) = rest.split_once(" for ").expect(rest);
    assert!(!before.contains("gate  ") && time != "26s", "{}", ran.out);
    let said_by_the_gate = "Service/db: InProgress (NoEndpoints: so it is)\n";
    assert!(said.starts_with(said_by_the_gate), "{}", ran.out);
    let missing =
        "warning: only the gate's own word is known: cannot read the owner of pod \"web-00-1\": ";
    assert!(ran.error.starts_with(missing), "{}", ran.error);
    assert_eq!(ran.error.lines().count(), 1, "{}", ran.error);
}

#[test]
fn a_workload_is_released_and_a_dry_run_changes_nothing() {
    let api = crowd();
    let web = json!({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"namespace": "shop", "name": "web-00"}});
    let pod = json!({"apiVersion": "v1", "kind": "Pod", "metadata": {"namespace": "shop", "name": "web-01-1"}});
    let skip =
        |object: &Value| api.now(object)["metadata"]["annotations"]["sluice.dev/skip"].clone();
    let would = "would be annotated with sluice.dev/skip: \"true\": ";
    for subject in ["deploy/web-00", "web-01-1"] {
        let ran = ask(&api, &["release", subject, "--dry-run"]);
        assert!(ran.out.contains(would), "{}{}", ran.out, ran.error);
        assert_eq!(
            (ran.code, skip(&web), skip(&pod)),
            (Some(0), Value::Null, Value::Null)
        );
    }
    let ran = ask(&api, &["release", "deploy/web-00"]);
    let done = "Deployment shop/web-00 is annotated with sluice.dev/skip: \"true\": every gate of its pods opens, those that wait and those to \
                come.\nTo undo it: kubectl annotate deployments.apps/web-00 --namespace shop sluice.dev/skip-\n";
    assert_eq!((ran.out.as_str(), skip(&web)), (done, json!("true")));
    let ran = ask(&api, &["release", "deploy/nosuch"]);
    let missing = "error: deployment \"nosuch\" not found in namespace \"shop\"\n";
    assert_eq!((ran.error.as_str(), ran.code), (missing, Some(1)));
    let ran = ask(&api, &["release", "svc/web-00"]);
    let podless = "error: Service shop/web-00 makes no pods, so it has no gate to open; name the pod that waits, or the workload above it: \
                   kubectl sluice status -n shop shows them\n";
    assert_eq!((ran.error.as_str(), ran.code), (podless, Some(1)));
}

#[test]
fn labels_choose_among_the_pods_that_wait() {
    let api = crowd();
    for (labels, expected) in [
        ("app=web-07", "1 of 1 pod"),
        ("app in (web-07, web-08)", "2 of 2 pods"),
        ("app=nosuch", "nothing waits"),
    ] {
        let ran = ask(&api, &["status", "-l", labels]);
        let head = format!("namespace shop: {expected}");
        assert!(ran.out.starts_with(&head), "{}{}", ran.out, ran.error);
    }
    let ran = ask(&api, &["status", "-l", "=web"]);
    assert_eq!(ran.code, Some(2), "{}", ran.error);
}

#[test]
fn a_user_and_a_cluster_are_chosen_as_with_kubectl() {
    let api = crowd();
    let ran = ask(&api, &["status", "--as", "ann", "--as-group", "ops"]);
    assert_eq!(ran.code, Some(3), "{}", ran.error);
    let requests = api.requests();
    assert!(
        requests.iter().all(|it| it.ends_with(" as ann of ops")),
        "{requests:#?}"
    );
    let ran = ask(&api, &["status", "--as-group", "ops"]);
    assert_eq!(ran.code, Some(2), "{}", ran.error);
    for (flag, name, told) in [
        ("--user", "a", None),
        ("--cluster", "b", Some("error: ")),
        ("--user", "b", Some("error: ")),
    ] {
        let ran = ask(&api, &["status", flag, name, "--request-timeout", "20s"]);
        let code = if told.is_some() { 1 } else { 3 };
        assert_eq!(ran.code, Some(code), "{flag} {name}: {}", ran.error);
    }
}
