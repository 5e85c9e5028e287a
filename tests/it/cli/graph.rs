//! Tests of `kubectl sluice graph`: of files, and of a cluster.

use super::lint::with_helm;
use super::run;
use super::server::{Server, list};
use serde_json::{Value, json};

const SHOP: &str = "
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db}
spec: {template: {metadata: {labels: {app: db}}, spec: {containers: []}}}
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: db}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, annotations: {sluice.dev/depends-on: svc/db}}
spec: {template: {spec: {containers: []}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: api, annotations: {sluice.dev/depends-on: 'job/migrate, svc/db'}}
spec: {template: {spec: {containers: []}}}
";

fn graph(args: &[&str], input: &str) -> super::Ran {
    run(&[&["graph", "-f", "-"], args].concat(), input)
}

#[test]
fn manifests_are_told_in_the_order_of_start() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("shop.yaml");
    std::fs::write(&path, SHOP).unwrap();
    let path = path.to_str().unwrap();
    let ran = run(&["graph", "-f", path], "");
    let expected = "\
STEP  OBJECT          WAITS FOR
1     StatefulSet/db
2     Service/db      pods of StatefulSet/db
3     Job/migrate     Service/db
4     Deployment/api  Job/migrate, Service/db
";
    assert_eq!((ran.out.as_str(), ran.code), (expected, Some(0)));
}

/// A plan orders a chart that is named beside it. Neither says its namespace, so both count as of the same one.
#[test]
fn a_plan_beside_a_chart_orders_it_in_whatever_namespace() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("order.yaml");
    let plan = json!({"apiVersion": "v1", "kind": "ConfigMap",
        "metadata": {"name": "order", "labels": {"sluice.dev/plan": "true"}, "annotations": {"sluice.dev/scope": "mastodon"}},
        "data": {"order": "mastodon: [postgresql]"}});
    std::fs::write(&path, plan.to_string()).unwrap();
    let chart = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fixtures/docs/charts/mastodon/mastodon"
    );
    let args = ["graph", "-f", path.to_str().unwrap(), "-f", chart];
    let Some(without) = with_helm(&args) else {
        println!("skipped: there is no helm");
        return;
    };
    assert!(
        without.out.contains("subchart/postgresql (plan)"),
        "{}",
        without.out
    );
    let named = with_helm(&[&args[..], &["-n", "shop"]].concat()).unwrap();
    assert_eq!(without.out, named.out);
}

#[test]
fn drawings_and_data_are_whole() {
    let dot = graph(&["-o", "dot"], SHOP).out;
    assert!(
        dot.starts_with("digraph sluice {\n") && dot.ends_with("}\n"),
        "{dot}"
    );
    assert!(
        dot.contains("  \"Job/migrate\" -> \"Service/db\";\n"),
        "{dot}"
    );
    let mermaid = graph(&["-o", "mermaid"], SHOP).out;
    assert!(mermaid.starts_with("flowchart RL\n  n0[\"StatefulSet/db\"]\n"));
    let json = graph(&["-o", "json"], SHOP).lines();
    assert_eq!(json[0]["nodes"][2]["waitsFor"], json!(["Service/db"]));
    let edge = json!({"from": "Service/db", "to": "StatefulSet/db", "must": true, "cycle": false});
    assert_eq!(json[0]["edges"][0], edge);
}

#[test]
fn a_cycle_has_an_exit_code_of_its_own() {
    let cycle = SHOP.replace(
        "{name: db}\nspec: {template",
        "{name: db, annotations: {sluice.dev/depends-on: deploy/api}}\nspec: {template",
    );
    let ran = graph(&[], &cycle);
    assert_eq!(ran.code, Some(3), "{}{}", ran.out, ran.error);
    assert!(
        ran.out.contains(
            "These wait for each other and never start: StatefulSet db -> Deployment api -> Job migrate -> Service db -> \
             StatefulSet db; take one entry out.\n"
        ),
        "{}",
        ran.out
    );
}

#[test]
fn what_cannot_be_told_is_an_error() {
    let none = graph(&[], "a: b\n");
    assert!(
        none.error
            .starts_with("error: there is no workload in these manifests"),
        "{}",
        none.error
    );
    let release = graph(&["--release", "r"], SHOP);
    assert!(
        release
            .error
            .contains("no workload of release \"r\" in these manifests"),
        "{}",
        release.error
    );
    let broken = graph(&[], "a: b: c\n");
    assert!(
        broken
            .error
            .starts_with("error: standard input: line 1, column 5"),
        "{}",
        broken.error
    );
    assert_eq!(
        (none.code, release.code, broken.code),
        (Some(1), Some(1), Some(1))
    );
}

/// Returns the time of 12:00 and these seconds on one day, e.g. `2026-01-31T12:00:05Z`.
fn at(seconds: u8) -> String {
    format!("2026-01-31T12:00:{seconds:02}Z")
}

fn pod(name: &str, app: &str, owner: (&str, &str), ready: u8) -> Value {
    json!({
        "metadata": {"namespace": "shop", "name": name, "creationTimestamp": at(0), "labels": {"app": app},
            "ownerReferences": [{"apiVersion": "apps/v1", "kind": owner.0, "name": owner.1, "controller": true}]},
        "status": {"conditions": [{"type": "Ready", "status": "True", "lastTransitionTime": at(ready)}]},
    })
}

fn gated(mut pod: Value, opened: u8) -> Value {
    let ended = json!({"startedAt": at(1), "finishedAt": at(opened), "exitCode": 0});
    pod["status"]["initContainerStatuses"] =
        json!([{"name": "sluice-gate", "state": {"terminated": ended}}]);
    pod
}

fn template(app: &str) -> Value {
    json!({"metadata": {"labels": {"app": app}}, "spec": {"containers": []}})
}

/// Starts an API server with a shop whose pods have all started: the Deployment `api` waited for the Job `migrate`, and both for the Service `db` of
/// a StatefulSet.
pub(super) fn shop() -> Server {
    let named = |name: &str, list: &str| {
        let annotations = json!({"sluice.dev/depends-on": list});
        json!({"namespace": "shop", "name": name, "generation": 1, "annotations": annotations,
            "labels": {"app.kubernetes.io/instance": "shop"}})
    };
    let api = json!({
        "metadata": named("api", "job/migrate, svc/db"),
        "spec": {"replicas": 1, "template": template("api")},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "availableReplicas": 1,
            "conditions": [{"type": "Available", "status": "True"}]},
    });
    let db = json!({
        "metadata": named("db", ""),
        "spec": {"replicas": 1, "template": template("db")},
        "status": {"observedGeneration": 1, "replicas": 1, "updatedReplicas": 1, "readyReplicas": 1, "currentReplicas": 1},
    });
    let job = json!({
        "metadata": named("migrate", "svc/db"),
        "spec": {"template": template("migrate")},
        "status": {"startTime": at(0), "completionTime": at(17), "conditions": [{"type": "Complete", "status": "True"}]},
    });
    let service = json!({"metadata": {"namespace": "shop", "name": "db"}, "spec": {"selector": {"app": "db"}}});
    let slice = json!({"metadata": {"namespace": "shop", "name": "db-1", "labels": {"kubernetes.io/service-name": "db"}},
        "endpoints": [{"conditions": {"serving": true}}]});
    let replicas = json!({"metadata": {"namespace": "shop", "name": "api-6c", "ownerReferences":
        [{"apiVersion": "apps/v1", "kind": "Deployment", "name": "api", "controller": true}]}, "spec": {"template": template("api")}});
    let pods = [
        pod("db-0", "db", ("StatefulSet", "db"), 12),
        gated(pod("api-6c-x7k2p", "api", ("ReplicaSet", "api-6c"), 26), 18),
    ];
    let controller = json!({"metadata": {"namespace": "sluice-system", "name": "sluice"}});
    let everything = json!({"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]});
    let apps = "/apis/apps/v1/namespaces/shop";
    Server::start(&[
        ("/apis/apps/v1/deployments", list(&[controller])),
        (
            "/apis/rbac.authorization.k8s.io/v1/clusterroles/sluice",
            json!({"rules": [everything]}),
        ),
        (&format!("{apps}/deployments"), list(&[api])),
        (&format!("{apps}/statefulsets"), list(&[db])),
        (&format!("{apps}/replicasets"), list(&[replicas])),
        ("/apis/batch/v1/namespaces/shop/jobs", list(&[job])),
        ("/api/v1/namespaces/shop/services", list(&[service])),
        ("/api/v1/namespaces/shop/pods", list(&pods)),
        (
            "/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices",
            list(&[slice]),
        ),
    ])
}

#[test]
fn a_cluster_tells_status_and_where_the_time_went() {
    let ran = shop().run(&["graph", "--release", "shop"]);
    let expected = "\
STEP  OBJECT          STATUS   REASON     WAITS FOR
1     StatefulSet/db  Current  Satisfied
2     Service/db      Current  Satisfied  pods of StatefulSet/db
3     Job/migrate     Current  Satisfied  Service/db
4     Deployment/api  Current  Satisfied  Job/migrate, Service/db

WAITED  POD           OF
17 s    api-6c-x7k2p  Deployment/api

26 s until Deployment/api was ready, the last one:
     12 s  StatefulSet/db  ready at 2026-01-31T12:00:12Z
      5 s  Job/migrate     ready at 2026-01-31T12:00:17Z
      9 s  Deployment/api  ready at 2026-01-31T12:00:26Z
";
    assert_eq!(
        (ran.out.as_str(), ran.error.as_str(), ran.code),
        (expected, "", Some(0))
    );
    let json = shop().run(&["graph", "-o", "json"]).lines();
    let step = json!({"object": "Job/migrate", "seconds": 5, "from": at(12), "until": at(17)});
    assert_eq!(json[0]["criticalPath"]["steps"][1], step);
    assert_eq!(json[0]["gates"][0]["until"], json!(at(18)));
    assert_eq!(json[0]["nodes"][3]["ready"], json!(true));
}

#[test]
fn a_name_of_any_length_is_drawn() {
    let name = "n".repeat(70_000);
    let deployment = format!(
        "{{apiVersion: apps/v1, kind: Deployment, metadata: {{name: {name}, annotations: {{sluice.dev/weight: '1'}}}}, spec: {{template: {{spec: {{containers: []}}}}}}}}"
    );
    let ran = graph(&[], &deployment);
    assert!(ran.out.contains(&name), "{}", ran.error);
    assert_eq!(ran.code, Some(0));
}
